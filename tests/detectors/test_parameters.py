"""Declarations of parameters: what follows from them, and what is refused when the class is made."""

import inspect
import subprocess
import sys
from typing import Literal

import pytest

from bgsub.detectors import Detector, Parameter, create, param
from bgsub.detectors.norma import Norma
from bgsub.detectors.parameters import Parametrized


class Example(Parametrized):
    """An example.

    Raises
    ------
    ValueError
        Always in style.
    """

    name = "example"
    size: int = param(3, "side of the square", "[1, 9]", unit="px", note="Odd ones look best.", shapes_state=True)
    memory_s: float | None = param(None, "time to forget", "(0, inf)", unit="s")
    mode: Literal["fast", "slow"] = param("fast", "way to go", group="expert")
    loud: bool = param(False, "say it")


def test_signature_documentation_and_values_follow_from_the_declaration():
    signature = inspect.signature(Example)
    assert str(signature) == (
        "(*, size: int = 3, memory_s: float | None = None, mode: str = 'fast', loud: bool = False)"
    )
    text = inspect.getdoc(Example)
    assert "size : int, default 3\n    Side of the square ([1, 9] px). Odd ones look best.\n" in text
    assert 'mode : "fast" | "slow", default \'fast\'' in text
    assert text.index("Parameters") < text.index("Raises")
    made = Example(size=5)
    assert (made.size, made.memory_s, made.mode, made.loud) == (5, None, "fast", False)
    assert isinstance(Example.size, Parameter)
    with pytest.raises(AttributeError, match=r"change\(size=7\)"):
        made.size = 7


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"size": 0}, r"size must be a whole number in \[1, 9\], got 0"),
        ({"size": 2.5}, "size must be a whole number"),
        ({"size": 10**400}, "size must be a whole number"),
        ({"mode": "quick"}, "mode must be one of fast, slow, got 'quick'"),
        ({"loud": 1}, "loud must be true or false, got 1"),
        ({"colour": 1}, "example has no parameter 'colour'; it has size, memory_s, mode, loud"),
    ],
)
def test_wrong_values_are_refused_by_name(values, message):
    with pytest.raises(ValueError, match=message):
        Example(**values)


DECLARATIONS = {
    "must be annotated": lambda: type("Wrong", (Parametrized,), {"size": param(3, "side")}),
    "must have a meaning": lambda: declared(3, "", "[1, 9]"),
    "the default of size must be a whole number in": lambda: declared(0, "side", "[1, 9]"),
    "cannot be a parameter: every detector has a apply": lambda: type(
        "Wrong", (Detector,), {"__annotations__": {"apply": float}, "apply": param(1.0, "nothing")}
    ),
    "hides a parameter": lambda: type("Wrong", (Example,), {"size": 5}),
}


def declared(default, meaning, interval):
    return type("Wrong", (Parametrized,), {"__annotations__": {"size": int}, "size": param(default, meaning, interval)})


@pytest.mark.parametrize("message", DECLARATIONS)
def test_wrong_declarations_are_refused_when_the_class_is_made(message):
    with pytest.raises(TypeError, match=message):
        DECLARATIONS[message]()


@pytest.mark.parametrize("interval", ["1 to 9", "[9, 1]", "(0, 0)", "(a, b)"])
def test_wrong_intervals_are_refused(interval):
    with pytest.raises(ValueError, match="interval must"):
        param(3, "side", interval)


def test_a_subclass_may_declare_a_parameter_again():
    class Larger(Example):
        """Larger."""

        size: int = param(7, "side of the square", "[1, 99]")

    assert Larger().parameters["size"] == 7
    assert Larger(size=50).size == 50


PROGRAM = """
from bgsub.detectors.adaptive import Adaptive
from bgsub.detectors.norma import Norma
from bgsub.detectors.olk import Olk

Norma(), Norma(slots=4), Adaptive(), Olk(rho_rule="pooled")
Norma(slotz=3)
Olk(rho_rule="loud")
Norma(slots="many")
Norma().slots = 4
"""


@pytest.mark.slow
def test_type_checkers_know_names_and_types(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "program.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=300)
    lines = [line.split(":", 2)[1:] for line in done.stdout.splitlines() if "error:" in line]
    found = {int(number): text for number, text in lines}
    assert sorted(found) == [7, 8, 9, 10], done.stdout + done.stderr
    assert 'Unexpected keyword argument "slotz"' in found[7]
    assert 'expected "Literal' in found[8]
    assert 'expected "int"' in found[9]
    assert "read-only" in found[10]


def test_a_detector_says_what_it_lacks():
    with pytest.raises(TypeError, match="must have a class attribute name"):
        type("Nameless", (Norma,), {"name": None})()
    assert create("norma").parameters == Norma().parameters
