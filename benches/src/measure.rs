//! Time of copies, medians.

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::Instant;

/// Seconds since some moment, by the clock on the wall: the machine should have nothing else to do.
pub fn now() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}

/// Seconds of a copy of one field to another, by a number of threads.
pub fn copy(cells: usize, steps: usize, threads: usize) -> f64 {
    let (mut from, mut to) = (vec![1.0_f64; cells], vec![0.0_f64; cells]);
    let part = cells.div_ceil(threads);
    let mut once = |steps: usize| {
        if threads == 1 {
            for _ in 0..steps {
                black_box(&mut to).copy_from_slice(black_box(&from));
                std::mem::swap(&mut from, &mut to);
            }
            return;
        }
        // Each thread copies its part back and forth, so that none waits for another within the
        // time that is taken.
        std::thread::scope(|scope| {
            for (from, to) in from.chunks_mut(part).zip(to.chunks_mut(part)) {
                scope.spawn(move || {
                    let (mut from, mut to) = (from, to);
                    for _ in 0..steps {
                        black_box(&mut *to).copy_from_slice(black_box(&*from));
                        std::mem::swap(&mut from, &mut to);
                    }
                });
            }
        });
    };
    once(1);
    let start = now();
    once(steps.max(2) - 1);
    (now() - start) / (steps.max(2) - 1) as f64
}

/// The middle of some values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

/// The least of some values.
pub fn least(values: &[f64]) -> f64 {
    values.iter().fold(f64::INFINITY, |a, b| a.min(*b))
}
