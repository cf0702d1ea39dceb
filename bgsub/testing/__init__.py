"""Contract checks for detectors, sources and sinks, for the tests of this and of other packages.

Each function raises AssertionError with one line that names the defect, and needs no test framework.
"""

from bgsub.testing.detectors import check_detector
from bgsub.testing.sinks import check_sink
from bgsub.testing.sources import check_source

__all__ = ["check_detector", "check_sink", "check_source"]
