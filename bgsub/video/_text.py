"""Text for messages: names of sources, free of credentials, and frame sizes."""

import re

__all__ = ["public_name", "text_size"]

_SECRET = re.compile(r"(?!\w:[\\/])[^:]*:.*@(.*)", re.DOTALL)  # but no path with a drive of Windows
_MISTYPED = re.compile(r"(?:rtsps?|https?|rtmps?|udp):", re.IGNORECASE)


def public_name(url: str) -> str:
    """Return the part of an address that may be shown: scheme, host and a path that cannot hold a secret.

    User, password and query never appear, nor a path with "=" or similar signs (cameras put passwords there), nor
    that of rtmp, where it is the key for publishing.

    Examples
    --------
    >>> public_name("rtsp://admin:secret@10.0.0.7:554/live/1?token=abc")
    'rtsp://10.0.0.7:554/live/1'
    """
    scheme, colon, rest = url.partition("://")
    if not colon:
        return _mistyped_name(url)
    scheme = scheme.lower()
    before_query = re.split(r"[?#]", rest, maxsplit=1)[0]
    if "@" in rest and "@" not in before_query:
        return f"{scheme}://..."  # a question mark in a password or an at sign in a query: the two look alike
    host, slash, path = before_query.rpartition("@")[2].partition("/")
    if scheme.startswith("rtmp") or re.search(r"[=&@%;:]", path):
        path = "..." if path else ""
    return f"{scheme}://{host}{slash}{path}"


def _mistyped_name(text: str) -> str:
    """Return the part of a text that may be shown if it is no address, but looks as if it were to be one."""
    if match := _SECRET.fullmatch(text):
        host, slash, path = re.split(r"[?#]", match[1], maxsplit=1)[0].partition("/")
        return f"...@{host}{slash}{'...' if re.search(r'[=&%;]', path) else path}"
    if _MISTYPED.match(text) and re.search(r"[=&?#]", text):
        return f"{text.partition(':')[0]}:..."
    return text  # a path


def text_size(size: tuple[int, int]) -> str:
    """Return (height, width) as WIDTHxHEIGHT."""
    return f"{size[1]}x{size[0]}"
