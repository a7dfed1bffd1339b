//!Kernels of swe_stage on a CUDA device: arguments and launches. The kernels themselves are in `kernels.cu`.
#![allow(unused_imports, unused_variables)]
use backend_cuda::runtime::{
    CudaRuntime, FloatingPoint, GridArrays, KernelModule, Scalar, ScalarCollection,
};
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent, Reduction};
use crate::kernels::{Kernels, Stage, Mean, Bottom, STAGE, MEAN, BOTTOM};
/// The kernels' CUDA C++ text, compiled at start for the device.
pub const KERNELS: KernelModule = KernelModule::constant(
    "swe_stage",
    include_str!("kernels.cu"),
    FloatingPoint::Strict,
);
impl Kernels for CudaRuntime {
    fn stage(
        &mut self,
        args: Stage<'_, Self>,
    ) -> Result<(ScalarCollection, ScalarCollection, ScalarCollection), Error> {
        if self.uses_closed_forms() {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let w_2_out = self.new_collection(&domain)?;
            let hu_2_out = self.new_collection(&domain)?;
            let hv_2_out = self.new_collection(&domain)?;
            let a0 = self.cartesian_args()?;
            let w_dense = self.dense(args.w)?;
            let a1 = w_dense.pointer();
            let hu_dense = self.dense(args.hu)?;
            let a2 = hu_dense.pointer();
            let hv_dense = self.dense(args.hv)?;
            let a3 = hv_dense.pointer();
            let b_dense = self.dense(args.b)?;
            let a4 = b_dense.pointer();
            let b_north_dense = self.dense(args.b_north)?;
            let a5 = b_north_dense.pointer();
            let b_south_dense = self.dense(args.b_south)?;
            let a6 = b_south_dense.pointer();
            let b_east_dense = self.dense(args.b_east)?;
            let a7 = b_east_dense.pointer();
            let b_west_dense = self.dense(args.b_west)?;
            let a8 = b_west_dense.pointer();
            let a9 = self.scalar_pointer(args.dx)?;
            let a10 = self.scalar_pointer(args.dy)?;
            let a11 = self.scalar_pointer(args.dt)?;
            let a12 = w_2_out.pointer();
            let a13 = hu_2_out.pointer();
            let a14 = hv_2_out.pointer();
            let call = self
                .call_over(&KERNELS, &STAGE, "stage_cartesian", domain.len())?
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
                .arg(a12)
                .arg(a13)
                .arg(a14);
            self.launch_inside_and_boundary(call)?;
            Ok((w_2_out, hu_2_out, hv_2_out))
        } else {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let w_2_out = self.new_collection(&domain)?;
            let hu_2_out = self.new_collection(&domain)?;
            let hv_2_out = self.new_collection(&domain)?;
            let a0 = self.space(&domain)?;
            let a1 = self
                .grid_args(GridArrays {
                    sides: true,
                    side_faces: true,
                    cell_volumes: true,
                    face_areas: true,
                    face_normals: true,
                    ..GridArrays::default()
                })?;
            let w_dense = self.dense(args.w)?;
            let a2 = w_dense.pointer();
            let hu_dense = self.dense(args.hu)?;
            let a3 = hu_dense.pointer();
            let hv_dense = self.dense(args.hv)?;
            let a4 = hv_dense.pointer();
            let b_dense = self.dense(args.b)?;
            let a5 = b_dense.pointer();
            let b_north_dense = self.dense(args.b_north)?;
            let a6 = b_north_dense.pointer();
            let b_south_dense = self.dense(args.b_south)?;
            let a7 = b_south_dense.pointer();
            let b_east_dense = self.dense(args.b_east)?;
            let a8 = b_east_dense.pointer();
            let b_west_dense = self.dense(args.b_west)?;
            let a9 = b_west_dense.pointer();
            let a10 = self.scalar_pointer(args.dx)?;
            let a11 = self.scalar_pointer(args.dy)?;
            let a12 = self.scalar_pointer(args.dt)?;
            let a13 = w_2_out.pointer();
            let a14 = hu_2_out.pointer();
            let a15 = hv_2_out.pointer();
            let call = self
                .call_over(&KERNELS, &STAGE, "stage", domain.len())?
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
                .arg(a12)
                .arg(a13)
                .arg(a14)
                .arg(a15);
            let count = domain.len();
            self.launch_over(call, count)?;
            Ok((w_2_out, hu_2_out, hv_2_out))
        }
    }
    fn mean(&mut self, args: Mean<'_, Self>) -> Result<ScalarCollection, Error> {
        let domain = self
            .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
        let new_out = self.new_collection(&domain)?;
        let a0 = self.space(&domain)?;
        let old_dense = self.dense(args.old)?;
        let a1 = old_dense.pointer();
        let ahead_dense = self.dense(args.ahead)?;
        let a2 = ahead_dense.pointer();
        let a3 = new_out.pointer();
        let call = self
            .call_over(&KERNELS, &MEAN, "mean", domain.len())?
            .arg(a0)
            .arg(a1)
            .arg(a2)
            .arg(a3);
        let count = domain.len();
        self.launch_over(call, count)?;
        Ok(new_out)
    }
    fn bottom(&mut self, args: Bottom<'_, Self>) -> Result<ScalarCollection, Error> {
        let domain = self
            .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
        let b_out = self.new_collection(&domain)?;
        let a0 = self.space(&domain)?;
        let north_dense = self.dense(args.north)?;
        let a1 = north_dense.pointer();
        let south_dense = self.dense(args.south)?;
        let a2 = south_dense.pointer();
        let east_dense = self.dense(args.east)?;
        let a3 = east_dense.pointer();
        let west_dense = self.dense(args.west)?;
        let a4 = west_dense.pointer();
        let a5 = b_out.pointer();
        let call = self
            .call_over(&KERNELS, &BOTTOM, "bottom", domain.len())?
            .arg(a0)
            .arg(a1)
            .arg(a2)
            .arg(a3)
            .arg(a4)
            .arg(a5);
        let count = domain.len();
        self.launch_over(call, count)?;
        Ok(b_out)
    }
}
