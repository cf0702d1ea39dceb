"""A camera that speaks RTSP, on loopback."""

import contextlib
import socket
import subprocess
from pathlib import Path

PYTHON = "/usr/bin/python3"
"""The system's, which has GStreamer."""


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def has_rtsp_server() -> bool:
    """Return whether all packages are there."""
    code = "import gi; gi.require_version('GstRtspServer', '1.0'); from gi.repository import GstRtspServer, Gst\n"
    code += "Gst.init(None); assert Gst.ElementFactory.find('x264enc') and Gst.ElementFactory.find('pngdec')"
    with contextlib.suppress(OSError):
        return subprocess.run([PYTHON, "-c", code], capture_output=True, check=False, timeout=60).returncode == 0
    return False


class RtspServer:
    """A camera that can be switched off and on; it shows the images 0000.png, 0001.png, … of a folder again and again.

    With `log`, it writes the time and the number of each frame that it sends into that file.
    """

    def __init__(self, images: Path, rate_hz: int, auth: str = "", log: Path | str = "") -> None:
        self.port = free_port()
        self._arguments = [str(self.port), f"{images}/%04d.png", str(rate_hz), auth, str(log)]
        self.start()

    def start(self) -> None:
        """Switch it on, and wait until it can be reached."""
        script = Path(__file__).with_name("rtsp_script.py")
        self.process = subprocess.Popen([PYTHON, script, *self._arguments], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def stop(self) -> None:
        """Take its power away."""
        self.process.kill()
        self.process.communicate()
