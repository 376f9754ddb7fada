"""Groups of errors, as task groups raise them."""

from typing import cast

__all__ = ["first_of"]


def first_of(error: BaseException) -> BaseException:
    """The error itself; of a group of errors, the first."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error
