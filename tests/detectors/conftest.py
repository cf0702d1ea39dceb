"""Tests of the detectors run compiled functions, and so also as plain Python and with bounds checked."""

from pathlib import Path

import pytest

AS_EITHER = ("test_exclusive.py", "test_inputs.py", "test_model_file.py", "test_opencv_names.py", "test_parameters.py")
"""What these look at lies before or after compiled functions, and is the same either way."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents and item.path.name not in AS_EITHER:
            item.add_marker(pytest.mark.compiled)
