#!/bin/sh
# Builds the wheel and runs the tests against it, in an environment of its own that cannot see the source folders.
#   scripts/test_wheel.sh PYTHON RUNTIME [PYTEST ARGUMENTS]
# PYTHON has the build module; RUNTIME is "lowest" (requirements/lowest.txt) or "newest" (what the index has today).
set -eu
python=$1
runtime=$2
shift 2

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The test tools are the usual ones in both cases; it is the runtime that differs.
grep -E '^(hypothesis|iniconfig|pluggy|pytest|tree-sitter)' requirements/dev.txt >"$folder/constraints.txt"
case $runtime in
    lowest) cat requirements/lowest.txt >>"$folder/constraints.txt" ;;
    newest) ;;
    *) echo "test-wheel: RUNTIME is 'lowest' or 'newest', not '$runtime'" >&2; exit 2 ;;
esac

PIP_CONSTRAINT=requirements/dev.txt "$python" -m build --wheel --outdir "$folder" .
"$python" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    "$(echo "$folder"/*.whl)[server,cli,test]" -c "$folder/constraints.txt"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    --no-deps --only-binary :all: -r requirements/engine.txt
echo "test-wheel: the $runtime runtime:"
"$folder/venv/bin/python" -m pip freeze --disable-pip-version-check | grep -E '^(grpcio|protobuf|pydantic|typer)'
"$folder/venv/bin/python" -m pytest -p no:cacheprovider "$@"
