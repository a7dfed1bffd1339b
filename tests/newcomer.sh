#!/usr/bin/env bash
# Plays somebody who begins: the first commands of the README, an own program with three mistakes, an embedding and a sweep. Shows each command with
# what it prints, and fails where a message that is expected does not come. Uses the equellec of the first argument, or installs it from this
# repository; works in the folder of the second one, or in a temporary folder.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
folder=${2:-}
if [ -z "$folder" ]; then
    folder=$(mktemp -d)
    # A compiler, a cache and packages take gigabytes.
    trap 'rm -rf "$folder"' EXIT
fi
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if [ -n "${1:-}" ]; then
    equellec=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
else
    cargo install --quiet --locked --path "$repository" --root "$folder/installed"
    equellec=$folder/installed/bin/equellec
fi
export EQUELLE_CACHE_DIR="${EQUELLE_CACHE_DIR:-$folder/cache}" NO_COLOR=1
equellec() { "$equellec" "$@"; }
cd "$folder"

printed=""
# say CODE WORDS...: shows a command and what it prints; its exit code must be CODE.
say() {
    local expected=$1 code=0
    shift
    printf '\n$ %s\n' "$*"
    printed=$("$@" 2>&1) || code=$?
    printf '%s\n' "$printed"
    if [ "$code" -ne "$expected" ]; then
        echo "newcomer: exit code $code, not $expected" >&2
        exit 1
    fi
}
# reads TEXT: what was printed last has it.
reads() {
    if ! grep -qF -- "$1" <<<"$printed"; then
        echo "newcomer: that does not say: $1" >&2
        exit 1
    fi
}

echo "== what there is"
say 2 equellec
reads "equellec run heat.equelle"
say 0 equellec explain Gradient
say 0 equellec check "$repository/examples/heat_explicit_2d/heat_explicit_2d.equelle"

echo
echo "== an own program, with three mistakes"
cat >rod.equelle <<'PROGRAM'
# Heat in a rod.
k = InputScalarWithDefault("k", 1e-4) * 1 [Meter^2/Second]
u0 = InputCollectionOfScalar("u", AllCells()) * 1 [Kelvin]
u : Mutable Collection Of Scalar On AllCells() = u0
flux_area = |InteriorFaces()| / |Centroid(SecondCell(InteriorFaces())) - Centroid(FirstCell(InteriorFaces()))|
For dt In InputSequenceOfScalar("steps") {
    flux = -k * flux_area * Gradeint(u)
    u = u - dt / |AllCells()| * Divergence(flux)
}
Output("u", u)
Output("mean/u", SumReduce(u * |AllCells()|) / SumReduce(|AllCells()|)
PROGRAM
say 1 equellec check rod.equelle
reads "Gradient"
sed -i 's/Gradeint/Gradient/; s/SumReduce(|AllCells()|)$/SumReduce(|AllCells()|))/; s/mean.u/mean/' rod.equelle
say 1 equellec check rod.equelle
reads "--nondimensional"
sed -i 's/InputSequenceOfScalar("steps") {/InputSequenceOfScalar("steps") * 1 [Second] {/' rod.equelle
say 0 equellec check rod.equelle

echo
echo "== a first run"
say 4 equellec run rod.equelle nx=10 lx=0.1
reads "steps=NUMBERS"
say 4 equellec run rod.equelle nx=ten u=1 steps=3*0.1
reads "such as \`nx=10\`"
data=(grid_dim=1 nx=10 lx=0.1 u_expression=300+1000*x steps=400*0.05)
say 0 equellec run --interpret --quiet rod.equelle "${data[@]}" output_to_file=false
# The mean of a closed rod stays 350 but for round-off.
if ! grep -qE '^mean = (350|350\.00000000[0-9]*|349\.99999999[0-9]*)$' <<<"$printed"; then
    echo "newcomer: the mean is not 350" >&2
    exit 1
fi
say 0 equellec run --interpret rod.equelle "${data[@]}" steps=9999*0.05 stop_when_change=1e-3 output_to_file=false
reads "steady state after round"
say 0 equellec run rod.equelle "${data[@]}" output_dir=results
say 0 equellec run rod.equelle "${data[@]}" output_dir=drawn --plot=rod.png --html rod.html
reads "wrote rod.png"
if [ "$(head -c 4 rod.png | tail -c 3)" != PNG ] || ! grep -q 'id="step"' rod.html; then
    echo "newcomer: no picture or no page" >&2
    exit 1
fi
echo "from the beginning to a picture of an own heat problem: ${SECONDS} s, with a build of equellec if it was installed here"
if [ "$SECONDS" -gt 600 ]; then
    echo "newcomer: that is more than ten minutes" >&2
    exit 1
fi

echo
echo "== a sweep"
say 0 equellec sweep rod.equelle "${data[@]}" k=1e-4,2e-4 nx=10,20 output_to_file=false
reads "k,nx,exit,mean"

echo
echo "== an embedding"
say 0 equellec "$repository/tests/embed/decay.equelle" -o decay-sim
mkdir -p src
cp "$repository/tests/embed/example.rs" src/main.rs
cp decay-sim/Cargo.lock .
{
    printf '[package]\nname = "mine"\nedition = "2024"\n\n[dependencies]\ndecay = { path = "decay-sim" }\n'
    grep '{ path = ' decay-sim/Cargo.toml
    printf '\n[workspace]\nexclude = ["decay-sim"]\n'
} >Cargo.toml
say 0 cargo run --quiet --offline
reads "u: [0.25, 0.5, 0.75, 1.0]"

echo
echo "all went as a newcomer would wish"
