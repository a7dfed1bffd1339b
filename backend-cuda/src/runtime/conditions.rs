//! Conditions that launches check: what is wrong where one does not hold. The first launch that finds one marks the smallest number of condition and element; the host
//! looks at the next output and at the end, also at one by an error that came later.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::grid::NONE;
use equelle_runtime::{EntityKind, Error, ErrorKind, KernelInfo};

use crate::runtime::args::{Call, EqChecks};
use crate::runtime::collections::EntityCollection;
use crate::runtime::device::DevicePtr;
use crate::runtime::finite::FINITE;
use crate::runtime::pool::Buffer;
use crate::runtime::program::CudaRuntime;

/// Room for the numbers of the conditions that one kernel checks.
const CONDITIONS_OF_A_KERNEL: usize = 1024;

/// The flag where all conditions hold.
pub(super) const HOLD: u64 = u64::MAX;

/// What an operation asks of entities of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The grid's knowledge of them. Condition 0: none is Empty.
    Geometry { kind: EntityKind, what: &'static str },
    /// Data at them. Condition 0: none is Empty; 1: the data's domain holds them.
    On { kind: EntityKind },
}

#[derive(Clone, Copy, Debug)]
enum Origin {
    /// A kernel that a statement at an Equelle line launches.
    Kernel(&'static KernelInfo, u32),
    /// An operation at an Equelle line.
    Operation(Asked, u32),
}

/// The conditions that a kernel or an operation checks over a domain.
#[derive(Clone, Debug)]
pub(super) struct Check {
    origin: Origin,
    domain: Arc<Domain>,
    /// Of the last `On` there.
    gathered: Option<Gathered>,
}

/// What an `On` looks for, and where.
#[derive(Clone, Debug)]
pub(super) struct Gathered {
    /// The entities, on the device; kept so that a message can name one.
    pub target: Rc<Buffer>,
    /// The domain of the data.
    pub data: Arc<Domain>,
}

impl Check {
    fn is(&self, origin: Origin, domain: &Arc<Domain>) -> bool {
        let same = match (self.origin, origin) {
            (Origin::Kernel(a, line), Origin::Kernel(b, other)) => std::ptr::eq(a, b) && line == other,
            (Origin::Operation(a, line), Origin::Operation(b, other)) => a == b && line == other,
            (Origin::Kernel(..), Origin::Operation(..)) | (Origin::Operation(..), Origin::Kernel(..)) => false,
        };
        same && Arc::ptr_eq(&self.domain, domain)
    }

    /// The error of a condition for the element at a position; `entity` is the one that an `On` looked for there, if it is known.
    fn error(&self, condition: usize, position: usize, entity: Option<u32>) -> Error {
        let (domain, owner_kind) = (&self.domain, self.domain.kind().noun());
        let owner = (position < domain.len()).then(|| domain.grid().file_index(domain.kind(), domain.element(position)));
        let whose = owner.map_or_else(String::new, |owner| format!("{owner_kind} {owner}"));
        match self.origin {
            Origin::Kernel(kernel, line) => Error::empty_element(owner_kind, owner).in_kernel(line, kernel.lines),
            Origin::Operation(Asked::Geometry { kind, what }, line) => {
                let kind = kind.noun();
                Error::new(ErrorKind::Simulation, format!("an Empty {kind} has no {what}: the one that belongs to {whose}"))
                    .hint("choose another entity where this one is Empty, with IsEmpty(...) ? ... : ...")
                    .at(line)
            }
            Origin::Operation(Asked::On { .. }, line) if condition == 0 => Error::empty_element(owner_kind, owner).at(line),
            Origin::Operation(Asked::On { kind }, line) => {
                let sought = match entity {
                    Some(entity) => format!("{} {}, which", kind.noun(), domain.grid().file_index(kind, entity)),
                    None => format!("a {} that", kind.noun()),
                };
                let message = format!("`On` needs data at {sought} the data's domain does not hold (target of {whose})");
                Error::new(ErrorKind::Simulation, message).hint("extend the data to a domain that holds the whole target").at(line)
            }
        }
    }
}

impl CudaRuntime {
    /// Where the conditions of a kernel over a domain are reported.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn checks(&mut self, kernel: &'static KernelInfo, domain: &Arc<Domain>) -> Result<EqChecks, Error> {
        let line = self.session.current_line();
        self.checks_of(Origin::Kernel(kernel, line), domain, None)
    }

    /// The same for an operation at the current line.
    pub(super) fn operation_checks(&mut self, asked: Asked, domain: &Arc<Domain>) -> Result<EqChecks, Error> {
        let line = self.session.current_line();
        self.checks_of(Origin::Operation(asked, line), domain, None)
    }

    /// The same for an `On` that gathers from a domain at the current line.
    pub(super) fn gather_checks(&mut self, from: &Arc<Domain>, target: &EntityCollection) -> Result<EqChecks, Error> {
        let line = self.session.current_line();
        let gathered = Gathered { target: Rc::clone(&target.values.buffer), data: Arc::clone(from) };
        self.checks_of(Origin::Operation(Asked::On { kind: target.kind() }, line), target.domain(), Some(gathered))
    }

    fn checks_of(&mut self, origin: Origin, domain: &Arc<Domain>, gathered: Option<Gathered>) -> Result<EqChecks, Error> {
        let flag = self.flags()?;
        let known = self.checks.iter().position(|check| check.is(origin, domain));
        let first = known.unwrap_or_else(|| {
            self.checks.push(Check { origin, domain: Arc::clone(domain), gathered: None });
            self.checks.len() - 1
        });
        self.checks[first].gathered = gathered;
        Ok(EqChecks { flag: flag.address().0, first: (first * CONDITIONS_OF_A_KERNEL) as u32 })
    }

    /// The flag, and behind it the word of numbers that are not finite.
    pub(super) fn flags(&mut self) -> Result<Rc<Buffer>, Error> {
        if let Some(flags) = &self.flag {
            return Ok(flags.clone());
        }
        let flags = self.upload("the flag of conditions", &[HOLD.to_le_bytes(), FINITE.to_le_bytes()].concat())?;
        self.flag = Some(flags.clone());
        Ok(flags)
    }

    /// The error of a condition that does not hold, or of an output that is not finite, if any.
    pub(super) fn check_flag(&mut self) -> Result<(), Error> {
        self.read_flags().map(|_| ())
    }

    /// The word of numbers that are not finite, where all conditions hold and outputs are finite.
    pub(super) fn read_flags(&mut self) -> Result<u64, Error> {
        let Some(flags) = self.flag.clone() else { return Ok(FINITE) };
        let data = self.download(flags.address(), 16)?;
        let word = |at: usize| data.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(HOLD, u64::from_le_bytes);
        let (flag, finite) = (word(0), word(8));
        if flag == HOLD && finite == FINITE {
            return Ok(FINITE);
        }
        if flag != HOLD {
            // A step that is taken again begins with conditions that hold.
            self.flag = None;
        }
        // An output that is being written may have seen it first.
        self.settle_outputs()?;
        if flag == HOLD { Ok(finite) } else { Err(self.condition_error(flag)) }
    }

    /// What the flag is now, for a copy beside the stream; `None` where no condition is checked.
    pub(super) fn flag_now(&mut self) -> Result<Option<Rc<Buffer>>, Error> {
        let Some(flag) = self.flag.clone().filter(|_| !self.checks.is_empty()) else { return Ok(None) };
        let copy = self.buffer("the flag of conditions", 8)?;
        let function = self.runtime_function("equelle_word")?;
        self.launch_once(Call::new(function, "equelle_word").arg(flag.address()).arg(copy.address()));
        Ok(Some(copy))
    }

    /// The error of a flag that says that a condition does not hold.
    pub(super) fn condition_error(&mut self, value: u64) -> Error {
        let (number, position) = ((value >> 32) as usize, (value & 0xffff_ffff) as usize);
        match self.checks.get(number / CONDITIONS_OF_A_KERNEL).cloned() {
            Some(check) => {
                let entity = check.gathered.as_ref().and_then(|gathered| self.not_held(gathered, position));
                check.error(number % CONDITIONS_OF_A_KERNEL, position, entity)
            }
            None => Error::new(ErrorKind::Backend, "internal error: a kernel reported an unknown condition"),
        }
    }

    /// The entity that an `On` looked for at a position, if the data's domain does not hold it: the `On` may have looked for others since.
    fn not_held(&mut self, gathered: &Gathered, position: usize) -> Option<u32> {
        let at = DevicePtr(gathered.target.address().0 + 4 * position as u64);
        let entity = u32::from_le_bytes(self.download(at, 4).ok()?.try_into().ok()?);
        (entity != NONE && gathered.data.rank(entity).is_none()).then_some(entity)
    }
}
