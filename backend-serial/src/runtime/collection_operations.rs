//! Operations on collections of each type: gather, scatter, choices, broadcasts and reductions.

use std::sync::Arc;

use equelle_runtime::operations::{Broadcast, Collections, FaceReductions, Reductions};
use equelle_runtime::ranks::RankWork;
use equelle_runtime::{BoolReduction, CanonicalSet, EntityKind, Error, Extent, FaceReduction, Real, Reduction};

use super::SerialRuntime;
use super::operations::{Bools, Domain, Entities, Scalars, Vectors};
use super::vectors::Vector;
use super::{discrete, gather_scatter, select, vectors};

impl<R: Real> Collections<Scalars<R>> for SerialRuntime<R> {
    fn domain_of(&self, data: &Scalars<R>) -> Domain {
        Arc::clone(data.domain())
    }

    fn on(&mut self, data: &Scalars<R>, target: &Entities) -> Result<Scalars<R>, Error> {
        self.located(gather_scatter::on_scalars(self, data, target))
    }

    fn extend(&mut self, data: &Scalars<R>, domain: &Domain) -> Result<Scalars<R>, Error> {
        self.located(gather_scatter::extend_scalars(self, data, domain))
    }

    fn select(&mut self, condition: &Bools, a: &Scalars<R>, b: &Scalars<R>) -> Result<Scalars<R>, Error> {
        self.located(select::scalars(self, condition, a, b))
    }
}

impl<R: Real> Collections<Vectors<R>> for SerialRuntime<R> {
    fn domain_of(&self, data: &Vectors<R>) -> Domain {
        Arc::clone(data.domain())
    }

    fn on(&mut self, data: &Vectors<R>, target: &Entities) -> Result<Vectors<R>, Error> {
        self.located(gather_scatter::on_vectors(self, data, target))
    }

    fn extend(&mut self, data: &Vectors<R>, domain: &Domain) -> Result<Vectors<R>, Error> {
        self.located(gather_scatter::extend_vectors(self, data, domain))
    }

    fn select(&mut self, condition: &Bools, a: &Vectors<R>, b: &Vectors<R>) -> Result<Vectors<R>, Error> {
        self.located(vectors::select(self, condition, a, b))
    }
}

impl<R: Real> Collections<Bools> for SerialRuntime<R> {
    fn domain_of(&self, data: &Bools) -> Domain {
        Arc::clone(data.domain())
    }

    fn on(&mut self, data: &Bools, target: &Entities) -> Result<Bools, Error> {
        self.located(gather_scatter::on_bools(self, data, target))
    }

    fn extend(&mut self, data: &Bools, domain: &Domain) -> Result<Bools, Error> {
        self.located(gather_scatter::extend_bools(self, data, domain))
    }

    fn select(&mut self, condition: &Bools, a: &Bools, b: &Bools) -> Result<Bools, Error> {
        Ok(select::bools(self, condition, a, b))
    }
}

impl<R: Real> Collections<Entities> for SerialRuntime<R> {
    fn domain_of(&self, data: &Entities) -> Domain {
        Arc::clone(data.domain())
    }

    fn on(&mut self, data: &Entities, target: &Entities) -> Result<Entities, Error> {
        self.located(gather_scatter::on_entities(self, data, target))
    }

    fn extend(&mut self, data: &Entities, domain: &Domain) -> Result<Entities, Error> {
        self.located(gather_scatter::extend_entities(self, data, domain))
    }

    fn select(&mut self, condition: &Bools, a: &Entities, b: &Entities) -> Result<Entities, Error> {
        Ok(select::entities(self, condition, a, b))
    }
}

impl<R: Real> Broadcast<f64> for SerialRuntime<R> {
    type Collection = Scalars<R>;

    fn broadcast(&mut self, value: &f64, domain: &Domain) -> Result<Scalars<R>, Error> {
        Ok(gather_scatter::broadcast(self, R::from_f64(*value), domain))
    }
}

impl<R: Real> Broadcast<Vector> for SerialRuntime<R> {
    type Collection = Vectors<R>;

    fn broadcast(&mut self, value: &Vector, domain: &Domain) -> Result<Vectors<R>, Error> {
        vectors::broadcast_with(self, value, domain, |component| Ok(gather_scatter::broadcast(self, component, domain)))
    }
}

impl<R: Real> Broadcast<bool> for SerialRuntime<R> {
    type Collection = Bools;

    fn broadcast(&mut self, value: &bool, domain: &Domain) -> Result<Bools, Error> {
        Ok(gather_scatter::broadcast_bool(self, *value, domain))
    }
}

impl<R: Real> FaceReductions<Scalars<R>> for SerialRuntime<R> {
    fn face_reduce(&mut self, reduction: FaceReduction, first: &Scalars<R>, second: &Scalars<R>) -> Result<Scalars<R>, Error> {
        let cells = self.canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
        self.located(discrete::face_reduce(self, &cells, reduction, first, second))
    }
}

impl<R: Real> FaceReductions<Vectors<R>> for SerialRuntime<R> {
    fn face_reduce(&mut self, reduction: FaceReduction, first: &Vectors<R>, second: &Vectors<R>) -> Result<Vectors<R>, Error> {
        let cells = self.canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
        self.located(vectors::zip(self, first, second, |a, b| discrete::face_reduce(self, &cells, reduction, a, b)))
    }
}

impl<R: Real> Reductions<Scalars<R>> for SerialRuntime<R> {
    type Reduction = Reduction;
    type Value = f64;

    fn reduce(&mut self, reduction: Reduction, values: &Scalars<R>) -> Result<f64, Error> {
        self.located(discrete::reduce(self, reduction, values))
    }
}

impl<R: Real> Reductions<Vectors<R>> for SerialRuntime<R> {
    type Reduction = Reduction;
    type Value = Vector;

    fn reduce(&mut self, reduction: Reduction, values: &Vectors<R>) -> Result<Vector, Error> {
        self.located(vectors::reduce_components(self, reduction, values))
    }
}

impl<R: Real> Reductions<Bools> for SerialRuntime<R> {
    type Reduction = BoolReduction;
    type Value = bool;

    fn reduce(&mut self, reduction: BoolReduction, values: &Bools) -> Result<bool, Error> {
        if let Some(rank) = self.session.rank() {
            let _time = rank.progress().work().time(RankWork::Reduce);
            return self.located(rank.reduce_bools(reduction, &values.domain, &values.values));
        }
        Ok(match reduction {
            BoolReduction::Any => values.values().iter().any(|&value| value),
            BoolReduction::All => values.values().iter().all(|&value| value),
        })
    }
}
