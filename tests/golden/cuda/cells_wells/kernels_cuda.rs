//!Kernels of cells_wells on a CUDA device: arguments and launches. The kernels themselves are in `kernels.cu`.
#![allow(unused_imports, unused_variables)]
use backend_cuda::runtime::{
    CudaRuntime, FloatingPoint, GridArrays, KernelModule, Scalar, ScalarCollection,
};
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent, Reduction};
use crate::kernels::{
    Kernels, ResidualOfCells, ResidualOfWells, ComputeItrans, RESIDUAL_OF_CELLS,
    RESIDUAL_OF_WELLS, COMPUTE_ITRANS,
};
/// The kernels' CUDA C++ text, compiled at start for the device.
pub const KERNELS: KernelModule = KernelModule::constant(
    "cells_wells",
    include_str!("kernels.cu"),
    FloatingPoint::Strict,
);
impl Kernels for CudaRuntime {
    fn residual_of_cells(
        &mut self,
        args: ResidualOfCells<'_, Self>,
    ) -> Result<ScalarCollection, Error> {
        if self.uses_closed_forms() && args.itrans.is_per_axis() {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let residual_out = self.new_collection(&domain)?;
            let a0 = self.cartesian_args()?;
            let a1 = {
                let of = args.wells.clone();
                self.cartesian_ranks(&of)?
            };
            let p_dense = self.dense(args.p)?;
            let a2 = p_dense.pointer();
            let p0_dense = self.dense(args.p0)?;
            let a3 = p0_dense.pointer();
            let bhp_dense = self.dense(args.bhp)?;
            let a4 = bhp_dense.pointer();
            let index_dense = self.dense(args.index)?;
            let a5 = index_dense.pointer();
            let a6 = args.itrans.pointer();
            let a7 = self.scalar_pointer(args.compressibility)?;
            let a8 = self.scalar_pointer(args.dt)?;
            let a9 = residual_out.pointer();
            let call = self
                .call_over(
                    &KERNELS,
                    &RESIDUAL_OF_CELLS,
                    "residual_of_cells_cartesian",
                    domain.len(),
                )?
                .arg(a0)
                .arg(a1)
                .arg(a2)
                .arg(a3)
                .arg(a4)
                .arg(a5)
                .arg(a6)
                .arg(a7)
                .arg(a8)
                .arg(a9);
            self.launch_inside_and_boundary(call)?;
            Ok(residual_out)
        } else {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let residual_out = self.new_collection(&domain)?;
            let a0 = self.space(&domain)?;
            let a1 = self
                .grid_args(GridArrays {
                    sides: true,
                    side_ranks: true,
                    cell_volumes: true,
                    ..GridArrays::default()
                })?;
            let a2 = {
                let of = args.wells.clone();
                self.ranks(&of)?
            };
            let p_dense = self.dense(args.p)?;
            let a3 = p_dense.pointer();
            let p0_dense = self.dense(args.p0)?;
            let a4 = p0_dense.pointer();
            let bhp_dense = self.dense(args.bhp)?;
            let a5 = bhp_dense.pointer();
            let index_dense = self.dense(args.index)?;
            let a6 = index_dense.pointer();
            let itrans_dense = self.dense(args.itrans)?;
            let a7 = itrans_dense.pointer();
            let a8 = self.scalar_pointer(args.compressibility)?;
            let a9 = self.scalar_pointer(args.dt)?;
            let a10 = residual_out.pointer();
            let call = self
                .call_over(
                    &KERNELS,
                    &RESIDUAL_OF_CELLS,
                    "residual_of_cells",
                    domain.len(),
                )?
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
            let count = domain.len();
            self.launch_over(call, count)?;
            Ok(residual_out)
        }
    }
    fn residual_of_wells(
        &mut self,
        args: ResidualOfWells<'_, Self>,
    ) -> Result<ScalarCollection, Error> {
        let domain = args.wells.clone();
        let residual_out = self.new_collection(&domain)?;
        let a0 = self.space(&domain)?;
        let p_dense = self.dense(args.p)?;
        let a1 = p_dense.pointer();
        let bhp_dense = self.dense(args.bhp)?;
        let a2 = bhp_dense.pointer();
        let index_dense = self.dense(args.index)?;
        let a3 = index_dense.pointer();
        let rate_dense = self.dense(args.rate)?;
        let a4 = rate_dense.pointer();
        let a5 = residual_out.pointer();
        let call = self
            .call_over(&KERNELS, &RESIDUAL_OF_WELLS, "residual_of_wells", domain.len())?
            .arg(a0)
            .arg(a1)
            .arg(a2)
            .arg(a3)
            .arg(a4)
            .arg(a5);
        let count = domain.len();
        self.launch_over(call, count)?;
        Ok(residual_out)
    }
    fn compute_itrans(
        &mut self,
        args: ComputeItrans<'_, Self>,
    ) -> Result<ScalarCollection, Error> {
        if self.uses_closed_forms() {
            let domain = self
                .canonical_domain(
                    CanonicalSet::new(EntityKind::Face, Extent::Interior),
                )?;
            let itrans_out = self.new_per_axis_collection(&domain)?;
            let a0 = self.cartesian_args()?;
            let a1 = self.scalar_pointer(args.mobility)?;
            let a2 = itrans_out.pointer();
            let call = self
                .call_over(
                    &KERNELS,
                    &COMPUTE_ITRANS,
                    "compute_itrans_per_axis",
                    domain.len(),
                )?
                .arg(a0)
                .arg(a1)
                .arg(a2);
            let count = self.per_axis_len(&domain);
            self.launch_over(call, count)?;
            Ok(itrans_out)
        } else {
            let domain = self
                .canonical_domain(
                    CanonicalSet::new(EntityKind::Face, Extent::Interior),
                )?;
            let itrans_out = self.new_collection(&domain)?;
            let a0 = self.space(&domain)?;
            let a1 = self
                .grid_args(GridArrays {
                    face_cells: true,
                    cell_centroids: true,
                    face_areas: true,
                    ..GridArrays::default()
                })?;
            let a2 = self.scalar_pointer(args.mobility)?;
            let a3 = itrans_out.pointer();
            let call = self
                .call_over(&KERNELS, &COMPUTE_ITRANS, "compute_itrans", domain.len())?
                .arg(a0)
                .arg(a1)
                .arg(a2)
                .arg(a3);
            let count = domain.len();
            self.launch_over(call, count)?;
            Ok(itrans_out)
        }
    }
}
