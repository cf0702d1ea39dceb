"""`bgsub view`: open the viewer."""

from pathlib import Path
from typing import Any

import click

from bgsub.cli.shared.options import auth_option, detector_options, find_auth, make_config

__all__ = ["view"]


@click.command()
@click.argument("sources", metavar="[SOURCE]...", nargs=-1)
@detector_options
@auth_option
@click.option("--session", type=click.Path(path_type=Path), help="Continue a session file.")
@click.option("--start", help="First frame of the part to play: a number, 12.5s or HH:MM:SS.mmm.")
@click.option("--end", help="Last frame of the part to play, in the same form.")
@click.option(
    "--scale",
    type=click.FloatRange(0, 1, min_open=True),
    default=1.0,
    show_default=True,
    help="Shrink frames by this factor first.",
)
@click.option("--load-model", type=click.Path(path_type=Path), help="Start from a saved model.")
def view(sources: tuple[str, ...], **options: Any) -> int:
    """Watch SOURCE in a window, see why a pixel is foreground, and tune the detector.

    SOURCE is given as to `bgsub run`, or is a file of `bgsub watch`, whose cameras are shown side by side. Several are
    shown in tabs, to the first of which the options belong; without one the window opens empty.

    Needs PyQt6: pip install 'bgsub[gui]'.
    """
    from bgsub.gui.app import run_viewer
    from bgsub.video.sources import parse_position

    if options["session"] is not None and sources:
        raise click.UsageError("a session names its own source; give SOURCE or --session")
    return run_viewer(
        sources[0] if sources else None,
        more=sources[1:],
        config=make_config(options),
        model=options["load_model"],
        workspace=options["session"],
        part=(parse_position(options["start"], "start"), parse_position(options["end"], "end")),
        scale=options["scale"],
        auth=find_auth(options),
    )
