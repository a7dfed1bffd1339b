//! The runtime interface: domains, inputs, outputs, loops.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::session::{LoopState, grid_requirements};
use equelle_runtime::{CanonicalSet, EquelleRuntime, Error, HostAccess, RoundLength, TablePart};

use crate::runtime::executor::Executor;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{
    Bool, BoolCollection, Collection, DeviceTable, Elements, EntityCollection, Loop, Scalar, ScalarCollection, Sequence, Vector,
    VectorCollection,
};
use crate::runtime::values::steady::{LAUNCHES_TOGETHER, ROUNDS_TOGETHER, Steady};
use crate::runtime::values::steps;

impl EquelleRuntime for CudaRuntime {
    type Scalar = Scalar;
    type Bool = Bool;
    type Vector = Vector;
    type ScalarCollection = ScalarCollection;
    type VectorCollection = VectorCollection;
    type BoolCollection = BoolCollection;
    type EntityCollection = EntityCollection;
    type Domain = Arc<Domain>;
    type Sequence = Sequence;
    type Table = DeviceTable;
    type Loop = Loop;

    fn line(&mut self, line: u32) {
        self.session.line(line);
    }

    fn choices(&mut self, lines: &[u32]) {
        self.session.choices(lines);
    }

    fn domain(&mut self, set: CanonicalSet) -> Result<Arc<Domain>, Error> {
        self.canonical_domain(set)
    }

    fn entities(&mut self, domain: &Arc<Domain>) -> Result<EntityCollection, Error> {
        let buffer = self.grid.sets.elements(&self.executor, domain)?;
        let values = Collection::dense(domain, buffer);
        Ok(EntityCollection { values, kind: domain.kind() })
    }

    fn require_cells(&mut self, cells: [usize; 3], line: u32) -> Result<(), Error> {
        grid_requirements::require_cells(self.session.grid(), cells, line)
    }

    fn require_face_geometry(&mut self, line: u32) -> Result<(), Error> {
        grid_requirements::require_face_geometry(&self.session, line)
    }

    fn read_stored_positions(&mut self, line: u32) {
        self.session.read_stored_positions(line);
    }

    fn cell_width(&mut self, axis: usize) -> Result<Scalar, Error> {
        let width = self.session.cartesian_shape()?.spacing[axis];
        Ok(self.scalar(width))
    }

    fn cells_along(&mut self, axis: usize) -> Result<Scalar, Error> {
        let cells = self.session.cartesian_shape()?.n[axis];
        Ok(self.scalar(cells as f64))
    }

    fn scalar(&mut self, value: f64) -> Scalar {
        Scalar::Host(value)
    }

    fn bool(&mut self, value: bool) -> Bool {
        Bool::Host(value)
    }

    fn input_scalar(&mut self, name: &str, default: &Scalar) -> Result<Scalar, Error> {
        let default = default.value(&self.executor)?;
        Ok(Scalar::Host(self.session.inputs().scalar(name, default)?))
    }

    fn input_collection(&mut self, name: &str, domain: &Arc<Domain>) -> Result<ScalarCollection, Error> {
        let values = self.session.inputs().collection(name, domain)?.to_vec(domain.len());
        Ok(Collection::dense(domain, self.executor.upload_reals(domain.name(), &values)?))
    }

    fn input_vectors(&mut self, name: &str, domain: &Arc<Domain>) -> Result<VectorCollection, Error> {
        let components = self.session.inputs().vectors(name, domain)?;
        self.vector_collection(domain, components.iter().map(|values| values.to_vec(domain.len())).collect())
    }

    fn input_bools(&mut self, name: &str, domain: &Arc<Domain>) -> Result<BoolCollection, Error> {
        let values = self.session.inputs().bools(name, domain)?.to_vec(domain.len());
        self.bool_collection(domain, values)
    }

    fn input_domain(&mut self, name: &str, within: &Arc<Domain>) -> Result<Arc<Domain>, Error> {
        self.session.inputs().domain(name, within)
    }

    fn domain_where(&mut self, name: &str, within: &Arc<Domain>, condition: &BoolCollection) -> Result<Arc<Domain>, Error> {
        let holds = self.bools(condition)?;
        self.check_flag()?;
        Ok(self.session.grid_domains().filtered(name, within, &holds))
    }

    fn input_sequence(&mut self, name: &str) -> Result<Sequence, Error> {
        let values = self.session.inputs().sequence(name)?;
        let buffer = self.executor.upload(name, &values)?;
        Ok(Sequence { len: values.len(), buffer, read: Some(values) })
    }

    fn input_table(&mut self, name: &str, argument: &str, value: &str) -> Result<DeviceTable, Error> {
        let table = self.session.inputs().table(name, argument, value)?;
        let buffer = self.executor.upload(name, table.numbers())?;
        Ok(DeviceTable { buffer, table })
    }

    fn input_table2(&mut self, name: &str, first: &str, second: &str, value: &str, part: TablePart) -> Result<DeviceTable, Error> {
        let table = self.session.inputs().table2(name, [first, second], value, part)?;
        let buffer = self.executor.upload(name, table.numbers())?;
        Ok(DeviceTable { buffer, table })
    }

    fn output_text(&mut self, tag: &str, value: &str) -> Result<(), Error> {
        self.resolve_step()?;
        self.check_flag()?;
        self.session.outputs().text(tag, value)
    }

    fn begin_loop(&mut self, sequence: &Sequence) -> Result<Loop, Error> {
        self.resolve_step()?;
        let elements = elements_of(&self.executor, sequence.clone())?;
        let state = match &sequence.read {
            Some(read) => self.session.loops().begin_over(read),
            None => self.session.loops().begin(sequence.len),
        };
        Ok(loop_of(self, state, Some(elements)))
    }

    fn next(&mut self, state: &mut Loop) -> Result<Option<Scalar>, Error> {
        self.resolve_step()?;
        // The work of several rounds is one sequence of launches, and so one graph, which costs
        // some microseconds beyond its kernels. A round that reads results is a sequence of its
        // own, so that sequences repeat.
        let went_alone = self.executor.queue().handed_over() != state.handed_over;
        let is_used = state.elements.as_ref().is_some_and(|elements| elements.used == ROUNDS_TOGETHER);
        if went_alone || is_used || self.executor.queue().waiting() >= LAUNCHES_TOGETHER {
            self.executor.flush()?;
        }
        state.handed_over = self.executor.queue().handed_over();
        // The device's part of the loop's time.
        if state.steady.is_some() && state.state.is_at_end() {
            self.executor.flush()?;
            self.executor.synchronise()?;
        }
        if self.session.loops().next_step(&mut state.state).is_none() {
            end_rounds(self, state)?;
            return Ok(None);
        }
        begin_round(self, state)?;
        let Some(elements) = &mut state.elements else { return Err(Error::internal("rounds without elements")) };
        // A new window begins with a sequence of launches, so that sequences repeat.
        let window = match elements.window.take().filter(|_| !self.executor.queue().is_empty() && elements.used < ROUNDS_TOGETHER) {
            Some(window) => window,
            None => {
                // Its own memory from the pool: the program may keep a number beyond its round.
                let window = self.executor.buffer("elements of a sequence", 8 * u64::from(ROUNDS_TOGETHER))?;
                let call = self
                    .executor
                    .runtime_call("equelle_loop_window")?
                    .arg(elements.sequence.buffer.address())
                    .arg(elements.sequence.len as u64)
                    .arg(elements.taken.address())
                    .arg(std::mem::take(&mut elements.used))
                    .arg(ROUNDS_TOGETHER)
                    .arg(window.address());
                self.executor.push(call.on_one_thread());
                window
            }
        };
        let element = Scalar::Element { of: Rc::clone(&window), index: elements.used };
        elements.window = Some(window);
        elements.used += 1;
        Ok(Some(element))
    }

    fn begin_range(&mut self, from: &Scalar, below: &Scalar, length: RoundLength) -> Result<Loop, Error> {
        self.resolve_step()?;
        let (from, below) = (from.value(&self.executor)?, below.value(&self.executor)?);
        let (state, range) = self.session.loops().begin_range(from, below, length)?;
        let numbers: Vec<f64> = (0..range.rounds).map(|round| range.first + round as f64).collect();
        let buffer = self.executor.upload("a range", &numbers)?;
        let elements = elements_of(&self.executor, Sequence { len: range.rounds, buffer, read: None })?;
        Ok(loop_of(self, state, Some(elements)))
    }

    fn begin_rounds(&mut self, length: RoundLength) -> Result<Loop, Error> {
        self.resolve_step()?;
        let state = self.session.loops().begin_rounds(length);
        Ok(loop_of(self, state, None))
    }

    fn goes_on(&mut self, state: &mut Loop, condition: &Bool) -> Result<bool, Error> {
        // Reading the condition submits what is queued, so that each round is one sequence of
        // launches.
        let condition = steps::condition_of_round(self, condition)?;
        if !self.session.loops().goes_on(&mut state.state, condition)? {
            end_rounds(self, state)?;
            return Ok(false);
        }
        self.executor.flush()?;
        begin_round(self, state)?;
        Ok(true)
    }

    fn take_step(&mut self, length: &Scalar) -> Result<Scalar, Error> {
        steps::take(self, length)
    }

    fn samples_state(&mut self, state: &Loop) -> bool {
        self.session.samples_state(&state.state)
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.resolve_step()?;
        if std::mem::replace(&mut self.finished, true) {
            return Ok(());
        }
        self.executor.flush()?;
        self.executor.synchronise()?;
        self.wait_for_outputs()?;
        self.check_flag()?;
        let refused = self.executor.queue().refused().map(ToString::to_string);
        if let Some(error) = refused {
            self.session.warning(&format!("steps were not run as graphs, which is slower on small grids: {error}"));
        }
        for note in self.executor.tuning_notes() {
            self.session.note(note);
        }
        if let Some(profiler) = self.session.profiler().cloned() {
            if let Some(times) = self.executor.queue().times() {
                times.report(&**self.executor.device(), &profiler);
            }
            if let Some(bandwidth) = self.executor.device().copy_bandwidth() {
                profiler.set_bandwidth(bandwidth);
            }
            let c = self.counters();
            let size = equelle_runtime::report::bytes;
            self.session.note(format!(
                "device: {} kernels, {} of the rounds as graphs, {} copies to it ({}), {} from it ({}), {} allocations ({} in all), {} waits",
                c.kernels,
                c.graphs,
                c.uploads,
                size(c.uploaded_bytes),
                c.downloads,
                size(c.downloaded_bytes),
                c.allocations,
                size(self.executor.pool_bytes()),
                c.synchronisations
            ));
        }
        self.session.finish();
        Ok(())
    }
}

/// The elements of a loop, before its first round.
fn elements_of(executor: &Executor, sequence: Sequence) -> Result<Elements, Error> {
    let taken = executor.buffer("the state of a loop", 8)?;
    let call = executor.runtime_call("equelle_loop_begin")?.arg(taken.address());
    executor.push(call.on_one_thread());
    Ok(Elements { sequence, taken, window: None, used: 0 })
}

fn loop_of(rt: &mut CudaRuntime, state: LoopState, elements: Option<Elements>) -> Loop {
    let steady = rt.session.profiler().is_some().then(Steady::default);
    Loop { state, elements, handed_over: rt.executor.queue().handed_over(), steady }
}

fn begin_round(rt: &mut CudaRuntime, state: &mut Loop) -> Result<(), Error> {
    rt.session.check_interrupt()?;
    state.steady.as_mut().map_or(Ok(()), |steady| steady.next(&rt.executor))
}

fn end_rounds(rt: &mut CudaRuntime, state: &mut Loop) -> Result<(), Error> {
    rt.executor.flush()?;
    state.steady.as_mut().map_or(Ok(()), |steady| steady.end(&rt.executor, &mut rt.session))
}
