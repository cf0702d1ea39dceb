"""How functions are compiled, apart from what they compute."""

import gc
from pathlib import Path
from typing import Any

import pytest

from bgsub._numba import JIT_ENABLED, compiled, compiler, fast_compiler, part

pytestmark = pytest.mark.skipif(
    not JIT_ENABLED or "pipeline_class" not in compiler._OPTIONS, reason="nothing is compiled, or by plain numba"
)


class Collector:
    """Stands for the module gc, and notes what is asked of it."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self.changes: list[bool] = []

    def isenabled(self) -> bool:
        return self.enabled

    def enable(self) -> None:
        self.enabled = True
        self.changes.append(True)

    def disable(self) -> None:
        self.enabled = False
        self.changes.append(False)


def uncached() -> Any:
    """Return a function that no cache on disk can hold."""
    namespace: dict[str, Any] = {}
    exec("def double(x):\n    return 2 * x", namespace)  # noqa: S102 - numba finds no file of it
    return namespace["double"]


def impossible(x: Any) -> Any:
    return x.nothing


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("function", [uncached(), impossible])
def test_garbage_collection_pauses_while_a_function_is_compiled(
    monkeypatch: pytest.MonkeyPatch, enabled: bool, function: Any
) -> None:
    collector = Collector(enabled)
    monkeypatch.setattr(fast_compiler, "gc", collector)
    made: Any = compiled(function)
    if function is impossible:
        with pytest.raises(Exception, match="nothing"):  # numba's own, which only `bgsub._numba` imports
            made(2.0)
    else:
        made.compile("(float64,)")
    assert collector.changes == ([False, True] if enabled else [False])
    assert gc.isenabled()


def test_errors_ask_for_no_colours_while_a_function_is_compiled() -> None:
    from numba.core import errors  # noqa: TID251 - whose colours are paused

    scheme: Any = object()  # without any of the methods that an error would call
    before, errors._termcolor_inst = errors._termcolor_inst, scheme  # type: ignore[attr-defined]
    try:
        made: Any = compiled(impossible)
        with pytest.raises(errors.TypingError, match="nothing"):
            made(2.0)
        assert errors._termcolor_inst is scheme  # type: ignore[attr-defined]
    finally:
        errors._termcolor_inst = before  # type: ignore[attr-defined]


def test_whether_python_can_call_a_function_decides_on_nothing_that_numba_keeps_by_flags() -> None:
    """What numba compiles for a function, such as `min` of its types, serves every other that has the same flags."""
    from numba.core.compiler import Flags  # noqa: TID251 - whose comparison is replaced

    quick = fast_compiler._make_flags()

    def flags(**values: Any) -> Any:
        plain = Flags()
        for name, value in values.items():
            setattr(plain, name, value)
        return quick(plain)

    assert flags() == flags(nrt=Flags().nrt)  # a default that is set
    assert flags(no_cpython_wrapper=True) == flags()
    assert hash(flags(no_cpython_wrapper=True)) == hash(flags())
    assert flags(no_cpython_wrapper=True).copy().no_cpython_wrapper  # and yet is known
    for name in ("nrt", "forceinline", "boundscheck"):
        assert flags(**{name: True}) != flags(**{name: False})
        assert {flags(**{name: True}).copy(): name}[flags(**{name: True})] == name


def test_functions_below_a_compiled_folder_have_the_digest_of_all_of_it(tmp_path: Path) -> None:
    """Numba looks for changes in the file of a function only; it may call others, in folders above and below."""
    folder = tmp_path / "_jit"
    for place in (folder, folder / "family"):
        place.mkdir()
        (place / "rules.py").write_text("def double(x):\n    return 2 * x\n")

    def names() -> list[str]:
        compiler._digest.cache_clear()
        made = []
        for path in (folder / "rules.py", folder / "family" / "rules.py"):
            namespace: dict[str, Any] = {}
            exec(compile(path.read_text(), path, "exec"), namespace)  # noqa: S102 - a function of that file
            made.append(compiled(namespace["double"]).py_func.__qualname__)  # type: ignore[attr-defined]
        return made

    first = names()
    assert first[0] == first[1] != "double"
    (folder / "family" / "rules.py").write_text("def double(x):\n    return x + x\n")
    second = names()
    assert second[0] == second[1] != first[0]
    compiler._digest.cache_clear()


def test_parts_become_machine_code_only_with_the_functions_that_call_them() -> None:
    """Compiled for themselves, too, they would take a tenth of the time until the first mask."""

    def square(x: Any) -> Any:
        return x * x

    made: Any = part(square)

    def sum_of_squares(x: Any, y: Any) -> Any:
        return made(x) + made(y)

    whole: Any = compiled(sum_of_squares)
    assert whole(3.0, 4.0) == 25.0
    (alone,) = made.overloads.values()
    (caller,) = whole.overloads.values()
    engine = alone.library._codegen._engine  # Python's name of a function that it can call is defined there
    assert engine.is_symbol_defined(caller.fndesc.llvm_cpython_wrapper_name)
    assert not engine.is_symbol_defined(alone.fndesc.llvm_func_name)
    assert made._cache.cache_path is None


def test_numbers_passed_as_literals_make_no_copies_of_a_function() -> None:
    @part
    def add(x: Any, y: Any) -> Any:
        return x + y

    @compiled
    def add_all(x: Any) -> Any:
        return add(x, 1) + add(x, 2) + add(x, x)

    assert add_all(3) == 15
    signatures: Any = add
    assert len(signatures.signatures) == 1
