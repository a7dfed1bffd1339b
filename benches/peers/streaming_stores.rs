//! Tests if explicit heat gains from streaming stores (docs/benchmarks/cpu.md, "Stores past the
//! caches"), on x86-64 with AVX and Linux. The function of a cell is as it is generated. Prints the
//! processor time of a step with both kinds of stores, in turn, for blocks of a row and of 1024
//! cells, and of tiles of rows through all planes; with arrays that begin at a line of the cache,
//! as those of simulators do, and 16 bytes behind one.
//!
//! ```sh
//! rustc --edition 2024 -O -C target-cpu=native -C codegen-units=1 benches/peers/streaming_stores.rs
//! ./streaming_stores
//! ```

use std::arch::x86_64::{_mm256_loadu_pd, _mm256_stream_pd};

/// Stores eight numbers past the caches; `out` is aligned to 64 bytes.
#[inline(always)]
fn stream(out: &mut [f64; 8], numbers: [f64; 8]) {
    for four in [0, 4] {
        // SAFETY: the addresses are inside arrays of eight; `target-cpu` has AVX.
        unsafe { _mm256_stream_pd(out.as_mut_ptr().add(four), _mm256_loadu_pd(numbers.as_ptr().add(four))) };
    }
}

struct Grid {
    volume: f64,
}

#[inline(always)]
fn cell<const DIM: usize>(
    row_ends: [Option<[f64; 1]>; 2],
    k: [f64; 3],
    u: f64,
    u_low: [f64; DIM],
    u_high: [f64; DIM],
    dt: f64,
    grid: &Grid,
) -> f64 {
    let mut sum = 0.0;
    let [low] = row_ends[0].unwrap_or_else(|| [k[0] * (u - u_low[0])]);
    sum -= low;
    let [high] = row_ends[1].unwrap_or_else(|| [k[0] * (u_high[0] - u)]);
    sum += high;
    if DIM > 1 {
        sum -= k[1] * (u - u_low[1]);
        sum += k[1] * (u_high[1] - u);
    }
    if DIM > 2 {
        sum -= k[2] * (u - u_low[2]);
        sum += k[2] * (u_high[2] - u);
    }
    u - dt / grid.volume * sum
}

const K: [f64; 3] = [1.1, 1.2, 1.3];
const DT: f64 = 0.01;

#[inline(never)]
fn ordinary<const DIM: usize>(out: &mut [f64], u: &[f64], low: [&[f64]; DIM], high: [&[f64]; DIM], grid: &Grid) {
    let len = out.len();
    let u = &u[..len];
    let (low, high) = (low.map(|side| &side[..len]), high.map(|side| &side[..len]));
    for i in 0..len {
        out[i] = cell::<DIM>([None; 2], K, u[i], low.map(|side| side[i]), high.map(|side| side[i]), DT, grid);
    }
}

fn eight(numbers: &[f64], from: usize) -> &[f64; 8] {
    numbers[from..][..8].try_into().unwrap()
}

#[inline(never)]
fn streaming<const DIM: usize>(out: &mut [f64], u: &[f64], low: [&[f64]; DIM], high: [&[f64]; DIM], grid: &Grid) {
    let len = out.len();
    let u = &u[..len];
    let (low, high) = (low.map(|side| &side[..len]), high.map(|side| &side[..len]));
    let mut i = 0;
    while i < out.as_ptr().align_offset(64).min(len) {
        out[i] = cell::<DIM>([None; 2], K, u[i], low.map(|side| side[i]), high.map(|side| side[i]), DT, grid);
        i += 1;
    }
    while i + 8 <= len {
        let (u, low, high) = (eight(u, i), low.map(|side| eight(side, i)), high.map(|side| eight(side, i)));
        let mut numbers = [0.0; 8];
        for k in 0..8 {
            numbers[k] = cell::<DIM>([None; 2], K, u[k], low.map(|side| side[k]), high.map(|side| side[k]), DT, grid);
        }
        stream((&mut out[i..][..8]).try_into().unwrap(), numbers);
        i += 8;
    }
    while i < len {
        out[i] = cell::<DIM>([None; 2], K, u[i], low.map(|side| side[i]), high.map(|side| side[i]), DT, grid);
        i += 1;
    }
}

/// Traversal of the grid in a step.
#[derive(Clone, Copy)]
struct Form {
    name: &'static str,
    streams: bool,
    /// Cells of a call, at least a row.
    block: usize,
    /// Rows of a tile.
    tile: usize,
}

/// A step on the cells of `n`^3 that have no boundary in `y` and `z`.
fn step(form: Form, n: usize, out: &mut [f64], u: &[f64]) {
    let (stride, grid) = ([1, n, n * n], Grid { volume: 0.37 });
    let inside = if form.streams { streaming::<3> } else { ordinary::<3> };
    for first in (1..n - 1).step_by(form.tile.min(n)) {
        let rows = form.tile.min(n - 1 - first);
        for z in 1..n - 1 {
            let (mut from, end) = (z * n * n + first * n, z * n * n + (first + rows) * n);
            while from < end {
                let len = form.block.max(n).min(end - from);
                let (low, high) = (stride.map(|stride| &u[from - stride..][..len]), stride.map(|stride| &u[from + stride..][..len]));
                inside(&mut out[from..][..len], &u[from..][..len], low, high, &grid);
                from += len;
            }
        }
    }
}

/// The numbers of an array from so many after the begin of a line.
fn behind_line(all: &mut [f64], offset: usize, len: usize) -> &mut [f64] {
    let begin = all.as_ptr().align_offset(64) + offset;
    &mut all[begin..][..len]
}

#[repr(C)]
struct Time {
    seconds: i64,
    nanoseconds: i64,
}

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut Time) -> i32;
}

/// Processor time of this thread in milliseconds.
fn now() -> f64 {
    const THREAD: i32 = 3;
    let mut time = Time { seconds: 0, nanoseconds: 0 };
    // SAFETY: the system writes to a valid `timespec`.
    unsafe { clock_gettime(THREAD, &mut time) };
    time.seconds as f64 * 1e3 + time.nanoseconds as f64 * 1e-6
}

fn main() {
    const ALL: usize = usize::MAX;
    let forms = [
        Form { name: "rows, ordinary", streams: false, block: 0, tile: ALL },
        Form { name: "rows, streaming", streams: true, block: 0, tile: ALL },
        Form { name: "1024 cells, ordinary", streams: false, block: 1024, tile: ALL },
        Form { name: "1024 cells, streaming", streams: true, block: 1024, tile: ALL },
        Form { name: "tiles of 32 rows", streams: false, block: 1024, tile: 32 },
        Form { name: "tiles of 100 rows", streams: false, block: 1024, tile: 100 },
    ];
    for (offset, n) in [0, 2].into_iter().flat_map(|offset| [128_usize, 160, 192, 256].map(|n| (offset, n))) {
        let len = n.pow(3);
        let mut both = [vec![0.0; len + 16], vec![0.0; len + 16]];
        let [a, b] = both.each_mut().map(|all| behind_line(all, offset, len));
        a.iter_mut().enumerate().for_each(|(i, a)| *a = (i as u64 * 2_654_435_761 % 1000) as f64 / 1000.0);
        step(forms[0], n, b, a);
        for form in &forms[1..] {
            let mut c = vec![0.0; len];
            step(*form, n, &mut c, a);
            assert_eq!(b[..], c[..], "the same bits");
        }
        let turns = if n < 200 { 41 } else { 21 };
        let mut times = vec![Vec::new(); forms.len()];
        for _ in 0..turns {
            for (form, times) in forms.iter().zip(&mut times) {
                let begin = now();
                step(*form, n, b, a);
                step(*form, n, a, b);
                times.push((now() - begin) / 2.0);
            }
        }
        for (form, mut times) in forms.iter().zip(times) {
            times.sort_by(f64::total_cmp);
            println!("{n}^3, {} bytes behind a line, {}: median {:.2} ms, least {:.2} ms", 8 * offset, form.name, times[turns / 2], times[0]);
        }
    }
}
