//! State of checkpoints on ranks: rank 0 has it in the order of the grid's file, as one process
//! would, and nothing of it tells how many ranks there are.

use std::sync::Arc;
use std::time::Instant;

use super::checkpoints::CheckpointKeeper;
use super::context::RunContext;
use super::grid_domains::GridDomains;
use super::on_ranks::SessionRank;
use super::writing::OutputWriter;
use crate::checkpoint::header::{DomainInfo, Header};
use crate::checkpoint::read::{Domains, Restart, position_of};
use crate::checkpoint::{SavedKind, SavedValue};
use crate::domain::Domain;
use crate::entity::{CanonicalSet, EntityKind};
use crate::error::Error;
use crate::grid::{Grid, NONE};

/// Domains that are no canonical sets, which the run has before it gets back its state: here, and
/// on rank 0 as a whole.
#[derive(Default)]
pub(super) struct DomainPairs(Vec<(Arc<Domain>, Option<Arc<Domain>>)>);

/// Domains of the whole grid, on rank 0.
pub(super) struct WholeDomains<'s> {
    pub known: &'s DomainPairs,
    pub grid: &'s mut GridDomains,
    pub run: &'s RunContext,
}

impl Domains for WholeDomains<'_> {
    fn canonical(&mut self, set: CanonicalSet) -> Result<Arc<Domain>, Error> {
        self.grid.canonical(set, self.run)
    }

    fn known(&self, name: &str, kind: EntityKind, elements: &[u32]) -> Option<Arc<Domain>> {
        let wholes = self.known.0.iter().map(|(_, whole)| whole.as_ref());
        self.known.0.get(position_of(wholes, name, kind, elements)?)?.1.clone()
    }
}

impl CheckpointKeeper<'_> {
    /// A part of the state of a checkpoint, of the elements here.
    ///
    /// # Errors
    /// As for [`CheckpointKeeper::restored`]; `Backend` if another rank has ended.
    pub(super) fn taken_on_ranks(&mut self, restart: &mut Restart, name: &str, kind: SavedKind) -> Result<SavedValue, Error> {
        let dim = self.out.grid.grid().dim();
        let info = restart.header.state.get(name).cloned();
        let domain = info.as_ref().and_then(|info| Some((info.domain?, restart.header.domains.get(info.domain?)?.clone())));
        let OutputWriter { rank: Some(rank), grid, run, .. } = &mut self.out else { return Err(Error::internal("the run has ranks")) };
        let known = match &domain {
            Some((number, DomainInfo { member: Some(_), .. })) => rank.domain_pairs(*number, grid, run)?,
            Some(_) | None => DomainPairs::default(),
        };
        let whole = match rank.whole_domains() {
            Some(whole) => Some(restart.take(name, kind, dim, &mut WholeDomains { known: &known, grid: whole, run })?),
            None => None,
        };
        let whole = whole.map(|value| self.check_finite(restart, name, value)).transpose()?;
        let OutputWriter { rank: Some(rank), grid, run, .. } = &mut self.out else { return Err(Error::internal("the run has ranks")) };
        let on = match domain {
            Some((number, info)) => {
                Some(rank.restored_domain(number, &info, whole.as_ref().and_then(SavedValue::domain), known, grid, run)?)
            }
            None => None,
        };
        rank.scatter_state(kind, on, info.and_then(|info| info.entities), whole)
    }

    /// [`CheckpointKeeper::decides`] of rank 0 after rounds of which it tells; after the others the
    /// number of the round decides.
    pub(super) fn is_due_on_ranks(&mut self, step: u64) -> bool {
        if !self.checkpoints.looks.is_time(step) {
            return self.checkpoints.policy.is_round(step);
        }
        let is_root = self.out.rank.as_ref().is_some_and(|rank| rank.context.is_root());
        let decided = is_root.then(|| [u64::from(self.decides(step)), self.checkpoints.looks.after(step, Instant::now())]);
        let told = self.out.rank.as_ref().map_or(Ok(Vec::new()), |rank| rank.context.broadcast(decided.as_ref().map(<[u64; 2]>::as_slice)));
        match told.as_deref() {
            Ok(&[due, next]) => {
                self.checkpoints.looks.wait_for(next);
                due != 0
            }
            Ok(_) => false,
            // The next statement that saves state returns the error.
            Err(error) => {
                self.checkpoints.lost = Some(error.clone());
                true
            }
        }
    }
}

impl SessionRank {
    /// The checkpoint that rank 0 reads; others get its header.
    ///
    /// # Errors
    /// Those of `read`; `Backend` if another rank has ended.
    pub(super) fn share_restart(&self, read: impl FnOnce() -> Result<Option<Restart>, Error>) -> Result<Option<Restart>, Error> {
        if self.context.is_root() {
            let restart = read()?;
            let header = restart.as_ref().map_or_else(String::new, |restart| restart.header.text());
            self.context.broadcast(Some(header.as_bytes()))?;
            return Ok(restart);
        }
        let header = self.context.broadcast::<u8>(None)?;
        if header.is_empty() {
            return Ok(None);
        }
        let header = Header::parse(&header).map_err(|_| Error::internal("rank 0 sends the header of a checkpoint"))?;
        Ok(Some(Restart::without_arrays(header)))
    }

    /// A part of the state as one process has it, on rank 0.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub(super) fn whole_state(&mut self, value: SavedValue, grid: &Grid, run: &RunContext) -> Result<Option<SavedValue>, Error> {
        Ok(match value {
            SavedValue::Scalar(_) | SavedValue::Bool(_) | SavedValue::Vector(_) | SavedValue::Sequence(_) => {
                self.context.is_root().then_some(value)
            }
            SavedValue::Domain(domain) => self.whole_domain(&domain, run)?.map(SavedValue::Domain),
            SavedValue::Scalars(domain, values) => {
                self.gather(&domain, &[&values], run)?.map(|whole| SavedValue::Scalars(whole.domain, whole.columns.concat()))
            }
            SavedValue::Vectors(domain, components) => {
                let components: Vec<&[f64]> = components.iter().map(Vec::as_slice).collect();
                self.gather(&domain, &components, run)?.map(|whole| SavedValue::Vectors(whole.domain, whole.columns))
            }
            SavedValue::Bools(domain, values) => {
                self.gather(&domain, &[&values], run)?.map(|whole| SavedValue::Bools(whole.domain, whole.columns.concat()))
            }
            SavedValue::Entities(domain, kind, values) => {
                let in_file = |entity: &Option<u32>| entity.map_or(NONE, |entity| grid.file_index(kind, entity));
                let indices: Vec<u32> = values.iter().map(in_file).collect();
                let entity = |index: u32| (index != NONE).then_some(index);
                self.gather(&domain, &[&indices], run)?
                    .map(|whole| SavedValue::Entities(whole.domain, kind, whole.columns.concat().into_iter().map(entity).collect()))
            }
        })
    }

    /// The domains that the run has already, unless that of this number is restored.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub(super) fn domain_pairs(&mut self, number: usize, grid: &GridDomains, run: &RunContext) -> Result<DomainPairs, Error> {
        if self.restored.iter().any(|(known, _)| *known == number) {
            return Ok(DomainPairs::default());
        }
        let here: Vec<Arc<Domain>> = self.read_domains().cloned().chain(grid.all_filtered()).collect();
        let pairs = here.into_iter().map(|domain| self.whole_domain(&domain, run).map(|whole| (domain, whole)));
        Ok(DomainPairs(pairs.collect::<Result<_, _>>()?))
    }

    /// The domain of a number in the checkpoint, here; rank 0 has the whole one.
    ///
    /// # Errors
    /// `Backend` if another rank has ended; `Data` if the grid does not have its set.
    pub(super) fn restored_domain(
        &mut self,
        number: usize,
        info: &DomainInfo,
        whole: Option<&Arc<Domain>>,
        known: DomainPairs,
        grid: &mut GridDomains,
        run: &RunContext,
    ) -> Result<Arc<Domain>, Error> {
        if let Some((_, domain)) = self.restored.iter().find(|(known, _)| *known == number) {
            return Ok(Arc::clone(domain));
        }
        let superset = grid.canonical(info.set, run)?;
        let domain = match info.member {
            None => superset,
            Some(_) => self.restored_subset(info, &superset, whole, known)?,
        };
        self.restored.push((number, Arc::clone(&domain)));
        Ok(domain)
    }

    /// The elements here of a whole domain of rank 0, in the domain that the run has already.
    fn restored_subset(
        &mut self,
        info: &DomainInfo,
        superset: &Arc<Domain>,
        whole: Option<&Arc<Domain>>,
        DomainPairs(known): DomainPairs,
    ) -> Result<Arc<Domain>, Error> {
        let is_whole = |other: &Option<Arc<Domain>>| whole.zip(other.as_ref()).is_some_and(|(whole, other)| Arc::ptr_eq(whole, other));
        let position = whole.map(|_| [known.iter().position(|(_, other)| is_whole(other)).map_or(NONE, |position| position as u32)]);
        let position = self.context.broadcast(position.as_ref().map(<[u32; 1]>::as_slice))?;
        let elements = self.context.broadcast(whole.map(|whole| whole.elements()))?;
        let found = |&index: &u32| superset.grid().find_entity(superset.kind(), index);
        let mut here: Vec<u32> = elements.iter().filter_map(found).collect();
        here.sort_unstable();
        if let Some((domain, _)) = position.first().and_then(|&position| known.get(position as usize)) {
            // Another statement may know fewer layers of the same set.
            let differs = domain.name() != info.name && domain.elements() != here;
            if !self.context.any(differs)? {
                return Ok(Arc::clone(domain));
            }
        }
        let domain = Domain::trusted_subset(info.name.clone(), superset, here);
        self.pair(&domain, whole.cloned());
        Ok(domain)
    }

    /// A part of the state of the elements here, of that of rank 0.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub(super) fn scatter_state(
        &self,
        kind: SavedKind,
        on: Option<Arc<Domain>>,
        entities: Option<EntityKind>,
        whole: Option<SavedValue>,
    ) -> Result<SavedValue, Error> {
        let defect = || Error::internal("a part of a checkpoint has the kind that is asked for");
        let context = &self.context;
        let numbers = match &whole {
            Some(SavedValue::Scalar(value)) => Some(vec![*value]),
            Some(SavedValue::Vector(values) | SavedValue::Sequence(values) | SavedValue::Scalars(_, values)) => Some(values.clone()),
            Some(_) | None => None,
        };
        let truths = match &whole {
            Some(SavedValue::Bool(value)) => Some(vec![*value]),
            Some(SavedValue::Bools(_, values)) => Some(values.clone()),
            Some(_) | None => None,
        };
        let single = || context.broadcast(numbers.as_deref());
        let on = || on.clone().ok_or_else(defect);
        Ok(match kind {
            SavedKind::Scalar => SavedValue::Scalar(single()?.first().copied().ok_or_else(defect)?),
            SavedKind::Vector => SavedValue::Vector(single()?),
            SavedKind::Sequence => SavedValue::Sequence(single()?),
            SavedKind::Bool => SavedValue::Bool(context.broadcast(truths.as_deref())?.first().copied().ok_or_else(defect)?),
            SavedKind::Domain => SavedValue::Domain(on()?),
            SavedKind::Scalars => SavedValue::Scalars(on()?, context.scatter(&on()?, numbers.as_deref())?),
            SavedKind::Bools => SavedValue::Bools(on()?, context.scatter(&on()?, truths.as_deref())?),
            SavedKind::Vectors => {
                let on = on()?;
                let component = |axis: usize| match &whole {
                    Some(SavedValue::Vectors(_, components)) => components.get(axis).map(Vec::as_slice),
                    Some(_) | None => None,
                };
                let components = (0..on.grid().dim()).map(|axis| context.scatter(&on, component(axis))).collect::<Result<_, _>>()?;
                SavedValue::Vectors(on, components)
            }
            SavedKind::Entities => {
                let (on, kind) = (on()?, entities.ok_or_else(defect)?);
                let indices: Option<Vec<u32>> = match &whole {
                    Some(SavedValue::Entities(_, _, values)) => Some(values.iter().map(|entity| entity.unwrap_or(NONE)).collect()),
                    Some(_) | None => None,
                };
                // One that is not here is the neighbour of an element of the last layer.
                let entity = |index: u32| if index == NONE { None } else { on.grid().find_entity(kind, index) };
                let values = context.scatter(&on, indices.as_deref())?.into_iter().map(entity).collect();
                SavedValue::Entities(on, kind, values)
            }
        })
    }
}
