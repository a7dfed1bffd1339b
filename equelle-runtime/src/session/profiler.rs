//! Times that a run collects for `--profile`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::report::event::{KernelProfile, KernelResources, LoopProfile, Profile, SolveProfile};
use crate::solve_traffic::SolveTraffic;

/// Phases that a run spends its time with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// A driver compiled the program, and built it if there was no built one.
    Compile,
    /// Reads parameters, the grid and inputs.
    Read,
    /// Opens a device: its driver starts.
    Device,
    /// Computes before the first loop.
    Build,
    /// The first round of the first loop: it allocates, finds patterns, compiles for a device.
    FirstStep,
    /// The other rounds of outermost loops.
    Steps,
    /// Computes between outermost loops and after them.
    After,
    /// Puts out: checks, formats, hands over to the thread that writes.
    Outputs,
    /// Waits for files.
    Disk,
}

const PHASES: [Phase; 9] =
    [Phase::Compile, Phase::Read, Phase::Device, Phase::Build, Phase::FirstStep, Phase::Steps, Phase::After, Phase::Outputs, Phase::Disk];

impl Phase {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Compile => "compile",
            Phase::Read => "read",
            Phase::Device => "opening the device",
            Phase::Build => "build",
            Phase::FirstStep => "first step",
            Phase::Steps => "steps",
            Phase::After => "after the steps",
            Phase::Outputs => "outputs",
            Phase::Disk => "waiting for the disk",
        }
    }
}

/// Collects times of a run. Clones share them.
#[derive(Clone, Default)]
pub struct Profiler(Arc<Mutex<State>>);

pub(super) struct State {
    phase: Phase,
    since: Instant,
    phases: [Duration; PHASES.len()],
    kernels: Vec<KernelProfile>,
    /// Bytes of all kernels and linear solves so far.
    pub(super) bytes: u64,
    /// The loops around the current statement.
    pub(super) open: Vec<OpenLoop>,
    /// By line.
    solves: BTreeMap<u32, SolveTraffic>,
    /// By line.
    pub(super) loops: BTreeMap<u32, LoopProfile>,
    bandwidth: Option<f64>,
}

impl Default for State {
    fn default() -> Self {
        State {
            phase: Phase::Read,
            since: Instant::now(),
            phases: [Duration::ZERO; PHASES.len()],
            kernels: Vec::new(),
            bytes: 0,
            open: Vec::new(),
            solves: BTreeMap::new(),
            loops: BTreeMap::new(),
            bandwidth: None,
        }
    }
}

pub(super) struct OpenLoop {
    pub(super) line: u32,
    pub(super) rounds: u64,
    pub(super) since: Instant,
    /// Bytes of kernels before it.
    pub(super) bytes: u64,
}

impl Profiler {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends a phase and begins another; returns the one that ended.
    pub(super) fn enter(&self, phase: Phase) -> Phase {
        let mut state = self.state();
        let now = Instant::now();
        let passed = now.duration_since(state.since);
        let ended = std::mem::replace(&mut state.phase, phase);
        state.phases[ended as usize] += passed;
        state.since = now;
        ended
    }

    /// Adds the time that a driver took before the run.
    pub(super) fn compiled_in(&self, time: Duration) {
        self.state().phases[Phase::Compile as usize] += time;
    }

    /// Sets the bandwidth of the memory that kernels use, in bytes a second. Without it the end of
    /// a run measures that of the host.
    pub fn set_bandwidth(&self, bandwidth: f64) {
        self.state().bandwidth = Some(bandwidth);
    }

    /// Counts bytes for the loops around the current statement.
    pub fn moved(&self, bytes: u64) {
        self.state().bytes += bytes;
    }

    /// Adds linear solves at an Equelle line.
    pub(super) fn solved(&self, line: u32, work: SolveTraffic) {
        let mut state = self.state();
        state.bytes += work.bytes;
        *state.solves.entry(line).or_default() += work;
    }

    /// Adds calls of a kernel, its name and lines of the program, whose loops have this form, and
    /// their seconds and bytes.
    pub fn kernel(&self, (name, lines): (&str, &[u32]), form: &'static str, calls: u64, seconds: f64, bytes: u64) {
        let mut state = self.state();
        let known = state.kernels.iter_mut().find(|known| known.name == name);
        if let Some(known) = known {
            known.calls += calls;
            known.seconds += seconds;
            known.bytes += bytes;
        } else {
            let (name, lines) = (name.to_owned(), lines.to_vec());
            state.kernels.push(KernelProfile { name, lines, form, calls, seconds, bytes, resources: None });
        }
    }

    /// Records the resources of the kernel of this name on the device.
    pub fn resources(&self, name: &str, resources: KernelResources) {
        if let Some(kernel) = self.state().kernels.iter_mut().find(|kernel| kernel.name == name) {
            kernel.resources = Some(resources);
        }
    }

    /// The profile so far.
    pub(super) fn profile(&self) -> Profile {
        let phase = self.state().phase;
        self.enter(phase);
        let state = self.state();
        let mut kernels = state.kernels.clone();
        // With equal times, the kernel called first stays first.
        kernels.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        Profile {
            bandwidth: state.bandwidth.unwrap_or(f64::NAN),
            // Without a driver nothing is compiled, without a device none is opened.
            phases: PHASES
                .into_iter()
                .map(|phase| (phase, state.phases[phase as usize]))
                .filter(|(phase, time)| !matches!(phase, Phase::Compile | Phase::Device) || !time.is_zero())
                .map(|(phase, time)| (phase.name(), time.as_secs_f64()))
                .collect(),
            kernels,
            linear_solves: state.solves.iter().map(|(&line, &work)| SolveProfile { line, work }).collect(),
            loops: state.loops.values().copied().collect(),
        }
    }
}
