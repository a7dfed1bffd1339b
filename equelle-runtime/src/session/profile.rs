//! Times of phases, loops and kernels (`--profile`).
//!
//! Phases exclude one another and add up to the time of the run. A back-end whose device works
//! while the host goes on finds its time where the host waits for it.

use std::time::{Duration, Instant};

use super::profiler::OpenLoop;
pub use super::profiler::{Phase, Profiler};
use crate::grid::Grid;
use crate::kernel_info::KernelInfo;
use crate::report::event::{Event, KernelProfile, LoopProfile, Profile, SolveProfile};
use crate::report::{Pause, Progress, bytes, seconds};
use crate::threads::Threads;

/// The form of loops on grids that are not Cartesian.
const ANY_GRID: &str = "any grid";

/// Returns to the phase before when it is dropped. What is no computation is none of a round.
#[must_use]
pub(super) struct InPhase {
    before: Option<(Profiler, Phase)>,
    _pause: Pause,
}

impl Drop for InPhase {
    fn drop(&mut self) {
        if let Some((profiler, before)) = &self.before {
            profiler.enter(*before);
        }
    }
}

/// Measures a call of a kernel until it is dropped; nothing without `--profile`.
#[must_use]
pub struct KernelTimer<'k>(Option<Running<'k>>);

struct Running<'k> {
    profiler: Profiler,
    info: KernelInfo<'k>,
    form: &'static str,
    bytes: u64,
    since: Instant,
}

impl Drop for KernelTimer<'_> {
    fn drop(&mut self) {
        if let Some(Running { profiler, info, form, bytes, since }) = &self.0 {
            profiler.moved(*bytes);
            profiler.kernel((info.name, info.lines), form, 1, since.elapsed().as_secs_f64(), *bytes);
        }
    }
}

/// The times of a run, where `--profile` or a log of events asks for them.
pub(super) struct Timing {
    profiler: Option<Profiler>,
    /// True if `--profile` was given; for a log of events alone only phases and loops are timed.
    is_shown: bool,
}

impl Timing {
    /// `compiled_in`: time that a driver took before the run.
    pub(super) fn new(is_shown: bool, has_log: bool, compiled_in: Duration) -> Timing {
        let profiler = (is_shown || has_log).then(Profiler::default);
        profiler.iter().for_each(|profiler| profiler.compiled_in(compiled_in));
        Timing { profiler, is_shown }
    }

    /// The times of this run, with `--profile`.
    #[inline]
    pub(super) fn shown(&self) -> Option<&Profiler> {
        self.profiler.as_ref().filter(|_| self.is_shown)
    }

    /// Begins to measure a call of a kernel over so many elements. On a Cartesian grid its loop has
    /// this form.
    pub(super) fn timer<'k>(&self, grid: &Grid, info: &KernelInfo<'k>, form: &'static str, elements: usize) -> KernelTimer<'k> {
        let Some(profiler) = self.shown().cloned() else { return KernelTimer(None) };
        let bytes = info.bytes_moved(grid, elements);
        let form = if info.is_cartesian_on(grid) { form } else { ANY_GRID };
        KernelTimer(Some(Running { profiler, info: *info, form, bytes, since: Instant::now() }))
    }

    /// Ends the phase so far and begins another.
    pub(super) fn enter(&self, phase: Phase) {
        if let Some(profiler) = &self.profiler {
            profiler.enter(phase);
        }
    }

    /// Enters a phase until the result is dropped.
    pub(super) fn in_phase(&self, phase: Phase, progress: &Progress) -> InPhase {
        let before = self.profiler.as_ref().map(|profiler| (profiler.clone(), profiler.enter(phase)));
        InPhase { before, _pause: progress.rounds().pause() }
    }

    /// The loop at an Equelle line begins.
    pub(super) fn begin_loop(&self, line: u32) {
        let Some(profiler) = &self.profiler else { return };
        let mut state = profiler.state();
        let bytes = state.bytes;
        state.open.push(OpenLoop { line, rounds: 0, since: Instant::now(), bytes });
    }

    /// A round of the innermost loop ended and another begins, unless the loop is over.
    pub(super) fn end_round(&self, is_over: bool, progress: &Progress) {
        let Some(profiler) = &self.profiler else { return };
        if progress.rounds().is_outermost() {
            let phase = match (is_over, progress.rounds().steps) {
                (true, _) => Phase::After,
                // The round that ends is not counted yet.
                (false, 0) if profiler.state().open.last().is_some_and(|open| open.rounds == 0) => Phase::FirstStep,
                (false, _) => Phase::Steps,
            };
            profiler.enter(phase);
        }
        let mut state = profiler.state();
        if !is_over {
            if let Some(open) = state.open.last_mut() {
                open.rounds += 1;
            }
        } else if let Some(open) = state.open.pop() {
            let bytes = state.bytes - open.bytes;
            let entry = state.loops.entry(open.line);
            let total = entry.or_insert(LoopProfile { line: open.line, rounds: 0, seconds: 0.0, bytes: 0 });
            total.rounds += open.rounds;
            total.seconds += open.since.elapsed().as_secs_f64();
            total.bytes += bytes;
        }
    }

    /// Shows the profile at the end of a run. The memory's bandwidth is measured if nobody set it.
    pub(super) fn tell(&self, progress: &mut Progress, threads: &Threads) {
        let Some(profiler) = &self.profiler else { return };
        let mut profile = profiler.profile();
        let moves = profile.kernels.iter().any(|kernel| kernel.bytes > 0) || !profile.linear_solves.is_empty();
        if profile.bandwidth.is_nan() && moves {
            profile.bandwidth = copy_bandwidth(threads);
        }
        if self.is_shown && progress.format() == crate::report::MessageFormat::Human {
            table(&profile).iter().for_each(|line| progress.message(line));
        }
        progress.event(&Event::Profile(profile));
    }
}

/// Doubles of the array that [`copy_bandwidth`] copies: more than caches of servers hold.
const COPIED: usize = 1 << 24;

/// Bytes a second that the threads read and write together when they copy an array: the best of
/// three, after one that maps the memory.
fn copy_bandwidth(threads: &Threads) -> f64 {
    let from = vec![1.0_f64; COPIED];
    let mut to = vec![0.0_f64; COPIED];
    let mut best = f64::INFINITY;
    for _ in 0..4 {
        let since = Instant::now();
        threads.each(COPIED, &mut to[..], |range, part| part.copy_from_slice(&from[range]));
        best = best.min(since.elapsed().as_secs_f64());
    }
    // Otherwise the copies could be left out.
    std::hint::black_box(&to);
    2.0 * size_of_val(&from[..]) as f64 / best
}

/// The profile as lines for users.
fn table(profile: &Profile) -> Vec<String> {
    let all: f64 = profile.phases.iter().map(|(_, seconds)| seconds).sum();
    let mut lines = vec![format!("{:<32} {:>12} {:>7}", "phase", "time", "share")];
    for (name, time) in &profile.phases {
        lines.push(format!("{name:<32} {:>12} {:>6.1}%", seconds(*time), 100.0 * time / all));
    }
    let rate = |moved: u64, time: f64| match moved {
        0 => String::new(),
        _ => format!(" {:>10} {:>9.2} {:>6.1}%", bytes(moved), moved as f64 / time / 1e9, 100.0 * profile.share(moved, time)),
    };
    let heading = |what: &str, calls: &str| {
        format!("{what:<32} {calls:>8} {:>12} {:>12} {:>10} {:>9} {:>7}", "time", "each", "bytes", "GB/s", "share")
    };
    if !profile.loops.is_empty() {
        lines.push(heading("loop", "rounds"));
        for of_loop in &profile.loops {
            lines.push(row(&at_line(of_loop.line, "a loop"), of_loop.rounds, of_loop.seconds) + &rate(of_loop.bytes, of_loop.seconds));
        }
    }
    if !profile.linear_solves.is_empty() {
        lines.push(heading("iterations of linear solves", "number"));
        for SolveProfile { line, work } in &profile.linear_solves {
            lines.push(row(&at_line(*line, "a solve"), work.iterations, work.seconds) + &rate(work.bytes, work.seconds));
        }
    }
    if !profile.kernels.is_empty() {
        let on_device = profile.kernels.iter().any(|kernel| kernel.resources.is_some());
        let of_device = if on_device { format!(" {:>9} {:>9}", "registers", "occupancy") } else { String::new() };
        lines.push(heading("kernel", "calls") + &of_device + "  form");
        for kernel in &profile.kernels {
            let rate = rate(kernel.bytes, kernel.seconds);
            let taken = kernel.resources.map(|taken| format!(" {:>9} {:>8.0}%", taken.registers, 100.0 * taken.occupancy));
            // Kernels that move nothing have no rate.
            lines.push(format!(
                "{}{rate:<29}{}  {}",
                row(&kernel.name, kernel.calls, kernel.seconds),
                taken.unwrap_or_default(),
                kernel.form
            ));
        }
        let is_spilled = |kernel: &&KernelProfile| kernel.resources.is_some_and(|taken| taken.local_bytes > 0);
        for kernel in profile.kernels.iter().filter(is_spilled) {
            let bytes = kernel.resources.map_or(0, |taken| taken.local_bytes);
            lines.push(format!("{} needs more registers than a thread has: {bytes} bytes of each are in memory", kernel.name));
        }
    }
    if profile.bandwidth.is_finite() {
        lines.push(format!(
            "bandwidth of memory, by a copy: {:.2} GB/s; bytes are the least that kernels and linear solves move",
            profile.bandwidth / 1e9
        ));
    }
    lines
}

/// `line 12`, or `what` if no line is known.
fn at_line(line: u32, what: &str) -> String {
    if line == 0 { what.to_owned() } else { format!("line {line}") }
}

fn row(name: &str, calls: u64, time: f64) -> String {
    format!("{name:<32} {calls:>8} {:>12} {:>12}", seconds(time), seconds(time / calls.max(1) as f64))
}
