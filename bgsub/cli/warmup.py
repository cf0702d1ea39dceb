"""`bgsub warmup`: compile ahead of the first run."""

import time

import click

from bgsub.cli.shared.progress import compile_notice

__all__ = ["warmup"]

_DETECTORS = ("adaptive", "norma", "olk")
"""The built-in detectors that are compiled."""
_DTYPES = ("uint8", "uint16", "float32")


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--dtype", "dtypes", type=click.Choice(_DTYPES), multiple=True, help="Type of frames; several may be given. [uint8]"
)
@click.option("--quiet", "-q", is_flag=True, help="Print nothing.")
def warmup(names: tuple[str, ...], dtypes: tuple[str, ...], quiet: bool) -> None:
    """Compile what the detectors NAMES need, all built-in ones by default, so that no first run has to.

    The code is kept beside the package, in the cache of the user, or in NUMBA_CACHE_DIR. It fits one kind of
    processor; on another, the first run compiles again.
    """
    from bgsub.warmup import cache_folder, warm_up

    folder = cache_folder()
    with compile_notice(quiet=quiet):
        for name in names or _DETECTORS:
            for dtype in dtypes or _DTYPES[:1]:
                begin = time.perf_counter()
                compiled = len(warm_up(name, dtype))
                took = f"{compiled} functions compiled in {time.perf_counter() - begin:.1f} s"
                if not quiet:
                    click.echo(f"{name} {dtype}: {took if compiled else 'compiled before'}")
    if not quiet:
        click.echo(f"kept in {folder}")
