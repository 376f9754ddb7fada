"""Which calls are allowed, asked about and refused."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from codecage.mcp.patterns import Condition, found

__all__ = ["Action", "Decision", "Rule", "decide"]

Action: TypeAlias = Literal["allow", "ask", "deny"]

_STRICTEST: tuple[Action, ...] = ("deny", "ask", "allow")


class Rule(BaseModel):
    """One rule: for these tools, with such arguments, do this."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    action: Action
    """What becomes of the call."""
    tool: str = "*"
    """Names of tools, with * for any text and ? for any one character."""
    arguments: Mapping[str, Condition] = Field(default_factory=dict[str, Condition])
    """Conditions on arguments, all of which must hold, by path (`options.path`), or by `*` for any string in them."""
    reason: str = ""
    """Told to the model with a refusal, and to the person with a question."""

    @cached_property
    def _names(self) -> Condition:
        return Condition(glob=self.tool)

    def is_about(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Whether the rule is about such a call.

        An argument that is missing is not matched. Of a list, a rule that allows needs every item to match; one that
        asks or refuses needs a single one.
        """
        return self._names.is_met(tool, by_every_item=True) and all(
            self._holds(condition, found(arguments, path, with_names=self.action != "allow"))
            for path, condition in self.arguments.items()
        )

    def _holds(self, condition: Condition, values: list[Any]) -> bool:
        every = self.action == "allow"
        met = [condition.is_met(value, by_every_item=every) for value in values]
        return bool(met) and (all(met) if every else any(met))


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a call, and why."""

    action: Action
    reason: str = ""


def decide(rules: Iterable[tuple[Rule, str]], arguments: Mapping[str, Any], otherwise: Action) -> Decision:
    """Decide on a call: of the rules that are about it the strictest counts, and without any, `otherwise`.

    Each rule comes with the name that the tool has for it.
    """
    about = [rule for rule, tool in rules if rule.is_about(tool, arguments)]
    for action in _STRICTEST:
        for rule in about:
            if rule.action == action:
                return Decision(action, rule.reason)
    return Decision(otherwise)
