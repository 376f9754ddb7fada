"""Code mode for an agent loop: what to register with the model, and what to call when the model calls."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, Unpack, cast, get_args

from codecage.client._answer import Answer, answer_of
from codecage.client._definitions import CallTool, is_definition, tools_from
from codecage.client._errors import InvalidRequest, PreconditionFailed, Unimplemented
from codecage.client._info import Description, ModelTool
from codecage.client._json import dump_json, parse_json
from codecage.client._options import DescribeOptions, RunOptions, ToolkitOptions, check_names
from codecage.client._result import RunResult
from codecage.client._tools import Tool, as_tools

if TYPE_CHECKING:
    from codecage.client._client import Client

Provider: TypeAlias = Literal["openai", "openai_responses", "anthropic", "mcp"]

_DESCRIBE_OPTIONS = ("dialect", "detail", "max_tokens", "description_templates", "limits", "policy")
_CATALOG_UNKNOWN = "CATALOG_UNKNOWN"
_Result = TypeVar("_Result")


class Toolkit:
    """Code mode over a list of tools. Made by Client.toolkit; lives as long as its client.

        toolkit = await client.toolkit([read_file, search])
        reply = await model(messages, tools=toolkit.definitions("anthropic"))
        answer = await toolkit.handle(reply.tool_name, reply.arguments)

    Calls may be handled at the same time. What scripts `store` is there for later ones (`state`); of two that
    end at the same time, the later end wins.
    """

    def __init__(self, client: "Client", tools: Mapping[str, Tool], options: ToolkitOptions) -> None:
        self.dialect = options.get("dialect") or "standard"
        """Which rules the scripts follow."""
        self.tools = tools
        """The tools that scripts may call, by name."""
        self.model_tools: tuple[ModelTool, ...] = ()
        """The tools to register with the model. `definitions` has them in a provider's form."""
        self.state: dict[str, Any] = dict(options.get("state", {}))
        """What scripts have stored for later ones."""
        self._client = client
        self._options = options
        self._catalog_id: str | None = None

    def __contains__(self, tool_name: object) -> bool:
        """Whether `handle` is for this tool, for loops that have others beside it."""
        return any(tool.name == tool_name for tool in self.model_tools)

    async def open(self) -> None:
        """Hand the tools to the server and learn what the model is to see. Client.toolkit has done this."""
        await self._register()
        asked = {key: value for key, value in self._options.items() if key in _DESCRIBE_OPTIONS}
        description = await self._client.describe(**cast("DescribeOptions", {**asked, **self._source()}))
        self.model_tools = description.model_tools

    def definitions(self, provider: Provider) -> list[dict[str, Any]]:
        """The tools to register, in the form of the OpenAI Chat Completions API ("openai"), the OpenAI Responses
        API ("openai_responses"), the Anthropic API ("anthropic"), or MCP ("mcp")."""
        return [_definition(tool, provider) for tool in self.model_tools]

    async def handle(self, tool_name: str, arguments: Mapping[str, Any] | str, **options: Unpack[RunOptions]) -> Answer:
        """Do what the model asks for: `arguments` as an object, or as the JSON text in which OpenAI sends it.

        `options` stand above the toolkit's own for this call. What a model can mend comes back as an answer that
        says so. Raises NotRun and FateUnknown as Client.run does; a run that has begun is never sent again.
        """
        check_names(options, RunOptions)
        try:
            parsed = _parsed(arguments)
        except ValueError as error:
            return self._refusal(f"the arguments are no JSON object: {error}")
        role = next((tool.role for tool in self.model_tools if tool.name == tool_name), None)
        match role:
            case None:
                known = ", ".join(tool.name for tool in self.model_tools)
                return self._refusal(f"there is no tool {tool_name!r}; there is: {known}")
            case "list":
                return await self._told(detail="signatures")
            case "details":
                return await self._details(parsed)
            case _:
                return await self._run(parsed, options)

    async def _details(self, arguments: Mapping[str, Any]) -> Answer:
        names: Any = arguments.get("functions")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in cast("Sequence[Any]", names)):
            return self._refusal('the arguments must be {"functions": [names]}')
        return await self._told(detail="full", names=list(dict.fromkeys(cast("Sequence[str]", names))))

    async def _told(self, **options: Unpack[DescribeOptions]) -> Answer:
        """What the server has to say about the tools."""

        async def ask() -> Description:
            asked: Any = {"dialect": self.dialect, **options, **self._source()}
            return await self._client.describe(**asked)

        try:
            return Answer(text=(await self._with_known_tools(ask)).text)
        except InvalidRequest as error:
            return self._refusal(str(error))

    async def _run(self, arguments: Mapping[str, Any], options: RunOptions) -> Answer:
        source = arguments.get("code")
        if not isinstance(source, str):
            return self._refusal("the argument code is missing: the script as a string")
        merged: dict[str, Any] = {"state": self.state, **_of_a_run(self._options), **options, "dialect": self.dialect}
        if "tool_graph" in arguments:
            merged.setdefault("annotations", arguments["tool_graph"])

        async def run() -> RunResult:
            tools = {"tools": list(self.tools.values()), "catalog_id": self._catalog_id}
            return await self._client.run(source, **cast("RunOptions", {**merged, **tools}))

        try:
            result = await self._with_known_tools(run)
        except InvalidRequest as error:
            return self._refusal(f"the script was not run: {error}")
        if "state" not in options:
            self.state = result.state
        return answer_of(result, self.dialect)

    async def _with_known_tools(self, work: Callable[[], Awaitable[_Result]]) -> _Result:
        """Do it, and once more if the server has forgotten the tools: it says so before it does anything."""
        try:
            return await work()
        except PreconditionFailed as error:
            if error.reason != _CATALOG_UNKNOWN:
                raise
        await self._register()
        return await work()

    async def _register(self) -> None:
        try:
            self._catalog_id = (await self._client.register_catalog(list(self.tools.values()))).catalog_id
        except Unimplemented:  # then they go with every run
            self._catalog_id = None

    def _source(self) -> Mapping[str, Any]:
        return {"catalog_id": self._catalog_id} if self._catalog_id else {"tools": list(self.tools.values())}

    def _refusal(self, message: str) -> Answer:
        return Answer(text=f"Error: {message}", is_error=self.dialect != "devoxxgenie")


def toolkit_tools(tools: Sequence[Any], call: CallTool | None) -> dict[str, Tool]:
    """Functions, tools, and definitions whose calls `call` runs, by name and in their order.

    Raises TypeError or ValueError for what gives no tools.
    """
    made: list[Any] = []
    for each in tools:
        if isinstance(each, Tool) or not is_definition(each):
            made.append(each)
        elif call is None:
            raise TypeError("a list of definitions needs `call`, which runs the tool of a name")
        else:
            made += tools_from([each], call)
    return as_tools(made)


def _of_a_run(options: ToolkitOptions) -> Mapping[str, Any]:
    return {key: value for key, value in options.items() if key in RunOptions.__annotations__ and key != "state"}


def _parsed(arguments: Mapping[str, Any] | str) -> Mapping[str, Any]:
    """Raises ValueError."""
    parsed: Any = parse_json(arguments or "{}") if isinstance(arguments, str) else arguments
    if not isinstance(parsed, Mapping):
        raise ValueError(f"a {type(parsed).__name__}")  # noqa: TRY004  # one kind of error for what a model sent
    members = cast("Mapping[str, Any]", parsed)
    dump_json(dict(members))  # what cannot be sent is told now: half a surrogate pair, what is nested too deeply
    return members


def _definition(tool: ModelTool, provider: Provider) -> dict[str, Any]:
    named = {"name": tool.name, "description": tool.description}
    match provider:
        case "openai":
            return {"type": "function", "function": {**named, "parameters": tool.input_schema}}
        case "openai_responses":
            return {"type": "function", **named, "parameters": tool.input_schema}
        case "anthropic":
            return {**named, "input_schema": tool.input_schema}
        case "mcp":
            return {**named, "inputSchema": tool.input_schema}
        case _:
            raise ValueError(f"{provider!r} is not one of {', '.join(get_args(Provider))}")
