//! Conditions that launches check. The first launch with a failed condition stores the smallest
//! number of condition and element; the host reads it with the next output, at the end, and after a
//! later error.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use equelle_runtime::domain::Domain;
use equelle_runtime::grid::NONE;
use equelle_runtime::{EntityKind, Error, KernelInfo};

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::Executor;
use crate::runtime::executor::arguments::EqChecks;
use crate::runtime::executor::pool::Buffer;
use crate::runtime::values::collections::{Collection, EntityCollection};

/// Size of the range of numbers for the conditions of one kernel.
const CONDITIONS_OF_A_KERNEL: usize = 1024;

/// The flag if all conditions hold.
pub(crate) const HOLD: u64 = u64::MAX;

/// The word beside the flag if all numbers are finite.
pub(crate) const FINITE: u64 = HOLD;

/// Requirements of an operation on entities of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// Relations or geometry. Condition 0: none is Empty.
    Geometry { kind: EntityKind, what: &'static str },
    /// Data. Condition 0: none is Empty; 1: the data's domain contains them.
    On { kind: EntityKind },
    /// One cell. Condition 0: no face has two.
    OneCell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A kernel launched by a statement at an Equelle line: no entity is Empty.
    Kernel(u32),
    /// A kernel launched by a statement at an Equelle line: no face has two cells.
    KernelOfFaces(u32),
    /// An operation at an Equelle line.
    Operation(Requirement, u32),
}

/// The conditions of a kernel or an operation over a domain.
#[derive(Clone, Debug)]
struct Check {
    origin: Origin,
    /// Name and lines of the kernel, if it is one.
    kernel: Option<(String, Vec<u32>)>,
    domain: Arc<Domain>,
    /// The last `On` of the operation.
    gathered: Option<Gathered>,
}

/// The target and the data of an `On`.
#[derive(Clone, Debug)]
pub(crate) struct Gathered {
    /// The entities, on the device; kept so that a message can name one.
    pub target: Rc<Buffer>,
    /// The domain of the data.
    pub data: Arc<Domain>,
}

impl Check {
    fn is(&self, origin: Origin, kernel: Option<&KernelInfo>, domain: &Arc<Domain>) -> bool {
        let name = self.kernel.as_ref().map(|(name, _)| &**name);
        self.origin == origin && Arc::ptr_eq(&self.domain, domain) && name == kernel.map(|kernel| kernel.name)
    }

    /// The error of a condition for the element at a position; `entity` is the target of an `On`
    /// there, if known.
    fn error(&self, condition: usize, position: usize, entity: Option<u32>) -> Error {
        let (domain, owner_kind) = (&self.domain, self.domain.kind().noun());
        let owner = (position < domain.len()).then(|| domain.grid().file_index(domain.kind(), domain.element(position)));
        let whose = owner.map_or_else(String::new, |owner| format!("{owner_kind} {owner}"));
        let lines = self.kernel.as_ref().map_or(&[][..], |(_, lines)| lines);
        match self.origin {
            Origin::Kernel(line) => Error::empty_element(owner_kind, owner).in_kernel(line, lines),
            Origin::KernelOfFaces(line) => Error::two_cells(owner_kind, owner).in_kernel(line, lines),
            Origin::Operation(Requirement::OneCell, line) => Error::two_cells(owner_kind, owner).at(line),
            Origin::Operation(Requirement::Geometry { kind, what }, line) => Error::empty_entity(kind.noun(), what, &whose).at(line),
            Origin::Operation(Requirement::On { .. }, line) if condition == 0 => Error::empty_element(owner_kind, owner).at(line),
            Origin::Operation(Requirement::On { kind }, line) => {
                Error::no_data_at(kind.noun(), entity.map(|entity| domain.grid().file_index(kind, entity)), &whose).at(line)
            }
        }
    }
}

/// The flags of conditions, with their origins: the smallest failed condition, and then whether a
/// number was not finite.
pub(crate) struct Conditions {
    executor: Rc<Executor>,
    flags: Option<Rc<Buffer>>,
    checks: Vec<Check>,
    /// The flag of the first output that was not written because a condition failed.
    pub(crate) failed_output: Arc<AtomicU64>,
}

impl Conditions {
    /// All conditions hold.
    pub(crate) fn new(executor: &Rc<Executor>) -> Self {
        let failed_output = Arc::new(AtomicU64::new(HOLD));
        Conditions { executor: Rc::clone(executor), flags: None, checks: Vec::new(), failed_output }
    }

    /// The flag and the word of numbers that are not finite; `None` if all conditions hold.
    ///
    /// # Errors
    /// `Backend`: a lost device.
    pub(crate) fn read(&mut self) -> Result<Option<[u64; 2]>, Error> {
        let Some(flags) = &self.flags else { return Ok(None) };
        let words = self.executor.download(flags.address(), 2)?;
        let (flag, finite) = (words[0], words[1]);
        if flag != HOLD {
            // A repeated step begins with fresh flags.
            self.flags = None;
        }
        Ok((flag != HOLD || finite != FINITE).then_some([flag, finite]))
    }

    pub(crate) fn checks_of(
        &mut self,
        origin: Origin,
        kernel: Option<&KernelInfo>,
        domain: &Arc<Domain>,
        gathered: Option<Gathered>,
    ) -> Result<EqChecks, Error> {
        let flag = self.flags()?;
        let known = self.checks.iter().position(|check| check.is(origin, kernel, domain));
        let first = known.unwrap_or_else(|| {
            let kernel = kernel.map(|kernel| (kernel.name.to_owned(), kernel.lines.to_vec()));
            self.checks.push(Check { origin, kernel, domain: Arc::clone(domain), gathered: None });
            self.checks.len() - 1
        });
        self.checks[first].gathered = gathered;
        Ok(EqChecks { flag: flag.address().0, first: (first * CONDITIONS_OF_A_KERNEL) as u32 })
    }

    /// Destination of the failed conditions of an operation at a line.
    pub(crate) fn operation_checks(&mut self, asked: Requirement, line: u32, domain: &Arc<Domain>) -> Result<EqChecks, Error> {
        self.checks_of(Origin::Operation(asked, line), None, domain, None)
    }

    /// Destination of the failed conditions of an `On` at a line that gathers from a domain.
    pub(crate) fn gather_checks(&mut self, from: &Arc<Domain>, line: u32, target: &EntityCollection) -> Result<EqChecks, Error> {
        let gathered = Gathered { target: Rc::clone(&target.values.buffer), data: Arc::clone(from) };
        self.checks_of(Origin::Operation(Requirement::On { kind: target.kind() }, line), None, target.domain(), Some(gathered))
    }

    /// Queues a launch that marks the word if a number of a dense collection is not finite.
    pub(crate) fn mark_not_finite(&mut self, values: &Collection, components: usize) -> Result<(), Error> {
        let n = values.domain.len();
        let word = DevicePtr(self.flags()?.address().0 + 8);
        let call = self.executor.collection_call("equelle_mark_not_finite")?.arg(n as u32).arg(components as u32);
        self.executor.launch_over(call.arg(values.pointer()).arg(word), n)
    }

    /// The flag, followed by the word of numbers that are not finite.
    pub(crate) fn flags(&mut self) -> Result<Rc<Buffer>, Error> {
        if let Some(flags) = &self.flags {
            return Ok(flags.clone());
        }
        let flags = self.executor.upload("the flag of conditions", &[HOLD, FINITE])?;
        self.flags = Some(flags.clone());
        Ok(flags)
    }

    /// A copy of the current flag for an asynchronous copy to the host; `None` if no condition is
    /// checked.
    pub(crate) fn flag_now(&mut self) -> Result<Option<Rc<Buffer>>, Error> {
        let Some(flag) = self.flags.clone().filter(|_| !self.checks.is_empty()) else { return Ok(None) };
        let copy = self.executor.buffer("the flag of conditions", 8)?;
        let call = self.executor.runtime_call("equelle_word")?.arg(flag.address()).arg(copy.address());
        self.executor.push(call.on_one_thread());
        Ok(Some(copy))
    }

    /// The result of the thread that writes files, with the failed condition in words.
    pub(crate) fn with_failed(&mut self, result: Result<(), Error>) -> Result<(), Error> {
        let Err(error) = result else { return Ok(()) };
        Err(match self.failed_output.swap(HOLD, Ordering::Acquire) {
            HOLD => error,
            flag => self.error(flag),
        })
    }

    /// The error of a flag with a failed condition.
    pub(crate) fn error(&mut self, value: u64) -> Error {
        let (number, position) = ((value >> 32) as usize, (value & 0xffff_ffff) as usize);
        match self.checks.get(number / CONDITIONS_OF_A_KERNEL).cloned() {
            Some(check) => {
                let entity = check.gathered.as_ref().and_then(|gathered| self.not_held(gathered, position));
                check.error(number % CONDITIONS_OF_A_KERNEL, position, entity)
            }
            None => Error::internal("a kernel reported an unknown condition"),
        }
    }

    /// The target of an `On` at a position, if the data's domain does not contain it: the buffer
    /// may have other contents by now.
    fn not_held(&mut self, gathered: &Gathered, position: usize) -> Option<u32> {
        let at = DevicePtr(gathered.target.address().0 + 4 * position as u64);
        let entity: u32 = self.executor.download_one(at).ok()?;
        (entity != NONE && gathered.data.rank(entity).is_none()).then_some(entity)
    }
}
