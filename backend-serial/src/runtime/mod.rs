//! The CPU runtime: plain loops over plain arrays, shared among the threads of the session; the reference for every other back-end.
//!
//! Reading order: [`collections`] (what values are), [`pool`] (where their memory comes from), [`support`], [`kernel`] and [`entities`] (what kernels call),
//! then the operation level, one topic per file: `topology`, `arithmetic`, `vectors`, `truth`, `select`, `on_extend`, `discrete`, `sequences`;
//! then `derivatives` and `jacobian`, what they add inside a Newton solve, which is in `newton`.
//! `operations`, `program` and `host` hold the trait implementations; they add the Equelle line to every error.
//!
//! **What fails and how.** Data that only the run knows (an Empty element, an empty collection to reduce, unreadable input) gives an [`Error`] with
//! the Equelle line. What the compiler has proved (operands of one call are on the same domain) is a debug assertion; if it is broken in a release build the
//! answer is wrong or the program stops with an index out of bounds, never worse.

mod arithmetic;
pub mod collections;
mod compiled;
mod derivatives;
mod discrete;
pub mod entities;
mod host;
mod jacobian;
pub mod kernel;
mod newton;
mod on_extend;
mod operations;
pub mod pool;
mod program;
mod select;
mod sequences;
pub mod stencil;
pub mod support;
pub mod sweep;
mod topology;
mod truth;
mod vectors;

use std::cell::Cell;
use std::rc::Rc;

use equelle_runtime::session::Session;
use equelle_runtime::session::placement::Place;
use equelle_runtime::{Error, Real};

pub use collections::{BoolCollection, EntityCollection, ScalarCollection, Storage, VectorCollection};
pub use compiled::CompiledReal;
pub use jacobian::Jacobian;
pub use pool::{Buffer, PoolCounters, Values};
pub use program::Loop;

use pool::Pool;

/// The CPU runtime. Collections hold `R`; Scalars, single Vectors and results of reductions are doubles.
pub struct SerialRuntime<R = f64> {
    session: Session,
    reals: Rc<Pool<R>>,
    /// Partial results of reductions.
    doubles: Rc<Pool<f64>>,
    truths: Rc<Pool<bool>>,
    indices: Rc<Pool<u32>>,
    /// Entity collections of the domains asked for, one each.
    domain_entities: Vec<EntityCollection>,
    /// Line at which a kernel first read a collection with derivatives, which it cannot pass on.
    derivatives_lost: Cell<Option<u32>>,
    newton: newton::Newton,
    stencils: stencil::Stencils,
}

impl SerialRuntime {
    /// A runtime for one run of a program in double precision, on the session's grid and data. Lets the grid be renumbered.
    ///
    /// # Panics
    /// If domains of the session have been asked for, or its grid is shared.
    pub fn new(session: Session) -> Self {
        SerialRuntime::with_precision(session)
    }
}

impl<R: Real> SerialRuntime<R> {
    /// A runtime for one run of a program whose collections hold `R`, on the session's grid and data. Lets the grid be renumbered.
    ///
    /// # Panics
    /// If domains of the session have been asked for, or its grid is shared.
    pub fn with_precision(mut session: Session) -> Self {
        session.renumber_grid();
        SerialRuntime {
            session,
            reals: Rc::default(),
            doubles: Rc::default(),
            truths: Rc::default(),
            indices: Rc::default(),
            domain_entities: Vec::new(),
            derivatives_lost: Cell::new(None),
            newton: newton::Newton::default(),
            stencils: stencil::Stencils::default(),
        }
    }

    /// The session it runs in.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The session it runs in, to change how it talks before the program begins.
    pub fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }
}

/// Runs a program in double precision to its end: what a generated `main` hands to the launcher.
///
/// # Errors
/// Those of the program, each with the Equelle line.
pub fn run(session: Session, program: impl FnOnce(&mut SerialRuntime) -> Result<(), Error>) -> Result<(), Error> {
    run_with_precision(session, program)
}

/// As [`run`], of a program in the precision `R`.
///
/// # Errors
/// As there.
pub fn run_with_precision<R: Real>(
    mut session: Session,
    program: impl FnOnce(&mut SerialRuntime<R>) -> Result<(), Error>,
) -> Result<(), Error> {
    session.computes_on(Place::Cores);
    let mut runtime = SerialRuntime::with_precision(session);
    program(&mut runtime).map_err(|error| runtime.session.advise(runtime.session.locate(error)))
}
