# Sourced by tests/run.sh --package: builds the package from its sdist, and runs it where nothing of the repository is.
environment=.venv-package
setup ""
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m pip install --quiet --disable-pip-version-check build twine
"$python" -m build --outdir "$work/dist" "$root" >"$work/log" || die "$(cat "$work/log")"
"$python" -m twine check --strict "$work"/dist/*
"$python" - "$work"/dist/*.whl <<'EOF'
import sys
import zipfile

names = zipfile.ZipFile(sys.argv[1]).namelist()
assert {"bgsub/py.typed", "bgsub/gui/help/guide.md"} <= set(names), names
for name in names:
    code, data = name.startswith("bgsub/"), name.startswith("bgsub-")
    page = name.startswith("bgsub/gui/help/") and name.endswith((".md", ".png"))
    assert (code and name.endswith((".py", "py.typed"))) or page or data, name
EOF

"$base" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$work"/dist/*.whl
mkdir "$work/empty" "$work/cache"
cd "$work/empty"
export NUMBA_CACHE_DIR="$work/cache"
unset PYTHONPATH
for turn in first second; do
    say "== $turn run"
    "$work/venv/bin/bgsub" run "synthetic:walkers?frames=100" -o "$turn/" --overlay "$turn.mp4" 2>"$turn.err"
    cat "$turn.err" >&2
done
[ "$(ls first | wc -l)" = 100 ] || die "the first run did not write 100 masks"
diff -r first second || die "two runs wrote different masks"
grep -q compiling first.err || die "the first run did not report that it compiles"
[ ! -s second.err ] || die "the second run compiled again"
say "== package built and run"
exit 0
