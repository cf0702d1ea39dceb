"""Marks that several tests share."""

import pytest

from bgsub._numba import JIT_ENABLED

needs_compiler = pytest.mark.skipif(not JIT_ENABLED, reason="too slow as plain Python")
"""For what is done with whole scenes; the compiled functions themselves are compared with plain ones elsewhere."""
