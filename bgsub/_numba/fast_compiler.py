"""A compiler of numba's that makes faster code, and makes it sooner.

Every use of a private name of numba or llvmlite for compiling stands here, and each may fail in another version.
"""

import functools
import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba

__all__ = ["forget_literals", "make_fast_compiler", "warn_of_plain_numba"]

logger = logging.getLogger(__name__)


@functools.cache
def warn_of_plain_numba(missing: str) -> None:
    """Log, once, that a private name of numba or llvmlite is missing and compiled functions are slower without it."""
    logger.warning("this version of numba (%s) lacks %s: results are the same, but slower", numba.__version__, missing)


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Pause garbage collection: it looks again and again at all that numba keeps, for a fifth of the time to compile.

    Numba's compiler lock lets one thread at a time in here.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class _PlainText:
    """A colour scheme of numba's messages without colours."""

    def __getattr__(self, name: str) -> Any:
        return str


@contextmanager
def _errors_plain() -> Iterator[None]:
    """Leave numba's errors without colours: trying one typing after the other, it makes many that nobody sees.

    Where colorama is installed, each of them asks the terminal several times: a thirtieth of the time to compile.
    """
    from numba.core import errors

    messages: Any = errors
    scheme = messages._termcolor_inst
    messages._termcolor_inst = _PlainText()
    try:
        yield
    finally:
        messages._termcolor_inst = scheme


def _make_part_library() -> Any:
    """Return a class of libraries for functions that only compiled code calls.

    Such a function is optimised and made machine code as a part of its callers. Numba does both for the function
    alone as well, which is a tenth of the time to compile and serves calls from Python.
    """
    from numba.core.codegen import JITCodeLibrary

    class PartLibrary(JITCodeLibrary):
        @property
        def codegen(self) -> Any:
            return _WithoutEnvironment(self._codegen)

        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()  # type: ignore[no-untyped-call]
            return 0  # which numba takes for a function that Python cannot call

    return PartLibrary


def _make_flags() -> Any:
    """Return a class of compiler flags that numba compares quickly.

    Numba keeps its own parts, such as `min` of two float32, by types and flags, and asks both sets of flags for each
    option by name whenever it looks one up, which is a tenth of the time to compile. Whether Python can call a
    function is no reason for it to have parts of its own.
    """
    from numba.core.compiler import Flags

    defaults = {name: option.default for name, option in Flags.options.items() if name != "no_cpython_wrapper"}

    class QuickFlags(Flags):
        def values(self) -> dict[str, Any]:
            known = defaults | self._values
            known.pop("no_cpython_wrapper", None)
            return known

    return QuickFlags


class _WithoutEnvironment:
    """A code generator that does not write where a function finds its Python objects: a part has neither."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        pass


def forget_literals(dispatcher: Any) -> None:
    """Compile no copy of a function for each number that compiled code passes: where LLVM inlines it, it sees them."""
    try:
        from numba.core import types

        general: Any = types.unliteral
        find_template = dispatcher.get_call_template
    except (ImportError, AttributeError) as error:
        warn_of_plain_numba(str(error))
        return

    def find_general_template(arguments: Any, named: Any) -> Any:
        return find_template([general(each) for each in arguments], {k: general(v) for k, v in named.items()})

    dispatcher.get_call_template = find_general_template


def make_fast_compiler() -> Any:
    """Return a compiler class whose lowering makes LLVM two promises that Python code cannot express.

    Arrays that are written overlap no other argument: without the promise every short loop begins with a comparison
    of all its arrays' addresses (10 to 25 % of the detectors' time). And vectors may have all bits of a register:
    LLVM takes 256 of the 512 bits of AVX-512, for the sake of older processors that they slow down (15 to 20 %).
    """
    from numba.core.compiler import CompilerBase, DefaultPassBuilder
    from numba.core.compiler_machinery import register_pass
    from numba.core.lowering import Lower
    from numba.core.typed_passes import NativeLowering

    part_library = _make_part_library()

    class FastLower(Lower):
        def setup_function(self, fndesc: Any) -> None:
            fndesc.noalias = True
            super().setup_function(fndesc)  # type: ignore[no-untyped-call]
            try:
                # llvmlite does not know this attribute, and its own `add` refuses what it does not know
                set.add(self.function.attributes, '"prefer-vector-width"="512"')
            except (AttributeError, TypeError) as error:
                warn_of_plain_numba(str(error))

    @register_pass(mutates_CFG=True, analysis_only=False)  # type: ignore[no-untyped-call]
    class FastLowering(NativeLowering):
        _name: Any = "bgsub_fast_lowering"

        @property
        def lowering_class(self) -> Any:
            return FastLower

        def run_pass(self, state: Any) -> Any:
            if state.flags.no_cpython_wrapper:
                state.library = part_library(state.targetctx.codegen(), state.func_id.func_qualname)
            return super().run_pass(state)  # type: ignore[no-untyped-call]

    flags = _make_flags()

    class FastCompiler(CompilerBase):
        def compile_extra(self, func: Any) -> Any:
            self.state.flags = flags(self.state.flags)
            with _collection_paused(), _errors_plain():
                return super().compile_extra(func)  # type: ignore[no-untyped-call]

        def define_pipelines(self) -> list[Any]:
            pipeline: Any = DefaultPassBuilder.define_nopython_pipeline(self.state)  # type: ignore[no-untyped-call]
            steps = [(FastLowering if step is NativeLowering else step, why) for step, why in pipeline.passes]
            if all(step is not FastLowering for step, _ in steps):
                warn_of_plain_numba("the lowering pass")
            pipeline.passes = steps
            pipeline.finalize()
            return [pipeline]

    return FastCompiler
