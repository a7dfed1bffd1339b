#!/usr/bin/env bash
# Four stories of users, each with a program of its own and data made in place: a heat problem with a picture, an animation, a waterflood, a tide with
# gauges. Shows each command with the seconds that a user waits, for the first run and the second one, and whether the program was interpreted. Fails
# where a number, a file or that decision is wrong. Uses the equellec of the first argument and the folder of the second one.
set -euo pipefail
equellec=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
programs=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
cd "$2"
export EQUELLE_CACHE_DIR="$PWD/cache" NO_COLOR=1
# A user's first day: nothing has been built.
rm -rf cache

fail() {
    echo "stories: $*" >&2
    exit 1
}

# Seconds and output of the last command.
seconds=0
printed=""
timed() {
    local begin=$EPOCHREALTIME code=0
    printf '\n$ equellec %s\n' "$*"
    printed=$("$equellec" "$@" 2>&1) || code=$?
    seconds=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
    tail -n 4 <<<"$printed"
    printf '[%s s]\n' "$seconds"
    [ "$code" -eq 0 ] || fail "exit code $code"
}

# story NAME WORDS...: runs a program of this folder twice as a user does; where it was interpreted, then built, which must not have been faster.
waited=()
story() {
    local name=$1 line="" decision longest=0
    shift
    echo
    echo "== $name"
    rm -rf "$name"
    for which in first second; do
        timed run "$programs/$name.equelle" "$@" "output_dir=$name"
        decision=built
        if grep -q "^Running without a build" <<<"$printed"; then
            decision=interpreted
            longest=$(awk -v a="$seconds" -v b="$longest" 'BEGIN { print (a > b ? a : b) }')
        fi
        line+="$which run $seconds s ($decision), "
    done
    if [ "$longest" != 0 ]; then
        # The time that the user would have waited otherwise.
        timed run --compiled "$programs/$name.equelle" "$@" "output_dir=$name"
        awk -v a="$longest" -v b="$seconds" 'BEGIN { exit !(a <= b) }' ||
            fail "$name was interpreted, which took $longest s, and built and run in $seconds s"
        line+="built and run in $seconds s, "
    fi
    waited+=("$name: ${line%, }")
}

# last COLUMN NAME: the last number of a column of the table of a run.
last() {
    awk -F, -v name="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i; if (!column) exit 1; next }
        $column != "" { value = $column }
        END { print value }' "$2/$2.csv" || fail "$2.csv has no column $1"
}

# near WHAT FOUND EXPECTED TOLERANCE
near() {
    printf '%s: %s, expected %s within %s\n' "$1" "$2" "$3" "$4"
    awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN { d = a - b; exit !(a != "" && d <= t && -d <= t) }' || fail "$1 is $2, not $3"
}

# picture FILE BYTES: a PNG file of at least so many bytes.
picture() {
    [ "$(head -c 4 "$1" | tail -c 3)" = PNG ] || fail "$1 is no picture"
    [ "$(wc -c <"$1")" -ge "$2" ] || fail "$1 has only $(wc -c <"$1") bytes"
}

# In the steady state the temperature is linear from 400 K to 300 K. After 30000 s, 7.4 times the slowest decay of 2 m, 0.04 K of 50 K are left;
# the warmest cell has its centre 0.05 m from the hot side.
story plate grid_dim=2 nx=20 ny=10 lx=2 ly=1 "hot_set=where x < 0.001" "cold_set=where x > 1.999" "steps=2000*15" \
    output_format=vtu,csv output_every=500 --plot=plate.png
near "mean temperature" "$(last mean plate)" 350 0.05
near "greatest temperature" "$(last greatest plate)" 397.5 0.01
picture plate.png 5000

# All of the power stays in the plate: 2 K m3/s for 10 s.
story spot grid_dim=2 nx=40 ny=40 lx=1 ly=1 "steps=100*0.1" output_format=vtu,csv
near "heat" "$(last heat spot)" 20 1e-9
timed plot spot --tag u --animate -o spot.png
picture spot.png 50000
[ "$(grep -aob fcTL spot.png | wc -l)" -eq 100 ] || fail "spot.png has not one picture for each of 100 steps"

# 150 m3 of water a day for 200 days; what goes in comes out, and water is not lost. The pores have 45000 m3: water has come to the producer.
story waterflood grid_dim=3 nx=15 ny=15 nz=1 dx=10 dy=10 dz=10 permeability=100 "injector_set=where x < 10 And y < 10" \
    "producer_set=where x > 140 And y > 140" "steps=40*5" output_format=vtu,csv --html waterflood.html
injected=$(last injected waterflood)
water=$(last "water produced" waterflood)
oil=$(last "oil produced" waterflood)
near "injected water" "$injected" 30000 1e-6
near "what was produced" "$(awk -v a="$water" -v b="$oil" 'BEGIN { printf "%.9f", a + b }')" 30000 0.01
near "water in place and produced" "$(awk -v a="$water" -v b="$(last "water gained" waterflood)" 'BEGIN { printf "%.9f", a + b }')" 30000 0.01
# Water broke through, so less oil than water that went in; more than half of the 36000 m3 that can move.
near "produced oil" "$oil" 24000 6000
grep -q "<h2>Final values</h2>" waterflood.html || fail "the page has no final values"
timed plot waterflood --tag saturation,pressure -o waterflood.png
picture waterflood.png 5000

# A bay of 1000 m and 5 m depth is short for a wave of an hour: its end follows the tide at the mouth, 1/cos(2 pi 975 / (3600 sqrt(5 g))) = 1.03 times
# as high without friction; the scheme of first order takes a little of that.
story tide grid_dim=2 nx=20 ny=1 dx=50 dy=50 bottom=-5 "sea_set=where x < 50" "probe=25,25; 975,25" output_format=vtu,csv output_every=50
greatest() {
    awk -F, -v column="$1" 'NR > 1 && $column != "" && (!n++ || $column > most) { most = $column } END { print most }' tide/tide.csv
}
head -1 tide/tide.csv | grep -q '^step,time,tide,water,level(25 25),level(975 25)$' || fail "other columns: $(head -1 tide/tide.csv)"
near "high water at the mouth" "$(greatest 5)" 0.5 0.005
near "high water at the end" "$(greatest 6)" 0.515 0.01
timed plot tide --tag "level(25 25),level(975 25)" -o tide.png
picture tide.png 5000

echo
printf '%s\n' "${waited[@]}"
echo "all four stories end well"
