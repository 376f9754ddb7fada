"""The methods beside Run: requests to bytes, responses from bytes."""

from collections.abc import Iterable

from codecage.client._config import Language
from codecage.client._convert import shared
from codecage.client._convert.responses import layer, script_failure, warning
from codecage.client._info import (
    Catalog,
    CheckResult,
    DescribedTool,
    Description,
    DialectInfo,
    EngineInfo,
    ModelTool,
    PoolInfo,
    ServerInfo,
)
from codecage.client._json import parse_json
from codecage.client._options import DescribeOptions, check_source
from codecage.client._tools import Tool
from codecage.v1 import codecage_pb2 as pb

SERVER_INFO = "/codecage.v1.CodeModeService/GetServerInfo"
CHECK = "/codecage.v1.CodeModeService/Check"
DESCRIBE = "/codecage.v1.CodeModeService/Describe"
REGISTER_CATALOG = "/codecage.v1.CodeModeService/RegisterCatalog"

_ENUMS = pb.DESCRIPTOR.enum_types_by_name


def server_info_request() -> bytes:
    """Asks what the server is."""
    return pb.GetServerInfoRequest().SerializeToString()


def server_info(data: bytes) -> ServerInfo:
    """What the server is."""
    message = pb.GetServerInfoResponse.FromString(data)
    engine = message.engine
    return ServerInfo(
        protocol_version=message.protocol_version,
        server_version=message.server_version,
        engine=EngineInfo(
            name=engine.name,
            binding_version=engine.binding_version,
            mode=shared.enum_word(_ENUMS["EngineMode"], engine.mode),
            mode_reason=engine.mode_reason,
        ),
        dialects=tuple(
            DialectInfo(
                name=each.name,
                limits=shared.limits_value(each.limits),
                policy=shared.policy_value(each.policy),
            )
            for each in message.dialects
        ),
        limit_ceilings=shared.limits_value(message.limit_ceilings),
        isolation_layers=tuple(layer(each) for each in message.isolation_layers),
        pool=_pool(message.pool),
        features=tuple(message.features),
    )


def _pool(message: pb.PoolInfo) -> PoolInfo:
    return PoolInfo(
        capacity=message.capacity,
        running=message.running,
        warm=message.warm,
        queued=message.queued,
        queue_capacity=message.queue_capacity,
        forks=message.forks,
        templates=message.templates,
    )


def check_request(
    source: str, tools: Iterable[Tool], catalog_id: str | None, language: Language, dialect: str
) -> bytes:
    """Asks to compile a script."""
    check_source(source)
    message = pb.CheckRequest(source=source, language=shared.enum_number(_ENUMS["Language"], language), dialect=dialect)
    _add_tools(message, tools, catalog_id)
    return message.SerializeToString()


def _add_tools(message: pb.CheckRequest | pb.DescribeRequest, tools: Iterable[Tool], catalog_id: str | None) -> None:
    if catalog_id is not None:
        message.catalog_id = catalog_id
    else:
        message.tools.CopyFrom(shared.tool_list(tools))


def check_result(data: bytes) -> CheckResult:
    """What compiling told."""
    message = pb.CheckResponse.FromString(data)
    return CheckResult(
        diagnostics=tuple(script_failure(each) for each in message.diagnostics),
        entry_form=message.entry_form,
        language=shared.enum_word(_ENUMS["Language"], message.language),
        tool_names=tuple(message.tool_names),
        has_computed_calls=message.has_computed_calls,
        warnings=tuple(warning(each) for each in message.warnings),
    )


def describe_request(tools: Iterable[Tool], options: DescribeOptions) -> bytes:
    """Asks for definitions of tools."""
    message = pb.DescribeRequest(
        dialect=options.get("dialect", ""),
        query=options.get("query", ""),
        max_tools=options.get("max_tools", 0),
        detail=shared.enum_number(_ENUMS["Detail"], options.get("detail", "full")),
        max_tokens=options.get("max_tokens", 0),
        page_token=options.get("page_token", ""),
        names=options.get("names", ()),
        description_templates=options.get("description_templates", {}),
    )
    if limits := options.get("limits"):
        message.limits.CopyFrom(shared.limits_message(limits))
    if policy := options.get("policy"):
        message.policy.CopyFrom(shared.policy_message(policy))
    _add_tools(message, tools, options.get("catalog_id"))
    return message.SerializeToString()


def description(data: bytes) -> Description:
    """Definitions of tools."""
    message = pb.DescribeResponse.FromString(data)
    return Description(
        model_tools=tuple(
            ModelTool(
                name=tool.name,
                description=tool.description,
                input_schema=parse_json(tool.input_schema_json) if tool.input_schema_json else {},
                role=shared.enum_word(_ENUMS["ModelToolRole"], tool.role),
            )
            for tool in message.model_tools
        ),
        shown_tools=message.shown_tools,
        matched_tools=message.matched_tools,
        next_page_token=message.next_page_token,
        text=message.text,
        tools=tuple(_described_tool(tool) for tool in message.tools),
        unknown_names=tuple(message.unknown_names),
        warnings=tuple(warning(each) for each in message.warnings),
    )


def _described_tool(message: pb.DescribedTool) -> DescribedTool:
    return DescribedTool(
        name=message.name,
        callee=message.callee,
        namespace=message.namespace,
        summary=message.summary,
        signature=message.signature,
        detail=shared.enum_word(_ENUMS["Detail"], message.detail),
    )


def register_catalog_request(tools: Iterable[Tool]) -> bytes:
    """Asks to store tools."""
    return pb.RegisterCatalogRequest(tools=shared.tool_list(tools)).SerializeToString()


def catalog(data: bytes) -> Catalog:
    """Stored tools."""
    message = pb.RegisterCatalogResponse.FromString(data)
    return Catalog(catalog_id=message.catalog_id, warnings=tuple(warning(each) for each in message.warnings))
