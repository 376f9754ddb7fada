"""The JSON Schema test suite: a schema that is used tells right from wrong as the suite does, or it is not used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.typescript import problems_with

from codecage.server.describe import describe
from codecage.server.limits import CEILINGS
from codecage.server.schemas import compile_apart
from codecage.v1 import codecage_pb2 as pb

FOLDER = Path(__file__).parent / "schema_suite"
DRAFTS = {
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
LEAST_USED = {"draft7": 228, "draft2020-12": 317}
"""How many groups of cases have a schema that is used here."""
ADDRESSES = ('"$id"', "http://", "https://", "urn:")
"""What schemas hold that are not used: they name parts by addresses, which are not followed here."""


@dataclass(frozen=True)
class Group:
    """A schema of the suite and values with verdicts."""

    name: str
    schema: Any
    tests: list[dict[str, Any]]

    @property
    def text(self) -> str:
        """The schema as a tool would list it."""
        return json.dumps(self.schema)


def groups(draft: str) -> Iterator[Group]:
    """All of a draft."""
    files: dict[str, list[dict[str, Any]]] = json.loads((FOLDER / f"{draft}.json").read_text(encoding="ascii"))
    for stem, listed in files.items():
        for group in listed:
            schema = group["schema"]
            if isinstance(schema, dict):
                schema = {"$schema": DRAFTS[draft], **schema}
            yield Group(f"{stem}: {group['description']}", schema, group["tests"])


@pytest.mark.parametrize("draft", DRAFTS)
def test_every_verdict_on_a_schema_that_is_used_is_that_of_the_suite(draft: str) -> None:
    wrong: list[str] = []
    used = 0
    for group in groups(draft):
        compiled = compile_apart(group.text)
        if compiled.problem:
            continue
        used += 1
        wrong += [
            f"{group.name}: {test['description']}"
            for test in group.tests
            if (compiled.mismatch(json.dumps(test["data"]).encode()) == "") is not test["valid"]
        ]
    assert wrong == []
    assert used >= LEAST_USED[draft]


@pytest.mark.parametrize("draft", DRAFTS)
def test_only_schemas_that_name_parts_by_addresses_are_not_used_and_they_refuse_nothing(draft: str) -> None:
    for group in groups(draft):
        compiled = compile_apart(group.text)
        if compiled.problem:
            text = json.dumps({keyword: part for keyword, part in group.schema.items() if keyword != "$schema"})
            is_of_unknown_kind = group.schema["$schema"] != DRAFTS[draft]
            assert is_of_unknown_kind or any(address in text for address in ADDRESSES), group
            assert all(compiled.mismatch(json.dumps(test["data"]).encode()) == "" for test in group.tests)


@pytest.mark.parametrize("draft", DRAFTS)
def test_every_schema_of_the_suite_is_declared_in_typescript(draft: str) -> None:
    listed = [
        pb.Tool(name=f"t{index}", input_schema_json=group.text, output_schema_json=group.text)
        for index, group in enumerate(groups(draft))
        if isinstance(group.schema, dict)
    ]
    for dialect in ("standard", "sero"):
        request = pb.DescribeRequest(tools=pb.ToolList(tools=listed), dialect=dialect)
        block = describe(request, CEILINGS, None).text.removeprefix("```ts\n").removesuffix("\n```")
        assert problems_with(block) == []
