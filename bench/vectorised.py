"""Loops of compiled code that stay scalar on processors without AVX-512, since LLVM finds vectors not worth while.

python -m bench.vectorised [DETECTOR]

AVX2 has neither masked loads of bytes nor conversions of 64-bit integers, so loops that load under a condition, or in
which numba's integers have grown to 64 bits, are vectorised on one processor and not on another, where they take three
times as long. Load before choosing, and wrap sums of small integers in their type.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence

__all__ = ["find_scalar_loops"]

_AVX2 = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt,+movbe,+popcnt"}
_PREAMBLE = """
from llvmlite import binding
binding.set_option("", "--pass-remarks=loop-vectorize")
binding.set_option("", "--pass-remarks-missed=loop-vectorize")
"""
_VECTORISED = re.compile(r"remark: \S+ vectorized loop")
_SCALAR = re.compile(r"remark: ([^:]+:\d+):\d+: the cost-model indicates that vectorization is not beneficial")


def find_scalar_loops(program: str, lines: bool = True) -> tuple[list[str], int]:
    """Run a program in a process of its own, which compiles what it calls for a processor with AVX2.

    Parameters
    ----------
    program : str
        Code in Python.
    lines : bool
        Whether loops are to be found in their files, which takes longer.

    Returns
    -------
    scalar : list of str
        File and line of each loop that could be vectorised, and is not.
    vectorised : int
        How many are.

    Raises
    ------
    RuntimeError
        If the program fails.
    """
    debug = {"NUMBA_DEBUGINFO": "1", "NUMBA_EXTEND_VARIABLE_LIFETIMES": "0"} if lines else {}
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | _AVX2 | debug | {"NUMBA_CACHE_DIR": folder}
        done = subprocess.run(
            [sys.executable, "-c", _PREAMBLE + program], capture_output=True, text=True, check=False, env=environment
        )
    if done.returncode != 0:
        raise RuntimeError(f"the program failed: {done.stderr[-2000:]}")
    return sorted(set(_SCALAR.findall(done.stderr))), len(_VECTORISED.findall(done.stderr))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the loops of a detector that stay scalar."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("detector", nargs="?", default="adaptive")
    detector = parser.parse_args(arguments).detector
    scalar, vectorised = find_scalar_loops(f"from bgsub.warmup import warm_up; warm_up({detector!r})")
    print(f"{vectorised} loops are vectorised. Not worth while for LLVM:", *scalar, sep="\n")


if __name__ == "__main__":
    main()
