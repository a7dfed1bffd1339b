//! The runtime type, with domains, inputs, outputs and loops from the session.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::grid::GeometryArray;
use equelle_runtime::input::CollectionInput;
use equelle_runtime::math::table::Table;
use equelle_runtime::report::bytes;
use equelle_runtime::session::placement::ComputeDevice;
use equelle_runtime::session::{LoopState, RoundLength, Session, grid_requirements};
use equelle_runtime::{CanonicalSet, EquelleRuntime, Error, MemoryPlan, Real, TablePart};

use super::collections::{BoolCollection, EntityCollection, ScalarCollection, VectorCollection};
use super::idle_copies::CopiesCache;
#[cfg(feature = "solvers")]
use super::newton_state::{Assembled, NewtonState};
use super::pool::{Buffer, Pool};
#[cfg(feature = "solvers")]
use super::rank_systems::Solvers;
use super::stencil::Stencils;
use super::tabulated_unknowns::TabulatedUnknowns;

/// The serial runtime. Collections are of `R`; Scalars, single Vectors and results of reductions
/// are `f64`.
pub struct SerialRuntime<R = f64> {
    pub(super) session: Session,
    pub(super) reals: Rc<Pool<R>>,
    /// Partial results of reductions.
    pub(super) doubles: Rc<Pool<f64>>,
    pub(super) bools: Rc<Pool<bool>>,
    pub(super) indices: Rc<Pool<u32>>,
    /// Entity collections of the domains used so far, one each.
    pub(super) domain_entities: Vec<EntityCollection>,
    /// Line at which a kernel first read a collection with derivatives, which it cannot propagate.
    pub(super) derivatives_lost: Cell<Option<u32>>,
    #[cfg(feature = "solvers")]
    pub(super) newton: NewtonState,
    #[cfg(feature = "solvers")]
    pub(super) solvers: Solvers,
    pub(super) stencils: Stencils,
    pub(super) tabulated_unknowns: TabulatedUnknowns<R>,
    pub(super) copies_cache: CopiesCache,
}

impl SerialRuntime {
    /// A runtime for one run of a program in double precision, on the session's grid and data. Lets
    /// the grid be renumbered.
    ///
    /// # Panics
    /// If the session has created domains, or its grid is shared.
    pub fn new(session: Session) -> Self {
        SerialRuntime::with_precision(session)
    }
}

impl<R: Real> SerialRuntime<R> {
    /// A runtime for one run of a program with collections of `R`, on the session's grid and data.
    /// Lets the grid be renumbered.
    ///
    /// # Panics
    /// If the session has created domains, or its grid is shared.
    pub fn with_precision(mut session: Session) -> Self {
        session.grid_domains().renumber();
        SerialRuntime {
            session,
            reals: Rc::default(),
            doubles: Rc::default(),
            bools: Rc::default(),
            indices: Rc::default(),
            domain_entities: Vec::new(),
            derivatives_lost: Cell::new(None),
            #[cfg(feature = "solvers")]
            newton: NewtonState::default(),
            #[cfg(feature = "solvers")]
            solvers: Solvers::default(),
            stencils: Stencils::default(),
            tabulated_unknowns: TabulatedUnknowns::default(),
            copies_cache: CopiesCache::default(),
        }
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The session, mutable, to change its messages before the program begins.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }
}

/// State of a loop.
pub struct Loop {
    elements: Elements,
    pub(super) state: LoopState,
}

/// Elements that the rounds of a loop yield.
enum Elements {
    Sequence(Arc<Vec<f64>>),
    /// Whole numbers from this one on.
    From(f64),
    /// Nothing.
    None,
}

/// The numbers of an input, one for each element of a domain.
fn input_buffer<R: Real>(rt: &SerialRuntime<R>, domain: &Domain, input: &CollectionInput) -> Buffer<R> {
    let mut out = rt.take_buffer(domain.len());
    match input {
        CollectionInput::Uniform(value) => out.fill(R::from_f64(*value)),
        CollectionInput::Values(values) => R::copy_from_f64(&mut out, values),
    }
    out
}

impl<R: Real> EquelleRuntime for SerialRuntime<R> {
    type Scalar = f64;
    type Bool = bool;
    type Vector = [f64; 3];
    type ScalarCollection = ScalarCollection<R>;
    type VectorCollection = VectorCollection<R>;
    type BoolCollection = BoolCollection;
    type EntityCollection = EntityCollection;
    type Domain = Arc<Domain>;
    type Sequence = Arc<Vec<f64>>;
    type Table = Arc<Table>;
    type Loop = Loop;

    #[inline]
    fn line(&mut self, line: u32) {
        self.session.line(line);
    }

    fn choices(&mut self, lines: &[u32]) {
        self.session.choices(lines);
    }

    fn plan_memory(&mut self, plan: MemoryPlan) -> Result<(), Error> {
        self.session.memory().plan(plan, size_of::<R>())
    }

    fn keep_geometry(&mut self, arrays: &[GeometryArray]) {
        self.session.keep_geometry(arrays);
    }

    fn domain(&mut self, set: CanonicalSet) -> Result<Arc<Domain>, Error> {
        self.canonical_domain(set)
    }

    fn entities(&mut self, domain: &Arc<Domain>) -> Result<EntityCollection, Error> {
        if let Some(known) = self.domain_entities.iter().find(|entities| Arc::ptr_eq(&entities.domain, domain)) {
            return Ok(known.clone());
        }
        let mut elements = self.take_entity_buffer(domain.len());
        elements.copy_from_slice(domain.elements());
        let entities = self.entity_collection_from(domain, domain.kind(), elements);
        self.domain_entities.push(entities.clone());
        Ok(entities)
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

    fn cell_width(&mut self, axis: usize) -> Result<f64, Error> {
        Ok(self.session.cartesian_shape()?.spacing[axis])
    }

    fn cells_along(&mut self, axis: usize) -> Result<f64, Error> {
        Ok(self.session.cartesian_shape()?.whole_n()[axis] as f64)
    }

    fn scalar(&mut self, value: f64) -> f64 {
        value
    }

    fn bool(&mut self, value: bool) -> bool {
        value
    }

    fn input_scalar(&mut self, name: &str, default: &f64) -> Result<f64, Error> {
        self.session.inputs().scalar(name, *default)
    }

    fn input_collection(&mut self, name: &str, domain: &Arc<Domain>) -> Result<ScalarCollection<R>, Error> {
        let values = self.session.inputs().collection(name, domain)?;
        Ok(self.scalar_collection_from(domain, input_buffer(self, domain, &values)))
    }

    fn input_vectors(&mut self, name: &str, domain: &Arc<Domain>) -> Result<VectorCollection<R>, Error> {
        let components = self.session.inputs().vectors(name, domain)?;
        Ok(self.vector_collection_from(domain, components.iter().map(|values| input_buffer(self, domain, values))))
    }

    fn input_bools(&mut self, name: &str, domain: &Arc<Domain>) -> Result<BoolCollection, Error> {
        let mut out = self.take_bool_buffer(domain.len());
        match self.session.inputs().bools(name, domain)? {
            CollectionInput::Uniform(value) => out.fill(value),
            CollectionInput::Values(values) => out.copy_from_slice(&values),
        }
        Ok(self.bool_collection_from(domain, out))
    }

    fn input_domain(&mut self, name: &str, within: &Arc<Domain>) -> Result<Arc<Domain>, Error> {
        self.session.inputs().domain(name, within)
    }

    fn domain_where(&mut self, name: &str, within: &Arc<Domain>, condition: &BoolCollection) -> Result<Arc<Domain>, Error> {
        Ok(self.session.grid_domains().filtered(name, within, &condition.values))
    }

    fn input_sequence(&mut self, name: &str) -> Result<Arc<Vec<f64>>, Error> {
        self.session.inputs().sequence(name)
    }

    fn input_table(&mut self, name: &str, argument: &str, value: &str) -> Result<Arc<Table>, Error> {
        self.session.inputs().table(name, argument, value)
    }

    fn input_table2(&mut self, name: &str, first: &str, second: &str, value: &str, part: TablePart) -> Result<Arc<Table>, Error> {
        self.session.inputs().table2(name, [first, second], value, part)
    }

    fn output_text(&mut self, tag: &str, value: &str) -> Result<(), Error> {
        self.session.outputs().text(tag, value)
    }

    fn begin_loop(&mut self, sequence: &Arc<Vec<f64>>) -> Result<Loop, Error> {
        Ok(Loop { elements: Elements::Sequence(Arc::clone(sequence)), state: self.session.loops().begin_over(sequence) })
    }

    fn next(&mut self, state: &mut Loop) -> Result<Option<f64>, Error> {
        let Some(position) = self.session.loops().next_step(&mut state.state) else { return Ok(None) };
        self.session.check_interrupt()?;
        Ok(match &state.elements {
            Elements::Sequence(sequence) => sequence.get(position).copied(),
            Elements::From(first) => Some(first + position as f64),
            Elements::None => None,
        })
    }

    fn begin_range(&mut self, from: &f64, below: &f64, length: RoundLength) -> Result<Loop, Error> {
        let (state, range) = self.session.loops().begin_range(*from, *below, length)?;
        Ok(Loop { elements: Elements::From(range.first), state })
    }

    fn begin_rounds(&mut self, length: RoundLength) -> Result<Loop, Error> {
        Ok(Loop { elements: Elements::None, state: self.session.loops().begin_rounds(length) })
    }

    fn goes_on(&mut self, state: &mut Loop, condition: &bool) -> Result<bool, Error> {
        let goes_on = self.session.loops().goes_on(&mut state.state, *condition)?;
        if goes_on {
            self.session.check_interrupt()?;
        }
        Ok(goes_on)
    }

    fn take_step(&mut self, length: &f64) -> Result<f64, Error> {
        self.session.loops().take_step(*length)
    }

    fn samples_state(&mut self, state: &Loop) -> bool {
        self.session.samples_state(&state.state)
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.session.outputs().complete()?;
        if self.session.profiler().is_some() {
            let counters = self.buffer_counters();
            let planned = self.session.memory().collections(size_of::<R>())?;
            let planned = planned.map(|bytes| format!(", {bytes} bytes planned at most")).unwrap_or_default();
            self.session.note(format!(
                "buffers: {} taken, {} allocated, {} ({} bytes{planned})",
                counters.taken,
                counters.allocated,
                bytes(counters.bytes as u64),
                counters.bytes
            ));
            let patterns = self.stencils.bytes();
            #[cfg(feature = "solvers")]
            let patterns = patterns + self.newton.patterns().flatten().map(Assembled::bytes).sum::<usize>();
            if let (true, Some(planned)) = (patterns > 0, self.session.memory().patterns(size_of::<R>())?) {
                self.session.note(format!("patterns of Jacobians: {} ({patterns} bytes, {planned} bytes planned)", bytes(patterns as u64)));
            }
            let geometry = self.grid().geometry_bytes();
            if geometry > 0 {
                self.session.note(format!("geometry at the end: {} ({geometry} bytes)", bytes(geometry as u64)));
            }
        }
        self.session.finish();
        Ok(())
    }
}

/// Runs a program in double precision to its end; called by `simulator::run`.
///
/// # Errors
/// Those of the program, each with the Equelle line.
pub fn run(session: Session, program: impl FnOnce(&mut SerialRuntime) -> Result<(), Error>) -> Result<(), Error> {
    run_with_precision(session, program)
}

/// [`run`] for a program in precision `R`.
///
/// # Errors
/// As for [`run`].
pub fn run_with_precision<R: Real>(
    mut session: Session,
    program: impl FnOnce(&mut SerialRuntime<R>) -> Result<(), Error>,
) -> Result<(), Error> {
    session.computes_on(ComputeDevice::Cores);
    let mut runtime = SerialRuntime::with_precision(session);
    program(&mut runtime).map_err(|error| {
        let error = runtime.session.outputs().ended_by(error);
        let error = runtime.session.examine(error);
        runtime.session.advise(runtime.session.locate(error))
    })
}
