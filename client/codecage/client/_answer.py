"""What a model gets back for a call of code mode, in the manner of its dialect."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from codecage.client._result import UNDEFINED, CallStatus, Image, LedgerEntry, Outcome, OutputImage, RunResult

_LISTED_CALLS = 50  # of a run in the details of sero; more are counted by tool and status


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What to hand back to the model for one call."""

    text: str
    """What it reads."""
    is_error: bool = False
    """Whether the call failed, for APIs that have a field for that. Never with devoxxgenie, whose failures are
    texts that begin with "Error:"."""
    images: tuple[Image, ...] = ()
    """What the script wrote with `image()`."""
    structured: Any = UNDEFINED
    """A JSON value for programs; UNDEFINED if the dialect has none."""
    result: RunResult | None = None
    """The run, where the call was one."""


def answer_of(result: RunResult, dialect: str) -> Answer:
    """The answer for a run that has ended, however it did."""
    has_failed = result.outcome is not Outcome.COMPLETED
    images = tuple(item.image for item in result.output if isinstance(item, OutputImage))
    text = result.rendered
    if dialect == "sero" and has_failed:
        text = f"Code execution failed: {text}"
    return Answer(
        text=text,
        is_error=has_failed and dialect != "devoxxgenie",
        images=images,
        structured=_structured(result, dialect),
        result=result,
    )


def _structured(result: RunResult, dialect: str) -> Any:
    if dialect == "sero" and result.outcome is Outcome.COMPLETED:
        value = {} if result.value is UNDEFINED else {"value": result.value}
        return {**value, "calls": _sero_calls(result.ledger)}
    if dialect == "standard" and result.value is not UNDEFINED and not (result.output or result.console):
        # A reader who looks at this alone must miss nothing of the text.
        return {"value": result.value}
    return UNDEFINED


def _sero_calls(ledger: Sequence[LedgerEntry]) -> dict[str, Any]:
    calls = [(entry.tool_name, _sero_status(entry.status), round(entry.duration * 1000)) for entry in ledger]
    rest = Counter((tool, status) for tool, status, _ in calls[_LISTED_CALLS:])
    return {
        "calls": [
            {"tool": tool, "status": status, "durationMs": duration} for tool, status, duration in calls[:_LISTED_CALLS]
        ],
        "omitted": [{"tool": tool, "status": status, "count": count} for (tool, status), count in rest.items()],
    }


def _sero_status(status: CallStatus) -> str:
    return "completed" if status is CallStatus.COMPLETED else "failed"
