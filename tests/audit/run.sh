#!/usr/bin/env bash
# Audits against sums by NumPy, which pip installs into an environment in the folder of the second argument. Uses the equellec of the first one.
set -euo pipefail
equellec=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")/../.."
folder=$2
mkdir -p "$folder"
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check numpy
"$folder/venv/bin/python" tests/audit/check.py "$equellec" "$folder"
