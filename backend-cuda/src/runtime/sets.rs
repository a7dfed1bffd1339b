//! Sets of entities on the device: their elements, and the rank of an entity in them. Each is made at first use and stays. The device makes lists of canonical sets whose elements are consecutive
//! or known in closed form, and all ranks; other lists come from the host, in the order that it keeps them in.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent};

use crate::runtime::args::{Call, EqRanks, EqSpace};
use crate::runtime::device::DevicePtr;
use crate::runtime::grid::bytes_of;
use crate::runtime::pool::Buffer;
use crate::runtime::program::CudaRuntime;

/// Buffers of sets, and what is known of them.
#[derive(Debug, Default)]
pub(super) struct DeviceSets {
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
    pub(super) fn known_within(&self, from: &Arc<Domain>, domain: &Arc<Domain>) -> bool {
        self.within.iter().any(|[a, b]| Arc::ptr_eq(a, from) && Arc::ptr_eq(b, domain))
    }

    /// Remembers that all elements of one domain are in another.
    pub(super) fn note_within(&mut self, from: &Arc<Domain>, domain: &Arc<Domain>) {
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

impl CudaRuntime {
    /// The elements of a domain to iterate over.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn space(&mut self, domain: &Arc<Domain>) -> Result<EqSpace, Error> {
        let list = if domain.is_all() { 0 } else { self.elements(domain)?.address().0 };
        Ok(EqSpace { list, order: 0, size: domain.len() as u32 })
    }

    /// The same for a reduction, which goes by the order of the grid's file.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn space_in_file_order(&mut self, domain: &Arc<Domain>) -> Result<EqSpace, Error> {
        Ok(EqSpace { order: self.file_order(domain)?, ..self.space(domain)? })
    }

    /// Address of the positions of a domain in the order of the grid's file; 0 where that is theirs.
    pub(super) fn file_order(&mut self, domain: &Arc<Domain>) -> Result<u64, Error> {
        if let Some(order) = &self.grid.sets.of(domain).order {
            return Ok(order.address().0);
        }
        let Some(order) = domain.file_order() else { return Ok(0) };
        let order = self.upload(domain.name(), &bytes_of(order, u32::to_le_bytes))?;
        let address = order.address().0;
        self.grid.sets.of(domain).order = Some(order);
        Ok(address)
    }

    /// Whether the prelude knows ranks in the canonical set around a domain in closed form, with Cartesian grids.
    fn in_closed_form(&self, domain: &Domain) -> bool {
        self.uses_cartesian_forms() && matches!(domain.kind(), EntityKind::Cell | EntityKind::Face)
    }

    /// The elements of a domain, `[n]`.
    pub(super) fn elements(&mut self, domain: &Arc<Domain>) -> Result<Rc<Buffer>, Error> {
        if let Some(list) = &self.grid.sets.of(domain).list {
            return Ok(Rc::clone(list));
        }
        let n = domain.len();
        let list = if let Some(first) = domain.offset() {
            let list = self.buffer(domain.name(), 4 * n as u64)?;
            let call = Call::new(self.runtime_function("equelle_iota")?, "equelle_iota").arg(n as u32).arg(first).arg(list.address());
            self.launch_over(call, n)?;
            list
        } else if domain.canonical_set().is_some() && self.in_closed_form(domain) {
            let list = self.buffer(domain.name(), 4 * n as u64)?;
            let entities = self.session.grid().n_entities(domain.kind())?;
            let (g, ranks) = (self.cartesian_args()?, self.cartesian_ranks(domain)?);
            let call = self.collection_call("equelle_elements")?.arg(entities as u32).arg(g).arg(ranks).arg(list.address());
            self.launch_over(call, entities)?;
            list
        } else {
            self.upload(domain.name(), &bytes_of(domain.elements(), u32::to_le_bytes))?
        };
        self.grid.sets.of(domain).list = Some(Rc::clone(&list));
        Ok(list)
    }

    /// A map of `size` ranks that says nothing of any of them.
    fn empty_map(&mut self, what: &str, size: usize) -> Result<Rc<Buffer>, Error> {
        let map = self.buffer(what, 4 * size as u64)?;
        let call = self.collection_call("equelle_no_ranks")?.arg(size as u32).arg(map.address());
        self.launch_over(call, size)?;
        Ok(map)
    }

    /// Notes in a map over another set, in which ranks are `around`, where the elements of a list are.
    fn note_ranks(&mut self, list: DevicePtr, n: usize, around: EqRanks, map: &Buffer) -> Result<(), Error> {
        let call = self.collection_call("equelle_note_ranks")?.arg(n as u32).arg(list).arg(around).arg(map.address());
        self.launch_over(call, n)
    }

    /// Address of the rank in a set of each element of its canonical superset; 0 for canonical sets.
    fn inner(&mut self, domain: &Arc<Domain>) -> Result<u64, Error> {
        if domain.canonical_set().is_some() {
            return Ok(0);
        }
        if let Some(ranks) = &self.grid.sets.of(domain).ranks {
            return Ok(ranks.address().0);
        }
        let Some(around) = domain.base().cloned() else { return Ok(0) };
        let (list, n) = (self.elements(domain)?.address(), domain.len());
        let map = self.empty_map(domain.name(), around.len())?;
        if self.in_closed_form(domain) {
            let (g, ranks) = (self.cartesian_args()?, self.cartesian_ranks(&around)?);
            let call = self.collection_call("equelle_note_cartesian_ranks")?.arg(n as u32).arg(list).arg(g).arg(ranks).arg(map.address());
            self.launch_over(call, n)?;
        } else {
            let ranks = self.ranks(&around)?;
            self.note_ranks(list, n, ranks, &map)?;
        }
        let address = map.address().0;
        self.grid.sets.of(domain).ranks = Some(map);
        Ok(address)
    }

    /// Ranks in a domain, for general kernels.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn ranks(&mut self, domain: &Arc<Domain>) -> Result<EqRanks, Error> {
        let superset = self.session.domain(domain.superset())?;
        let canonical = number(domain.superset());
        let around = match superset.offset() {
            Some(first) => in_run(canonical, first as usize, superset.len()),
            None => EqRanks { outer: self.outer(&superset)?, canonical, ..EqRanks::default() },
        };
        Ok(EqRanks { inner: self.inner(domain)?, ..around })
    }

    /// Address of the rank in a canonical set of each entity of its kind.
    fn outer(&mut self, set: &Arc<Domain>) -> Result<u64, Error> {
        let canonical = number(set.superset());
        if let Some(ranks) = self.grid.sets.canonical_ranks.get(&canonical) {
            return Ok(ranks.address().0);
        }
        let all = self.session.grid().n_entities(set.kind())?;
        let list = self.elements(set)?.address();
        let map = self.empty_map("ranks of entities", all)?;
        self.note_ranks(list, set.len(), in_run(canonical, 0, all), &map)?;
        let address = map.address().0;
        self.grid.sets.canonical_ranks.insert(canonical, map);
        Ok(address)
    }

    /// Ranks in a domain, for Cartesian kernels, which know the ranks in canonical sets.
    ///
    /// # Errors
    /// `Backend`: not enough memory.
    pub fn cartesian_ranks(&mut self, domain: &Arc<Domain>) -> Result<EqRanks, Error> {
        Ok(EqRanks { inner: self.inner(domain)?, canonical: number(domain.superset()), ..EqRanks::default() })
    }
}
