#!/bin/sh
# Install what the tests need and run them, without a screen. Run from anywhere.
#   sh tests/run.sh                what to run before a commit: static checks and the quick tests
#   sh tests/run.sh --all          everything, as continuous integration does
#   sh tests/run.sh --bounds       the quick tests of compiled code with every index checked
#   sh tests/run.sh --lowest       the quick tests with the lowest versions that pyproject.toml allows
#   sh tests/run.sh --newest       the quick tests with the newest versions of everything, previews included
#   sh tests/run.sh --coverage     which lines of the detectors plain Python runs in the tests
#   sh tests/run.sh --package      builds sdist and wheel, and runs the wheel in an environment of its own
#   sh tests/run.sh -k camera      other arguments go to pytest alone
set -eu
. "$(dirname -- "$0")/../samples/setup.sh"
cd "$root"
export QT_QPA_PLATFORM=offscreen
# Many tests start processes; one in ten of their seconds would go to compiling modules that none keeps.
unset PYTHONDONTWRITEBYTECODE

case ${1:-} in
    --lowest) environment=.venv-lowest pythons="python3.11 python3.12" pip_options="-c tests/lowest.txt" ;;
    --newest) rm -rf .venv-newest; environment=.venv-newest pip_options="--pre --upgrade --upgrade-strategy eager" ;;
esac
[ "${1:-}" = --package ] && . tests/package.sh
setup dev

case ${1:-} in
    --lowest | --newest) exec "$python" -m pytest -q -W error -n auto -m "not slow" ;;
    --coverage)
        export NUMBA_DISABLE_JIT=1
        exec "$python" -m pytest -q -n auto tests/detectors tests/objects -m "not slow" \
            --cov=bgsub.detectors --cov-report=term-missing:skip-covered --cov-fail-under=90 ;;
    --bounds)
        # An index past the end reads rubbish silently in compiled code. Plain Python, which `--all` runs, raises as
        # well, but sees small frames alone.
        export NUMBA_BOUNDSCHECK=1
        exec "$python" -m pytest -q -W error -n auto tests/detectors tests/learners tests/objects \
            -m "compiled and not slow" ;;
    "") tests="not slow" ;;
    --all) tests="" ;;
    *) exec "$python" -m pytest -W error "$@" ;;
esac
# Servers for the tests of `bgsub watch`, which are skipped where they are missing.
servers="mosquitto gir1.2-gst-rtsp-server-1.0 python3-gi gstreamer1.0-plugins-base gstreamer1.0-plugins-good
gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly"
if [ "${1:-}" = --all ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    # shellcheck disable=SC2086
    dpkg -s $servers >/dev/null 2>&1 || need_packages $servers
fi
step() { say "== $1"; shift; "$@"; }
processors=$("$python" -c "import os; print(os.cpu_count() or 1)")
workers=$((processors + 2)) # many tests wait for processes that they started
pytest() { "$python" -m pytest -q -W error -n "$workers" --dist worksteal "$@"; }
# Ahead, since workers that begin at the same time would each compile the same, and beside mypy. Few seconds of it are for
# what adaptive shares with norma and olk.
# `tests.conftest` says where the tests keep compiled code.
compile() {
    for detector; do
        "$python" -c "import sys, tests.conftest; from bgsub.cli import main; sys.exit(main())" \
            warmup "$detector" --quiet || return
    done
}
# These tests call every learner. What fails here fails again, and is shown, when the tests run.
compile_learners() { "$python" -m pytest -q tests/learners/test_single_samples.py >/dev/null || true; }
step "ruff" "$python" -m ruff check .
step "ruff format" "$python" -m ruff format --check .
compile adaptive & compiled=$!
compile norma olk & compiled_others=$!
compile_learners & compiled_learners=$!
step "mypy" "$python" -m mypy
step "import-linter" "$root/.venv/bin/lint-imports" --no-logo
step "compile" wait "$compiled"
wait "$compiled_others"
wait "$compiled_learners"
step "tests" pytest -m "$tests"
[ "${1:-}" = --all ] || exit 0
workers=$processors # from here on none does
# What is slow starts processes, or compiles what it looks at, which is the same either way.
export NUMBA_DISABLE_JIT=1
step "compiled code as plain Python" pytest tests/detectors tests/learners tests/objects -m "compiled and not slow"
