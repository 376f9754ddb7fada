"""The commands, one file for each. What a command needs beyond its options is imported when it runs."""

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from codecage.client.cli import _info, _mcp, _run, _serve

app = typer.Typer(
    name="codecage",
    help="Run JavaScript that a model wrote in a disposable sandboxed process.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("run")(_run.run)
app.command("info")(_info.info)
app.command("mcp")(_mcp.mcp)
for _name, _command in (("serve", _serve.serve), ("doctor", _serve.doctor)):
    app.command(
        _name,
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )(_command)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        try:
            print(f"codecage {version('codecage')}")
        except PackageNotFoundError:
            print("codecage, not installed as a package")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    """Options of every command."""
