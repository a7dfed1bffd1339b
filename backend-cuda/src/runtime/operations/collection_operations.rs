//! Operations on collections of each type: gather, scatter, choices, broadcasts and reductions.

use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::operations::{Broadcast, Collections, FaceReductions, Reductions};
use equelle_runtime::{BoolReduction, Error, FaceReduction, Reduction, Unary};

use super::arithmetic::unary;
use super::bools::BoolOp;
use super::operand::{Extent, Operand};
use super::{bools, discrete, gather_scatter, select};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{
    Bool, BoolCollection as Bools, Collection as Scalars, EntityCollection as Entities, Scalar, Vector, VectorCollection as Vectors,
};

impl Collections<Scalars> for CudaRuntime {
    fn domain_of(&self, data: &Scalars) -> Arc<Domain> {
        Arc::clone(data.domain())
    }

    fn on(&mut self, data: &Scalars, target: &Entities) -> Result<Scalars, Error> {
        let extent = Extent::scalars(target.domain());
        Ok(gather_scatter::on_numbers(self, extent, data.domain(), data, target)?.scalars(target.domain()))
    }

    fn extend(&mut self, data: &Scalars, domain: &Arc<Domain>) -> Result<Scalars, Error> {
        if data.domain().same_elements(domain) {
            return Ok(data.clone());
        }
        Ok(gather_scatter::extend_numbers(self, Extent::scalars(domain), data.domain(), data, domain)?.scalars(domain))
    }

    fn select(&mut self, condition: &Bools, a: &Scalars, b: &Scalars) -> Result<Scalars, Error> {
        Ok(select::numbers(self, Extent::scalars(a.domain()), condition, a, b)?.scalars(a.domain()))
    }
}

impl Collections<Vectors> for CudaRuntime {
    fn domain_of(&self, data: &Vectors) -> Arc<Domain> {
        Arc::clone(data.domain())
    }

    fn on(&mut self, data: &Vectors, target: &Entities) -> Result<Vectors, Error> {
        let extent = Extent::vectors(self, target.domain());
        Ok(gather_scatter::on_numbers(self, extent, data.domain(), data, target)?.vectors(target.domain()))
    }

    fn extend(&mut self, data: &Vectors, domain: &Arc<Domain>) -> Result<Vectors, Error> {
        if data.domain().same_elements(domain) {
            return Ok(data.clone());
        }
        let extent = Extent::vectors(self, domain);
        Ok(gather_scatter::extend_numbers(self, extent, data.domain(), data, domain)?.vectors(domain))
    }

    fn select(&mut self, condition: &Bools, a: &Vectors, b: &Vectors) -> Result<Vectors, Error> {
        let extent = Extent::vectors(self, a.domain());
        Ok(select::numbers(self, extent, condition, a, b)?.vectors(a.domain()))
    }
}

impl Collections<Bools> for CudaRuntime {
    fn domain_of(&self, data: &Bools) -> Arc<Domain> {
        Arc::clone(data.domain())
    }

    fn on(&mut self, data: &Bools, target: &Entities) -> Result<Bools, Error> {
        gather_scatter::on_bools(self, data, target)
    }

    fn extend(&mut self, data: &Bools, domain: &Arc<Domain>) -> Result<Bools, Error> {
        if data.domain().same_elements(domain) { Ok(data.clone()) } else { gather_scatter::extend_bools(self, data, domain) }
    }

    fn select(&mut self, condition: &Bools, a: &Bools, b: &Bools) -> Result<Bools, Error> {
        select::bools(self, condition, a, b)
    }
}

impl Collections<Entities> for CudaRuntime {
    fn domain_of(&self, data: &Entities) -> Arc<Domain> {
        Arc::clone(data.domain())
    }

    fn on(&mut self, data: &Entities, target: &Entities) -> Result<Entities, Error> {
        gather_scatter::on_entities(self, data, target)
    }

    fn extend(&mut self, data: &Entities, domain: &Arc<Domain>) -> Result<Entities, Error> {
        if data.domain().same_elements(domain) { Ok(data.clone()) } else { gather_scatter::extend_entities(self, data, domain) }
    }

    fn select(&mut self, condition: &Bools, a: &Entities, b: &Entities) -> Result<Entities, Error> {
        select::entities(self, condition, a, b)
    }
}

impl Broadcast<Scalar> for CudaRuntime {
    type Collection = Scalars;

    fn broadcast(&mut self, value: &Scalar, domain: &Arc<Domain>) -> Result<Scalars, Error> {
        let value = value.values(self)?;
        Ok(unary(self, Unary::Copy, Extent::scalars(domain), &value)?.scalars(domain))
    }
}

impl Broadcast<Vector> for CudaRuntime {
    type Collection = Vectors;

    fn broadcast(&mut self, value: &Vector, domain: &Arc<Domain>) -> Result<Vectors, Error> {
        let value = value.values(self)?;
        Ok(unary(self, Unary::Copy, Extent::vectors(self, domain), &value)?.vectors(domain))
    }
}

impl Broadcast<Bool> for CudaRuntime {
    type Collection = Bools;

    fn broadcast(&mut self, value: &Bool, domain: &Arc<Domain>) -> Result<Bools, Error> {
        bools::combine(self, BoolOp::Copy, domain, value, value)
    }
}

impl FaceReductions<Scalars> for CudaRuntime {
    fn face_reduce(&mut self, reduction: FaceReduction, first: &Scalars, second: &Scalars) -> Result<Scalars, Error> {
        let (a, b) = (first.numbers(self)?, second.numbers(self)?);
        let (computed, cells) = discrete::face_reduce(self, reduction, &first.domain, [&a, &b], 1)?;
        Ok(computed.scalars(&cells))
    }
}

impl FaceReductions<Vectors> for CudaRuntime {
    fn face_reduce(&mut self, reduction: FaceReduction, first: &Vectors, second: &Vectors) -> Result<Vectors, Error> {
        let (a, b) = (first.numbers(self)?, second.numbers(self)?);
        let components = self.executor.dim();
        let (computed, cells) = discrete::face_reduce(self, reduction, first.domain(), [&a, &b], components)?;
        Ok(computed.vectors(&cells))
    }
}

impl Reductions<Scalars> for CudaRuntime {
    type Reduction = Reduction;
    type Value = Scalar;

    fn reduce(&mut self, reduction: Reduction, values: &Scalars) -> Result<Scalar, Error> {
        discrete::reduce(self, reduction, values)
    }
}

impl Reductions<Vectors> for CudaRuntime {
    type Reduction = Reduction;
    type Value = Vector;

    fn reduce(&mut self, reduction: Reduction, values: &Vectors) -> Result<Vector, Error> {
        discrete::reduce_components(self, reduction, values)
    }
}

impl Reductions<Bools> for CudaRuntime {
    type Reduction = BoolReduction;
    type Value = Bool;

    fn reduce(&mut self, reduction: BoolReduction, values: &Bools) -> Result<Bool, Error> {
        bools::reduce(self, reduction, values)
    }
}
