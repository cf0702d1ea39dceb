"""`bgsub papers`: published numbers of the learners, reproduced."""

from pathlib import Path

import click

from bgsub._files import check_file

__all__ = ["papers"]


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), default=Path(), help="Folder for papers.md.  [default: here]"
)
@click.option("--digits", type=click.Path(path_type=Path), help="Draw the digits that NORMA finds novel to this image.")
@click.option("--force", "-f", is_flag=True, help="Overwrite an existing page.")
def papers(data: Path, output: Path, digits: Path | None, force: bool) -> None:
    """Reproduce the published experiments on the learners with the data sets in DATA.

    Prints a table of published numbers, ours and verdicts while it is made, and writes it with plots to papers.md. It
    takes some minutes, and needs the extras learners and plot.
    """
    from bgsub.papers.page import write_page

    check_file(output / "papers.md", (".md",), force)
    if digits is not None:
        check_file(digits, (".png",), force)
    write_page(data, output, digits, report=lambda line: click.echo(line, nl=False))
