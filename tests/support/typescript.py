"""Whether a text is TypeScript, by the word of a parser."""

from __future__ import annotations

import tree_sitter
import tree_sitter_typescript

__all__ = ["problems_with"]

_PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_typescript.language_typescript()))


def problems_with(source: str) -> list[str]:
    """The pieces of `source` that do not parse, each with its line; none where all of it is TypeScript."""
    tree = _PARSER.parse(source.encode())
    pending, found = [tree.root_node], list[str]()
    while pending:
        node = pending.pop()
        if node.type == "ERROR" or node.is_missing:
            line = node.start_point[0]
            found.append(f"{line + 1}: {source.splitlines()[line] if line < len(source.splitlines()) else ''}"[:300])
        elif node.has_error:
            pending += node.children
    return found
