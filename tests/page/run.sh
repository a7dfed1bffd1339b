#!/usr/bin/env bash
# Pages of runs in headless Chromium: an explicit and an implicit one, one on triangles, one in a row of cells, one that fails.
# Uses the equellec of the first argument and the folder of the second one.
set -euo pipefail
equellec=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")/../.."
folder=$2
mkdir -p "$folder"
for name in heat_explicit_2d two_phase_implicit heat_implicit_triangles fisher heat_implicit_3d; do
    "$equellec" run --interpret --quiet "examples/$name/$name.equelle" "examples/$name/case.param" \
        "output_dir=$(realpath "$folder")/$name" --html "$folder/$name.html" >/dev/null
    python3 tests/page/check.py "$folder/$name.html" "$folder/$name.png"
done
# A run that fails has a page, and its own exit code.
code=0
"$equellec" run --interpret --quiet examples/heat_explicit_2d/heat_explicit_2d.equelle examples/heat_explicit_2d/case.param \
    k=1e300 nonfinite=error "output_dir=$(realpath "$folder")/failed" --html "$folder/failed.html" >/dev/null 2>&1 || code=$?
[ "$code" -eq 3 ]
grep -q 'class="error"' "$folder/failed.html"
