"""Data sets by path or text."""

from collections.abc import Callable
from pathlib import Path

from bgsub.errors import DatasetError
from bgsub.evaluation.datasets.generated import parse_generated
from bgsub.evaluation.datasets.layouts import find_sequences
from bgsub.evaluation.datasets.sequence import Sequence
from bgsub.video.sources.synthetic.families import PREFIX

__all__ = ["open_datasets"]


def open_datasets(where: str | Path, *, on_error: Callable[[Path, DatasetError], None] | None = None) -> list[Sequence]:
    """Return the sequences in a folder, or those of generated families.

    Parameters
    ----------
    where : str or path
        A folder, see `find_sequences`; or ``generated:FAMILY?KEY=VALUE&...``, such as ``generated:all`` or
        ``generated:noise?sigma=2,8&seed=1&size=160x120&frames=200``, see
        `bgsub.video.sources.synthetic.families.parse_names`.
    on_error : callable, optional
        Called with the folder and the error of a sequence that is wrong, which is then left out.

    Returns
    -------
    list of Sequence

    Raises
    ------
    DatasetError
        If there are no sequences, one is wrong, or the text is not understood.

    Examples
    --------
    >>> [sequence.name for sequence in open_datasets("generated:jitter?amplitude=1,4&size=64x48&frames=20")]
    ['amplitude=1&seed=0&size=64x48&frames=20', 'amplitude=4&seed=0&size=64x48&frames=20']
    """
    text = str(where)
    if not text.startswith(PREFIX):
        return find_sequences(where, on_error=on_error)
    try:
        return list(parse_generated(text))
    except ValueError as error:
        raise DatasetError(f"cannot generate {text}: {error}") from None
