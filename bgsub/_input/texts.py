"""Text files read up to a limit, so that no device or mistaken file fills the memory."""

import io
from pathlib import Path

__all__ = ["read_text"]


def read_text(path: str | Path, most_bytes: int) -> str:
    r"""Read a file of UTF-8 text.

    Parameters
    ----------
    path : str or path
        The file; a pipe may be read, too.
    most_bytes : int
        Largest size in bytes.

    Raises
    ------
    OSError
        If it cannot be opened.
    ValueError
        If it is larger, or not UTF-8.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "long.txt"
    ...     count = file.write_text("a line\n" * 9)
    ...     read_text(file, 10)
    Traceback (most recent call last):
    ValueError: it is larger than 10 bytes
    """
    with Path(path).open("rb") as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise ValueError(f"it is larger than {most_bytes} bytes")
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8").read()  # with universal newlines
