"""Credentials for network streams that stand neither in their address nor on the command line."""

import os
import re
import socket
import ssl
from urllib.parse import quote, urlsplit

from bgsub._input.texts import read_text
from bgsub.errors import ConfigError, SourceError
from bgsub.video._text import public_name

__all__ = ["SCHEMES", "read_auth", "refuse_redirect", "with_auth"]

SCHEMES = ("rtsp", "rtsps", "http", "https")
"""Schemes with credentials."""

_VARIABLE = "BGSUB_AUTH"
_MOST_BYTES = 2**12
_STATUS = re.compile(rb"RTSP/\d\.\d (\d{3})")
_PORTS = {"rtsp": 554, "rtsps": 322}


def read_auth(where: str = f"env:{_VARIABLE}") -> str | None:
    """Return the credentials, ``user:password``, that a file or a variable of the environment holds.

    Parameters
    ----------
    where : str
        The name of a file, whose first line counts, or ``env:NAME``; BGSUB_AUTH by default.

    Returns
    -------
    str or None
        None if BGSUB_AUTH is not set.

    Raises
    ------
    ConfigError
        If the file or the variable is missing, or has another form. The message does not repeat it.
    """
    if where.startswith("env:"):
        text, what = os.environ.get(where[4:], ""), f"the variable {where[4:]}"
        if not text and where[4:] == _VARIABLE:
            return None
    else:
        what = f"the file {where}"
        try:
            text = read_text(where, _MOST_BYTES).partition("\n")[0]
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no short text"
            raise ConfigError(f"cannot read credentials from {what}: {reason}; give user:password there") from None
    if ":" not in text:
        raise ConfigError(f"{what} must hold user:password")
    return text


def with_auth(url: str, auth: str | None) -> str:
    """Return an address with credentials, unless it has some or its scheme knows none.

    Examples
    --------
    >>> with_auth("rtsp://camera/live", "viewer:p@ss")
    'rtsp://viewer:p%40ss@camera/live'
    """
    scheme, _, rest = url.partition("://")
    if auth is None or scheme.lower() not in SCHEMES or "@" in re.split(r"[/?#]", rest, maxsplit=1)[0]:
        return url
    user, _, password = auth.partition(":")
    return f"{scheme}://{quote(user, safe='')}:{quote(password, safe='')}@{rest}"


def refuse_redirect(url: str, timeout_s: float) -> None:
    """Refuse an RTSP server that redirects, if the address has credentials.

    FFmpeg would send them to any host that it is redirected to. (By HTTP it does not.) This asks without them.

    Parameters
    ----------
    url : str
        Address of the stream.
    timeout_s : float
        Longest silence of the server; one that cannot be reached is left to FFmpeg.

    Raises
    ------
    SourceError
        If the server redirects.
    """
    scheme = url.partition("://")[0].lower()
    if scheme not in _PORTS or public_name(url) == url:
        return
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or _PORTS[scheme]
        name = parts.netloc.rpartition("@")[2]
        with socket.create_connection((host, port), timeout_s) as plain:
            if scheme == "rtsps":
                context = ssl.create_default_context()
                context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # as FFmpeg; nothing secret is sent
                with context.wrap_socket(plain, server_hostname=host) as secure:
                    status = _ask(secure, f"rtsp://{name}{parts.path}")
            else:
                status = _ask(plain, f"rtsp://{name}{parts.path}")
    except (OSError, ValueError):
        return
    if 300 <= status < 400:
        raise SourceError(
            f"{public_name(url)} redirects, and the credentials would go with it; give the address that it leads to"
        )


def _ask(connection: socket.socket, address: str) -> int:
    """Return the status with which a server answers a request without credentials."""
    connection.sendall(f"DESCRIBE {address} RTSP/1.0\r\nCSeq: 1\r\nAccept: application/sdp\r\n\r\n".encode())
    match = _STATUS.match(connection.recv(1024))
    return int(match[1]) if match else 0
