"""Text for messages: names of sources, free of credentials, and frame sizes."""

import re

__all__ = ["public_name", "text_size"]


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
        return url  # a path, not an address
    scheme = scheme.lower()
    before_query = re.split(r"[?#]", rest, maxsplit=1)[0]
    if "@" in rest and "@" not in before_query:
        return f"{scheme}://..."  # a question mark in a password or an at sign in a query: the two look alike
    host, slash, path = before_query.rpartition("@")[2].partition("/")
    if scheme.startswith("rtmp") or re.search(r"[=&@%;:]", path):
        path = "..." if path else ""
    return f"{scheme}://{host}{slash}{path}"


def text_size(size: tuple[int, int]) -> str:
    """Return (height, width) as WIDTHxHEIGHT."""
    return f"{size[1]}x{size[0]}"
