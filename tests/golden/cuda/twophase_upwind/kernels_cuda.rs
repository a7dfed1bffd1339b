//!Kernels of twophase_upwind on a CUDA device: arguments and launches. The kernels themselves are in `kernels.cu`.
#![allow(unused_imports, unused_variables)]
use backend_cuda::runtime::{
    CudaRuntime, FloatingPoint, GridArrays, KernelModule, Scalar, ScalarCollection,
};
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent, Reduction};
use crate::kernels::{Kernels, ComputeResidual, COMPUTE_RESIDUAL};
/// The kernels' CUDA C++ text, compiled at start for the device.
pub const KERNELS: KernelModule = KernelModule::constant(
    "twophase_upwind",
    include_str!("kernels.cu"),
    FloatingPoint::Strict,
);
impl Kernels for CudaRuntime {
    fn compute_residual(
        &mut self,
        args: ComputeResidual<'_, Self>,
    ) -> Result<ScalarCollection, Error> {
        if self.uses_cartesian_forms() {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let residual_out = self.new_collection(&domain)?;
            let a0 = self.cartesian_args()?;
            let a1 = {
                let of = self
                    .canonical_domain(
                        CanonicalSet::new(EntityKind::Face, Extent::Interior),
                    )?;
                self.cartesian_ranks(&of)?
            };
            let a2 = {
                let of = args.source_cells.clone();
                self.cartesian_ranks(&of)?
            };
            let s_dense = self.dense(args.s)?;
            let a3 = s_dense.pointer();
            let s0_dense = self.dense(args.s0)?;
            let a4 = s0_dense.pointer();
            let flux_dense = self.dense(args.flux)?;
            let a5 = flux_dense.pointer();
            let pore_volume_dense = self.dense(args.pore_volume)?;
            let a6 = pore_volume_dense.pointer();
            let source_values_dense = self.dense(args.source_values)?;
            let a7 = source_values_dense.pointer();
            let a8 = self.scalar_pointer(args.watervisc)?;
            let a9 = self.scalar_pointer(args.oilvisc)?;
            let a10 = self.scalar_pointer(args.dt)?;
            let a11 = residual_out.pointer();
            let call = self
                .call_over(
                    &KERNELS,
                    &COMPUTE_RESIDUAL,
                    "compute_residual_cartesian",
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
                .arg(a10)
                .arg(a11);
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
                    ..GridArrays::default()
                })?;
            let a2 = {
                let of = self
                    .canonical_domain(
                        CanonicalSet::new(EntityKind::Face, Extent::Interior),
                    )?;
                self.ranks(&of)?
            };
            let a3 = {
                let of = args.source_cells.clone();
                self.ranks(&of)?
            };
            let s_dense = self.dense(args.s)?;
            let a4 = s_dense.pointer();
            let s0_dense = self.dense(args.s0)?;
            let a5 = s0_dense.pointer();
            let flux_dense = self.dense(args.flux)?;
            let a6 = flux_dense.pointer();
            let pore_volume_dense = self.dense(args.pore_volume)?;
            let a7 = pore_volume_dense.pointer();
            let source_values_dense = self.dense(args.source_values)?;
            let a8 = source_values_dense.pointer();
            let a9 = self.scalar_pointer(args.watervisc)?;
            let a10 = self.scalar_pointer(args.oilvisc)?;
            let a11 = self.scalar_pointer(args.dt)?;
            let a12 = residual_out.pointer();
            let call = self
                .call_over(
                    &KERNELS,
                    &COMPUTE_RESIDUAL,
                    "compute_residual",
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
                .arg(a10)
                .arg(a11)
                .arg(a12);
            let count = domain.len();
            self.launch_over(call, count)?;
            Ok(residual_out)
        }
    }
}
