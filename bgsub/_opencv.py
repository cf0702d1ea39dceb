"""The only importer of cv2: a missing system library becomes one line that names the packages."""

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
