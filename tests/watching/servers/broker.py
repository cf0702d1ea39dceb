"""A real mosquitto on loopback."""

import contextlib
import shutil
import socket
import subprocess
from pathlib import Path

from tests.watching.made import until
from tests.watching.servers.cameras import free_port

MOSQUITTO = shutil.which("mosquitto") or shutil.which("/usr/sbin/mosquitto")
PASSWD = shutil.which("mosquitto_passwd") or ""


class Broker:
    """A mosquitto of our own, that can be ended and started again."""

    def __init__(self, folder: Path, password: str | None = None) -> None:
        self.port, self._folder = free_port(), folder
        text = f"listener {self.port} 127.0.0.1\npersistence true\npersistence_location {folder}/\nuser root\n"
        if password:
            done = subprocess.run(
                [PASSWD, "-b", "-c", folder / "passwords", "viewer", password], check=True, timeout=20
            )
            assert done.returncode == 0
            text += f"password_file {folder}/passwords\nallow_anonymous false\n"
        else:
            text += "allow_anonymous true\n"
        (folder / "mosquitto.conf").write_text(text)
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self._folder / "mosquitto.log").open("a") as log:
            self._process = subprocess.Popen([MOSQUITTO or "", "-c", self._folder / "mosquitto.conf"], stderr=log)
        until(self._answers, 10)

    def _answers(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def stop(self, *, kill: bool = False) -> None:
        """End it; one that is killed remembers nothing since it last wrote its database."""
        if kill:
            self._process.kill()
        else:
            self._process.terminate()
        self._process.wait(20)
