//! Reports of Newton solves: a table of each with `--verbose`, an event of each for programs, and
//! totals in the summary.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use super::context::RunContext;
use super::failed_solve::FailedSolve;
use super::totals::{Rescues, Totals};
use crate::domain::Domain;
use crate::json;
use crate::newton::{History, Iteration, Range, SolveOutcome, Times};
use crate::report::event::{Newton, NewtonIteration, SolveSeconds, SolveTotals};
use crate::report::{Event, MessageFormat, seconds};
use crate::source::Source;

/// Times and iterations of the solves of a run, and the last one that failed.
pub(super) struct SolveLog {
    /// True if a table of each solve is printed.
    is_verbose: bool,
    /// By Equelle line.
    solves: BTreeMap<u32, Totals>,
    rescues: Rescues,
    /// Ranges of unknowns in all solves with accepted results, by Equelle line.
    ranges: BTreeMap<u32, Vec<Range>>,
    /// Number of dumped failures of solves.
    failures: usize,
    /// The last solve that failed, where a folder for it may be written.
    pub(super) failed: Option<FailedSolve>,
}

impl SolveLog {
    pub(super) fn new(is_verbose: bool) -> SolveLog {
        SolveLog { is_verbose, solves: BTreeMap::new(), rescues: Rescues::default(), ranges: BTreeMap::new(), failures: 0, failed: None }
    }

    /// Number of time steps that were taken in parts, and of those parts.
    pub(super) fn steps_in_parts(&self) -> (usize, usize) {
        (self.rescues.steps, self.rescues.parts)
    }

    /// The lines of the summary on solves; empty without solves.
    pub(super) fn summary(&self, source: &Source) -> Vec<String> {
        let mut lines: Vec<String> = self
            .solves
            .iter()
            .flat_map(|(line, totals)| {
                let shown = source.shown(*line);
                let mut text = format!("Newton's method at {shown}: {}", counted(totals.solves, "solve"));
                if totals.not_converged > 0 {
                    // Writing to a String cannot fail.
                    let _ = write!(text, " ({} of them without convergence)", totals.not_converged);
                }
                if totals.without_iterations > 0 {
                    let _ = write!(text, " ({} of them took the guess as it is, without an iteration)", totals.without_iterations);
                }
                let _ = write!(
                    text,
                    ", {}, {} linear; {}",
                    counted(totals.iterations, "iteration"),
                    totals.linear_iterations,
                    parts(totals.times)
                );
                if totals.solves > 1 {
                    let _ = write!(text, "; after the first solve: {}", parts(totals.after_first));
                }
                let ranges = self.ranges.get(line).filter(|ranges| !ranges.is_empty());
                [text].into_iter().chain(ranges.map(|ranges| format!("unknowns at {shown}: {}", Range::text(ranges))))
            })
            .collect();
        let Rescues { steps, parts, shortened } = self.rescues;
        if shortened > 0 {
            lines.push(format!("{} failed and {} taken again with a shorter step", counted(shortened, "round"), was(shortened)));
        }
        if steps > 0 {
            lines.push(format!("{} failed as a whole and {} taken in {parts} parts in all", counted(steps, "step"), was(steps)));
        }
        lines
    }

    /// The totals as an event for programs has them.
    pub(super) fn totals(&self) -> Vec<SolveTotals> {
        let totals = |(&line, totals): (&u32, &Totals)| SolveTotals {
            line,
            solves: totals.solves,
            not_converged: totals.not_converged,
            without_iterations: totals.without_iterations,
            iterations: totals.iterations,
            linear_iterations: totals.linear_iterations,
            seconds: solve_seconds(totals.times),
            after_first: solve_seconds(totals.after_first),
            unknowns: self.ranges.get(&line).cloned().unwrap_or_default(),
        };
        self.solves.iter().map(totals).collect()
    }
}

/// Reports solves and repeated time steps to users and programs, and adds them up.
pub struct SolveReports<'s> {
    pub(super) log: &'s mut SolveLog,
    pub(super) run: &'s mut RunContext,
}

impl SolveReports<'_> {
    /// Records a Newton solve at an Equelle line.
    pub fn ended(&mut self, line: u32, history: &History, ending: SolveOutcome) {
        let times = history.times();
        let totals = self.log.solves.entry(line).or_default();
        totals.solves += 1;
        totals.not_converged += usize::from(ending != SolveOutcome::Converged);
        totals.without_iterations += usize::from(ending == SolveOutcome::Converged && history.count() == 0);
        totals.iterations += history.count();
        totals.linear_iterations += history.linear_iterations();
        totals.times += times;
        if totals.solves > 1 {
            totals.after_first += times;
        }
        if history.is_kept {
            Range::widen(self.log.ranges.entry(line).or_default(), &history.ranges);
        }
        if self.run.progress.messages().has_events() {
            self.run.progress.event(&self.solve_event(line, history, ending));
        }
        if self.log.is_verbose && self.run.progress.format() == MessageFormat::Human {
            let place = self.run.place(line);
            let end = match ending {
                SolveOutcome::Converged => "converged",
                SolveOutcome::NotConverged => "did not converge",
                SolveOutcome::Failed => "failed",
            };
            let unknowns = if history.ranges.is_empty() { String::new() } else { format!("\nunknowns: {}", Range::text(&history.ranges)) };
            self.run.progress.message(&format!(
                "{place}: {end} in {}, {} linear; {}\n{}{unknowns}",
                counted(history.count(), "iteration"),
                history.linear_iterations(),
                parts(times),
                history.table_with_times().trim_end()
            ));
        }
    }

    /// Ranges of unknowns in all solves with accepted results, by Equelle line.
    pub(crate) fn ranges(&self) -> &BTreeMap<u32, Vec<Range>> {
        &self.log.ranges
    }

    /// Restores earlier ranges, since the results of later solves were dropped.
    pub(crate) fn restore_ranges(&mut self, ranges: BTreeMap<u32, Vec<Range>>) {
        self.log.ranges = ranges;
    }

    /// The number of a dumped failure, from 0.
    pub(crate) fn next_failure(&mut self) -> usize {
        self.log.failures += 1;
        self.log.failures - 1
    }

    /// Reports that a time step at an Equelle line failed and is repeated in parts; `length` is the
    /// whole step, `why` the reason.
    pub fn step_failed(&mut self, line: u32, length: f64, parts: u32, why: &str) {
        let why = why.lines().next().unwrap_or_default();
        let step = self.run.step_number();
        self.run.progress.event(&Event::StepFailed { line, step, length, parts, message: why.to_owned() });
        if self.run.progress.format() == MessageFormat::Human {
            let (place, length) = (self.run.place(line), json::number(length));
            self.run.progress.warning(&format!("{place}: the step of {length} failed, it is tried again in {parts} parts: {why}"));
        }
    }

    /// Reports that a round with a computed step failed and is taken again with a part of it.
    pub fn round_failed(&mut self, line: u32, length: f64, parts: u32, why: &str) {
        let why = why.lines().next().unwrap_or_default();
        let step = self.run.step_number();
        self.run.progress.event(&Event::StepFailed { line, step, length, parts, message: why.to_owned() });
        if self.run.progress.format() == MessageFormat::Human {
            let (place, length) = (self.run.place(line), json::number(length));
            self.run
                .progress
                .warning(&format!("{place}: the step of {length} failed, the round is tried again with 1/{parts} of it: {why}"));
        }
    }

    /// Reports that a round was taken with a part of its step.
    pub fn round_rescued(&mut self, line: u32, length: f64, parts: u32) {
        self.log.rescues.shortened += 1;
        self.run.progress.event(&Event::StepRescued { line, step: self.run.step_number(), length, parts });
        if self.run.progress.format() == MessageFormat::Human {
            let (place, length) = (self.run.place(line), json::number(length));
            self.run.progress.message(&format!("{place}: the round was taken with 1/{parts} of the step of {length}"));
        }
    }

    /// Reports that a time step at an Equelle line was taken in parts.
    pub fn step_rescued(&mut self, line: u32, length: f64, parts: u32) {
        self.log.rescues.steps += 1;
        self.log.rescues.parts += parts as usize;
        self.run.progress.event(&Event::StepRescued { line, step: self.run.step_number(), length, parts });
        if self.run.progress.format() == MessageFormat::Human {
            let (place, length) = (self.run.place(line), json::number(length));
            self.run.progress.message(&format!("{place}: the step of {length} was taken in {parts} parts"));
        }
    }

    fn solve_event(&self, line: u32, history: &History, ending: SolveOutcome) -> Event {
        let outcome = match ending {
            SolveOutcome::Converged => "converged",
            SolveOutcome::NotConverged => "not_converged",
            SolveOutcome::Failed => "failed",
        };
        let iteration = |iteration: &Iteration| NewtonIteration {
            norm: iteration.norm,
            linear_iterations: iteration.linear_iterations,
            length: iteration.length,
            seconds: solve_seconds(iteration.times),
        };
        let iterations = history.iterations.iter().map(iteration).collect();
        Event::Newton(Newton { line, step: self.run.step_number(), outcome, iterations, unknowns: history.ranges.clone() })
    }

    /// Keeps the last iterate of a failed solve. `fields`: domain, iterate and residual of each
    /// unknown, `[domain]`.
    pub(crate) fn keep_failed(&mut self, line: u32, history: &History, fields: Vec<(Arc<Domain>, Vec<f64>, Vec<f64>)>) {
        let Some(cause) = history.cause else { return };
        self.log.failed = Some(FailedSolve { cause, line, iterations: history.count(), fields });
    }

    /// Forgets a failed solve, because the run goes on after it.
    pub(crate) fn drop_failed(&mut self) {
        self.log.failed = None;
    }
}

/// `assembly 1.0 s, set-up 2.0 s, linear solves 3.0 s`
fn parts(times: Times) -> String {
    let Times { assembly, set_up, solve } = times;
    format!("assembly {}, set-up {}, linear solves {}", seconds(assembly), seconds(set_up), seconds(solve))
}

fn solve_seconds(times: Times) -> SolveSeconds {
    let Times { assembly, set_up, solve } = times;
    SolveSeconds { assembly, set_up, solve }
}

/// `1 solve`, `2 solves`
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn was(count: usize) -> &'static str {
    if count == 1 { "was" } else { "were" }
}
