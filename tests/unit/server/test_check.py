"""The request and the answer of Check."""

from __future__ import annotations

import orjson
import pytest

from codecage.server.check import check_response, decode_check
from codecage.server.errors import CatalogUnknown, InvalidRequest
from codecage.server.limits import CEILINGS
from codecage.v1 import codecage_pb2 as pb

TOOLS = pb.ToolList(tools=[pb.Tool(name="read"), pb.Tool(name="write"), pb.Tool(name="run_code")])


def response(facts: dict[str, object], dialect: str = "standard") -> pb.CheckResponse:
    """What is answered where the worker tells these facts."""
    request = decode_check(pb.CheckRequest(source="x", dialect=dialect, tools=TOOLS), CEILINGS)
    return check_response(request, pb.Finished(code="completed", value_json=orjson.dumps(facts).decode()))


def test_a_check_is_a_run_that_is_not_run() -> None:
    message = pb.CheckRequest(source="return 1", language=pb.LANGUAGE_TYPESCRIPT, dialect="goose", tools=TOOLS)
    request = decode_check(message, CEILINGS)
    assert (request.is_check, request.source, request.dialect.name) == (True, "return 1", "goose")
    assert (request.language, len(request.tools.tools)) == (pb.LANGUAGE_TYPESCRIPT, 3)


def test_a_check_is_refused_for_the_reasons_of_a_run() -> None:
    with pytest.raises(InvalidRequest):
        decode_check(pb.CheckRequest(source="x" * ((256 << 10) + 1)), CEILINGS)
    with pytest.raises(CatalogUnknown):
        decode_check(pb.CheckRequest(source="x", catalog_id="c"), CEILINGS)


def test_tools_are_told_once_and_only_those_that_are_listed() -> None:
    facts: dict[str, object] = {"tools": ["write", "read", "write", "none", "run_code", 5], "computed": True}
    assert list(response(facts).tool_names) == ["write", "read", "run_code"]
    assert list(response(facts, "sero").tool_names) == ["write", "read"]
    assert response(facts).has_computed_calls


def test_form_and_language_are_told() -> None:
    told = response({"entry": "function:main", "language": "typescript"})
    assert (told.entry_form, told.language) == ("function:main", pb.LANGUAGE_TYPESCRIPT)
    strange = response({"entry": "x" * 1000, "language": "cobol"})
    assert (len(strange.entry_form), strange.language) == (200, pb.LANGUAGE_UNSPECIFIED)


def test_an_error_is_the_one_diagnostic_and_the_lack_of_a_value_is_none() -> None:
    request = decode_check(pb.CheckRequest(source="x"), CEILINGS)
    error = pb.ScriptError(name="SyntaxError", message="no")
    warnings = [pb.Warning(kind=pb.WARNING_KIND_NO_VALUE), pb.Warning(kind=pb.WARNING_KIND_CODE_FENCE)]
    told = check_response(request, pb.Finished(code="syntax_error", error=error, warnings=warnings))
    assert list(told.diagnostics) == [error]
    assert [warning.kind for warning in told.warnings] == [pb.WARNING_KIND_CODE_FENCE]
