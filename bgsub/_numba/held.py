"""Arguments that compiled functions get again and again, taken from Python once.

For each call numba looks up the type of every argument, for which it spells out the fields of named tuples, and takes
every array apart. For the state of a model that takes longer than most compiled functions on small frames.
"""

from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import NativeValue, intrinsic, models, overload, register_model, typeof_impl, unbox

from bgsub._numba.atomics import borrow, has_private_names
from bgsub._numba.compiler import JIT_ENABLED, PLAIN_NUMBA, compiled

__all__ = ["HOLDS", "Holder", "hold", "unpack"]

HOLDS = JIT_ENABLED and not PLAIN_NUMBA and has_private_names()
"""Whether arguments are held; else they are tuples, which numba takes from Python in each call."""
_MOST = 32  # tuples of arguments that a holder keeps
_ARRAY_BYTES = 256  # at least of an array of up to 13 dimensions, and of any number


class Held:
    """Arguments as compiled code sees them, in memory that lasts as long as this object, as do their arrays."""

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        typeof: Any = numba.typeof
        kind = typeof(arguments)
        self.arguments = arguments
        self._memory = np.zeros(_ARRAY_BYTES * (_count(arguments) + 1), np.uint8)
        start = -self._memory.ctypes.data % _ARRAY_BYTES
        self.address = self._memory.ctypes.data + start
        _store(self.address, arguments)
        self._numba_type_ = _HeldType(kind)


class _HeldType(types.Type):
    """The type of arguments that are held: an address, and what lies there."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        super().__init__(name=f"Held({kind})")

    @property
    def key(self) -> Any:  # names of types leave out the modules of their classes
        return self.kind


def _count(arguments: Any) -> int:
    return sum(map(_count, arguments)) if isinstance(arguments, tuple) else 1


@register_model(_HeldType)
class _HeldModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        from llvmlite import ir

        super().__init__(manager, kind, ir.IntType(64))  # type: ignore[no-untyped-call]


@typeof_impl.register(Held)
def _type_of_held(held: Held, context: Any) -> Any:  # noqa: ARG001
    return held._numba_type_


@unbox(_HeldType)  # type: ignore[no-untyped-call, untyped-decorator]
def _unbox_held(kind: Any, held: Any, context: Any) -> Any:  # noqa: ARG001
    number = context.pyapi.object_getattr_string(held, "address")
    address = context.unbox(types.uintp, number)
    context.pyapi.decref(number)
    return NativeValue(address.value, is_error=address.is_error)  # type: ignore[no-untyped-call]


def _write(typing: Any, address: Any, arguments: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ARG001
        place = builder.inttoptr(values[0], values[1].type.as_pointer())
        builder.store(borrow(context, builder, arguments, values[1]), place)
        return context.get_dummy_value()

    return types.void(types.uintp, arguments), generate


def _load(typing: Any, held: Any) -> Any:  # noqa: ARG001
    if isinstance(held, types.BaseTuple):

        def generate_same(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            context.nrt.incref(builder, signature.return_type, values[0])
            return values[0]

        return held(held), generate_same

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ARG001
        return builder.load(builder.inttoptr(values[0], context.get_value_type(held.kind).as_pointer()))

    return held.kind(held), generate


_write_arguments: Any = intrinsic(_write)


@compiled
def _store(address: Any, arguments: Any) -> None:
    _write_arguments(address, arguments)


_load_arguments: Any = intrinsic(_load)


def unpack(held: Any) -> Any:
    """Return the tuple of arguments that are held, or a tuple itself; also in compiled code."""
    return held if isinstance(held, tuple) else held.arguments


@overload(unpack, jit_options={"forceinline": True, "nogil": True})
def _type_unpack(held: Any) -> Any:  # noqa: ARG001
    def load(held: Any) -> Any:
        return _load_arguments(held)

    return load


def hold(*arguments: Any) -> Any:
    """Take arguments of compiled functions, arrays and numbers or named tuples of them, from Python once for all calls.

    Compiled code gets the tuple of them by `unpack`. The arrays must stay what they are, but for their elements.
    """
    return Held(arguments) if HOLDS else arguments


class Holder:
    """Finds what is held of the same arguments again, for one caller.

    Examples
    --------
    >>> keep, row = Holder(), np.zeros(4, np.uint8)
    >>> first = keep(row, row)
    >>> keep(row, row) is first or not HOLDS
    True
    """

    def __init__(self) -> None:
        self._held: dict[tuple[int, ...], Any] = {}

    def __call__(self, *arguments: Any) -> Any:
        """Return what `hold` returns; the very same objects, which it keeps, are taken from Python but once."""
        if not HOLDS:
            return arguments
        key = tuple(map(id, arguments))
        held = self._held.get(key)
        if held is None:
            if len(self._held) >= _MOST:
                self._held.clear()
            held = self._held[key] = hold(*arguments)
        return held
