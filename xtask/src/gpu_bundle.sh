#!/usr/bin/env bash
# Runs the programs of this bundle on the GPU of this machine: every example against the serial back-end, then explicit heat at several sizes.
# Needs an NVIDIA driver and NVRTC. The yardsticks, if they are here, need nvcc. Arguments: sizes of the cube, default 100 256.
# ONLY="heat checkers" runs some sections: tests random programs examples heat water tuning single implicit krylov multigrid defaults converge crossover thesis jacobian yardsticks cudss checkers checked_tests.
# Direct solves need cuDSS, which may lie in a folder `cudss` beside this script.
set -euo pipefail
cd "$(dirname "$0")"
chmod +x bin/* tests/* benches/* tools/*
sizes=("$@")
[ ${#sizes[@]} -gt 0 ] || sizes=(100 256)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ -d cudss ] && export LD_LIBRARY_PATH="$PWD/cudss${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
# NVRTC may come with the CUDA toolkit or with Python packages.
for folder in /usr/local/cuda/lib64 $(python3 -c 'import glob, site, os
for d in site.getsitepackages() + [site.getusersitepackages()]:
    print(*glob.glob(os.path.join(d, "nvidia", "*", "lib")))' 2>/dev/null || true); do
    [ -d "$folder" ] && export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
done

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || true

# Largest difference of two folders of outputs, relative to the largest value of each file; the third argument is the largest one accepted.
difference() {
    for file in "$1"/*.output; do
        paste -d ' ' "$file" "$2/$(basename "$file")"
        echo
    done | awk -v most="$3" '
        NF == 0 { if (scale > 0 && worst / scale > all) all = worst / scale; worst = 0; scale = 0; next }
        NF != 2 { print "different numbers of values"; bad = 1; exit 1 }
        $1 - $2 != $1 - $2 { print "not a number"; bad = 1; exit 1 }
        { d = $1 - $2; if (d < 0) d = -d; if (d > worst) worst = d; b = $2 < 0 ? -$2 : $2; if (b > scale) scale = b }
        END { if (!bad) { printf "%.3g\n", all; exit !(all <= most) } }'
}

failed=0
section_tests() {
    for test in tests/*; do
        if "$test" >"$work/log" 2>&1; then
            echo "test $(basename "$test"): $(grep '^test result' "$work/log")"
        else
            cat "$work/log"
            failed=1
        fi
    done
}

# Programs of an executable that compares both back-ends, in several processes, because the kernels of each are compiled first: its name, what to call them.
differential() {
    local shares=8 k pids=() pid
    for ((k = 0; k < shares; k++)); do
        "bin/$1" "$work/$1$k" grids/triangles-6x5.grid $k/$shares >"$work/$1$k.txt" 2>&1 &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
    # The text of what differs, then the sums of all counts.
    grep -hv ' programs agree, ' "$work/$1"?.txt || true
    { grep -h ' programs agree, ' "$work/$1"?.txt || true; } | awk -v what="$2" '{ gsub(/[(]/, ""); agree += $1; equal += $4; runs += $6; differ += $8 }
        END { print what ", cuda against serial: " agree " programs agree, " equal " bit-equal (" runs " runs); " differ " differ" }'
}

# Random programs compiled in every way on the same input, on all kinds of grids.
section_random() { differential random_programs "random programs"; }

# Every program of the project, examples and those of its tests, on small data, likewise; Cartesian and as arrays in another order.
section_programs() { differential project_programs "programs of the project"; }

# An example on both back-ends: name, how it was compiled, grid layout, largest relative difference, more parameters.
compare() {
    local name=$1 way=$2 layout=$3 most=$4
    shift 4
    for backend in serial cuda; do
        "bin/$name$way" --backend "$backend" --quiet "examples/$name/case.param" grid_layout="$layout" output_to_file=true output_dir="$work/$backend" "$@" >"$work/$backend.txt" 2>"$work/log" || { cat "$work/log"; failed=1; echo "$name$way, $layout${*:+, $*}: $backend FAILED"; return 0; }
    done
    if found=$(difference "$work/cuda" "$work/serial" "$most"); then verdict=ok; else verdict=FAILED; failed=1; fi
    same=no
    diff -rq --exclude="*.run.json" "$work/cuda" "$work/serial" >/dev/null && cmp -s "$work/cuda.txt" "$work/serial.txt" && same=yes
    echo "$name$way, $layout${*:+, $*}: cuda against serial: largest difference $found, same bits: $same: $verdict"
    rm -rf "$work/serial" "$work/cuda"
}

section_examples() {
    for folder in examples/*; do
        name=$(basename "$folder")
        for layout in auto unstructured; do
            for way in "" _O0 _spgemm _f32; do
                [ -f "bin/$name$way" ] && compare "$name" "$way" $layout 1e-12
            done
            # Small systems are solved on the host. The Krylov methods of the device solve to 1e-10; Newton multiplies what they leave by the condition of the Jacobian.
            if [ -f "$folder/implicit" ]; then
                for way in "" _O0 _spgemm; do
                    compare "$name" "$way" $layout 1e-6 solver=bicgstab solver_tol=1e-10
                done
            fi
        done
    done
}

# Milliseconds of a steady step, as the log of a run with `--profile` tells.
step() { sed -n 's/^steady.* of \([0-9.]*\) ms.*/\1/p' "$work/log"; }

# How many times longer a step at operation level takes than one of kernels, and how many times at least it should.
over() { echo "$1, -O2 over -O0: $(awk "BEGIN { print $3 / $2 }") times as fast (goal: $4)"; }

# Explicit heat without outputs in the loop. `--profile` reports the time of a steady step and what it asked of the device.
section_heat() {
    for n in "${sizes[@]}"; do
        awk -v n="$n" 'BEGIN { for (r = 0; r < n * n; r++) print r * (n + 1), r * (n + 1) + n }' >"$work/faces"
        awk -v n="$n" 'BEGIN { for (r = 0; r < n * n; r++) print 100, 900 }' >"$work/values"
        awk 'BEGIN { for (i = 0; i < 1010; i++) print 0.5 }' >"$work/steps"
        for layout in auto unstructured; do
            for way in _O0 "" "" ""; do
                "bin/heat$way" --backend cuda --profile grid_dim=3 nx="$n" ny="$n" nz="$n" grid_layout=$layout u_initial=500 \
                    dirichlet_boundary_filename="$work/faces" dirichlet_val_from_file=true dirichlet_val_filename="$work/values" \
                    timesteps_filename="$work/steps" output_to_file=true output_dir="$work/heat" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
                echo "heat$way $n^3, $layout, strict double: $(grep '^steady' "$work/log")"
                [ "$way" = _O0 ] && slow=$(step)
            done
            over "heat $n^3, $layout" "$(step)" "$slow" "$([ $layout = auto ] && echo 15 || echo 5)"
            tail -n 3 "$work/log"
            rm -r "$work/heat"
        done
    done
}

# What the profiler is asked for: time, traffic, and how busy memory, the L2 cache and the multiprocessors are, in per cent of what they can do.
limits=gpu__time_duration.sum,dram__bytes.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed,lts__throughput.avg.pct_of_peak_sustained_elapsed
limits=$limits,sm__throughput.avg.pct_of_peak_sustained_elapsed,sm__warps_active.avg.pct_of_peak_sustained_active

# What it said in the log, kernel after kernel, or why it said nothing.
limited() {
    grep -E '^ +(gpu__|dram__|lts__|sm__|launch__)' "$work/log" | awk '{ printf "%s %s %s; ", $1, $3, $2 }'
    grep -q gpu__time "$work/log" || tail -n 5 "$work/log"
}

# Shallow water without outputs: Runge-Kutta steps of two stages, with the rounding of the program and with `--fp fast`.
section_water() {
    awk 'BEGIN { for (i = 0; i < 210; i++) print 0.01 }' >"$work/steps"
    for rounding in strict fast; do
        program=bin/shallow_water_silent
        [ $rounding = fast ] && program=bin/shallow_water_fast
        for n in 256 1024 4096; do
            for layout in auto unstructured; do
                for way in _O0 ""; do
                    "$program$way" --backend cuda --profile grid_dim=2 nx="$n" ny="$n" dx=1 dy=1 grid_layout=$layout h_init=1 u_init=0.1 v_init=0 \
                        b_north=0 b_south=0 b_east=0 b_west=0 timesteps_filename="$work/steps" output_to_file=false >"$work/log" 2>&1 || { cat "$work/log"; failed=1; }
                    echo "shallow water$way $n^2, $layout, $rounding double: $(grep '^steady' "$work/log")"
                    [ "$way" = _O0 ] && slow=$(step)
                done
                over "shallow water $n^2, $layout, $rounding" "$(step)" "$slow" 50
            done
        done
    done
    command -v ncu >/dev/null 2>&1 || { echo "stages of shallow water: no ncu here"; return 0; }
    # What limits the two stages of a step: memory, the pipe for doubles, or waiting for either.
    for layout in auto unstructured; do
        timeout 100 ncu --clock-control none --kernel-name 'regex:^compute_q_0' --launch-skip 10 --launch-count 2 --metrics "$limits,sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active,launch__registers_per_thread" \
            bin/shallow_water_silent --backend cuda grid_dim=2 nx=4096 ny=4096 dx=1 dy=1 grid_layout=$layout h_init=1 u_init=0.1 v_init=0 \
            b_north=0 b_south=0 b_east=0 b_west=0 timesteps_filename="$work/steps" output_to_file=false >"$work/log" 2>&1 || true
        echo "stages of shallow water 4096^2, $layout: $(limited)"
    done
}

# Explicit heat and shallow water with shapes of launches that are measured: steps in the usual ones, which shapes were faster, steps in those. Outputs must be the same to the bit.
section_tuning() {
    awk 'BEGIN { for (i = 0; i < 210; i++) print 0.01 }' >"$work/steps"
    awk 'BEGIN { for (i = 0; i < 1010; i++) print 0.5 }' >"$work/heat_steps"
    for layout in auto unstructured; do
        for run in "heat 100" "heat 256" "shallow_water_silent 1024" "shallow_water_silent 4096" "shallow_water_fast 4096"; do
            read -r program n <<<"$run"
            if [ "$program" = heat ]; then
                awk -v n="$n" 'BEGIN { for (r = 0; r < n * n; r++) print r * (n + 1) }' >"$work/faces"
                words="grid_dim=3 nx=$n ny=$n nz=$n u_initial=500 dirichlet_boundary_filename=$work/faces dirichlet_val=100 timesteps_filename=$work/heat_steps"
            else
                words="grid_dim=2 nx=$n ny=$n dx=1 dy=1 h_init=1 u_init=0.1 v_init=0 b_north=0 b_south=0 b_east=0 b_west=0 timesteps_filename=$work/steps"
            fi
            for tune in no yes auto; do
                # shellcheck disable=SC2086
                EQUELLE_CACHE_DIR="$work/tuned" "bin/$program" --backend cuda --profile $words grid_layout=$layout tune=$tune output_to_file=true output_dir="$work/tune_$tune" \
                    >"$work/log" 2>&1 || { cat "$work/log"; failed=1; }
                [ $tune = yes ] && { grep -E '^`.* is launched in' "$work/log" || echo "$program $n, $layout: no other shape is faster"; }
                echo "$program $n, $layout, tune=$tune: $(grep '^steady' "$work/log")"
            done
            for tune in yes auto; do
                diff -rq "$work/tune_no" "$work/tune_$tune" || { echo "$program $n, $layout, tune=$tune: other bits: FAILED"; failed=1; }
            done
            rm -rf "$work"/tune_*
        done
    done
}

# The same two in single precision, which halves the traffic.
section_single() {
    awk 'BEGIN { for (i = 0; i < 210; i++) print 0.01 }' >"$work/steps"
    awk 'BEGIN { for (i = 0; i < 1010; i++) print 0.5 }' >"$work/heat_steps"
    for n in "${sizes[@]}"; do
        awk -v n="$n" 'BEGIN { for (r = 0; r < n * n; r++) print r * (n + 1) }' >"$work/faces"
        for layout in auto unstructured; do
            bin/heat_f32 --backend cuda --profile grid_dim=3 nx="$n" ny="$n" nz="$n" grid_layout=$layout u_initial=500 dirichlet_boundary_filename="$work/faces" \
                dirichlet_val=100 timesteps_filename="$work/heat_steps" output_to_file=true output_dir="$work/heat" >"$work/log" 2>&1 || { cat "$work/log"; failed=1; }
            echo "heat $n^3, $layout, strict single: $(grep '^steady' "$work/log")"
            rm -rf "$work/heat"
        done
    done
    for layout in auto unstructured; do
        bin/shallow_water_silent_f32 --backend cuda --profile grid_dim=2 nx=4096 ny=4096 dx=1 dy=1 grid_layout=$layout h_init=1 u_init=0.1 v_init=0 \
            b_north=0 b_south=0 b_east=0 b_west=0 timesteps_filename="$work/steps" output_to_file=false >"$work/log" 2>&1 || { cat "$work/log"; failed=1; }
        echo "shallow water 4096^2, $layout, strict single: $(grep '^steady' "$work/log")"
    done
}

# What the solves of a run cost once patterns are known and kernels compiled, and how much of it is assembly; from the log.
after_first() {
    sed -n "s/^Newton's method at line.*after the first solve: //p" "$work/log" | head -n 1 | awk -F ', ' '
        function number(text, parts, words) { parts = split(text, words, " "); return words[parts - 1] * (words[parts] == "us" ? 1e-6 : words[parts] == "ms" ? 1e-3 : words[parts] == "s" ? 1 : "nan") }
        { all = number($1) + number($2) + number($3); if (all > 0) printf "after the first solve: %s; assembly is %.1f %% of that (goal: at most 10)", $0, 100 * number($1) / all }'
}

# Implicit heat: ten steps of 0.5 on n^3 cells of width 1, one side at 100, the rest closed. The serial run is on this machine's processor.
section_implicit() {
    awk 'BEGIN { for (i = 0; i < 10; i++) print 0.5 }' >"$work/steps"
    for n in 32 64 100 160; do
        awk -v n="$n" 'BEGIN { for (r = 0; r < n * n; r++) print r * (n + 1) }' >"$work/faces"
        for run in cuda cuda_O0 serial; do
            backend=${run%_O0} way=${run#$backend}
            [ $run != cuda ] && [ "$n" -gt 100 ] && continue
            start=$(date +%s.%N)
            "bin/heat_implicit_3d_silent$way" --backend $backend --profile grid_dim=3 nx="$n" ny="$n" nz="$n" k=0.3 cv=1 u_initial=500 dir_boundary_filename="$work/faces" dir_val=100 \
                timesteps_filename="$work/steps" solver=bicgstab verbose=2 output_to_file=false >"$work/$backend.txt" 2>"$work/log" || { cat "$work/log"; failed=1; }
            end=$(date +%s.%N)
            echo "implicit heat $n^3, $run: $(awk "BEGIN { print $end - $start }") s in all; $(grep -c 'Newton iteration' "$work/$backend.txt") evaluations; $(grep '^steady' "$work/log"); $(grep '^device' "$work/log"); $(after_first); $(grep heat "$work/$backend.txt")"
        done
    done
}

# Iterations of CG with Jacobi and with multigrid on implicit heat: bytes that they must move, against the rate of a copy.
section_krylov() {
    benches/krylov 100 200 doubles || failed=1
    command -v ncu >/dev/null 2>&1 || { echo "kernels of an iteration: no ncu here"; return 0; }
    # Time, traffic and grid of the kernels of some iterations, alone and in the order of their launches. The first ones set up multigrid.
    for n in 100 200; do
        timeout 150 ncu --clock-control none --kernel-name 'regex:^equelle_(smooth|form_|correct|dot|step|narrow|product|rows_dot|add_diagonal)' --launch-skip 600 --launch-count 40 \
            --metrics gpu__time_duration.sum,dram__bytes.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed,sm__warps_active.avg.pct_of_peak_sustained_active \
            --csv --page raw benches/krylov $n amg >"$work/log" 2>&1 || true
        echo "kernels of CG+AMG, $n^3: name, block, grid, units of the metrics, metrics"
        # The columns that were asked for; others tell of the device.
        grep -E '^"' "$work/log" | awk -F'","' '
            NR == 1 { for (k = 1; k <= NF; k++) if ($k ~ /^"?(Kernel Name|Block Size|Grid Size|gpu__time_duration|dram__|sm__warps_active)/) column[++count] = k }
            { for (k = 1; k <= count; k++) printf "%s%s", $column[k], k < count ? " " : "\n" }' | tr -d '"'
    done
}

# Multigrid on growing cubes: set-up on the device, iterations of CG.
section_multigrid() {
    benches/multigrid 32 64 128 256 || failed=1
}

# Ten steps of implicit heat with nothing asked for, on 10^6 cells: the time of each part; before that all implicit examples, which must take as many Newton iterations on both back-ends.
iterations() { grep -oE 'Newton solver converged in [0-9]+ iterations' "$1" | sort | uniq -c | tr '\n' ';'; }
section_defaults() {
    for folder in examples/*; do
        name=$(basename "$folder")
        [ -f "$folder/implicit" ] || continue
        for backend in serial cuda; do
            "bin/$name" --backend $backend "$folder/case.param" verbose=2 output_to_file=false >"$work/$backend.txt" 2>"$work/log" || { cat "$work/log"; failed=1; }
        done
        serial=$(iterations "$work/serial.txt") cuda=$(iterations "$work/cuda.txt")
        verdict=ok
        [ -n "$serial" ] && [ "$serial" = "$cuda" ] || { verdict=FAILED; failed=1; }
        echo "Newton iterations of $name, serial and cuda: $serial $cuda $verdict"
    done
    n=100
    awk -v n=$n 'BEGIN { for (r = 0; r < n * n; r++) print r * (n + 1) }' >"$work/faces"
    awk 'BEGIN { for (i = 0; i < 10; i++) print 0.5 }' >"$work/steps"
    # First where no kernel has been compiled, the runtime's own neither; then as any run after it.
    for run in "defaults, nothing compiled" defaults "solver=cg preconditioner=jacobi" "solver=cg preconditioner=amg"; do
        [[ $run = defaults* ]] && solver= || solver=$run
        # Steps after the first: it compiles kernels and finds memory.
        # shellcheck disable=SC2086
        EQUELLE_CACHE_DIR="$work/kernels" bin/heat_implicit_3d_silent --backend cuda --profile grid_dim=3 nx=$n ny=$n nz=$n k=0.3 cv=1 u_initial=500 dir_boundary_filename="$work/faces" dir_val=100 \
            timesteps_filename="$work/steps" output_to_file=false $solver >"$work/cuda.txt" 2>"$work/log" || { cat "$work/log"; failed=1; }
        echo "ten steps of implicit heat, $n^3, $run: $(grep -h "Newton's method" "$work/cuda.txt" "$work/log" | head -n 1); $(grep -h '^steady' "$work/cuda.txt" "$work/log" | head -n 1) (goal: 21 ms a step); $(after_first)"
    done
}

# Programs of all kinds on grids of all kinds, with defaults: both back-ends must converge in as many Newton iterations, to the same results.
section_converge() {
    tools/xtask converge --bundle . || failed=1
}

# From which size on the GPU is faster than all cores of this machine.
section_crossover() {
    tools/xtask crossover --bundle . --limit 45 || failed=1
}

# The experiments of the thesis of 2014 (one NVIDIA K40, 288 GB/s): explicit and implicit heat, shallow water. Times are of the whole loop, by the steady steps of `--profile`; its figures
# are in seconds for 10^6 cells, of all steps (heat) or one step (shallow water), the best of each experiment, scaled by memory bandwidth: times 288 over that of this device.
section_thesis() {
    bandwidth=$(nvidia-smi --query-gpu=name --format=csv,noheader | awk '/H200/ { print 4800; exit } /H100/ { print 3350; exit } /A100/ { print 1935; exit } { print 288; exit }')
    echo "thesis: memory bandwidth of this device by its maker: $bandwidth GB/s; figures of the K40 times 288/$bandwidth"
    # What was measured, cells, steps of the figure, the figure of the K40 in seconds for 10^6 cells (or -), the line of steady steps.
    beside() {
        local what=$1 cells=$2 steps=$3 figure=$4 line=$5
        awk -v what="$what" -v cells="$cells" -v steps="$steps" -v figure="$figure" -v bandwidth="$bandwidth" -v line="$line" 'BEGIN {
            split(line, words, " of "); split(words[2], time, " "); ours = time[1] * 1e-3 * steps / (cells * 1e-6)
            if (!(ours > 0)) { print "thesis: " what ": nothing measured"; exit 1 }
            printf "thesis: %s, %d cells, %d steps: %.4g ms a step, %.4g s for 10^6 cells", what, cells, steps, time[1], ours
            if (figure != "-") printf "; K40 %.4g s, scaled %.4g s: %.1f times faster than scaled", figure, figure * 288 / bandwidth, figure * 288 / bandwidth / ours
            printf "\n" }' || failed=1
    }
    awk 'BEGIN { for (i = 0; i < 110; i++) print 0.5 }' >"$work/steps"
    for size in "50 50 50 7.7" "75 75 75 -" "100 100 100 -" "150 100 100 -" "200 100 100 -" "250 100 100 -" "375 100 100 1.02"; do
        read -r nx ny nz figure <<<"$size"
        awk -v nx="$nx" -v r="$((ny * nz))" 'BEGIN { for (i = 0; i < r; i++) print i * (nx + 1) }' >"$work/faces"
        for layout in auto unstructured; do
            bin/heat --backend cuda --profile grid_dim=3 nx="$nx" ny="$ny" nz="$nz" grid_layout=$layout u_initial=500 dirichlet_boundary_filename="$work/faces" \
                dirichlet_val=100 timesteps_filename="$work/steps" output_to_file=true output_dir="$work/heat" >"$work/log" 2>&1 || { cat "$work/log"; failed=1; }
            beside "explicit heat, $layout" $((nx * ny * nz)) 100 "$figure" "$(grep '^steady' "$work/log")"
            rm -rf "$work/heat"
        done
    done
    # 20 steps, so that ten are left when kernels have been compiled and buffers found.
    awk 'BEGIN { for (i = 0; i < 20; i++) print 0.5 }' >"$work/steps"
    for n in 50 100 150; do
        awk -v n="$n" 'BEGIN { for (r = 0; r < n * n; r++) print r * (n + 1) }' >"$work/faces"
        for layout in auto unstructured; do
            bin/heat_implicit_3d_silent --backend cuda --profile grid_dim=3 nx="$n" ny="$n" nz="$n" k=0.3 cv=1 u_initial=500 dir_boundary_filename="$work/faces" dir_val=100 \
                grid_layout=$layout timesteps_filename="$work/steps" solver=bicgstab output_to_file=false >"$work/log" 2>&1 || { cat "$work/log"; failed=1; }
            beside "implicit heat, $layout" $((n * n * n)) 10 21 "$(grep '^steady' "$work/log")"
        done
    done
    awk 'BEGIN { for (i = 0; i < 110; i++) print 0.01 }' >"$work/steps"
    for size in "50 100" "100 200" "200 400" "500 500" "1000 500" "1500 1000"; do
        read -r nx ny <<<"$size"
        for layout in auto unstructured; do
            bin/shallow_water_silent --backend cuda --profile grid_dim=2 nx="$nx" ny="$ny" dx=1 dy=1 grid_layout=$layout h_init=1 u_init=0.1 v_init=0 \
                b_north=0 b_south=0 b_east=0 b_west=0 timesteps_filename="$work/steps" output_to_file=false >"$work/log" 2>&1 || { cat "$work/log"; failed=1; }
            beside "shallow water, $layout" $((nx * ny)) 1 0.73 "$(grep '^steady' "$work/log")"
        done
    done
}

# Residual and Jacobian in one pass, by the profiler: time and memory traffic of one evaluation.
section_jacobian() {
    if command -v ncu >/dev/null 2>&1; then
        awk 'BEGIN { print 0.5 }' >"$work/steps"
        n=256
        awk -v n="$n" 'BEGIN { for (r = 0; r < n * n; r++) print r * (n + 1) }' >"$work/faces"
        for layout in auto unstructured; do
            timeout 100 ncu --clock-control none --kernel-name 'regex:^residual_u(_cartesian)?$' --launch-count 2 --metrics "$limits" bin/heat_implicit_3d_silent \
                --backend cuda grid_dim=3 nx=$n ny=$n nz=$n k=0.3 cv=1 u_initial=500 dir_boundary_filename="$work/faces" dir_val=100 grid_layout=$layout timesteps_filename="$work/steps" \
                solver=bicgstab max_iter=1 newton_failure=continue output_to_file=false >"$work/log" 2>&1 || true
            echo "residual and Jacobian, heat $n^3, $layout: $(limited)"
        done
    else
        echo "residual and Jacobian: no ncu here"
    fi
}

section_yardsticks() {
    if compgen -G 'yardsticks/*.cu' >/dev/null && command -v nvcc >/dev/null 2>&1; then
        nvcc -O3 -arch=native yardsticks/heat3d.cu -lcusparse -o "$work/heat3d"
        for n in "${sizes[@]}"; do "$work/heat3d" "$n"; done
        if [ -f yardsticks/swe2d.cu ]; then
            nvcc -O3 -arch=native -DSTRICT -fmad=false yardsticks/swe2d.cu -o "$work/swe2d" && { echo "yardstick shallow water, strict"; "$work/swe2d" | grep double; }
            nvcc -O3 -arch=native yardsticks/swe2d.cu -o "$work/swe2d" && { echo "yardstick shallow water, fast"; "$work/swe2d" | grep double; }
        fi
    else
        echo "yardsticks: not compiled (no nvcc, or not part of this bundle)"
    fi
}

# One test, as `binary::test`, under a tool of compute-sanitizer; prints one line, and what the tool says where it found something.
check_test() {
    local tool=$1 test=$2 log status=0
    log="$3/$tool-${test//:/-}.log"
    timeout 300 compute-sanitizer --tool "$tool" --error-exitcode 9 --report-api-errors no --target-processes application-only \
        "tests/${test%%::*}" --exact "${test#*::}" >"$log" 2>&1 || status=$?
    if grep -q 'before first instrumented API call' "$log" && grep -q '^test result: ok' "$log"; then
        echo "$tool, $test: launches nothing"
    elif [ $status = 124 ]; then
        echo "$tool, $test: not done in 300 s"
    elif [ $status = 0 ]; then
        echo "$tool, $test: clean"
    elif [ "$tool" = initcheck ] && [ $status = 9 ] && grep -q '^test result: ok' "$log" && ! grep -E '^=========     at ' "$log" | grep -qv 'cub::'; then
        # The scan inside cusparseSpGEMM_compute reads words that nobody wrote.
        echo "$tool, $test: clean but for cuSPARSE"
    else
        tail -n 20 "$log"
        echo "$tool, $test: FAILED"
        return 1
    fi
}

# Programs under the tools of compute-sanitizer, or those named in TOOLS. Few steps: they are slow.
section_checkers() {
    command -v compute-sanitizer >/dev/null 2>&1 || { echo "compute-sanitizer: not found"; return 0; }
    echo "0.5 0.5 0.5 0.5 0.5 0.5" >"$work/steps"
    for tool in ${TOOLS:-memcheck initcheck racecheck}; do
        for layout in auto unstructured; do
            compute-sanitizer --tool $tool --error-exitcode 9 bin/heat_explicit_3d --backend cuda examples/heat_explicit_3d/case.param \
                timesteps_filename="$work/steps" grid_layout=$layout output_dir="$work/checked" >"$work/log" 2>&1 || failed=1
            echo "compute-sanitizer $tool, $layout: $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$work/log" || tail -n 3 "$work/log")"
            for way in "" _O0; do
                status=0
                compute-sanitizer --tool $tool --error-exitcode 9 "bin/heat_implicit_2d$way" --backend cuda examples/heat_implicit_2d/case.param \
                    solver=bicgstab grid_layout=$layout output_dir="$work/checked" >"$work/log" 2>&1 || status=$?
                # The scan inside cusparseSpGEMM_compute reads words that nobody wrote. What is found anywhere else counts.
                ours=$(grep -E '^=========     at ' "$work/log" | grep -cv 'cub::' || true)
                { [ $status = 0 ] || { [ $tool = initcheck ] && [ $status = 9 ] && [ "$ours" = 0 ]; }; } || failed=1
                echo "compute-sanitizer $tool, implicit$way, $layout: $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$work/log" | head -n 1 || tail -n 3 "$work/log"); $ours of them outside cuSPARSE"
            done
        done
    done
}

# All tests under the same tools: each in a process of its own, as many at a time as there are cores. What takes too long is named.
section_checked_tests() {
    command -v compute-sanitizer >/dev/null 2>&1 || { echo "compute-sanitizer: not found"; return 0; }
    for test in tests/*; do
        "$test" --list 2>/dev/null | sed -n "s/^\(.*\): test\$/$(basename "$test")::\1/p"
    done >"$work/tests.txt"
    [ -s "$work/tests.txt" ] || { echo "compute-sanitizer: no tests to check"; failed=1; }
    export -f check_test
    for tool in ${TOOLS:-memcheck initcheck racecheck}; do
        xargs -a "$work/tests.txt" -P "$(nproc)" -I '{}' bash -c 'check_test "$@"' check "$tool" '{}' "$work" >"$work/checked.txt" || failed=1
        echo "compute-sanitizer $tool, tests: $(grep -c ': clean' "$work/checked.txt") clean, $(grep -c ': launches nothing$' "$work/checked.txt") that launch nothing, of $(wc -l <"$work/tests.txt")"
        grep -vE ': (clean|launches nothing)$' "$work/checked.txt" || true
    done
}

# Direct solves on the device: each phase by itself and beside the LU of the host, implicit programs with `solver=lu` on both back-ends, and the checker of memory.
section_cudss() {
    status=0
    timeout 150 benches/direct >"$work/log" 2>&1 || status=$?
    sed 's/^direct/cudss/' "$work/log"
    ! grep -q skipped "$work/log" || return 0
    # What the library does not solve the host would, for many minutes.
    [ $status = 0 ] || { failed=1; echo "cudss: direct solves FAILED ($status)"; return 0; }
    tests/backend_cuda direct >"$work/log" 2>&1 || { cat "$work/log"; failed=1; }
    echo "cudss, tests: $(grep '^test result' "$work/log")"
    for name in heat_implicit_2d heat_implicit_3d two_phase two_phase_implicit; do
        for layout in auto unstructured; do
            if [ -f "bin/$name" ]; then compare "$name" "" $layout 1e-8 solver=lu solver_tol=1e-12; fi
        done
    done
    # Implicit heat: three steps. The note says where LU ran.
    awk 'BEGIN { for (i = 0; i < 3; i++) print 0.5 }' >"$work/steps"
    for n in 20 50 64; do
        awk -v n="$n" 'BEGIN { for (r = 0; r < n * n; r++) print r * (n + 1) }' >"$work/faces"
        for run in "cuda lu" "cuda auto" "serial lu"; do
            read -r backend solver <<<"$run"
            # The LU of one core takes minutes where there is more.
            [ "$run" = "serial lu" ] && [ $n -gt 20 ] && continue
            timeout 120 bin/heat_implicit_3d_silent --backend "$backend" --profile grid_dim=3 nx=$n ny=$n nz=$n k=0.3 cv=1 u_initial=500 dir_boundary_filename="$work/faces" dir_val=100 \
                timesteps_filename="$work/steps" solver="$solver" solver_tol=1e-10 verbose=2 output_to_file=false >"$work/out" 2>"$work/log" || { tail -n 5 "$work/out" "$work/log"; failed=1; }
            # Other solvers tell nothing.
            note=$({ grep -ohE 'LU runs on [^;]*' "$work/out" "$work/log" || true; } | sort | uniq -c | tr -s ' ' | tr '\n' ';')
            echo "cudss, implicit heat $n^3, $backend, solver=$solver: $(grep heat "$work/out" | tail -n 1); $(grep -h "Newton's method" "$work/out" "$work/log" | tail -n 1);$note"
            if [ "$run" = "cuda lu" ] && ! grep -q 'LU runs on the device' "$work/out" "$work/log"; then echo "cudss: LU did not run on the device: FAILED"; failed=1; fi
        done
    done
    if command -v compute-sanitizer >/dev/null 2>&1; then
        status=0
        timeout 200 compute-sanitizer --tool memcheck --error-exitcode 9 --report-api-errors no tests/backend_cuda systems_are_solved_as_on_the_host >"$work/log" 2>&1 || status=$?
        if [ $status = 124 ]; then
            echo "cudss, compute-sanitizer memcheck: not done in 200 s"
        else
            [ $status = 0 ] || { failed=1; tail -n 20 "$work/log"; }
            echo "cudss, compute-sanitizer memcheck: $(grep 'ERROR SUMMARY' "$work/log" | head -n 1)"
        fi
    fi
}

for section in ${ONLY:-tests random programs examples heat water tuning single implicit krylov multigrid defaults converge crossover thesis jacobian yardsticks cudss checkers checked_tests}; do
    "section_$section"
done
exit $failed
