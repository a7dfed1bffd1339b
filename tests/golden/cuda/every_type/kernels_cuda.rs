//!Kernels of every_type on a CUDA device: arguments and launches. The kernels themselves are in `kernels.cu`.
#![allow(unused_imports, unused_variables)]
use backend_cuda::runtime::{
    CudaRuntime, FloatingPoint, GridArrays, KernelModule, Scalar, ScalarCollection, Bool,
    BoolCollection, EntityCollection, Vector, VectorCollection,
};
use equelle_runtime::{BoolReduction, CanonicalSet, EntityKind, Error, Extent, Reduction};
use crate::kernels::{
    Kernels, Direction, Lively, Fields, Smoothed, Fluxes, Extremes, Nothing, Lookup,
    Rates, Witness, DIRECTION, INSIDE, LIVELY, FIELDS, SMOOTHED, FLUXES, EXTREMES,
    NOTHING, LOOKUP, RATES, WITNESS,
};
/// The kernels' CUDA C++ text, compiled at start for the device.
pub const KERNELS: KernelModule = KernelModule::constant(
    "every_type",
    include_str!("kernels.cu"),
    FloatingPoint::Strict,
);
impl Kernels for CudaRuntime {
    fn direction(
        &mut self,
        args: Direction<'_, Self>,
    ) -> Result<(Vector, Bool, Scalar), Error> {
        self.vector_size(2, &DIRECTION)?;
        let along_out = self.new_vector()?;
        let big_out = self.new_bool()?;
        let growth_out = self.new_number()?;
        let a0 = self.scalar_pointer(args.k)?;
        let a1 = along_out.address();
        let a2 = big_out.address();
        let a3 = growth_out.address();
        let call = self
            .call_over(&KERNELS, &DIRECTION, "direction", 1)?
            .arg(a0)
            .arg(a1)
            .arg(a2)
            .arg(a3);
        self.launch_over(call, 1)?;
        Ok((Vector(along_out), Bool::Device(big_out), Scalar::Device(growth_out)))
    }
    fn inside(&mut self) -> Result<EntityCollection, Error> {
        let domain = self
            .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::All))?;
        let cell_out = self.new_entity_collection(&domain, EntityKind::Cell)?;
        let a0 = self.space(&domain)?;
        let a1 = self
            .grid_args(GridArrays {
                face_cells: true,
                ..GridArrays::default()
            })?;
        let a2 = cell_out.pointer();
        let call = self
            .call_over(&KERNELS, &INSIDE, "inside", domain.len())?
            .arg(a0)
            .arg(a1)
            .arg(a2);
        let count = domain.len();
        self.launch_over(call, count)?;
        Ok(cell_out)
    }
    fn lively(&mut self, args: Lively<'_, Self>) -> Result<EntityCollection, Error> {
        if self.uses_cartesian_forms() {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let self_2_out = self.new_entity_collection(&domain, EntityKind::Cell)?;
            let a0 = self.cartesian_args()?;
            let u_dense = self.dense(args.u)?;
            let a1 = u_dense.pointer();
            let a2 = self.bool_pointer(args.big)?;
            let a3 = self_2_out.pointer();
            let call = self
                .call_over(&KERNELS, &LIVELY, "lively_cartesian", domain.len())?
                .arg(a0)
                .arg(a1)
                .arg(a2)
                .arg(a3);
            self.launch_over_cells(call)?;
            Ok(self_2_out)
        } else {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let self_2_out = self.new_entity_collection(&domain, EntityKind::Cell)?;
            let a0 = self.space(&domain)?;
            let u_dense = self.dense(args.u)?;
            let a1 = u_dense.pointer();
            let a2 = self.bool_pointer(args.big)?;
            let a3 = self_2_out.pointer();
            let call = self
                .call_over(&KERNELS, &LIVELY, "lively", domain.len())?
                .arg(a0)
                .arg(a1)
                .arg(a2)
                .arg(a3);
            let count = domain.len();
            self.launch_over(call, count)?;
            Ok(self_2_out)
        }
    }
    fn fields(
        &mut self,
        args: Fields<'_, Self>,
    ) -> Result<(VectorCollection, ScalarCollection, BoolCollection), Error> {
        self.vector_size(2, &FIELDS)?;
        if self.uses_closed_forms() {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let v_out = self.new_vector_collection(&domain)?;
            let s_out = self.new_collection(&domain)?;
            let b_out = self.new_bool_collection(&domain)?;
            let a0 = self.cartesian_args()?;
            let u_dense = self.dense(args.u)?;
            let a1 = u_dense.pointer();
            let a2 = args.along.pointer();
            let a3 = self.bool_pointer(args.big)?;
            let a4 = self.scalar_pointer(args.growth)?;
            let a5 = v_out.pointer();
            let a6 = s_out.pointer();
            let a7 = b_out.pointer();
            let call = self
                .call_over(&KERNELS, &FIELDS, "fields_cartesian", domain.len())?
                .arg(a0)
                .arg(a1)
                .arg(a2)
                .arg(a3)
                .arg(a4)
                .arg(a5)
                .arg(a6)
                .arg(a7);
            self.launch_inside_and_boundary(call)?;
            Ok((v_out, s_out, b_out))
        } else {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let v_out = self.new_vector_collection(&domain)?;
            let s_out = self.new_collection(&domain)?;
            let b_out = self.new_bool_collection(&domain)?;
            let a0 = self.space(&domain)?;
            let a1 = self
                .grid_args(GridArrays {
                    sides: true,
                    side_faces: true,
                    face_normals: true,
                    ..GridArrays::default()
                })?;
            let u_dense = self.dense(args.u)?;
            let a2 = u_dense.pointer();
            let a3 = args.along.pointer();
            let a4 = self.bool_pointer(args.big)?;
            let a5 = self.scalar_pointer(args.growth)?;
            let a6 = v_out.pointer();
            let a7 = s_out.pointer();
            let a8 = b_out.pointer();
            let call = self
                .call_over(&KERNELS, &FIELDS, "fields", domain.len())?
                .arg(a0)
                .arg(a1)
                .arg(a2)
                .arg(a3)
                .arg(a4)
                .arg(a5)
                .arg(a6)
                .arg(a7)
                .arg(a8);
            let count = domain.len();
            self.launch_over(call, count)?;
            Ok((v_out, s_out, b_out))
        }
    }
    fn smoothed(&mut self, args: Smoothed<'_, Self>) -> Result<ScalarCollection, Error> {
        if self.uses_closed_forms() {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let w_out = self.new_collection(&domain)?;
            let a0 = self.cartesian_args()?;
            let u_dense = self.dense(args.u)?;
            let a1 = u_dense.pointer();
            let a2 = args.along.pointer();
            let a3 = self.bool_pointer(args.big)?;
            let a4 = w_out.pointer();
            let call = self
                .call_over(&KERNELS, &SMOOTHED, "smoothed_cartesian", domain.len())?
                .arg(a0)
                .arg(a1)
                .arg(a2)
                .arg(a3)
                .arg(a4);
            let call = call.or_with_rows(&KERNELS, &[(2, "smoothed_cartesian_rows_x2")]);
            self.launch_inside_and_boundary(call)?;
            Ok(w_out)
        } else {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let w_out = self.new_collection(&domain)?;
            let a0 = self.space(&domain)?;
            let a1 = self
                .grid_args(GridArrays {
                    sides: true,
                    side_faces: true,
                    face_normals: true,
                    ..GridArrays::default()
                })?;
            let u_dense = self.dense(args.u)?;
            let a2 = u_dense.pointer();
            let a3 = args.along.pointer();
            let a4 = self.bool_pointer(args.big)?;
            let a5 = w_out.pointer();
            let call = self
                .call_over(&KERNELS, &SMOOTHED, "smoothed", domain.len())?
                .arg(a0)
                .arg(a1)
                .arg(a2)
                .arg(a3)
                .arg(a4)
                .arg(a5);
            let count = domain.len();
            self.launch_over(call, count)?;
            Ok(w_out)
        }
    }
    fn fluxes(&mut self, args: Fluxes<'_, Self>) -> Result<ScalarCollection, Error> {
        if self.uses_closed_forms() {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let flux_out = self.new_collection(&domain)?;
            let a0 = self.cartesian_args()?;
            let u_dense = self.dense(args.u)?;
            let a1 = u_dense.pointer();
            let a2 = flux_out.pointer();
            let call = self
                .call_over(&KERNELS, &FLUXES, "fluxes_cartesian", domain.len())?
                .arg(a0)
                .arg(a1)
                .arg(a2);
            let call = call.or_with_rows(&KERNELS, &[(2, "fluxes_cartesian_rows_x2")]);
            self.launch_inside_and_boundary(call)?;
            Ok(flux_out)
        } else {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let flux_out = self.new_collection(&domain)?;
            let a0 = self.space(&domain)?;
            let a1 = self
                .grid_args(GridArrays {
                    sides: true,
                    side_faces: true,
                    cell_centroids: true,
                    face_normals: true,
                    ..GridArrays::default()
                })?;
            let u_dense = self.dense(args.u)?;
            let a2 = u_dense.pointer();
            let a3 = flux_out.pointer();
            let call = self
                .call_over(&KERNELS, &FLUXES, "fluxes", domain.len())?
                .arg(a0)
                .arg(a1)
                .arg(a2)
                .arg(a3);
            let count = domain.len();
            self.launch_over(call, count)?;
            Ok(flux_out)
        }
    }
    fn extremes(
        &mut self,
        args: Extremes<'_, Self>,
    ) -> Result<(Vector, Vector, Vector, Bool, Bool, Scalar, VectorCollection), Error> {
        let domain = self
            .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
        let total_out = self.vector_leaves(Reduction::Sum, &domain)?;
        let most_out = self.vector_leaves(Reduction::Max, &domain)?;
        let least_out = self.vector_leaves(Reduction::Min, &domain)?;
        let some_out = self.bool_leaves(BoolReduction::Any, &domain)?;
        let every_out = self.bool_leaves(BoolReduction::All, &domain)?;
        let product_out = self.leaves(Reduction::Prod, &domain)?;
        let doubled_out = self.new_vector_collection(&domain)?;
        let a0 = self.space_in_file_order(&domain)?;
        let a1 = args.v.pointer();
        let a2 = args.v.domain().len() as u32;
        let a3 = args.b.pointer();
        let a4 = total_out.pointer();
        let a5 = most_out.pointer();
        let a6 = least_out.pointer();
        let a7 = some_out.pointer();
        let a8 = every_out.pointer();
        let a9 = product_out.pointer();
        let a10 = doubled_out.pointer();
        let call = self
            .call_over(&KERNELS, &EXTREMES, "extremes", domain.len())?
            .arg(a0)
            .arg(a1)
            .arg(a2)
            .arg(a3)
            .arg(a4)
            .arg(a5)
            .arg(a6)
            .arg(a7)
            .arg(a8)
            .arg(a9)
            .arg(a10);
        self.launch_over_leaves(call, total_out.len())?;
        Ok((
            self.combine_vectors(total_out)?,
            self.combine_vectors(most_out)?,
            self.combine_vectors(least_out)?,
            self.combine_bools(some_out)?,
            self.combine_bools(every_out)?,
            self.combine(product_out)?,
            doubled_out,
        ))
    }
    fn nothing(
        &mut self,
        args: Nothing<'_, Self>,
    ) -> Result<(Vector, Bool, Bool, Scalar), Error> {
        let domain = args.nowhere.clone();
        let total_out = self.vector_leaves(Reduction::Sum, &domain)?;
        let some_out = self.bool_leaves(BoolReduction::Any, &domain)?;
        let every_out = self.bool_leaves(BoolReduction::All, &domain)?;
        let number_out = self.leaves(Reduction::Sum, &domain)?;
        let a0 = self.space_in_file_order(&domain)?;
        let a1 = self
            .grid_args(GridArrays {
                cell_centroids: true,
                ..GridArrays::default()
            })?;
        let a2 = total_out.pointer();
        let a3 = some_out.pointer();
        let a4 = every_out.pointer();
        let a5 = number_out.pointer();
        let call = self
            .call_over(&KERNELS, &NOTHING, "nothing", domain.len())?
            .arg(a0)
            .arg(a1)
            .arg(a2)
            .arg(a3)
            .arg(a4)
            .arg(a5);
        self.launch_over_leaves(call, total_out.len())?;
        Ok((
            self.combine_vectors(total_out)?,
            self.combine_bools(some_out)?,
            self.combine_bools(every_out)?,
            self.combine(number_out)?,
        ))
    }
    fn lookup(
        &mut self,
        args: Lookup<'_, Self>,
    ) -> Result<
        (VectorCollection, EntityCollection, VectorCollection, BoolCollection),
        Error,
    > {
        let domain = self
            .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::All))?;
        let at_cell_out = self.new_vector_collection(&domain)?;
        let alive_out = self.new_entity_collection(&domain, EntityKind::Cell)?;
        let padded_out = self.new_vector_collection(&domain)?;
        let same_cell_out = self.new_bool_collection(&domain)?;
        let a0 = self.space(&domain)?;
        let a1 = {
            let of = args.wells.clone();
            self.ranks(&of)?
        };
        let a2 = args.cell.pointer();
        let a3 = args.self_2.pointer();
        let a4 = args.v.pointer();
        let a5 = args.v.domain().len() as u32;
        let a6 = args.rate.pointer();
        let a7 = args.rate.domain().len() as u32;
        let a8 = at_cell_out.pointer();
        let a9 = alive_out.pointer();
        let a10 = padded_out.pointer();
        let a11 = same_cell_out.pointer();
        let call = self
            .call_over(&KERNELS, &LOOKUP, "lookup", domain.len())?
            .arg(a0)
            .arg(a1)
            .arg(a2)
            .arg(a3)
            .arg(a4)
            .arg(a5)
            .arg(a6)
            .arg(a7)
            .arg(a8)
            .arg(a9)
            .arg(a10)
            .arg(a11);
        let count = domain.len();
        self.launch_over(call, count)?;
        Ok((at_cell_out, alive_out, padded_out, same_cell_out))
    }
    fn rates(&mut self, args: Rates<'_, Self>) -> Result<VectorCollection, Error> {
        let domain = args.wells.clone();
        let rate_out = self.new_vector_collection(&domain)?;
        let a0 = self.space(&domain)?;
        let a1 = args.v.pointer();
        let a2 = args.v.domain().len() as u32;
        let a3 = rate_out.pointer();
        let call = self
            .call_over(&KERNELS, &RATES, "rates", domain.len())?
            .arg(a0)
            .arg(a1)
            .arg(a2)
            .arg(a3);
        let count = domain.len();
        self.launch_over(call, count)?;
        Ok(rate_out)
    }
    fn witness(
        &mut self,
        args: Witness<'_, Self>,
    ) -> Result<(VectorCollection, BoolCollection), Error> {
        let domain = self
            .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
        let seen_out = self.new_vector_collection(&domain)?;
        let told_out = self.new_bool_collection(&domain)?;
        let a0 = self.space(&domain)?;
        let a1 = args.total.pointer();
        let a2 = args.most.pointer();
        let a3 = args.least.pointer();
        let a4 = args.none.pointer();
        let a5 = self.bool_pointer(args.some)?;
        let a6 = self.bool_pointer(args.every)?;
        let a7 = self.bool_pointer(args.never)?;
        let a8 = self.bool_pointer(args.always)?;
        let a9 = self.scalar_pointer(args.product)?;
        let a10 = self.scalar_pointer(args.number)?;
        let a11 = seen_out.pointer();
        let a12 = told_out.pointer();
        let call = self
            .call_over(&KERNELS, &WITNESS, "witness", domain.len())?
            .arg(a0)
            .arg(a1)
            .arg(a2)
            .arg(a3)
            .arg(a4)
            .arg(a5)
            .arg(a6)
            .arg(a7)
            .arg(a8)
            .arg(a9)
            .arg(a10)
            .arg(a11)
            .arg(a12);
        let count = domain.len();
        self.launch_over(call, count)?;
        Ok((seen_out, told_out))
    }
}
