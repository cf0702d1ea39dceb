"""Contract checks for sources and sinks, for the tests of this and of other packages.

Each function raises AssertionError with one line that names the defect, and needs no test framework.
"""

from bgsub.testing.sinks import check_sink
from bgsub.testing.sources import check_source

__all__ = ["check_sink", "check_source"]
