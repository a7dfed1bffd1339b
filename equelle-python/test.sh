#!/usr/bin/env bash
# The tests of the Python package, with the library that cargo has built (target/debug), in a virtual environment below target/.
# Arguments are those of pytest. Exit code 77: there is no Python from 3.11 on, with venv and pip.
set -euo pipefail
cd "$(dirname "$0")"
target="${CARGO_TARGET_DIR:-$PWD/../target}"
python="${PYTHON:-python3}"

if ! "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "left out: there is no Python from 3.11 on with venv and pip"
    exit 77
fi
if [ ! -x "$target/python/bin/pytest" ]; then
    "$python" -m venv "$target/python"
    "$target/python/bin/python" -m pip install --quiet numpy pytest
fi
# A package beside the sources, so that a checkout stays as it is.
package="$target/python-package"
rm -rf "$package"
mkdir -p "$package"
cp -r python/equelle "$package/"
cp "$target/debug/lib_equelle.so" "$package/equelle/_equelle.abi3.so"
PYTHONPATH="$package" exec "$target/python/bin/python" -m pytest -q -p no:cacheprovider "$@"
