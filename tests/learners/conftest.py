"""A marker for tests that compare kernels with plain numpy on few samples."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "kernels: compiled kernels against plain numpy, small enough for NUMBA_DISABLE_JIT and BOUNDSCHECK"
    )
