"""python -m benchmarks.context_cost: what sixty tools cost of a model's context, with and without code mode.

Counts tokens with the o200k_base vocabulary where bpe-openai is installed (`pip install bpe-openai==0.1.4`), else four
characters as one. Definitions are counted as the JSON that goes to a provider's API.
"""

import asyncio
import importlib
import importlib.util
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.sixty_tools import ISSUES, TOOLS, call
from codecage.client import Client, Detail, Toolkit, ToolkitOptions

_BUDGET = 2_000
_DETAILS: tuple[tuple[Detail, int], ...] = (("names", 0), ("signatures", 0), ("full", 0), ("full", _BUDGET))
_USED = ["tracker__list_issues", "tracker__get_issue"]


@dataclass(frozen=True)
class Way:
    """How scripts of a dialect look at the issues: which comments do the open issues of each person have?"""

    run_tool: str
    listing: str
    getting: str
    is_function: bool = False

    @property
    def script(self) -> str:
        """The whole script."""
        body = f"""const open = ({self.listing}).filter((issue) => issue.state === "open");
const issues = await Promise.all(open.map(({{ id }}) => {self.getting}));
const sums = {{}};
for (const {{ assignee, comments }} of issues) sums[assignee] = (sums[assignee] ?? 0) + comments;
return sums;"""
        return f"async function run() {{\n{body}\n}}" if self.is_function else body


WAYS = {
    "standard": Way("run_script", "await tools.tracker__list_issues()", "tools.tracker__get_issue({ id })"),
    "goose": Way(
        "execute_javascript",
        'await tools.call("tracker__list_issues", {})',
        'tools.call("tracker__get_issue", { id })',
        is_function=True,
    ),
    "sero": Way(
        "run_code",
        "(await tools.tracker__list_issues()).details",
        "tools.tracker__get_issue({ id }).then((answer) => answer.details)",
    ),
    "devoxxgenie": Way(
        "run_script",
        "JSON.parse(await tools.tracker__list_issues())",
        "tools.tracker__get_issue({ id }).then(JSON.parse)",
    ),
}


def tokenizer() -> tuple[Callable[[str], int], str]:
    """How tokens are counted, and what that is called."""
    if importlib.util.find_spec("bpe_openai") is None:
        return lambda text: -(-len(text) // 4), "four characters a token"
    encoding: Any = importlib.import_module("bpe_openai").get_encoding("o200k_base")
    return lambda text: len(encoding.encode(text)), "o200k_base"


def without_code_mode() -> Iterator[str]:
    """Everything of the task that stands in the context: each call and each answer, once."""
    listed = call("tracker__list_issues", {})
    yield json.dumps({"name": "tracker__list_issues", "input": {}})
    yield json.dumps(listed)
    for issue in listed:
        if issue["state"] == "open":
            yield json.dumps({"name": "tracker__get_issue", "input": {"id": issue["id"]}})
            yield json.dumps(ISSUES[issue["id"] - 1])


async def with_code_mode(toolkit: Toolkit, way: Way) -> list[str]:
    """The same with a script, and with the questions that its dialect wants to be asked first."""
    texts: list[str] = []
    if any(tool.role == "details" for tool in toolkit.model_tools):
        for name, arguments in (("list_functions", {}), ("get_function_details", {"functions": _USED})):
            texts += [json.dumps({"name": name, "input": arguments}), (await toolkit.handle(name, arguments)).text]
    answer = await toolkit.handle(way.run_tool, {"code": way.script})
    if answer.is_error or answer.text.startswith("Error"):
        raise RuntimeError(answer.text)
    return [*texts, json.dumps({"name": way.run_tool, "input": {"code": way.script}}), answer.text]


async def main() -> None:
    """Measure, and print a table in Markdown."""
    count, named = tokenizer()
    plain = count(json.dumps(TOOLS))
    direct = sum(count(text) for text in without_code_mode())
    print(f"{len(TOOLS)} tools, {sum(each['state'] == 'open' for each in ISSUES)} issues to look at; tokens: {named}\n")
    print("| what the model sees | detail | definitions | calls and answers | together | of the first row |")
    print("| --- | --- | --- | --- | --- | --- |")
    _print_row("the tools themselves", "", plain, direct, plain + direct)
    async with Client.local() as client:
        for dialect, way in WAYS.items():
            for detail, budget in _DETAILS:
                options: ToolkitOptions = {"dialect": dialect, "detail": detail, "max_tokens": budget}
                toolkit = await client.toolkit(TOOLS, call=call, **options)
                definitions = count(json.dumps(toolkit.definitions("mcp")))
                texts = sum(count(text) for text in await with_code_mode(toolkit, way))
                shown = f"{detail}, at most {budget:,}" if budget else detail
                _print_row(f"`{dialect}`", shown, definitions, texts, plain + direct)


def _print_row(name: str, detail: str, definitions: int, texts: int, whole: int) -> None:
    share = (definitions + texts) / whole
    print(f"| {name} | {detail} | {definitions:,} | {texts:,} | {definitions + texts:,} | {share:.1%} |")


if __name__ == "__main__":
    asyncio.run(main())
