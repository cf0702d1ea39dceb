"""Functions for compiled code: a fast exp2 and a prefetch."""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from bgsub._numba.compiler import JIT_ENABLED, shared
from bgsub._numba.fast_compiler import warn_of_plain_numba

__all__ = ["exp2_nonpositive", "prefetch"]

_ROUND = np.float32(1.5 * 2**23)  # adding it leaves round(y) in the low bits of a float32
# A product of 2**-100 and a coefficient is still above 2**-126; numbers below are a hundred times slower.
_LOWEST = np.float32(-100.0)
_TOP = np.int32(23)  # bits of the mantissa, below the exponent
# Minimax polynomial of 2**f on [-0.5, 0.5], relative error 7.5e-8.
_C0, _C1, _C2 = np.float32(1.0000000716546795), np.float32(0.6931469670646155), np.float32(0.240221197238557)
_C3, _C4, _C5 = (
    np.float32(0.05550713273734449),
    np.float32(0.009675541333816356),
    np.float32(0.00132764719159073),
)


@shared
def exp2_nonpositive(y: np.float32) -> np.float32:
    """2**y for float32 y <= 0, relative error below 5e-6; 2**-100 where y < -100.

    libm's exp2 keeps a loop from being vectorised; this is a rounding, a polynomial of the fraction and an
    integer addition to the exponent bits.
    """
    y = max(y, _LOWEST)
    shifted = np.float32(y + _ROUND)
    f = np.float32(y - np.float32(shifted - _ROUND))
    p = np.float32(_C5 * f + _C4)
    p = np.float32(p * f + _C3)
    p = np.float32(p * f + _C2)
    p = np.float32(p * f + _C1)
    p = np.float32(p * f + _C0)
    exponent = np.int32(shifted.view(np.int32) << _TOP)
    return np.int32(p.view(np.int32) + exponent).view(np.float32)


_CACHE_LINE = 64  # bytes


def _prefetch(typing: Any, row: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        try:
            from llvmlite import ir
            from numba.core import cgutils

            array = context.make_array(signature.args[0])(context, builder, value=arguments[0])
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            start = builder.bitcast(array.data, byte)
            kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")  # type: ignore[no-untyped-call]
            for offset in range(0, 8 * signature.args[0].dtype.bitwidth, _CACHE_LINE):
                line = builder.gep(start, [ir.IntType(64)(offset)])
                builder.call(function, [line, number(0), number(3), number(1)])  # for reading, to stay, data
        except (ImportError, AttributeError, TypeError) as error:  # private names have moved: do without
            warn_of_plain_numba(str(error))
        return context.get_dummy_value()

    return types.void(row), generate


def _no_prefetch(row: Any) -> None:
    pass


prefetch: Any = intrinsic(_prefetch) if JIT_ENABLED else _no_prefetch
"""In compiled code: prefetch the first 64 numbers of a contiguous row into the cache."""
