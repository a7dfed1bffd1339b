//! Domains on the device: their elements, and position maps. Each is created on first use and kept.
//! The device computes the elements of canonical sets that are consecutive or have a closed form,
//! and all ranks; other lists are copied from the host, in its order.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent};

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::Executor;
use crate::runtime::executor::arguments::{EqRanks, EqSpace};
use crate::runtime::executor::pool::Buffer;

/// Buffers of domains, and known relations between them.
#[derive(Debug, Default)]
pub(crate) struct DeviceSets {
    sets: HashMap<usize, SetBuffers>,
    canonical_ranks: HashMap<u32, Rc<Buffer>>,
    /// Pairs of domains, the first a subset of the second. Kept alive so that addresses stay
    /// unique.
    within: Vec<[Arc<Domain>; 2]>,
}

/// Buffers of one domain. The handle keeps it alive, so that its address stays unique.
#[derive(Debug)]
struct SetBuffers {
    _domain: Arc<Domain>,
    list: Option<Rc<Buffer>>,
    ranks: Option<Rc<Buffer>>,
    order: Option<Rc<Buffer>>,
}

impl DeviceSets {
    /// True if [`DeviceSets::note_within`] was called for two domains.
    pub(crate) fn known_within(&self, from: &Arc<Domain>, domain: &Arc<Domain>) -> bool {
        self.within.iter().any(|[a, b]| Arc::ptr_eq(a, from) && Arc::ptr_eq(b, domain))
    }

    /// Records that all elements of one domain are in another.
    pub(crate) fn note_within(&mut self, from: &Arc<Domain>, domain: &Arc<Domain>) {
        self.within.push([Arc::clone(from), Arc::clone(domain)]);
    }

    fn of(&mut self, domain: &Arc<Domain>) -> &mut SetBuffers {
        let key = Arc::as_ptr(domain) as usize;
        self.sets.entry(key).or_insert_with(|| SetBuffers { _domain: Arc::clone(domain), list: None, ranks: None, order: None })
    }
}

/// The number of a canonical set in the prelude.
fn number(set: CanonicalSet) -> u32 {
    let base = match set.kind {
        EntityKind::Cell => 0,
        EntityKind::Face => 3,
        EntityKind::Edge => 6,
        EntityKind::Vertex => 9,
    };
    base + match set.extent {
        Extent::All => 0,
        Extent::Interior => 1,
        Extent::Boundary => 2,
    }
}

/// Ranks in a set of `count` consecutive entities.
fn in_run(canonical: u32, first: usize, count: usize) -> EqRanks {
    EqRanks { outer: 0, inner: 0, canonical, first: first as u32, count: count as u32 }
}

impl DeviceSets {
    /// The elements of a domain to iterate over.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn space(&mut self, executor: &Executor, domain: &Arc<Domain>) -> Result<EqSpace, Error> {
        let list = if domain.is_all() { 0 } else { self.elements(executor, domain)?.address().0 };
        Ok(EqSpace { list, order: 0, size: domain.len() as u32 })
    }

    /// [`DeviceSets::space`] for a reduction, in the order of the grid's file.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn space_in_file_order(&mut self, executor: &Executor, domain: &Arc<Domain>) -> Result<EqSpace, Error> {
        Ok(EqSpace { order: self.file_order(executor, domain)?, ..self.space(executor, domain)? })
    }

    /// Address of the positions of a domain in the order of the grid's file; 0 if both orders are
    /// equal.
    pub(crate) fn file_order(&mut self, executor: &Executor, domain: &Arc<Domain>) -> Result<u64, Error> {
        if let Some(order) = &self.of(domain).order {
            return Ok(order.address().0);
        }
        let Some(order) = domain.file_order() else { return Ok(0) };
        let order = executor.upload(domain.name(), order)?;
        let address = order.address().0;
        self.of(domain).order = Some(order);
        Ok(address)
    }

    /// The elements of a domain, `[n]`.
    pub(crate) fn elements(&mut self, executor: &Executor, domain: &Arc<Domain>) -> Result<Rc<Buffer>, Error> {
        if let Some(list) = &self.of(domain).list {
            return Ok(Rc::clone(list));
        }
        let n = domain.len();
        let list = if let Some(first) = domain.offset() {
            let list = executor.buffer(domain.name(), 4 * n as u64)?;
            let call = executor.runtime_call("equelle_iota")?.arg(n as u32).arg(first).arg(list.address());
            executor.launch_over(call, n)?;
            list
        } else if domain.canonical_set().is_some() && in_closed_form(executor, domain) {
            let list = executor.buffer(domain.name(), 4 * n as u64)?;
            let entities = domain.grid().n_entities(domain.kind())?;
            let (g, ranks) = (executor.cartesian_args()?, self.cartesian_ranks(executor, domain)?);
            let call = executor.collection_call("equelle_elements")?.arg(entities as u32).arg(g).arg(ranks).arg(list.address());
            executor.launch_over(call, entities)?;
            list
        } else {
            executor.upload(domain.name(), domain.elements())?
        };
        self.of(domain).list = Some(Rc::clone(&list));
        Ok(list)
    }

    /// Address of the rank in a set of each element of its canonical superset; 0 for canonical
    /// sets.
    fn inner(&mut self, executor: &Executor, domain: &Arc<Domain>) -> Result<u64, Error> {
        if domain.canonical_set().is_some() {
            return Ok(0);
        }
        if let Some(ranks) = &self.of(domain).ranks {
            return Ok(ranks.address().0);
        }
        let Some(around) = domain.base().cloned() else { return Ok(0) };
        let (list, n) = (self.elements(executor, domain)?.address(), domain.len());
        let map = empty_map(executor, domain.name(), around.len())?;
        if in_closed_form(executor, domain) {
            let (g, ranks) = (executor.cartesian_args()?, self.cartesian_ranks(executor, &around)?);
            let call =
                executor.collection_call("equelle_note_cartesian_ranks")?.arg(n as u32).arg(list).arg(g).arg(ranks).arg(map.address());
            executor.launch_over(call, n)?;
        } else {
            let ranks = self.ranks(executor, &around)?;
            note_ranks(executor, list, n, ranks, &map)?;
        }
        let address = map.address().0;
        self.of(domain).ranks = Some(map);
        Ok(address)
    }

    /// Position map of a domain, for general kernels.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn ranks(&mut self, executor: &Executor, domain: &Arc<Domain>) -> Result<EqRanks, Error> {
        let superset = match domain.canonical_set() {
            Some(_) => domain,
            None => domain.base().unwrap_or(domain),
        };
        let canonical = number(domain.superset());
        let around = match superset.offset() {
            Some(first) => in_run(canonical, first as usize, superset.len()),
            None => EqRanks { outer: self.outer(executor, superset)?, canonical, ..EqRanks::default() },
        };
        Ok(EqRanks { inner: self.inner(executor, domain)?, ..around })
    }

    /// Address of the rank in a canonical set of each entity of its kind.
    fn outer(&mut self, executor: &Executor, set: &Arc<Domain>) -> Result<u64, Error> {
        let canonical = number(set.superset());
        if let Some(ranks) = self.canonical_ranks.get(&canonical) {
            return Ok(ranks.address().0);
        }
        let all = set.grid().n_entities(set.kind())?;
        let list = self.elements(executor, set)?.address();
        let map = empty_map(executor, "ranks of entities", all)?;
        note_ranks(executor, list, set.len(), in_run(canonical, 0, all), &map)?;
        let address = map.address().0;
        self.canonical_ranks.insert(canonical, map);
        Ok(address)
    }

    /// Position map of a domain, for Cartesian kernels, which compute the ranks in canonical sets.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn cartesian_ranks(&mut self, executor: &Executor, domain: &Arc<Domain>) -> Result<EqRanks, Error> {
        Ok(EqRanks { inner: self.inner(executor, domain)?, canonical: number(domain.superset()), ..EqRanks::default() })
    }
}

/// True if the prelude has closed forms for ranks in the canonical superset of a domain, on a
/// Cartesian grid.
fn in_closed_form(executor: &Executor, domain: &Domain) -> bool {
    executor.closed_shape().is_some() && matches!(domain.kind(), EntityKind::Cell | EntityKind::Face)
}

/// A map of `size` undefined ranks.
fn empty_map(executor: &Executor, what: &str, size: usize) -> Result<Rc<Buffer>, Error> {
    let map = executor.buffer(what, 4 * size as u64)?;
    let call = executor.collection_call("equelle_no_ranks")?.arg(size as u32).arg(map.address());
    executor.launch_over(call, size)?;
    Ok(map)
}

/// Writes the positions of a list's elements to a map over another set, whose ranks are `around`.
fn note_ranks(executor: &Executor, list: DevicePtr, n: usize, around: EqRanks, map: &Buffer) -> Result<(), Error> {
    let call = executor.collection_call("equelle_note_ranks")?.arg(n as u32).arg(list).arg(around).arg(map.address());
    executor.launch_over(call, n)
}
