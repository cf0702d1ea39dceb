"""An RTSP server that plays images again and again, as a camera does; run by the system's Python, which has GStreamer.

Arguments: port, names of PNG images as in frame%04d.png, frames per second, and user:password or nothing.
"""

import sys


def main(port: str, pattern: str, rate: str, auth: str = "") -> None:
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
        f"! x264enc tune=zerolatency speed-preset=ultrafast key-int-max={rate} ! h264parse "
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
    server.get_mount_points().add_factory("/live", factory)
    server.attach(None)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    GLib.MainLoop().run()


if __name__ == "__main__":
    main(*sys.argv[1:])
