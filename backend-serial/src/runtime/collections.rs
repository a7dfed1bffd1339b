//! Collections of the serial runtime.

use std::rc::Rc;
use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{EntityKind, Real};

use super::jacobian::Jacobian;
use super::pool::Values;

/// Storage of a Collection Of Scalar.
#[derive(Clone, Debug)]
pub enum Storage<R = f64> {
    /// One value per element of the domain.
    Dense(Values<R>),
    /// On a uniform Cartesian grid: one value per axis for faces (that of every face across the
    /// axis), or one value for cells, in entry 0.
    PerAxis([R; 3]),
}

/// One real number per element of a domain.
#[derive(Clone, Debug)]
pub struct ScalarCollection<R = f64> {
    pub(super) domain: Arc<Domain>,
    pub(super) storage: Storage<R>,
    /// Derivatives with respect to the unknowns of the current Newton solve; `None` for constants.
    pub(super) jacobian: Option<Rc<Jacobian<R>>>,
}

impl<R: Real> ScalarCollection<R> {
    /// Constants, one for each element.
    pub(super) fn new(domain: &Arc<Domain>, values: Values<R>) -> Self {
        debug_assert_eq!(values.len(), domain.len());
        ScalarCollection { domain: Arc::clone(domain), storage: Storage::Dense(values), jacobian: None }
    }

    /// Its domain.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// Its storage.
    pub fn storage(&self) -> &Storage<R> {
        &self.storage
    }

    /// Derivatives with respect to the unknowns of the current Newton solve; `None` if it does not
    /// depend on them.
    pub fn jacobian(&self) -> Option<&Jacobian<R>> {
        self.jacobian.as_deref()
    }

    /// The values per axis, if it is stored so: for faces by axis, for cells in entry 0.
    pub fn per_axis(&self) -> Option<[R; 3]> {
        match &self.storage {
            Storage::Dense(_) => None,
            Storage::PerAxis(values) => Some(*values),
        }
    }
}

/// One geometric vector per element of a domain, stored by component.
#[derive(Clone, Debug)]
pub struct VectorCollection<R = f64> {
    pub(super) domain: Arc<Domain>,
    /// The first components, as many as the grid has dimensions; an array, so that a step does not
    /// allocate a list.
    pub(super) components: [Option<Values<R>>; 3],
    /// Derivatives of each component with respect to the unknowns of the current Newton solve;
    /// `None` for constants.
    pub(super) jacobians: [Option<Rc<Jacobian<R>>>; 3],
}

impl<R: Real> VectorCollection<R> {
    /// Its domain.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// Values of a component, `None` beyond the dimension of the grid.
    pub fn component(&self, index: usize) -> Option<&Values<R>> {
        self.components.get(index)?.as_ref()
    }

    /// The values by component, for a grid of `DIM` dimensions.
    pub fn slices<const DIM: usize>(&self) -> [&[R]; DIM] {
        std::array::from_fn(|axis| self.component(axis).map_or(&[][..], |component| component))
    }

    /// A component as a collection, with its derivatives.
    pub(super) fn part(&self, index: usize) -> Option<ScalarCollection<R>> {
        let values = self.component(index)?.clone();
        let jacobian = self.jacobians.get(index)?.clone();
        Some(ScalarCollection { domain: Arc::clone(&self.domain), storage: Storage::Dense(values), jacobian })
    }

    /// True if a component depends on an unknown of the current Newton solve.
    pub(super) fn has_derivatives(&self) -> bool {
        self.jacobians.iter().any(Option::is_some)
    }

    /// The components in order, as many as the grid has dimensions.
    pub fn components(&self) -> impl Iterator<Item = &Values<R>> {
        self.components.iter().flatten()
    }
}

/// One Bool per element of a domain.
#[derive(Clone, Debug)]
pub struct BoolCollection {
    pub(super) domain: Arc<Domain>,
    pub(super) values: Values<bool>,
}

impl BoolCollection {
    /// Its domain.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// The values, one per element.
    pub fn values(&self) -> &Values<bool> {
        &self.values
    }
}

/// One entity or Empty per element of a domain.
#[derive(Clone, Debug)]
pub struct EntityCollection {
    pub(super) domain: Arc<Domain>,
    pub(super) kind: EntityKind,
    pub(super) values: Values<u32>,
}

impl EntityCollection {
    /// Its domain.
    pub fn domain(&self) -> &Arc<Domain> {
        &self.domain
    }

    /// Kind of its entities.
    pub fn kind(&self) -> EntityKind {
        self.kind
    }

    /// Entity indices, [`equelle_runtime::grid::NONE`] for Empty.
    pub fn values(&self) -> &Values<u32> {
        &self.values
    }
}
