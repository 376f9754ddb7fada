"""Compiling without running: the request, and what it told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson

from codecage.server.catalogs import CatalogStore
from codecage.server.limits import Limits
from codecage.server.request import RunRequest, decode_start
from codecage.v1 import codecage_pb2 as pb

__all__ = ["check_response", "decode_check"]

_LANGUAGES = {"javascript": pb.LANGUAGE_JAVASCRIPT, "typescript": pb.LANGUAGE_TYPESCRIPT}


def decode_check(message: pb.CheckRequest, ceilings: Limits, catalogs: CatalogStore | None = None) -> RunRequest:
    """The request of a run that ends when the script is compiled. Raises what `decode_start` raises."""
    start = pb.Start(source=message.source, language=message.language, dialect=message.dialect)
    kind = message.WhichOneof("tool_source")
    if kind == "tools":
        start.tools.CopyFrom(message.tools)
    elif kind == "catalog_id":
        start.catalog_id = message.catalog_id
    return replace(decode_start(start, ceilings, catalogs), is_check=True)


def check_response(request: RunRequest, finished: pb.Finished) -> pb.CheckResponse:
    """What compiling told. A script that breaks a limit of compiling is told by that limit's error."""
    response = pb.CheckResponse(warnings=[each for each in finished.warnings if each.kind != pb.WARNING_KIND_NO_VALUE])
    if finished.code != "completed":
        response.diagnostics.append(finished.error)
        return response
    facts: dict[str, Any] = orjson.loads(finished.value_json)
    names = request.tools.names
    found = [names.indexes.get(str(key), names.find(str(key))) for key in facts.get("tools", [])]
    response.entry_form = str(facts.get("entry", ""))[:200]
    response.language = _LANGUAGES.get(str(facts.get("language")), pb.LANGUAGE_UNSPECIFIED)
    response.tool_names.extend(dict.fromkeys(names.names[index] for index in found if index is not None))
    response.has_computed_calls = bool(facts.get("computed"))
    return response
