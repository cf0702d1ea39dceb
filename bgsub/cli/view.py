"""`bgsub view`: open the viewer."""

from pathlib import Path
from typing import Any

import click

from bgsub.cli.options import auth_option, detector_options, find_auth, make_config

__all__ = ["view"]


@click.command()
@click.argument("source", required=False)
@detector_options
@auth_option
@click.option("--load-model", type=click.Path(path_type=Path), help="Start from a saved model.")
def view(source: str | None, **options: Any) -> int:
    """Watch SOURCE in a window, see why a pixel is foreground, and tune the detector.

    SOURCE is given as to `bgsub run`; without one the window opens empty. Needs PyQt6: pip install 'bgsub[gui]'.
    """
    from bgsub.gui.app import run_viewer

    return run_viewer(source, config=make_config(options), model=options["load_model"], auth=find_auth(options))
