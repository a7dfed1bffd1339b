//! The rank of a run: rank 0 has the whole grid beside its part, and reads and writes for all.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::context::RunContext;
use super::grid_domains::GridDomains;
use crate::domain::Domain;
use crate::error::Error;
use crate::grid::{Grid, Renumber};
use crate::input::CollectionInput;
use crate::output::Route;
use crate::ranks::RankContext;
use crate::wire::Wire;

/// One rank of a run, with the whole grid where files are read and written.
pub struct SessionRank {
    pub(super) context: Arc<RankContext>,
    /// The whole grid, on rank 0.
    whole: Option<GridDomains>,
    /// Time that it had waited for others when the run began.
    waited_before: Duration,
    /// Number of the attempt of a step that is going on.
    attempt: u64,
    /// The whole domains of those that are subsets here.
    subsets: Vec<Subset>,
    /// Domains that were read.
    read_domains: Vec<ReadDomain>,
    /// Domains of the checkpoint from which the run goes on, by their number in it.
    pub(super) restored: Vec<(usize, Arc<Domain>)>,
}

/// A subset here. The whole one is known on rank 0 alone.
struct Subset {
    here: Weak<Domain>,
    whole: Option<Arc<Domain>>,
    /// The attempt in which all ranks found it.
    attempt: u64,
}

/// A domain that was read.
struct ReadDomain {
    name: String,
    superset: Arc<Domain>,
    domain: Arc<Domain>,
    /// The attempt in which all ranks read it.
    attempt: u64,
}

/// Values of a whole domain.
pub(super) struct WholeValues<T> {
    pub domain: Arc<Domain>,
    /// By component, in the order of the file.
    pub columns: Vec<Vec<T>>,
}

impl SessionRank {
    /// Time that it has waited for others in the run.
    pub(super) fn waited(&self) -> Duration {
        self.context.progress().work().waited().saturating_sub(self.waited_before)
    }

    /// A rank; rank 0 gets the whole grid.
    pub fn new(context: RankContext, whole: Option<Grid>) -> SessionRank {
        SessionRank {
            waited_before: context.progress().work().waited(),
            context: Arc::new(context),
            whole: whole.map(|grid| GridDomains::new(grid, Renumber::No)),
            attempt: 0,
            subsets: Vec::new(),
            read_domains: Vec::new(),
            restored: Vec::new(),
        }
    }

    /// The whole grid, on rank 0.
    pub(super) fn whole_grid(&self) -> Option<&Arc<Grid>> {
        self.whole.as_ref().map(GridDomains::grid)
    }

    /// The domains on the whole grid, on rank 0.
    pub(super) fn whole_domains(&mut self) -> Option<&mut GridDomains> {
        self.whole.as_mut()
    }

    /// The whole domain of one here, on rank 0. All ranks ask together.
    ///
    /// # Errors
    /// `Backend` if another rank has ended; those of the grid.
    pub(super) fn whole_domain(&mut self, domain: &Arc<Domain>, run: &RunContext) -> Result<Option<Arc<Domain>>, Error> {
        if let Some(set) = domain.canonical_set() {
            return self.whole.as_mut().map(|whole| whole.canonical(set, run)).transpose();
        }
        if let Some(known) = self.subsets.iter().find(|known| known.here.as_ptr() == Arc::as_ptr(domain)) {
            return Ok(known.whole.clone());
        }
        let within = match domain.parent() {
            Some(parent) => self.whole_domain(&Arc::clone(parent), run)?,
            None => None,
        };
        let here: Vec<u32> = domain.elements().iter().map(|&element| domain.grid().file_index(domain.kind(), element)).collect();
        let elements = self.context.gather(domain, &here)?;
        let whole = within.zip(elements).map(|(within, elements)| Domain::trusted_subset(domain.name().to_owned(), &within, elements));
        self.pair(domain, whole.clone());
        Ok(whole)
    }

    /// Notes the whole domain of one here, on rank 0.
    pub(super) fn pair(&mut self, domain: &Arc<Domain>, whole: Option<Arc<Domain>>) {
        self.subsets.retain(|known| known.here.strong_count() > 0);
        self.subsets.push(Subset { here: Arc::downgrade(domain), whole, attempt: self.attempt });
    }

    /// An attempt of a step begins.
    pub(super) fn begin_attempt(&mut self) {
        self.attempt += 1;
    }

    /// Drops what ranks have made together in the attempt: some may not have come so far.
    pub(super) fn forget_attempt(&mut self) {
        self.subsets.retain(|known| known.attempt != self.attempt);
        self.read_domains.retain(|known| known.attempt != self.attempt);
        self.context.forget_plans();
    }

    /// A collection that rank 0 reads for a whole domain: the values of the elements here.
    ///
    /// # Errors
    /// Those of `read`; `Backend` if another rank has ended.
    pub(super) fn read<T: Wire>(
        &mut self,
        domain: &Arc<Domain>,
        run: &RunContext,
        read: impl FnOnce(&Grid, &Arc<Domain>, &RunContext) -> Result<CollectionInput<T>, Error>,
    ) -> Result<CollectionInput<T>, Error> {
        let whole = self.whole_domain(domain, run)?;
        let found = match (&self.whole, whole) {
            (Some(grid), Some(whole)) => Some(read(grid.grid(), &whole, run)?),
            _ => None,
        };
        let uniform = match &found {
            Some(CollectionInput::Uniform(value)) => Some(vec![*value]),
            Some(CollectionInput::Values(_)) => Some(Vec::new()),
            None => None,
        };
        if let Some(&value) = self.context.broadcast(uniform.as_deref())?.first() {
            return Ok(CollectionInput::Uniform(value));
        }
        let values = match &found {
            Some(CollectionInput::Values(values)) => Some(&values[..]),
            Some(CollectionInput::Uniform(_)) | None => None,
        };
        Ok(CollectionInput::Values(Arc::new(self.context.scatter(domain, values)?)))
    }

    /// A domain that rank 0 reads within a whole one: its elements here.
    ///
    /// # Errors
    /// As for [`SessionRank::read`].
    pub(super) fn read_domain(
        &mut self,
        name: &str,
        within: &Arc<Domain>,
        run: &RunContext,
        read: impl FnOnce(&Grid, &Arc<Domain>, &RunContext) -> Result<Arc<Domain>, Error>,
    ) -> Result<Arc<Domain>, Error> {
        if let Some(known) = self.read_domains.iter().find(|known| known.name == name && Arc::ptr_eq(&known.superset, within)) {
            return Ok(Arc::clone(&known.domain));
        }
        let whole = self.whole_domain(within, run)?;
        let found = match (&self.whole, whole) {
            (Some(grid), Some(whole)) => Some(read(grid.grid(), &whole, run)?),
            _ => None,
        };
        let elements = self.context.broadcast(found.as_ref().map(|domain| domain.elements()))?;
        let mut here: Vec<u32> = elements.iter().filter_map(|&element| within.grid().find_entity(within.kind(), element)).collect();
        here.sort_unstable();
        let domain = Domain::trusted_subset(name.to_owned(), within, here);
        self.pair(&domain, found);
        let (name, superset, attempt) = (name.to_owned(), Arc::clone(within), self.attempt);
        self.read_domains.push(ReadDomain { name, superset, domain: Arc::clone(&domain), attempt });
        Ok(domain)
    }

    /// Domains here that were read.
    pub(super) fn read_domains(&self) -> impl Iterator<Item = &Arc<Domain>> {
        self.read_domains.iter().map(|known| &known.domain)
    }

    /// The destination of a collection, which rank 0 has decided.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub(super) fn route(&self, decided: Option<Route>) -> Result<Route, Error> {
        const ROUTES: [Route; 3] = [Route::Skip, Route::Values, Route::Files];
        let number = |route: Route| ROUTES.iter().position(|other| *other == route).unwrap_or(0) as u32;
        let number = self.context.broadcast(decided.map(|route| [number(route)]).as_ref().map(<[u32; 1]>::as_slice))?;
        Ok(number.first().and_then(|&number| ROUTES.get(number as usize)).copied().unwrap_or(Route::Skip))
    }

    /// All values of a whole domain, on rank 0.
    ///
    /// # Errors
    /// `Backend` if another rank has ended.
    pub(super) fn gather<T: Wire>(
        &mut self,
        domain: &Arc<Domain>,
        components: &[&[T]],
        run: &RunContext,
    ) -> Result<Option<WholeValues<T>>, Error> {
        let whole = self.whole_domain(domain, run)?;
        let columns: Option<Vec<Vec<T>>> =
            components.iter().map(|values| self.context.gather(domain, values)).collect::<Result<Vec<_>, _>>()?.into_iter().collect();
        Ok(whole.zip(columns).map(|(domain, columns)| WholeValues { domain, columns }))
    }
}
