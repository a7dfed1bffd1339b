//! A domain on ranks: positions of its elements in the whole domain, and what is exchanged.

use std::sync::OnceLock;

use super::routes::Routes;
use super::transport::{Transport, all_gather, all_to_all, packed, unpacked};
use crate::domain::Domain;
use crate::entity::EntityKind;
use crate::error::Error;
use crate::grid::GridPart;
use crate::operators::Reduction;
use crate::rank_id::RankId;
use crate::real::Real;
use crate::reduce::LEAF;
use crate::wire::Wire;

/// Position of an element that the whole domain does not have.
const NOWHERE: u64 = u64::MAX;

/// Facts that a rank knows of a domain beside its own elements, each found by all ranks together
/// when they first need it.
#[derive(Debug, Default)]
pub(super) struct DomainPlan {
    halo: OnceLock<Vec<HaloLists>>,
    places: OnceLock<Places>,
    to_root: OnceLock<Routes>,
    to_leaves: OnceLock<Routes>,
    /// On rank 0: positions in the whole domain of all elements of each rank.
    on_ranks: OnceLock<Vec<Vec<u64>>>,
}

/// Places of elements in the whole domain.
#[derive(Debug)]
struct Places {
    /// Number of elements of the whole domain.
    whole_len: u64,
    /// Position of each element in the whole domain, in the order of the file, or [`NOWHERE`].
    positions: Vec<u64>,
    /// The elements that this rank owns: position here and in the whole domain.
    owned: Vec<(u32, u64)>,
}

/// Elements exchanged with another rank, by layer.
#[derive(Debug, Default)]
struct HaloLists {
    sent: LayeredList,
    received: LayeredList,
}

/// Positions of elements by layer.
#[derive(Debug, Default)]
struct LayeredList {
    positions: Vec<u32>,
    /// Number of them up to each layer, from layer 1 on.
    ends: Vec<usize>,
}

impl LayeredList {
    /// From positions with their layers, which are ascending.
    fn new(elements: &[(u32, u32)]) -> LayeredList {
        let most = elements.last().map_or(0, |&(_, layer)| layer);
        let ends = (1..=most).map(|layer| elements.partition_point(|&(_, found)| found <= layer)).collect();
        LayeredList { positions: elements.iter().map(|&(position, _)| position).collect(), ends }
    }

    fn up_to(&self, depth: u32) -> &[u32] {
        let Some(last) = self.ends.len().min(depth as usize).checked_sub(1) else { return &[] };
        &self.positions[..self.ends[last]]
    }
}

impl Places {
    fn new(transport: &dyn Transport, domain: &Domain) -> Result<Places, Error> {
        let (part, kind) = part_of(domain)?;
        let in_file: Vec<u32> = (0..domain.len()).map(|position| domain.grid().file_index(kind, domain.element(position))).collect();
        let own = |position: usize| part.owns(transport.rank(), kind, domain.element(position));
        let (whole_len, positions) = match domain.is_all() {
            true => (part.n_whole(kind).unwrap_or_default() as u64, in_file.iter().map(|&index| u64::from(index)).collect()),
            false => positions(transport, part.n_whole(kind).unwrap_or_default(), &in_file, own)?,
        };
        let mut owned: Vec<(u32, u64)> =
            (0..domain.len()).filter(|&position| own(position)).map(|position| (position as u32, positions[position])).collect();
        if !owned.is_sorted_by_key(|&(_, position)| position) {
            owned.sort_unstable_by_key(|&(_, position)| position);
        }
        Ok(Places { whole_len, positions, owned })
    }
}

/// The part of the grid that a domain is on, and the kind of its elements there.
fn part_of(domain: &Domain) -> Result<(&GridPart, EntityKind), Error> {
    let part = domain.grid().part().ok_or_else(|| Error::internal("a rank has a part of the grid"))?;
    Ok((part, domain.kind().on_grid_of(domain.grid().dim())))
}

/// A domain with its plan, for a message.
#[derive(Clone, Copy)]
pub(super) struct Planned<'a> {
    pub domain: &'a Domain,
    pub plan: &'a DomainPlan,
    pub transport: &'a dyn Transport,
}

impl<'a> Planned<'a> {
    fn places(self) -> Result<&'a Places, Error> {
        made(&self.plan.places, || Places::new(self.transport, self.domain))
    }

    /// Number of elements of the whole domain.
    ///
    /// # Errors
    /// As for [`Transport::receive`], here and below.
    pub(super) fn whole_len(self) -> Result<u64, Error> {
        if self.domain.is_all() {
            let (part, kind) = part_of(self.domain)?;
            return Ok(part.n_whole(kind).unwrap_or_default() as u64);
        }
        Ok(self.places()?.whole_len)
    }

    /// All values in the order of the file, on rank 0; nothing on others.
    pub(super) fn gather<T: Wire>(self, values: &[T]) -> Result<Vec<T>, Error> {
        let places = self.places()?;
        let len = places.whole_len;
        let block = |rank: usize| if rank == 0 { 0..len } else { len..len };
        made(&self.plan.to_root, || Routes::new(self.transport, &places.owned, block))?.gather(self.transport, values)
    }

    /// The values of the leaves of reductions that this rank evaluates, in the order of the file.
    pub(super) fn gather_leaves<T: Wire>(self, values: &[T]) -> Result<Vec<T>, Error> {
        let places = self.places()?;
        let (len, ranks) = (places.whole_len, self.transport.n_ranks() as u64);
        let start = |rank: u64| (rank * len.div_ceil(LEAF as u64) / ranks * LEAF as u64).min(len);
        let block = |rank: usize| start(rank as u64)..start(rank as u64 + 1);
        made(&self.plan.to_leaves, || Routes::new(self.transport, &places.owned, block))?.gather(self.transport, values)
    }

    /// The Max or Min of the values that this rank owns; NaN if one is, `None` without values.
    pub(super) fn extreme<R: Real>(self, reduction: Reduction, values: &[R]) -> Result<Option<f64>, Error> {
        let values = self.places()?.owned.iter().map(|&(position, _)| values[position as usize].to_f64());
        Ok(values.reduce(|a, b| nearer_extreme(reduction, a, b)))
    }

    /// The values of the elements here, of all values in the order of the file that rank 0 has.
    /// Elements that the whole domain does not have get the default.
    pub(super) fn scatter<T: Wire>(self, whole: Option<&[T]>) -> Result<Vec<T>, Error> {
        let (root, transport, places) = (RankId(0), self.transport, self.places()?);
        let to_root = |rank: usize| if rank == 0 { places.positions.clone() } else { Vec::new() };
        let all = || all_to_all(transport, &(0..transport.n_ranks()).map(to_root).collect::<Vec<_>>());
        let on_ranks = made(&self.plan.on_ranks, all)?;
        let pick = |whole: &[T], position: u64| whole.get(position as usize).copied().unwrap_or_default();
        if let Some(whole) = whole {
            for (rank, positions) in on_ranks.iter().enumerate().skip(1) {
                transport.send(RankId(rank as u32), packed(positions.iter().map(|&position| pick(whole, position))))?;
            }
            return Ok(places.positions.iter().map(|&position| pick(whole, position)).collect());
        }
        Ok(unpacked(&transport.receive(root)?).collect())
    }

    /// Brings the values of the first layers of the halo from their owners; the bytes that this
    /// rank sends.
    pub(super) fn exchange<T: Wire>(self, values: &mut [T], depth: u32) -> Result<Exchanged, Error> {
        let (transport, mut exchanged) = (self.transport, Exchanged::default());
        let halo = made(&self.plan.halo, || halo_lists(transport, self.domain))?;
        for (rank, lists) in halo.iter().enumerate() {
            let sent = lists.sent.up_to(depth);
            if !sent.is_empty() {
                let message = packed(sent.iter().map(|&position| values[position as usize]));
                exchanged.messages += 1;
                exchanged.bytes += message.len() as u64;
                transport.send(RankId(rank as u32), message)?;
            }
        }
        for (rank, lists) in halo.iter().enumerate() {
            let received = lists.received.up_to(depth);
            if !received.is_empty() {
                for (&position, value) in received.iter().zip(unpacked(&transport.receive(RankId(rank as u32))?)) {
                    values[position as usize] = value;
                }
            }
        }
        Ok(exchanged)
    }
}

/// Messages that a rank has sent in exchanges, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchanged {
    /// Number of messages.
    pub messages: u64,
    /// Bytes of values in them.
    pub bytes: u64,
}

/// The greater value for Max, else the lesser one; NaN if either is.
pub(super) fn nearer_extreme(reduction: Reduction, a: f64, b: f64) -> f64 {
    let keeps = if reduction == Reduction::Max { a >= b } else { a <= b };
    if keeps || a.is_nan() { a } else { b }
}

/// Makes a value once; all ranks make it at the same time.
fn made<T>(place: &OnceLock<T>, make: impl FnOnce() -> Result<T, Error>) -> Result<&T, Error> {
    if place.get().is_none() {
        // Nobody else can have set it: a run has one thread of its own.
        let _ = place.set(make()?);
    }
    place.get().ok_or_else(|| Error::internal("a plan of a domain is there once it is made"))
}

/// Positions in the whole domain of elements with these indices in the file, and how many elements
/// it has. Each rank counts the elements in a block of indices, so that none has to hold all.
fn positions(transport: &dyn Transport, whole: usize, in_file: &[u32], own: impl Fn(usize) -> bool) -> Result<(u64, Vec<u64>), Error> {
    let n_ranks = transport.n_ranks();
    let width = whole.div_ceil(n_ranks).max(1);
    let mut owned: Vec<Vec<u32>> = vec![Vec::new(); n_ranks];
    let mut asked: Vec<Vec<u32>> = vec![Vec::new(); n_ranks];
    for (position, &index) in in_file.iter().enumerate() {
        let block = index as usize / width;
        asked[block].push(index);
        if own(position) {
            owned[block].push(index);
        }
    }
    let mut counted = all_to_all(transport, &owned)?.concat();
    counted.sort_unstable();
    let counts = all_gather(transport, &[counted.len() as u64])?.concat();
    let before: u64 = counts[..transport.rank().index()].iter().sum();
    let position = |index: &u32| counted.binary_search(index).map_or(NOWHERE, |position| before + position as u64);
    let answers: Vec<Vec<u64>> = all_to_all(transport, &asked)?.iter().map(|asked| asked.iter().map(position).collect()).collect();
    let mut answers: Vec<_> = all_to_all(transport, &answers)?.into_iter().map(Vec::into_iter).collect();
    // Each block answers in the order in which it was asked.
    let found = in_file.iter().map(|&index| answers[index as usize / width].next().unwrap_or(NOWHERE)).collect();
    Ok((counts.iter().sum(), found))
}

/// Asks the owners for the elements at some positions, `[n_ranks]`: where this rank has those that
/// each other one asks for, in their order; `None` for one that is not in the domain.
pub(super) fn ask_owners(transport: &dyn Transport, domain: &Domain, wanted: &[Vec<u32>]) -> Result<Vec<Vec<Option<u32>>>, Error> {
    let (grid, kind) = (domain.grid(), domain.kind().on_grid_of(domain.grid().dim()));
    let in_file = |&position: &u32| grid.file_index(kind, domain.element(position as usize));
    let wanted: Vec<Vec<u32>> = wanted.iter().map(|list| list.iter().map(in_file).collect()).collect();
    let here = |index: u32| grid.find_entity(kind, index).and_then(|entity| domain.rank(entity));
    Ok(all_to_all(transport, &wanted)?.into_iter().map(|asked| asked.into_iter().map(here).collect()).collect())
}

/// The elements that are exchanged with each rank. A rank asks the owner of each element of its
/// halo; what the owner does not have in the domain stays as it is.
fn halo_lists(transport: &dyn Transport, domain: &Domain) -> Result<Vec<HaloLists>, Error> {
    let (part, kind) = part_of(domain)?;
    let n_ranks = transport.n_ranks();
    let mut wanted: Vec<Vec<(u32, u32)>> = vec![Vec::new(); n_ranks];
    for position in 0..domain.len() {
        let element = domain.element(position);
        if let Some(layer @ 1..) = part.layer(kind, element)
            && let Some(owner) = part.owner(kind, element)
        {
            wanted[owner.index()].push((position as u32, layer as u32));
        }
    }
    wanted.iter_mut().for_each(|list| list.sort_by_key(|&(_, layer)| layer));
    let positions = |list: &Vec<(u32, u32)>| list.iter().map(|&(position, _)| position).collect::<Vec<_>>();
    let layers = |list: &Vec<(u32, u32)>| list.iter().map(|&(_, layer)| layer).collect::<Vec<_>>();
    let found = ask_owners(transport, domain, &wanted.iter().map(positions).collect::<Vec<_>>())?;
    let asked_layers = all_to_all(transport, &wanted.iter().map(layers).collect::<Vec<_>>())?;
    let has: Vec<Vec<bool>> = found.iter().map(|found| found.iter().map(Option::is_some).collect()).collect();
    let has = all_to_all(transport, &has)?;
    let lists = (0..n_ranks).map(|rank| {
        let sent: Vec<_> = found[rank].iter().zip(&asked_layers[rank]).filter_map(|(found, &layer)| Some(((*found)?, layer))).collect();
        let received: Vec<_> = wanted[rank].iter().zip(&has[rank]).filter(|&(_, &has)| has).map(|(&wanted, _)| wanted).collect();
        HaloLists { sent: LayeredList::new(&sent), received: LayeredList::new(&received) }
    });
    Ok(lists.collect())
}
