"""An RTSP server that plays images again and again, as a camera does; run by the system's Python, which has GStreamer.

Arguments: port, names of PNG images as in frame%04d.png, frames per second, user:password or nothing, and a file to
which the time and the number of each frame are added, or nothing.
"""

import sys
import time
from pathlib import Path


def main(port: str, pattern: str, rate: str, auth: str = "", log: str = "") -> None:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstRtspServer", "1.0")
    from gi.repository import GLib, Gst, GstRtspServer

    Gst.init(None)
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(port)
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(
        f"( multifilesrc location={pattern} loop=true caps=image/png,framerate={rate}/1 ! pngdec ! videoconvert "
        f"! x264enc name=encoder tune=zerolatency speed-preset=ultrafast key-int-max={rate} ! h264parse "
        "! rtph264pay name=pay0 pt=96 config-interval=1 )"
    )
    factory.set_shared(True)
    if auth:
        user, _, password = auth.partition(":")
        checks = GstRtspServer.RTSPAuth()
        token = GstRtspServer.RTSPToken()
        token.set_string("media.factory.role", user)
        checks.add_basic(GstRtspServer.RTSPAuth.make_basic(user, password), token)
        server.set_auth(checks)
        permissions = GstRtspServer.RTSPPermissions()
        permissions.add_permission_for_role(user, "media.factory.access", True)
        permissions.add_permission_for_role(user, "media.factory.construct", True)
        factory.set_permissions(permissions)
    if log:
        # Nothing is encoded while nobody looks, so that these are the frames that were sent.
        sent = Path(log).open("a", buffering=1)  # noqa: SIM115 - as long as the process

        def connect(_: object, media: "GstRtspServer.RTSPMedia") -> None:
            numbers = iter(range(10**9))

            def note(*_: object) -> "Gst.PadProbeReturn":
                sent.write(f"{time.time():.3f} {next(numbers)}\n")
                return Gst.PadProbeReturn.OK

            pad = media.get_element().get_by_name("encoder").get_static_pad("src")
            pad.add_probe(Gst.PadProbeType.BUFFER, note)

        factory.connect("media-configure", connect)
    server.get_mount_points().add_factory("/live", factory)
    server.attach(None)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    GLib.MainLoop().run()


if __name__ == "__main__":
    main(*sys.argv[1:])
