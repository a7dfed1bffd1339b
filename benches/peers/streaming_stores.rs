//! Whether explicit heat gains from streaming stores (docs/benchmarks/cpu.md, "Stores past the
//! caches"), on x86-64 with AVX and Linux. The function of a cell is as it is generated. Prints the
//! processor time of a step with both kinds of stores, in turn, for blocks of a row and of 1024
//! cells.
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

/// A step on the cells of `n`^3 that have no boundary in `y` and `z`.
fn step(streams: bool, block: usize, n: usize, out: &mut [f64], u: &[f64]) {
    let (stride, grid) = ([1, n, n * n], Grid { volume: 0.37 });
    for z in 1..n - 1 {
        let (mut from, end) = (z * n * n + n, (z + 1) * n * n - n);
        while from < end {
            let len = block.min(end - from);
            let (low, high) = (stride.map(|stride| &u[from - stride..][..len]), stride.map(|stride| &u[from + stride..][..len]));
            let form = if streams { streaming::<3> } else { ordinary::<3> };
            form(&mut out[from..][..len], &u[from..][..len], low, high, &grid);
            from += len;
        }
    }
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
    const FORMS: [(&str, bool, bool); 4] = [
        ("rows, ordinary", false, false),
        ("rows, streaming", false, true),
        ("1024 cells, ordinary", true, false),
        ("1024 cells, streaming", true, true),
    ];
    for n in [128_usize, 160, 192, 256] {
        let mut a: Vec<f64> = (0..n.pow(3) as u64).map(|i| (i * 2_654_435_761 % 1000) as f64 / 1000.0).collect();
        let mut b = a.clone();
        let mut c = b.clone();
        step(false, n, n, &mut b, &a);
        step(true, 1024, n, &mut c, &a);
        assert_eq!(b, c, "the same bits");
        let turns = if n < 200 { 41 } else { 21 };
        let mut times = [const { Vec::new() }; FORMS.len()];
        for _ in 0..turns {
            for ((_, joined, streams), times) in FORMS.iter().zip(&mut times) {
                let (begin, block) = (now(), if *joined { 1024 } else { n });
                step(*streams, block, n, &mut b, &a);
                step(*streams, block, n, &mut a, &b);
                times.push((now() - begin) / 2.0);
            }
        }
        for ((name, ..), mut times) in FORMS.iter().zip(times) {
            times.sort_by(f64::total_cmp);
            println!("{n}^3, {name}: median {:.2} ms, least {:.2} ms", times[turns / 2], times[0]);
        }
    }
}
