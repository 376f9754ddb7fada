"""Whether a text is TypeScript, by the word of a parser."""

from __future__ import annotations

import tree_sitter
import tree_sitter_typescript

__all__ = ["declared", "problems_with"]

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


def declared(source: str) -> tuple[list[str], list[str]]:
    """The types that a block declares, and the members of `tools`, up to their arguments. Fails for else."""
    root = _PARSER.parse(source.encode()).root_node
    types: list[str] = []
    members: list[str] = []
    for statement in root.named_children:
        if statement.type == "type_alias_declaration":
            types.append(_text(statement.child_by_field_name("name")))
        elif statement.type == "ambient_declaration":
            (constant,) = (child for child in statement.named_children if child.type == "lexical_declaration")
            (variable,) = constant.named_children
            assert _text(variable.child_by_field_name("name")) == "tools"
            annotation = variable.child_by_field_name("type")
            assert annotation is not None
            (body,) = annotation.named_children
            for member in body.named_children:
                if member.type != "comment":
                    assert member.type == "method_signature", member
                    members.append(_text(member.child_by_field_name("name")))
        else:
            assert statement.type == "comment", statement
    return types, members


def _text(node: tree_sitter.Node | None) -> str:
    assert node is not None
    assert node.text is not None
    return node.text.decode()
