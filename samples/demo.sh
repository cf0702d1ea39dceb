#!/bin/sh
# Make .venv, install bgsub into it and turn the bundled clip into its mask video. Run from anywhere.
set -eu
. "$(dirname -- "$0")/setup.sh"
setup ""

out=$root/out
mkdir -p "$out"
"$python" -m bgsub run "$root/samples/walkers.mp4" --force \
    -o "$out/mask.mkv" --overlay "$out/overlay.mp4" --background "$out/background.png" --stats "$out/stats.csv"
