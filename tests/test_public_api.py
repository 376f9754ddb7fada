"""The lists of public names are complete and sorted, and nothing else is public."""

import importlib
import pkgutil
import types
from typing import Any

import pytest

import codecage.client
import codecage.client.testing

PUBLIC_MODULES = (codecage.client, codecage.client.testing)


def natural(name: str) -> tuple[int, str]:
    """CONSTANTS, then Classes, then functions; each by alphabet."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


@pytest.mark.parametrize("module", PUBLIC_MODULES, ids=lambda module: module.__name__)
def test_the_list_of_names_is_sorted_and_has_no_name_twice(module: types.ModuleType) -> None:
    assert module.__all__ == sorted(set(module.__all__), key=natural)


@pytest.mark.parametrize("module", PUBLIC_MODULES, ids=lambda module: module.__name__)
def test_the_list_of_names_is_complete(module: types.ModuleType) -> None:
    public = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert set(module.__all__) == public


def test_the_client_s_modules_are_private_but_for_the_entry_points() -> None:
    names = {module.name for module in pkgutil.iter_modules(codecage.client.__path__)}
    assert {name for name in names if not name.startswith("_")} == {"cli", "testing"}


@pytest.mark.parametrize("module", PUBLIC_MODULES, ids=lambda module: module.__name__)
def test_everything_public_says_what_it_is_for(module: types.ModuleType) -> None:
    undocumented = [
        name
        for name in module.__all__
        if isinstance(getattr(module, name), type | types.FunctionType) and not getattr(module, name).__doc__
    ]
    assert undocumented == []


def test_no_protobuf_type_and_no_grpc_type_is_public() -> None:
    foreign: list[Any] = [
        name
        for module in PUBLIC_MODULES
        for name in module.__all__
        if getattr(getattr(module, name), "__module__", "").startswith(("google.", "grpc", "codecage.v1"))
    ]
    assert foreign == []


def test_only_the_conversions_touch_protobuf() -> None:
    touching: list[str] = []
    for info in pkgutil.walk_packages(codecage.client.__path__, "codecage.client."):
        if info.name.startswith(("codecage.client._convert", "codecage.client.__main__")):
            continue
        module = importlib.import_module(info.name)
        origins = {
            getattr(value, "__name__", "") for value in vars(module).values() if isinstance(value, types.ModuleType)
        }
        origins |= {str(getattr(value, "__module__", "")) for value in vars(module).values()}
        if any(origin.startswith(("google.", "codecage.v1")) for origin in origins):
            touching.append(info.name)
    assert touching == []
