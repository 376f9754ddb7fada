"""Sixty tools as several MCP servers of a team would list them together: ten kinds of things, six tools for each."""

from collections.abc import Mapping
from typing import Any, TypeAlias

__all__ = ["ISSUES", "TOOLS", "call"]

_Schema: TypeAlias = dict[str, Any]
_COUNT = 40
_TEXT: _Schema = {"type": "string"}
_TIME: _Schema = {"type": "string", "format": "date-time"}
# Of each kind: what one is called, where it lives, and its fields with what they say of them.
_KINDS: Mapping[str, tuple[str, str, Mapping[str, tuple[_Schema, str]]]] = {
    "issue": (
        "tracker",
        "An issue describes a defect or a wish and is worked on by one person.",
        {
            "title": (_TEXT, "One line that says what is wrong or wanted."),
            "body": (_TEXT, "The whole description, in Markdown."),
            "state": ({"type": "string", "enum": ["open", "closed"]}, "Whether it is still to be done."),
            "assignee": ({"type": ["string", "null"]}, "Login of the person who works on it."),
            "labels": ({"type": "array", "items": _TEXT}, "Names of labels, in any order."),
        },
    ),
    "pull_request": (
        "tracker",
        "A pull request asks for a branch to be merged after review.",
        {
            "title": (_TEXT, "One line that says what changes."),
            "branch": (_TEXT, "The branch that is to be merged."),
            "base": (_TEXT, "The branch that it is to be merged into."),
            "is_draft": ({"type": "boolean"}, "Not ready for review yet."),
            "reviewers": ({"type": "array", "items": _TEXT}, "Logins of those who are asked to review."),
        },
    ),
    "page": (
        "wiki",
        "A page of the team's documentation; pages form a tree.",
        {
            "title": (_TEXT, "The heading, unique below its parent."),
            "parent_id": ({"type": "integer"}, "The page above it."),
            "text": (_TEXT, "The text, in Markdown."),
            "is_public": ({"type": "boolean"}, "Can be read without signing in."),
        },
    ),
    "message": (
        "chat",
        "A message in a channel or in a thread below another message.",
        {
            "channel": (_TEXT, "Name of the channel, without #."),
            "text": (_TEXT, "The text, with mentions as @login."),
            "thread_id": ({"type": "integer"}, "The message that begins the thread."),
            "attachments": ({"type": "array", "items": {"type": "object"}}, "Files, each with name and url."),
        },
    ),
    "event": (
        "calendar",
        "An appointment in the calendar of one person or of a room.",
        {
            "title": (_TEXT, "What it is about."),
            "start": (_TIME, "When it begins."),
            "end": (_TIME, "When it ends; not before it begins."),
            "guests": ({"type": "array", "items": {"type": "string", "format": "email"}}, "Who is invited."),
            "room": (_TEXT, "Name of a room to be booked with it."),
        },
    ),
    "contact": (
        "crm",
        "A person at a customer's, with the ways to reach them.",
        {
            "name": (_TEXT, "Given and family name."),
            "email": ({"type": "string", "format": "email"}, "Address for letters."),
            "phone": (_TEXT, "Number with country code."),
            "company_id": ({"type": "integer"}, "The company that they work for."),
        },
    ),
    "invoice": (
        "billing",
        "A bill to a customer, with one or more positions.",
        {
            "customer_id": ({"type": "integer"}, "Who is to pay."),
            "due": ({"type": "string", "format": "date"}, "The last day on which to pay."),
            "currency": ({"type": "string", "enum": ["EUR", "USD", "GBP"]}, "In which money."),
            "positions": (
                {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"text": _TEXT, "amount": {"type": "number"}, "count": {"type": "integer"}},
                        "required": ["text", "amount"],
                    },
                },
                "What is charged, line by line.",
            ),
        },
    ),
    "file": (
        "drive",
        "A file in the team's shared folders.",
        {
            "path": (_TEXT, "Path from the shared folder on."),
            "content": (_TEXT, "The content, as text or base64."),
            "encoding": ({"type": "string", "enum": ["utf-8", "base64"]}, "How the content is written."),
            "description": (_TEXT, "A line about it, for searching."),
        },
    ),
    "deployment": (
        "ops",
        "A version of a service on one environment, with its health.",
        {
            "service": (_TEXT, "Name of the service."),
            "version": (_TEXT, "The version to run, a tag or a commit."),
            "environment": ({"type": "string", "enum": ["test", "staging", "production"]}, "Where it runs."),
            "replicas": ({"type": "integer", "minimum": 0, "maximum": 50}, "How many run at the same time."),
        },
    ),
    "alert": (
        "ops",
        "A rule that calls somebody when a measurement is out of bounds.",
        {
            "query": (_TEXT, "What is measured, in the language of the monitoring."),
            "threshold": ({"type": "number"}, "The bound."),
            "severity": ({"type": "string", "enum": ["info", "warning", "page"]}, "How loudly it calls."),
            "receivers": ({"type": "array", "items": _TEXT}, "Logins of those who are called, in this order."),
        },
    ),
}


def _tool(server: str, verb: str, kind: str, says: str, properties: _Schema, required: list[str]) -> _Schema:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"name": f"{server}__{verb}_{kind}", "description": says, "inputSchema": schema}


def _tools_of(kind: str) -> list[_Schema]:
    server, says, fields = _KINDS[kind]
    noun = kind.replace("_", " ")
    described = {name: {**schema, "description": text} for name, (schema, text) in fields.items()}
    one = {"id": {"type": "integer", "description": f"Number of the {noun}."}}
    page = {
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 50, "description": "At most so many."},
        "cursor": {"type": "string", "description": "Where to go on, from the last answer."},
    }
    first = next(iter(fields))
    query = {"query": {"type": "string", "description": "Words, all of which must occur; quotes keep them together."}}
    return [
        _tool(server, "list", f"{kind}s", f"Lists {noun}s, the newest first. {says}", page, []),
        _tool(server, "get", kind, f"Gives one {noun} with all of its fields. {says}", one, ["id"]),
        _tool(server, "search", f"{kind}s", f"Finds {noun}s by words, the best first.", {**query, **page}, ["query"]),
        _tool(server, "create", kind, f"Creates a {noun} and gives its number. {says}", described, [first]),
        _tool(server, "update", kind, f"Changes the given fields of a {noun}.", {**one, **described}, ["id"]),
        _tool(server, "delete", kind, f"Deletes a {noun} for good. There is no way back.", one, ["id"]),
    ]


TOOLS: list[_Schema] = [tool for kind in _KINDS for tool in _tools_of(kind)]
"""As MCP servers list them."""

_PEOPLE = ("ann", "bob", "eve", None)
ISSUES: list[dict[str, Any]] = [
    {
        "id": number,
        "title": f"The export of reports breaks off after {number * 7} rows",
        "body": f"Seen on {2 + number % 9} machines since the last release. " + "The log says nothing of use. " * 6,
        "state": "open" if number % 3 else "closed",
        "assignee": _PEOPLE[number % len(_PEOPLE)],
        "labels": ["bug", "export"] if number % 2 else ["bug"],
        "comments": number % 5,
    }
    for number in range(1, _COUNT + 1)
]
"""What the tracker holds."""


def call(name: str, arguments: Mapping[str, Any]) -> Any:
    """Answer a call, as far as the task needs it."""
    if name == "tracker__list_issues":
        return [{"id": issue["id"], "title": issue["title"], "state": issue["state"]} for issue in ISSUES]
    if name == "tracker__get_issue":
        return ISSUES[int(arguments["id"]) - 1]
    raise LookupError(name)
