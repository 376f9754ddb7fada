"""Text of strangers inside comments and strings of TypeScript: it can end neither the comment nor the code fence."""

from __future__ import annotations

import re

import orjson

__all__ = ["clean", "first_sentence", "is_identifier", "one_line", "quoted"]

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Control characters, and those that turn the direction of writing: what is read must be what is there."""
_LINE_END = re.compile("\r\n?|[\u2028\u2029]")
_FENCE = re.compile("`{3,}")
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_SENTENCE = re.compile(r"(.+?[.!?])(?=\s+[^a-z\s]|\s*$)|(.+?[。！？])")  # noqa: RUF001  # the full stops of other scripts
_MAX_SENTENCE = 200


def clean(text: str) -> str:
    """A text that may stand in a block comment, line by line."""
    plain = _CONTROL.sub("", _LINE_END.sub("\n", text))
    return _FENCE.sub(lambda run: "'" * len(run[0]), plain.replace("*/", "* /"))


def one_line(text: str) -> str:
    """The same in one line."""
    return " ".join(clean(text).split())


def first_sentence(description: str) -> str:
    """The first sentence of the first paragraph, at most 200 characters."""
    paragraph = one_line(description.strip().partition("\n\n")[0])
    found = _SENTENCE.match(paragraph)
    sentence = found[0] if found else paragraph
    return sentence if len(sentence) <= _MAX_SENTENCE else sentence[: _MAX_SENTENCE - 1].rstrip() + "…"


def quoted(text: str) -> str:
    """A text as a string literal."""
    literal = _CONTROL.sub(lambda each: f"\\u{ord(each[0]):04x}", orjson.dumps(text).decode())
    literal = literal.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("*/", "*\\/")
    return _FENCE.sub(lambda run: "\\u0060" * len(run[0]), literal)


def is_identifier(text: str) -> bool:
    """Whether a text may stand behind a dot, as a property."""
    return _IDENTIFIER.fullmatch(text) is not None
