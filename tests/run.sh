#!/bin/sh
# Install what the tests need and run all of them, without a screen. Run from anywhere.
# Arguments go to the main pytest run: sh tests/run.sh -k camera
set -eu
. "$(dirname -- "$0")/../samples/setup.sh"
setup dev
cd "$root"
export QT_QPA_PLATFORM=offscreen

if [ $# -gt 0 ]; then
    exec "$python" -m pytest -W error "$@"
fi
step() { say "== $1"; shift; "$@"; }
step "ruff" "$python" -m ruff check .
step "ruff format" "$python" -m ruff format --check .
step "mypy" "$python" -m mypy
step "import-linter" "$root/.venv/bin/lint-imports" --no-logo
# An index past the end reads rubbish silently in a compiled kernel, and only plain Python counts its lines.
step "kernels with bounds checked" env NUMBA_BOUNDSCHECK=1 "$python" -m pytest -q -W error tests/bank
step "kernels as plain Python" env NUMBA_DISABLE_JIT=1 "$python" -m pytest -q -W error tests/bank \
    --cov=bgsub.detectors --cov-report=term --cov-fail-under=90
step "kernels of the learners with bounds checked" env NUMBA_BOUNDSCHECK=1 "$python" -m pytest -q -W error \
    -m kernels tests/learners
step "kernels of the learners as plain Python" env NUMBA_DISABLE_JIT=1 "$python" -m pytest -q -W error -m kernels \
    tests/learners
step "everything" "$python" -m pytest -q -W error
