# Sourced by samples/demo.sh and tests/run.sh: makes .venv beside the sources and installs bgsub into it.
# Sets $root and $python. Works from any directory; a second time it only checks.

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
# To be changed between sourcing this file and calling `setup`.
environment=.venv
pythons="python3.14 python3.13 python3.12 python3.11 python3 python"
pip_options=

# Install Debian packages when root on Debian; else name them and stop.
need_packages() {
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        say "Installing the system packages: $*"
        # shellcheck disable=SC2086
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@"; } \
            >/dev/null || die "apt-get could not install: $*"
    else
        die "Missing system packages. On Debian and Ubuntu run: sudo apt-get install $*"
    fi
}

find_python() {
    for candidate in $pythons; do
        if command -v "$candidate" >/dev/null 2>&1 &&
            "$candidate" -c 'import sys; sys.exit(not sys.version_info >= (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}

# setup EXTRAS: EXTRAS like "dev" or "" for none
setup() {
    place=$root/$environment
    python=$place/bin/python
    base=$(find_python) || { need_packages python3 python3-venv; base=$(find_python) || die "bgsub needs Python 3.11 or newer; looked for $pythons"; }
    if ! "$python" -c '' 2>/dev/null; then
        say "Making $place"
        "$base" -c 'import ensurepip' 2>/dev/null || need_packages python3-venv
        "$base" -m venv --clear "$place"
    fi
    # What is installed is noted with the file that decides on it; a change of either installs again.
    stamp="$place/installed-${1:-plain}"
    if ! cmp -s "$root/pyproject.toml" "$stamp"; then
        say "Installing bgsub and what it needs (a few minutes the first time)"
        # shellcheck disable=SC2086
        "$python" -m pip install --quiet --disable-pip-version-check $pip_options -e "$root${1:+[$1]}"
        cp "$root/pyproject.toml" "$stamp"
    fi
    if ! message=$("$python" -c 'import cv2' 2>&1); then
        case $message in
            *.so*) need_packages libgl1 libglib2.0-0 ;;
            *) die "$message" ;;
        esac
        "$python" -c 'import cv2'
    fi
    case ",${1:-}," in
        *,gui,*|*,dev,*)
            if ! message=$("$python" -c 'import PyQt6.QtWidgets' 2>&1); then
                case $message in
                    *.so*) need_packages libegl1 libgl1 libxkbcommon0 libdbus-1-3 libfontconfig1 libglib2.0-0 ;;
                    *) die "$message" ;;
                esac
                "$python" -c 'import PyQt6.QtWidgets'
            fi ;;
    esac
}
