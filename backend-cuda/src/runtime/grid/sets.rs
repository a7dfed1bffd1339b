//! Sets of entities on the device: their elements, and the rank of an entity in them. Each is made at first use and stays. The device makes lists of canonical sets whose elements are consecutive
//! or known in closed form, and all ranks; other lists come from the host, in the order that it keeps them in.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent};

use crate::runtime::device::DevicePtr;
use crate::runtime::executor::Executor;
use crate::runtime::executor::arguments::{EqRanks, EqSpace};
use crate::runtime::executor::pool::Buffer;

/// Buffers of sets, and what is known of them.
#[derive(Debug, Default)]
pub(crate) struct DeviceSets {
    sets: HashMap<usize, SetBuffers>,
    canonical_ranks: HashMap<u32, Rc<Buffer>>,
    /// Pairs of domains of which the first is known to be in the second one. Kept, so that they stay what they are.
    within: Vec<[Arc<Domain>; 2]>,
}

/// Buffers of one domain. The handle keeps the domain alive, so that its address stays its own.
#[derive(Debug)]
struct SetBuffers {
    _domain: Arc<Domain>,
    list: Option<Rc<Buffer>>,
    ranks: Option<Rc<Buffer>>,
    order: Option<Rc<Buffer>>,
}

impl DeviceSets {
    /// Whether [`DeviceSets::note_within`] has been told of two domains.
    pub(crate) fn known_within(&self, from: &Arc<Domain>, domain: &Arc<Domain>) -> bool {
        self.within.iter().any(|[a, b]| Arc::ptr_eq(a, from) && Arc::ptr_eq(b, domain))
    }

    /// Remembers that all elements of one domain are in another.
    pub(crate) fn note_within(&mut self, from: &Arc<Domain>, domain: &Arc<Domain>) {
        self.within.push([Arc::clone(from), Arc::clone(domain)]);
    }

    fn of(&mut self, domain: &Arc<Domain>) -> &mut SetBuffers {
        let key = Arc::as_ptr(domain) as usize;
        self.sets.entry(key).or_insert_with(|| SetBuffers { _domain: Arc::clone(domain), list: None, ranks: None, order: None })
    }
}

/// Numbers of the canonical sets in the prelude.
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

/// Ranks of entities in the set of all `count` of them, or in a run of them.
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

    /// The same for a reduction, which goes by the order of the grid's file.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn space_in_file_order(&mut self, executor: &Executor, domain: &Arc<Domain>) -> Result<EqSpace, Error> {
        Ok(EqSpace { order: self.file_order(executor, domain)?, ..self.space(executor, domain)? })
    }

    /// Address of the positions of a domain in the order of the grid's file; 0 where that is theirs.
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

    /// Address of the rank in a set of each element of its canonical superset; 0 for canonical sets.
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

    /// Ranks in a domain, for general kernels.
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

    /// Ranks in a domain, for Cartesian kernels, which know the ranks in canonical sets.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub(crate) fn cartesian_ranks(&mut self, executor: &Executor, domain: &Arc<Domain>) -> Result<EqRanks, Error> {
        Ok(EqRanks { inner: self.inner(executor, domain)?, canonical: number(domain.superset()), ..EqRanks::default() })
    }
}

/// Whether the prelude knows ranks in the canonical set around a domain in closed form, with Cartesian grids.
fn in_closed_form(executor: &Executor, domain: &Domain) -> bool {
    executor.shape().is_some() && matches!(domain.kind(), EntityKind::Cell | EntityKind::Face)
}

/// A map of `size` ranks that says nothing of any of them.
fn empty_map(executor: &Executor, what: &str, size: usize) -> Result<Rc<Buffer>, Error> {
    let map = executor.buffer(what, 4 * size as u64)?;
    let call = executor.collection_call("equelle_no_ranks")?.arg(size as u32).arg(map.address());
    executor.launch_over(call, size)?;
    Ok(map)
}

/// Notes in a map over another set, in which ranks are `around`, where the elements of a list are.
fn note_ranks(executor: &Executor, list: DevicePtr, n: usize, around: EqRanks, map: &Buffer) -> Result<(), Error> {
    let call = executor.collection_call("equelle_note_ranks")?.arg(n as u32).arg(list).arg(around).arg(map.address());
    executor.launch_over(call, n)
}
