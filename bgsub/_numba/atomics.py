"""Intrinsics for compiled code that several threads run at once: shared numbers, and calls through addresses.

They are sequentially consistent: all threads see all changes of shared numbers in one order.
"""

import platform
from typing import Any

from numba import types
from numba.extending import intrinsic

from bgsub._numba.fast_compiler import warn_of_plain_numba

__all__ = ["add", "borrow", "call", "call_plain", "has_private_names", "load", "outline", "relax", "store", "swap"]

_ORDER, _ALIGNED = "seq_cst", 8
# Types of the arguments of a function made by `outline`: the address of what is shared, first and last row.
_KIND = (types.uintp, types.int64, types.int64)
_RELAX = {"x86_64": "llvm.x86.sse2.pause", "amd64": "llvm.x86.sse2.pause"}


def has_private_names() -> bool:
    """Return whether this version of numba and llvmlite has the names that these intrinsics need."""
    try:
        from llvmlite.ir import IRBuilder
        from numba.core.base import BaseContext
        from numba.core.callconv import CPUCallConv
        from numba.core.cgutils import alloca_once, get_or_insert_function, unpack_tuple
        from numba.core.datamodel.models import ArrayModel

        needed: Any = (IRBuilder.atomic_rmw, IRBuilder.load_atomic, IRBuilder.store_atomic)
        needed += (BaseContext.add_linking_libs, BaseContext.get_function, BaseContext.make_tuple)
        needed += (
            ArrayModel.get_field_position,
            CPUCallConv.get_arguments,
            CPUCallConv.return_value,
            alloca_once,
            get_or_insert_function,
        )
        return unpack_tuple is not None and None not in needed
    except (ImportError, AttributeError) as error:
        warn_of_plain_numba(str(error))
        return False


def _pointer(builder: Any, address: Any) -> Any:
    from llvmlite import ir

    return builder.inttoptr(address, ir.IntType(64).as_pointer())


def _add(typing: Any, address: Any, number: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.atomic_rmw("add", _pointer(builder, arguments[0]), arguments[1], _ORDER)

    return types.int64(types.uintp, types.int64), generate


def _swap(typing: Any, address: Any, number: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.atomic_rmw("xchg", _pointer(builder, arguments[0]), arguments[1], _ORDER)

    return types.int64(types.uintp, types.int64), generate


def _load(typing: Any, address: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.load_atomic(_pointer(builder, arguments[0]), _ORDER, _ALIGNED)

    return types.int64(types.uintp), generate


def _store(typing: Any, address: Any, number: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        builder.store_atomic(arguments[1], _pointer(builder, arguments[0]), _ORDER, _ALIGNED)
        return context.get_dummy_value()

    return types.void(types.uintp, types.int64), generate


def _relax(typing: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        from llvmlite import ir
        from numba.core import cgutils

        number = ir.IntType(32)
        machine = platform.machine().lower()
        if machine in _RELAX:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, _RELAX[machine]), [])  # type: ignore[no-untyped-call]
        elif machine in {"aarch64", "arm64"}:
            kind = ir.FunctionType(ir.VoidType(), [number])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.aarch64.hint"), [number(1)])  # type: ignore[no-untyped-call]
        return context.get_dummy_value()

    return types.void(), generate


def _call_plain(typing: Any, address: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        from llvmlite import ir

        builder.call(builder.inttoptr(arguments[0], ir.FunctionType(ir.IntType(32), []).as_pointer()), [])
        return context.get_dummy_value()

    return types.void(types.uintp), generate


def borrow(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return a value without the counts of references of its arrays, which then seem to be nobody's.

    Else each band would count all of them up and down, and threads would wait for each other's counts: 36 times for
    the state of a model, some microseconds.
    """
    from llvmlite import ir

    if isinstance(kind, types.Array):
        counts = context.data_model_manager[kind].get_field_position("meminfo")
        none = ir.Constant(builder.extract_value(value, counts).type, None)
        return builder.insert_value(value, none, counts)
    if isinstance(kind, types.BaseTuple):
        members: Any = kind
        for i, member in enumerate(members):
            borrowed = borrow(context, builder, member, builder.extract_value(value, i))
            value = builder.insert_value(value, borrowed, i)
    return value


def _outline(typing: Any, function: Any, arguments: Any) -> Any:
    inner = typing.resolve_function_type(function, (types.int64, types.int64, *arguments.types), {})

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        from llvmlite import ir
        from numba.core import cgutils

        kind = context.call_conv.get_function_type(types.none, _KIND)
        outlined = ir.Function(builder.module, kind, builder.module.get_unique_name("outlined"))
        outlined.linkage = "internal"
        for attribute in builder.function.attributes:  # how wide vectors may be
            if "vector-width" in attribute:
                set.add(outlined.attributes, attribute)
        body = ir.IRBuilder(outlined.append_basic_block("entry"))
        address, first, last = context.call_conv.get_arguments(outlined)
        copied = values[1].type
        unpacked = cgutils.unpack_tuple(body, body.load(body.inttoptr(address, copied.as_pointer())))  # type: ignore[no-untyped-call]
        call_function = context.get_function(function, inner)
        context.add_linking_libs(getattr(call_function, "libs", ()))
        call_function(body, [first, last, *unpacked])
        context.call_conv.return_value(body, context.get_dummy_value())
        place = cgutils.alloca_once(builder, copied)  # type: ignore[no-untyped-call]
        builder.store(borrow(context, builder, arguments, values[1]), place)
        number = ir.IntType(64)
        both = builder.ptrtoint(outlined, number), builder.ptrtoint(place, number)
        return context.make_tuple(builder, signature.return_type, both)

    return types.UniTuple(types.uintp, 2)(function, arguments), generate  # type: ignore[no-untyped-call]


def _call(typing: Any, function: Any, shared: Any, first: Any, last: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        from llvmlite import ir
        from numba.core import cgutils

        number = ir.IntType(64)
        kind = context.call_conv.get_function_type(types.none, _KIND)
        places = [
            builder.bitcast(cgutils.alloca_once(builder, number, zfill=True), kind.args[i])  # type: ignore[no-untyped-call]
            for i in range(2)  # where numba's functions write their result, and why they failed
        ]
        status = builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), [*places, *arguments[1:]])
        return builder.sext(status, number)

    return types.int64(types.uintp, types.uintp, types.int64, types.int64), generate


add: Any = intrinsic(_add)
"""In compiled code: add to the shared i8 at an address; return what was there."""
swap: Any = intrinsic(_swap)
"""In compiled code: write a shared i8; return what was there."""
load: Any = intrinsic(_load)
"""In compiled code: read a shared i8."""
store: Any = intrinsic(_store)
"""In compiled code: write a shared i8."""
relax: Any = intrinsic(_relax)
"""In compiled code: let the processor know that this thread waits in a loop."""
call_plain: Any = intrinsic(_call_plain)
"""In compiled code: call a C function without arguments, such as `sched_yield`."""
outline: Any = intrinsic(_outline)
"""In compiled code: return the addresses of a function (address, first, last), and of a copy of arguments on the stack.

With the second as its first argument, the first one calls `function(first, last, *arguments)`, on any thread, as
long as the function that called `outline` has not returned.
"""
call: Any = intrinsic(_call)
"""In compiled code: call a function of `outline` by its address; return 0, or another number if it failed."""
