//! Outputs and checks of values of each type.

use equelle_runtime::grid::NONE;
use equelle_runtime::session::finite::Nonfinite;
use equelle_runtime::{Check, Error, Exchange, HostAccess, Output, Real};

use crate::runtime::executor::precision::Precision;
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Bool, BoolCollection, EntityCollection, Scalar, ScalarCollection, Vector, VectorCollection};
use crate::runtime::values::finite::check_finite;
use crate::runtime::values::outputs::output_async;

impl Output<Scalar> for CudaRuntime {
    fn output(&mut self, tag: &str, value: &Scalar) -> Result<(), Error> {
        self.resolve_step()?;
        let value = value.value(&self.executor)?;
        self.check_flag()?;
        self.session.outputs().scalar(tag, value)
    }
}

impl Output<ScalarCollection> for CudaRuntime {
    fn output(&mut self, tag: &str, value: &ScalarCollection) -> Result<(), Error> {
        self.resolve_step()?;
        if self.session.outputs().skips(tag, value.domain.len()) {
            return Ok(());
        }
        // Outputs need no derivatives.
        let dense = self.plain(value)?;
        if output_async(self, tag, &dense, 1)? {
            return Ok(());
        }
        let n = value.domain.len();
        match self.executor.precision() {
            Precision::Double => {
                let values: Vec<f64> = self.executor.download(dense.pointer(), n)?;
                self.check_flag()?;
                self.session.outputs().collection(tag, value.domain(), &values)
            }
            Precision::Single => {
                let values: Vec<f32> = self.executor.download(dense.pointer(), n)?;
                self.check_flag()?;
                self.session.outputs().collection(tag, value.domain(), &values)
            }
        }
    }
}

impl Output<Bool> for CudaRuntime {
    fn output(&mut self, tag: &str, value: &Bool) -> Result<(), Error> {
        let value = self.bool_value(value)?;
        self.check_flag()?;
        self.session.outputs().bool(tag, value)
    }
}

impl Output<Vector> for CudaRuntime {
    fn output(&mut self, tag: &str, value: &Vector) -> Result<(), Error> {
        let value = self.vector_value(value)?;
        self.check_flag()?;
        self.session.outputs().vector(tag, &value)
    }
}

impl Output<VectorCollection> for CudaRuntime {
    fn output(&mut self, tag: &str, value: &VectorCollection) -> Result<(), Error> {
        self.resolve_step()?;
        if self.session.outputs().skips(tag, value.domain().len()) {
            return Ok(());
        }
        let components = self.session.grid().dim();
        if output_async(self, tag, &value.values, components)? {
            return Ok(());
        }
        let values = self.vectors(value)?;
        self.check_flag()?;
        match self.executor.precision() {
            Precision::Double => {
                let components: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
                self.session.outputs().vectors(tag, value.domain(), &components)
            }
            Precision::Single => {
                let values: Vec<Vec<f32>> = values.into_iter().map(f32::vec_from_f64).collect();
                let components: Vec<&[f32]> = values.iter().map(Vec::as_slice).collect();
                self.session.outputs().vectors(tag, value.domain(), &components)
            }
        }
    }
}

impl Output<BoolCollection> for CudaRuntime {
    fn output(&mut self, tag: &str, value: &BoolCollection) -> Result<(), Error> {
        self.resolve_step()?;
        if self.session.outputs().skips(tag, value.domain().len()) {
            return Ok(());
        }
        let values = self.bools(value)?;
        self.check_flag()?;
        self.session.outputs().bools(tag, value.domain(), &values)
    }
}

impl Output<EntityCollection> for CudaRuntime {
    fn output(&mut self, tag: &str, value: &EntityCollection) -> Result<(), Error> {
        self.resolve_step()?;
        if self.session.outputs().skips(tag, value.domain().len()) {
            return Ok(());
        }
        let entities: Vec<u32> = self.entity_indices(value)?.into_iter().map(|entity| entity.unwrap_or(NONE)).collect();
        self.check_flag()?;
        self.session.outputs().entities(tag, value.domain(), value.kind(), &entities)
    }
}

impl Check<Scalar> for CudaRuntime {
    fn check(&mut self, name: &str, value: &Scalar) -> Result<(), Error> {
        self.resolve_step()?;
        if self.session.nonfinite() == Nonfinite::Allow && self.session.loops().measured_variable().is_none() {
            return Ok(());
        }
        let value = value.value(&self.executor)?;
        self.check_flag()?;
        self.session.check_numbers(name, &[value])
    }
}

impl Check<Vector> for CudaRuntime {
    fn check(&mut self, name: &str, value: &Vector) -> Result<(), Error> {
        self.resolve_step()?;
        if self.session.nonfinite() == Nonfinite::Allow && self.session.loops().measured_variable().is_none() {
            return Ok(());
        }
        let value = self.vector_value(value)?;
        self.check_flag()?;
        self.session.check_numbers(name, &value)
    }
}

impl Check<ScalarCollection> for CudaRuntime {
    fn check(&mut self, name: &str, value: &ScalarCollection) -> Result<(), Error> {
        self.resolve_step()?;
        let dense = self.plain(value)?;
        check_finite(self, name, &dense, 1)
    }
}

impl Check<VectorCollection> for CudaRuntime {
    fn check(&mut self, name: &str, value: &VectorCollection) -> Result<(), Error> {
        self.resolve_step()?;
        let components = self.session.grid().dim();
        check_finite(self, name, &value.values, components)
    }
}

impl Exchange<ScalarCollection> for CudaRuntime {}

impl Exchange<VectorCollection> for CudaRuntime {}

impl Exchange<BoolCollection> for CudaRuntime {}
