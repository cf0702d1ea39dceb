"""The one way in which contract checks fail."""

import contextlib
from collections.abc import Iterator

__all__ = ["require", "require_error"]


def require(condition: object, message: str) -> None:
    """Raise AssertionError with a message unless a condition holds; works under ``python -O`` too."""
    if not condition:
        raise AssertionError(message)


@contextlib.contextmanager
def require_error(kind: type[Exception], message: str) -> Iterator[None]:
    """Raise AssertionError with a message unless the block raises an error of a kind, with a text of one line."""
    try:
        yield
    except kind as error:
        text = str(error)
        require(text.strip() and "\n" not in text, f"the text of {kind.__name__} must be one line, got {text!r}")
        return
    except Exception as error:
        raise AssertionError(f"{message}, got {error!r}") from error
    raise AssertionError(message)
