"""The only importer of cv2: a missing system library, or two OpenCVs in one folder, become a line with the remedy."""

import logging
from importlib.metadata import PackageNotFoundError, version

from bgsub.errors import DependencyError

try:
    import cv2
except ImportError as error:
    if "lib" not in str(error):
        raise DependencyError(f"OpenCV cannot be imported ({error}); run: pip install opencv-python") from error
    raise DependencyError(
        f"OpenCV cannot be imported ({error}); on Debian and Ubuntu run: apt-get install libgl1 libglib2.0-0"
    ) from error

__all__ = ["cv2"]

logger = logging.getLogger(__name__)

_DISTRIBUTIONS = (
    "opencv-python",
    "opencv-contrib-python",
    "opencv-python-headless",
    "opencv-contrib-python-headless",
)
"""Each installs a folder `cv2` of its own over that of any other."""


def _installed() -> list[str]:
    """Return the distributions of OpenCV that are installed, with their versions."""
    found = []
    for name in _DISTRIBUTIONS:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found


def _warn_of_several() -> None:
    if len(found := _installed()) > 1:
        logger.warning(
            "%s are installed in one folder, cv2, where the last one (%s) has overwritten files of the others; "
            "uninstall all of them, then install one",
            " and ".join(found),
            cv2.__version__,
        )


_warn_of_several()
