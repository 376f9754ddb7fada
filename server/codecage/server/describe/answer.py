"""The answer to Describe: which tools, in how much detail, in which words."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from weakref import WeakKeyDictionary

import orjson

from codecage.server.catalogs import Catalog, warnings_of
from codecage.server.describe.budget import tokens_of
from codecage.server.describe.definitions import ModelToolText, definitions_of
from codecage.server.describe.page import Page
from codecage.server.describe.search import SearchIndex
from codecage.server.describe.signatures import CallText, ToolText
from codecage.server.dialects import Dialect, Policy, SignatureStyle
from codecage.server.errors import FieldViolation, InvalidRequest
from codecage.server.limits import Limits
from codecage.server.request import find_dialect, policy_problems
from codecage.server.tools import ToolSet
from codecage.v1 import codecage_pb2 as pb

__all__ = ["describe"]

_MAX_QUERY_BYTES = 1 << 10
_MAX_NAMES = 1_000
_MAX_TEMPLATE_BYTES = 64 << 10
_MAX_ANSWER_BYTES = 15 << 20
"""Callers are told to take messages of 16 MiB."""
_KEPT_FORMS = 4
"""Ways of writing calls whose texts are kept for one catalogue."""


@dataclass
class _Prepared:
    """What is made of a list of tools once, and kept as long as the list."""

    tools: ToolSet
    _texts: OrderedDict[CallText, list[ToolText]] = field(default_factory=OrderedDict[CallText, list[ToolText]])

    @cached_property
    def index(self) -> SearchIndex:
        """The words of the tools."""
        return SearchIndex(self.tools.tools)

    def texts(self, form: CallText) -> list[ToolText]:
        """The tools, as calls are written in `form`."""
        if form not in self._texts:
            names = self.tools.names
            self._texts[form] = [ToolText(tool, at, names, form) for at, tool in enumerate(self.tools.tools)]
            while len(self._texts) > _KEPT_FORMS:
                self._texts.popitem(last=False)
        self._texts.move_to_end(form)
        return self._texts[form]


_prepared: WeakKeyDictionary[Catalog, dict[str, _Prepared]] = WeakKeyDictionary()


@dataclass(frozen=True)
class _Request:
    """A request that was checked."""

    message: pb.DescribeRequest
    dialect: Dialect
    policy: Policy
    limits: Limits
    prepared: _Prepared

    @property
    def tools(self) -> ToolSet:
        return self.prepared.tools

    @property
    def detail(self) -> pb.Detail.ValueType:
        return self.message.detail or self.dialect.describing.detail


def describe(message: pb.DescribeRequest, ceilings: Limits, catalog: Catalog | None) -> pb.DescribeResponse:
    """Answers a request; `catalog` is the one that it names. Takes a while; raises InvalidRequest."""
    request = _decode(message, ceilings, catalog)
    matched, unknown = _matching(request)
    begin = _begin_of_page(request)
    end = min(len(matched), begin + (message.max_tools or len(matched)))
    style = request.dialect.describing.style
    form = CallText(request.policy.call_form, request.policy.answer_form, style is not SignatureStyle.LINES)
    texts = request.prepared.texts(form)
    page = Page([texts[at] for at in matched[begin:end]], len(matched), request.detail, unknown, message.query)
    response = pb.DescribeResponse(
        shown_tools=len(page.tools),
        matched_tools=len(matched),
        next_page_token=_page_token(request, end) if end < len(matched) else "",
        text=_text(request, page),
        unknown_names=unknown,
        warnings=warnings_of(request.tools),
    )
    for definition in definitions_of(request.dialect, request.policy, request.limits):
        response.model_tools.append(_model_tool(request, definition, page))
    _add_tools(response, request, page)
    if response.ByteSize() > _MAX_ANSWER_BYTES:
        reason = f"the answer would have {response.ByteSize()} bytes, more than {_MAX_ANSWER_BYTES}: ask for pages"
        raise InvalidRequest(FieldViolation("max_tools", reason))
    return response


def _decode(message: pb.DescribeRequest, ceilings: Limits, catalog: Catalog | None) -> _Request:
    dialect = find_dialect(message.dialect, "dialect")
    limits, broken = dialect.limits.override(message.limits, ceilings)
    violations = [FieldViolation(f"limits.{violation.name}", violation.reason) for violation in broken]
    violations += policy_problems(message.policy, "policy")
    violations += _problems(message, dialect)
    prepared, problems = _prepare(message, dialect, catalog)
    violations += problems
    if violations:
        raise InvalidRequest(*violations)
    return _Request(message, dialect, dialect.policy.override(message.policy), limits, prepared)


def _prepare(
    message: pb.DescribeRequest, dialect: Dialect, catalog: Catalog | None
) -> tuple[_Prepared, list[FieldViolation]]:
    if catalog is None:
        try:
            catalog = Catalog.from_messages(message.tools.tools, "tools.tools")
        except InvalidRequest as error:
            return _Prepared(ToolSet()), list(error.violations)
    of_dialects = _prepared.setdefault(catalog, {})
    if dialect.name not in of_dialects:
        of_dialects[dialect.name] = _Prepared(catalog.tools_for(dialect))
    return of_dialects[dialect.name], []


def _problems(message: pb.DescribeRequest, dialect: Dialect) -> list[FieldViolation]:
    found: list[FieldViolation] = []
    if len(message.query.encode()) > _MAX_QUERY_BYTES:
        found.append(FieldViolation("query", f"must not be longer than {_MAX_QUERY_BYTES} bytes"))
    if len(message.names) > _MAX_NAMES:
        found.append(FieldViolation("names", f"must not hold more than {_MAX_NAMES} names"))
    if message.detail not in pb.Detail.values():
        found.append(FieldViolation("detail", f"there is no value {message.detail}"))
    for name, template in message.description_templates.items():
        path = f"description_templates[{name[:100]!r}]"
        if name not in dialect.model_tools:
            names = ", ".join(sorted(dialect.model_tools))
            found.append(FieldViolation(path, f"the dialect {dialect.name} has no such tool for the model: {names}"))
        elif len(template.encode()) > _MAX_TEMPLATE_BYTES:
            found.append(FieldViolation(path, f"must not be longer than {_MAX_TEMPLATE_BYTES} bytes"))
    return found


def _matching(request: _Request) -> tuple[Sequence[int], list[str]]:
    """The tools that are asked for, in order, and the names that are none."""
    message, indexes = request.message, request.tools.names.indexes
    found: Sequence[int] = range(len(request.tools.tools))
    unknown: list[str] = []
    if message.names:
        names = list(dict.fromkeys(message.names))
        unknown = [name for name in names if name not in indexes]
        found = [indexes[name] for name in names if name in indexes]
    if message.query.strip():
        wanted = set(found)
        found = [index for index in request.prepared.index.find(message.query) if index in wanted]
    return found, unknown


def _begin_of_page(request: _Request) -> int:
    token = request.message.page_token
    if not token:
        return 0
    number = token.partition(".")[0]
    begin = int(number) if number.isascii() and number.isdigit() and len(number) <= 6 else -1
    if begin < 0 or token != _page_token(request, begin):
        raise InvalidRequest(FieldViolation("page_token", "is not of an earlier answer to this request"))
    return begin


def _page_token(request: _Request, begin: int) -> str:
    """Where a page begins, and a mark of what the pages are of."""
    message = request.message
    basis = [request.dialect.name, message.query, list(message.names), list(request.tools.names.names)]
    return f"{begin}.{hashlib.sha256(orjson.dumps(basis)).hexdigest()[:16]}"


def _signatures(request: _Request, page: Page, budget: int) -> str:
    is_line = request.dialect.describing.style is SignatureStyle.LINES
    return page.lines(budget) if is_line else page.declarations(budget)


def _text(request: _Request, page: Page) -> str:
    budget = request.message.max_tokens
    if request.dialect.describing.style is not SignatureStyle.SUMMARIES:
        return _signatures(request, page, budget)
    return page.details(budget) if request.detail == pb.DETAIL_FULL else page.summaries(budget)


def _model_tool(request: _Request, definition: ModelToolText, page: Page) -> pb.ModelTool:
    templates = request.message.description_templates
    template = templates.get(definition.name)
    fixed = definition.fixed_text(template)
    if fixed is None:
        return definition.message(template, "")
    budget = request.message.max_tokens
    # At least 1: no budget at all would be no limit.
    left = max(1, budget - tokens_of(fixed)) if budget else 0
    return definition.message(template, _signatures(request, page, left))


def _add_tools(response: pb.DescribeResponse, request: _Request, page: Page) -> None:
    for tool, level in zip(page.tools, page.described_levels(request.message.max_tokens), strict=True):
        described = response.tools.add(
            name=tool.tool.name,
            callee=tool.callee,
            namespace=tool.namespace,
            summary=tool.summary,
            detail=level,
        )
        if level == pb.DETAIL_SIGNATURES:
            described.signature = tool.line
        elif level == pb.DETAIL_FULL:
            described.signature = "\n".join(filter(None, [tool.types, tool.declaration]))
            described.input_schema_json = tool.tool.input_schema_json
            if tool.tool.output_schema_json:
                described.output_schema_json = tool.tool.output_schema_json
