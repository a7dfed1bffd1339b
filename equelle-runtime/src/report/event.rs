//! Events of a run for programs (`--message-format json`), one JSON object a line. The record of
//! the run takes its description, files and end from them. The book has their JSON Schema.

use std::sync::Arc;

use crate::error::Error;
use crate::json::{self, Object};
use crate::newton::Range;
use crate::solve_traffic::SolveTraffic;

/// Version of the events and of the record of a run: another number for what old readers misread.
pub const VERSION: u32 = 1;

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The run begins: parameters and grid are read.
    Start(Start),
    /// Progress of the outermost loop, at most once a second.
    Progress {
        /// Finished steps of the loop.
        step: usize,
        /// Steps of the loop, if known.
        steps: Option<usize>,
        /// Seconds since the begin of the loop.
        elapsed: f64,
        /// Expected seconds to its end; NaN if not known.
        left: f64,
    },
    /// A step of the outermost loop ended; at most ten a second, the first and the last always.
    Step(Step),
    /// A solve of Newton's method ended.
    Newton(Newton),
    /// A time step failed and is taken again in parts.
    StepFailed {
        /// Line in the program.
        line: u32,
        /// Step of the outermost loop, from 1.
        step: Option<usize>,
        /// Length of the whole step.
        length: f64,
        /// Parts of the next attempt.
        parts: u32,
        /// The reason.
        message: String,
    },
    /// A time step was taken in parts.
    StepRescued {
        /// Line in the program.
        line: u32,
        /// Step of the outermost loop, from 1.
        step: Option<usize>,
        /// Length of the whole step.
        length: f64,
        /// Its parts.
        parts: u32,
    },
    /// An output file has its name: it is complete. Its entry in the record of the run.
    Output(serde_json::Value),
    /// A checkpoint is complete.
    Checkpoint {
        /// Rounds of outermost loops that it holds.
        step: u64,
        /// Time of the run there.
        time: f64,
        /// Its name in the output folder.
        file: String,
    },
    /// The balance of a conserved quantity since the begin of the run, or since it went on; at most
    /// ten a second, the last always.
    Audit(Audit),
    /// Something worth knowing.
    Note(String),
    /// Something that may be a mistake.
    Warning(String),
    /// The error that ends the run.
    Error(Error),
    /// Times of kernels and phases.
    Profile(Profile),
    /// Totals of a run that reached its end.
    Summary(Summary),
    /// The run is over; the last event.
    End(End),
}

/// The description of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// Name of the program.
    pub program: Arc<str>,
    /// The file that it was compiled from.
    pub file: Arc<str>,
    /// Hash of its text, with those that it imports.
    pub hash: String,
    /// The files that it imports, each with the number of its first line.
    pub imports: Vec<(Arc<str>, u32)>,
    /// Key, value and origin of each parameter, by key.
    pub parameters: Vec<(String, String, String)>,
    /// The grid.
    pub grid: GridDescription,
    /// Name of the back-end.
    pub back_end: String,
    /// Precision and rounding, if not the default.
    pub mode: Option<Arc<str>>,
    /// Process number.
    pub process: u32,
    /// Name of the machine.
    pub host: Option<String>,
    /// When, in UTC.
    pub started: String,
}

/// A grid in the description of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct GridDescription {
    /// Axes of space.
    pub dimension: usize,
    /// Number of cells.
    pub cells: usize,
    /// Number of faces.
    pub faces: usize,
    /// Cells and spacing by axis, if it is uniform Cartesian.
    pub cartesian: Option<(Vec<usize>, Vec<f64>)>,
}

/// The end of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Its number in the loop, from 1.
    pub step: usize,
    /// Steps of the loop, if known.
    pub steps: Option<usize>,
    /// Steps of all outermost loops so far, which `output` events count.
    pub steps_done: usize,
    /// Time of the run after it; NaN if the back-end does not know.
    pub time: f64,
    /// The element of the loop's sequence; NaN as above.
    pub dt: f64,
    /// Seconds since the begin of the loop.
    pub elapsed: f64,
    /// Expected seconds to its end; NaN if not known.
    pub left: f64,
}

/// The balance of a conserved quantity, each part as a sum over all cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Audit {
    /// The variable, and the equation where it has several.
    pub quantity: String,
    /// Rounds of outermost loops so far.
    pub step: u64,
    /// Time of the run; NaN if the back-end does not know.
    pub time: f64,
    /// Amount of the quantity.
    pub content: f64,
    /// Change of the amount.
    pub change: f64,
    /// Inflow through the boundary.
    pub boundary: f64,
    /// Gain from sources.
    pub sources: f64,
}

impl Audit {
    /// Change that neither the boundary nor sources explain.
    pub fn rest(&self) -> f64 {
        self.change - self.boundary - self.sources
    }

    fn object(&self) -> Object {
        event("audit")
            .text("quantity", &self.quantity)
            .raw("step", self.step)
            .number("time", self.time)
            .number("content", self.content)
            .number("change", self.change)
            .number("boundary", self.boundary)
            .number("sources", self.sources)
            .number("rest", self.rest())
    }
}

/// A solve of Newton's method.
#[derive(Clone, Debug, PartialEq)]
pub struct Newton {
    /// Line in the program.
    pub line: u32,
    /// Step of the outermost loop, from 1.
    pub step: Option<usize>,
    /// `converged`, `not_converged` or `failed`.
    pub outcome: &'static str,
    /// The guess, then each iteration.
    pub iterations: Vec<NewtonIteration>,
    /// Ranges of the unknowns at the end.
    pub unknowns: Vec<Range>,
}

/// An iteration of Newton's method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewtonIteration {
    /// Norm of the residual after it.
    pub norm: f64,
    /// Iterations of the linear solver.
    pub linear_iterations: Option<usize>,
    /// Part of the correction that was taken.
    pub length: f64,
    /// Its time.
    pub seconds: SolveSeconds,
}

/// Seconds in the parts of solves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolveSeconds {
    /// Residuals and Jacobians.
    pub assembly: f64,
    /// Preconditioners, factorisations.
    pub set_up: f64,
    /// Linear solves.
    pub solve: f64,
}

/// Totals of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Since its start.
    pub seconds: f64,
    /// Steps of outermost loops.
    pub steps: usize,
    /// Cells of the grid.
    pub cells: usize,
    /// Totals of solves, by line.
    pub solves: Vec<SolveTotals>,
    /// Steps that were taken in parts.
    pub steps_in_parts: usize,
    /// Their parts.
    pub parts: usize,
    /// The ranks of the run, if it has several.
    pub ranks: Option<RanksReport>,
}

/// Ranks of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RanksReport {
    /// The MPI that connected them, such as `Open MPI 4.1.4`.
    pub by: String,
    /// Number of machines.
    pub nodes: u64,
    /// Each rank.
    pub ranks: Vec<RankReport>,
}

/// A rank of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RankReport {
    /// Cells that it owns.
    pub cells: u64,
    /// Copies of cells of others.
    pub halo_cells: u64,
    /// Ranks that own them.
    pub neighbours: u64,
    /// Exchanges of halos.
    pub exchanges: u64,
    /// Messages that it has sent in them, and their bytes.
    pub messages: u64,
    /// Bytes of these messages.
    pub bytes: u64,
    /// Time of the run.
    pub seconds: f64,
    /// Time that it waited for others.
    pub waiting: f64,
    /// Time of exchanges, without waits.
    pub exchanging: f64,
    /// Time of reductions over all ranks, without waits.
    pub reducing: f64,
}

/// Totals of the solves at a line.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveTotals {
    /// Line in the program.
    pub line: u32,
    /// Their number.
    pub solves: usize,
    /// Those that did not converge.
    pub not_converged: usize,
    /// Those whose guess was accepted.
    pub without_iterations: usize,
    /// Iterations.
    pub iterations: usize,
    /// Iterations of the linear solver.
    pub linear_iterations: usize,
    /// All times.
    pub seconds: SolveSeconds,
    /// Those of solves after the first.
    pub after_first: SolveSeconds,
    /// Ranges of the unknowns in all solves.
    pub unknowns: Vec<Range>,
}

/// Times of the parts of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Measured bandwidth of memory in bytes a second; NaN if it was not measured.
    pub bandwidth: f64,
    /// Name and seconds of each phase, in order.
    pub phases: Vec<(&'static str, f64)>,
    /// Kernels, the longest first.
    pub kernels: Vec<KernelProfile>,
    /// Linear solves by line.
    pub linear_solves: Vec<SolveProfile>,
    /// Loops by line.
    pub loops: Vec<LoopProfile>,
}

/// Time and work of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelProfile {
    /// Its name.
    pub name: String,
    /// Lines of the program that it computes.
    pub lines: Vec<u32>,
    /// Its loop: `rows`, `cells`, `list`, `per axis`, `general`, or `any grid`.
    pub form: &'static str,
    /// Calls.
    pub calls: u64,
    /// Their seconds.
    pub seconds: f64,
    /// Least memory traffic of all calls, in bytes.
    pub bytes: u64,
    /// Its resources, on a device that reports them.
    pub resources: Option<KernelResources>,
}

/// Resources of a kernel on a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelResources {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of a thread that registers do not hold: what the compiler spilled, and arrays.
    pub local_bytes: u32,
    /// Threads that a multiprocessor runs at a time, of those that it can hold.
    pub occupancy: f64,
}

/// Iterations of the linear solves at a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveProfile {
    /// Line in the program; 0 if not known.
    pub line: u32,
    /// Their work.
    pub work: SolveTraffic,
}

/// Time of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopProfile {
    /// Line in the program; 0 if not known.
    pub line: u32,
    /// Rounds.
    pub rounds: u64,
    /// Their seconds.
    pub seconds: f64,
    /// Least memory traffic of the kernels and linear solves in it, in bytes.
    pub bytes: u64,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// `done`, `failed` or `interrupted`.
    pub state: &'static str,
    /// Exit code; `None` if not known.
    pub exit_code: Option<u8>,
    /// The message of the error that ended it.
    pub error: Option<String>,
    /// Lines of the program that the error concerns, innermost first.
    pub lines: Vec<u32>,
    /// The hint of the error.
    pub hint: Option<String>,
    /// Since the start.
    pub seconds: f64,
}

impl End {
    /// An end that no error tells of.
    pub fn without_error(state: &'static str, exit_code: Option<u8>, seconds: f64) -> End {
        End { state, exit_code, error: None, lines: Vec::new(), hint: None, seconds }
    }

    /// The end of a run with this result.
    pub fn of(result: &Result<(), Error>, seconds: f64) -> End {
        match result {
            Ok(()) => End::without_error("done", Some(0), seconds),
            Err(error) => End {
                state: match error.kind {
                    crate::ErrorKind::Interrupted(_) | crate::ErrorKind::HandedOver => "interrupted",
                    crate::ErrorKind::Usage
                    | crate::ErrorKind::Simulation
                    | crate::ErrorKind::Data
                    | crate::ErrorKind::Io
                    | crate::ErrorKind::Backend => "failed",
                },
                exit_code: Some(error.kind.exit_code()),
                error: Some(error.message.clone()),
                lines: error.lines.clone(),
                hint: error.hint.clone(),
                seconds,
            },
        }
    }
}

impl Event {
    /// As a JSON object, without a line break. Numbers that are not finite are `null`.
    pub fn json(&self) -> String {
        match self {
            Event::Start(start) => start.object(),
            Event::Progress { step, steps, elapsed, left } => {
                event("progress").count("step", *step).raw("steps", or_null(*steps)).number("elapsed", *elapsed).number("left", *left)
            }
            Event::Step(step) => step.object(),
            Event::Newton(newton) => newton.object(),
            Event::StepFailed { line, step, length, parts, message } => {
                in_step("step_failed", *line, *step).number("length", *length).count("parts", *parts as usize).text("message", message)
            }
            Event::StepRescued { line, step, length, parts } => {
                in_step("step_rescued", *line, *step).number("length", *length).count("parts", *parts as usize)
            }
            Event::Output(file) => event("output").members(&file.to_string()),
            Event::Checkpoint { step, time, file } => event("checkpoint").text("name", file).raw("step", step).number("time", *time),
            Event::Audit(audit) => audit.object(),
            Event::Note(text) => message("note", text),
            Event::Warning(text) => message("warning", text),
            Event::Error(error) => message("error", &error.message)
                .raw("lines", json::array(error.lines.iter()))
                .optional("hint", error.hint.as_deref().map(json::string)),
            Event::Profile(profile) => profile.object(),
            Event::Summary(summary) => summary.object(),
            Event::End(end) => end.object(),
        }
        .end()
    }
}

fn or_null(count: Option<usize>) -> String {
    count.map_or_else(|| "null".to_owned(), |count| count.to_string())
}

fn event(name: &str) -> Object {
    Object::default().text("event", name)
}

fn message(severity: &str, text: &str) -> Object {
    event(severity).text("severity", severity).text("message", text)
}

fn in_step(name: &str, line: u32, step: Option<usize>) -> Object {
    event(name).raw("line", line).optional("step", step)
}

impl Start {
    fn object(&self) -> Object {
        let mut program = Object::default().text("name", &self.program).text("file", &self.file).text("hash", &self.hash);
        if !self.imports.is_empty() {
            let import = |(file, first_line): &(Arc<str>, u32)| Object::default().text("file", file).raw("first_line", first_line).end();
            program = program.raw("imports", json::array(self.imports.iter().map(import)));
        }
        let mut parameters = Object::default();
        for (key, value, origin) in &self.parameters {
            parameters = parameters.raw(key, Object::default().text("value", value).text("origin", origin).end());
        }
        let process = Object::default().raw("id", self.process).optional("host", self.host.as_deref().map(json::string));
        let object = event("start")
            .raw("version", VERSION)
            .raw("program", program.end())
            .raw("parameters", parameters.end())
            .raw("grid", self.grid.object().end())
            .text("back_end", &self.back_end)
            .raw("versions", Object::default().text("equelle-runtime", env!("CARGO_PKG_VERSION")).end())
            .raw("process", process.end())
            .text("started", &self.started);
        match &self.mode {
            Some(mode) => object.text("mode", mode),
            None => object,
        }
    }
}

impl GridDescription {
    fn object(&self) -> Object {
        let object = Object::default().count("dimension", self.dimension).count("cells", self.cells).count("faces", self.faces);
        match &self.cartesian {
            Some((n, spacing)) => {
                let spacing = json::array(spacing.iter().map(|&spacing| json::number(spacing)));
                object.raw("cartesian", Object::default().raw("n", json::array(n)).raw("spacing", spacing).end())
            }
            None => object,
        }
    }
}

impl Step {
    fn object(&self) -> Object {
        event("step")
            .count("step", self.step)
            .raw("steps", or_null(self.steps))
            .count("steps_done", self.steps_done)
            .number("time", self.time)
            .number("dt", self.dt)
            .number("elapsed", self.elapsed)
            .number("left", self.left)
    }
}

impl Newton {
    fn object(&self) -> Object {
        let iteration = |iteration: &NewtonIteration| {
            let object = Object::default()
                .number("norm", iteration.norm)
                .optional("linear_iterations", iteration.linear_iterations)
                .number("length", iteration.length);
            iteration.seconds.add_to(object).end()
        };
        in_step("newton", self.line, self.step)
            .text("outcome", self.outcome)
            .raw("iterations", json::array(self.iterations.iter().map(iteration)))
            .raw("unknowns", Range::array(&self.unknowns))
    }
}

impl SolveSeconds {
    fn add_to(self, object: Object) -> Object {
        object.number("assembly", self.assembly).number("set_up", self.set_up).number("solve", self.solve)
    }
}

impl Summary {
    fn object(&self) -> Object {
        let solves = |totals: &SolveTotals| {
            let object = Object::default()
                .raw("line", totals.line)
                .count("solves", totals.solves)
                .count("not_converged", totals.not_converged)
                .count("without_iterations", totals.without_iterations)
                .count("iterations", totals.iterations)
                .count("linear_iterations", totals.linear_iterations);
            totals
                .seconds
                .add_to(object)
                .raw("after_first", totals.after_first.add_to(Object::default()).end())
                .raw("unknowns", Range::array(&totals.unknowns))
                .end()
        };
        let object = event("summary")
            .number("seconds", self.seconds)
            .count("steps", self.steps)
            .count("cells", self.cells)
            .raw("solves", json::array(self.solves.iter().map(solves)))
            .count("steps_in_parts", self.steps_in_parts)
            .count("parts", self.parts);
        match &self.ranks {
            Some(ranks) => object.raw("ranks", ranks.object()),
            None => object,
        }
    }
}

impl RanksReport {
    fn object(&self) -> String {
        let rank = |rank: &RankReport| {
            Object::default()
                .raw("cells", rank.cells)
                .raw("halo_cells", rank.halo_cells)
                .raw("neighbours", rank.neighbours)
                .raw("exchanges", rank.exchanges)
                .raw("messages", rank.messages)
                .raw("bytes", rank.bytes)
                .number("seconds", rank.seconds)
                .number("waiting", rank.waiting)
                .number("exchanging", rank.exchanging)
                .number("reducing", rank.reducing)
                .end()
        };
        Object::default().text("by", &self.by).raw("nodes", self.nodes).raw("ranks", json::array(self.ranks.iter().map(rank))).end()
    }
}

impl Profile {
    fn object(&self) -> Object {
        let phase = |(name, seconds): &(&str, f64)| Object::default().text("name", name).number("seconds", *seconds).end();
        let or_null = |count: Option<u32>| count.map_or_else(|| "null".to_owned(), |count| count.to_string());
        let kernel = |kernel: &KernelProfile| {
            Object::default()
                .text("name", &kernel.name)
                .raw("lines", json::array(&kernel.lines))
                .text("form", kernel.form)
                .raw("calls", kernel.calls)
                .number("seconds", kernel.seconds)
                .raw("bytes", kernel.bytes)
                .number("bandwidth", self.share(kernel.bytes, kernel.seconds))
                .raw("registers", or_null(kernel.resources.map(|taken| taken.registers)))
                .raw("local_bytes", or_null(kernel.resources.map(|taken| taken.local_bytes)))
                .number("occupancy", kernel.resources.map_or(f64::NAN, |taken| taken.occupancy))
                .end()
        };
        let solve = |SolveProfile { line, work }: &SolveProfile| {
            Object::default()
                .raw("line", line)
                .raw("solves", work.solves)
                .raw("iterations", work.iterations)
                .number("seconds", work.seconds)
                .raw("bytes", work.bytes)
                .number("bandwidth", self.share(work.bytes, work.seconds))
                .end()
        };
        let of_loop = |of_loop: &LoopProfile| {
            Object::default()
                .raw("line", of_loop.line)
                .raw("rounds", of_loop.rounds)
                .number("seconds", of_loop.seconds)
                .raw("bytes", of_loop.bytes)
                .number("bandwidth", self.share(of_loop.bytes, of_loop.seconds))
                .end()
        };
        event("profile")
            .number("bandwidth", self.bandwidth)
            .raw("phases", json::array(self.phases.iter().map(phase)))
            .raw("kernels", json::array(self.kernels.iter().map(kernel)))
            .raw("linear_solves", json::array(self.linear_solves.iter().map(solve)))
            .raw("loops", json::array(self.loops.iter().map(of_loop)))
    }

    /// Achieved over measured bandwidth of memory; NaN if one is not known.
    pub fn share(&self, bytes: u64, seconds: f64) -> f64 {
        if bytes == 0 { f64::NAN } else { bytes as f64 / seconds / self.bandwidth }
    }
}

impl End {
    fn object(&self) -> Object {
        event("end")
            .text("state", self.state)
            .optional("exit_code", self.exit_code)
            .optional("error", self.error.as_deref().map(json::string))
            .optional("lines", (!self.lines.is_empty()).then(|| json::array(self.lines.iter())))
            .optional("hint", self.hint.as_deref().map(json::string))
            .number("seconds", self.seconds)
    }
}
