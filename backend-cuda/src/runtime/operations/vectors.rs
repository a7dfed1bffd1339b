//! Vectors: single ones, and collections by component. What a component depends on inside a Newton solve goes along.

use std::sync::Arc;

use equelle_runtime::domain::Domain;
use equelle_runtime::{Error, ErrorKind};

use crate::runtime::device::DevicePtr;
use crate::runtime::operations::arithmetic::{Binary, Computed, Extent, Numbers, Of, Unary};
use crate::runtime::runtime::CudaRuntime;
use crate::runtime::values::collections::{Collection, Scalar, Vector, VectorCollection};

impl CudaRuntime {
    fn dim(&self) -> usize {
        self.session.grid().dim()
    }

    /// A Vector for each element of a domain.
    pub(crate) fn vectors_over(&self, domain: &Domain) -> Extent {
        Extent { n: domain.len(), components: self.dim(), of: Of::Collection }
    }

    /// One Vector.
    pub(crate) fn one_vector(&self) -> Extent {
        Extent { n: 1, components: self.dim(), of: Of::Alone }
    }

    /// A single Vector of as many components as the grid has dimensions.
    pub(crate) fn single_vector(&mut self, components: &[&Scalar]) -> Result<Vector, Error> {
        let checked = Error::vector_size(components.len(), self.dim());
        self.located(checked)?;
        let out = self.new_vector()?;
        for (axis, component) in components.iter().enumerate() {
            let operand = self.of_scalar(component);
            let to = DevicePtr(out.address().0 + 8 * axis as u64);
            self.unary_into(Unary::Copy, Extent::alone(1), &operand, to)?;
        }
        Ok(Vector(out))
    }

    /// A function of two operands, of which one is a single Vector.
    pub(crate) fn single_vectors(&mut self, function: Binary, a: &Numbers, b: &Numbers) -> Result<Vector, Error> {
        let extent = self.one_vector();
        Ok(Vector(self.binary(function, extent, a, b)?.buffer))
    }

    /// A collection of as many components as the grid has dimensions.
    pub(crate) fn collect(&mut self, components: &[&Collection]) -> Result<VectorCollection, Error> {
        let checked = Error::vector_size(components.len(), self.dim());
        self.located(checked)?;
        let domain = Arc::clone(components[0].domain());
        let extent = self.vectors_over(&domain);
        let buffer = self.room_for(domain.name(), extent)?;
        let mut jacobians = [None, None, None];
        for (axis, component) in components.iter().enumerate() {
            let operand = self.of_collection(component)?;
            let to = DevicePtr(buffer.address().0 + self.executor.precision().bytes() * (axis * domain.len()) as u64);
            self.unary_into(Unary::Copy, Extent::scalars(&domain), &operand, to)?;
            let [jacobian, ..] = operand.jacobians;
            jacobians[axis] = jacobian;
        }
        Ok(Computed { buffer, jacobians }.vectors(&domain))
    }

    /// A function of each component.
    pub(crate) fn map_vectors(&mut self, function: Unary, a: &VectorCollection) -> Result<VectorCollection, Error> {
        let (extent, operand) = (self.vectors_over(a.domain()), self.of_vectors(a));
        Ok(self.unary(function, extent, &operand)?.vectors(a.domain()))
    }

    /// A function of each component of two operands, of which one is over a domain.
    pub(crate) fn zip_vectors(
        &mut self,
        function: Binary,
        domain: &Arc<Domain>,
        a: &Numbers,
        b: &Numbers,
    ) -> Result<VectorCollection, Error> {
        let extent = self.vectors_over(domain);
        Ok(self.binary(function, extent, a, b)?.vectors(domain))
    }

    /// Sum of the products of components, in order, beginning with the first product; its square root for the length of a Vector.
    pub(crate) fn inner_product(&mut self, root: bool, extent: Extent, a: &Numbers, b: &Numbers) -> Result<Computed, Error> {
        if !a.has_derivatives() && !b.has_derivatives() {
            let buffer = self.room_for("the result of an operation", extent)?;
            let call = self.operation_of(extent.of, "equelle_inner")?.arg(u32::from(root)).arg(extent.n as u32);
            self.launch_extent(call.arg(a.operand).arg(b.operand).arg(buffer.address()), extent);
            return Ok(Computed::constant(buffer));
        }
        let mut sum = self.binary(Binary::Mul, extent, &a.component(0), &b.component(0))?;
        for axis in 1..self.dim() {
            let product = self.binary(Binary::Mul, extent, &a.component(axis), &b.component(axis))?;
            sum = self.binary(Binary::Add, extent, &Numbers::from(sum), &Numbers::from(product))?;
        }
        if root { self.unary(Unary::Sqrt, extent, &Numbers::from(sum)) } else { Ok(sum) }
    }

    /// A component as a collection of its own.
    pub(crate) fn component_of(&mut self, a: &VectorCollection, index: usize) -> Result<Collection, Error> {
        self.check_component(index)?;
        let operand = self.of_vectors(a).component(index);
        Ok(self.unary(Unary::Copy, Extent::scalars(a.domain()), &operand)?.scalars(a.domain()))
    }

    /// A component of one Vector.
    pub(crate) fn single_component(&mut self, a: &Vector, index: usize) -> Result<Scalar, Error> {
        self.check_component(index)?;
        let operand = self.of_vector(a).component(index);
        Ok(Scalar::Device(self.unary(Unary::Copy, Extent::alone(1), &operand)?.buffer))
    }

    fn check_component(&self, index: usize) -> Result<(), Error> {
        let dim = self.dim();
        if index < dim {
            return Ok(());
        }
        let message = match dim {
            1 => format!("component [{index}] of a Vector: the grid has dimension 1, so component [0] alone"),
            dim => format!("component [{index}] of a Vector: the grid has dimension {dim}, so components [0] to [{}]", dim - 1),
        };
        let error = Error::new(ErrorKind::Data, message).hint(format!("run on a grid of dimension {} or more", index + 1));
        self.located(Err(error))
    }
}
