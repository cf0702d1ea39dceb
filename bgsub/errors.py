"""Exceptions. Catch `BgsubError` for everything that is not a wrong argument."""

import re

__all__ = [
    "BgsubError",
    "ConcurrencyError",
    "ConfigError",
    "DatasetError",
    "DependencyError",
    "ModelFileError",
    "ReportError",
    "SinkError",
    "SourceError",
    "UnsupportedError",
    "conceal",
]


class BgsubError(Exception):
    """Base of every error that is not a wrong argument; its text is one line that names cause and remedy."""


class SourceError(BgsubError):
    """A video, image folder, stream or camera could not be opened or read."""


class SinkError(BgsubError):
    """An output could not be written."""


class ModelFileError(BgsubError):
    """A saved model is missing, damaged, of another version or of another frame size."""


class ConcurrencyError(BgsubError, RuntimeError):
    """A detector was used by two threads at once, which would leave its model in a state of chance."""


class ConfigError(BgsubError):
    """A settings or region-of-interest file is missing or wrong."""


class DatasetError(BgsubError):
    """A data set for evaluation does not have the layout of the change-detection benchmark."""


class ReportError(BgsubError, ValueError):
    """Results of an evaluation are not those of a report, or contradict each other."""


class DependencyError(BgsubError, ImportError):
    """A Python package or a system library that a function needs is missing or broken."""


class UnsupportedError(BgsubError):
    """The detector lacks the requested ability, such as freezing OpenCV's KNN."""


def conceal(message: str) -> str:
    """Return the message of a library or a system without what looks like credentials.

    Examples
    --------
    >>> conceal("no such command 'user:secret@10.0.0.7:554/live'")
    "no such command ...@10.0.0.7:554/live'"
    """
    return re.sub(r"\S*:\S*@(?=\S)", "...@", message)
