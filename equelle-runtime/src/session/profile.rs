//! Times of phases, loops and kernels (`--profile`).
//!
//! Phases exclude one another and add up to the time of the run. A back-end whose device works
//! while the host goes on finds its time where the host waits for it.

use std::time::Instant;

use super::Session;
use super::profiler::OpenLoop;
pub use super::profiler::{Phase, Profiler};
use crate::kernel_info::KernelInfo;
use crate::report::event::{Event, KernelProfile, LoopProfile, Profile, SolveProfile};
use crate::report::{Pause, bytes, seconds};
use crate::solve_traffic::SolveTraffic;
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

impl Session {
    /// The times of this run, with `--profile`.
    pub fn profiler(&self) -> Option<&Profiler> {
        self.profile.as_ref().filter(|_| self.shows_profile)
    }

    /// Sets the bandwidth of the memory that kernels use, in bytes a second. Without it the end of
    /// a run measures that of the host.
    pub fn set_bandwidth(&mut self, bandwidth: f64) {
        if let Some(profiler) = &self.profile {
            profiler.state().bandwidth = Some(bandwidth);
        }
    }

    /// Begins to measure a call of a kernel over its canonical set. On a Cartesian grid its loop
    /// has this form.
    pub fn time_kernel<'k>(&mut self, info: &KernelInfo<'k>, form: &'static str) -> KernelTimer<'k> {
        let Some(profiler) = self.profiler().cloned() else { return KernelTimer(None) };
        let elements = self.elements_of(info);
        self.timer(profiler, info, form, elements)
    }

    /// As [`Session::time_kernel`], over so many elements.
    pub fn time_kernel_over<'k>(&self, info: &KernelInfo<'k>, form: &'static str, elements: usize) -> KernelTimer<'k> {
        match self.profiler() {
            Some(profiler) => self.timer(profiler.clone(), info, form, elements),
            None => KernelTimer(None),
        }
    }

    fn timer<'k>(&self, profiler: Profiler, info: &KernelInfo<'k>, form: &'static str, elements: usize) -> KernelTimer<'k> {
        let bytes = self.kernel_bytes(info, elements);
        let form = if self.grid.cartesian_shape().is_some() { form } else { ANY_GRID };
        KernelTimer(Some(Running { profiler, info: *info, form, bytes, since: Instant::now() }))
    }

    /// Elements of the canonical set of a kernel; 0 without one.
    pub fn elements_of(&mut self, info: &KernelInfo) -> usize {
        // A set that the grid does not have is an error of the kernel, which names its line.
        info.set.and_then(|set| self.domain(set).ok()).map_or(0, |domain| domain.len())
    }

    /// Least memory traffic of a call of a kernel over so many elements, in bytes.
    pub fn kernel_bytes(&self, info: &KernelInfo, elements: usize) -> u64 {
        let by_dim = if self.grid.cartesian_shape().is_some() { info.bytes.cartesian } else { info.bytes.general };
        let of_one = by_dim.get(self.grid.dim().wrapping_sub(1)).copied().unwrap_or(0);
        elements as u64 * u64::from(of_one)
    }

    /// Adds the work of linear solves at an Equelle line; nothing without `--profile`.
    pub fn linear_solve_ended(&self, line: u32, work: SolveTraffic) {
        if let Some(profiler) = self.profiler().filter(|_| work.solves > 0) {
            profiler.solved(line, work);
        }
    }

    pub(super) fn phase(&self, phase: Phase) {
        if let Some(profiler) = &self.profile {
            profiler.enter(phase);
        }
    }

    /// Opens a device of a back-end, which is a phase of its own.
    pub fn opening_device<T>(&self, open: impl FnOnce() -> T) -> T {
        let _phase = self.in_phase(Phase::Device);
        open()
    }

    /// Enters a phase until the result is dropped.
    pub(super) fn in_phase(&self, phase: Phase) -> InPhase {
        let before = self.profile.as_ref().map(|profiler| (profiler.clone(), profiler.enter(phase)));
        InPhase { before, _pause: self.progress.pause() }
    }

    /// A loop begins.
    pub(super) fn profile_loop(&self) {
        let Some(profiler) = &self.profile else { return };
        let mut state = profiler.state();
        let bytes = state.bytes;
        state.open.push(OpenLoop { line: self.line, rounds: 0, since: Instant::now(), bytes });
    }

    /// A round of the innermost loop ended and another begins, unless the loop is over.
    pub(super) fn profile_step(&self, is_over: bool) {
        let Some(profiler) = &self.profile else { return };
        if self.progress.is_outermost() {
            let phase = match (is_over, self.progress.steps()) {
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

    /// Shows the profile at the end of a run.
    pub(super) fn tell_profile(&mut self) {
        let Some(profiler) = self.profile.clone() else { return };
        let mut profile = profiler.profile();
        let moves = profile.kernels.iter().any(|kernel| kernel.bytes > 0) || !profile.linear_solves.is_empty();
        if profile.bandwidth.is_nan() && moves {
            profile.bandwidth = copy_bandwidth(&self.threads);
        }
        if self.shows_profile && self.progress.format() == crate::report::MessageFormat::Human {
            table(&profile).iter().for_each(|line| self.progress.message(line));
        }
        self.progress.event(&Event::Profile(profile));
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
