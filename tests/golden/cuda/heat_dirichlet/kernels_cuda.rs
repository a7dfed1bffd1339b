//!Kernels of heat_dirichlet on a CUDA device: arguments and launches. The kernels themselves are in `kernels.cu`.
#![allow(unused_imports, unused_variables)]
use backend_cuda::runtime::{
    CudaRuntime, FloatingPoint, GridArrays, KernelModule, Scalar, ScalarCollection,
};
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent, Reduction};
use crate::kernels::{
    Kernels, ComputeItrans, ComputeBtrans, ComputeU, COMPUTE_ITRANS, COMPUTE_BTRANS,
    COMPUTE_U,
};
/// The kernels' CUDA C++ text, compiled at start for the device.
pub const KERNELS: KernelModule = KernelModule::constant(
    "heat_dirichlet",
    include_str!("kernels.cu"),
    FloatingPoint::Strict,
);
impl Kernels for CudaRuntime {
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
            let a1 = self.scalar_pointer(args.k)?;
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
            let a2 = self.scalar_pointer(args.k)?;
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
    fn compute_btrans(
        &mut self,
        args: ComputeBtrans<'_, Self>,
    ) -> Result<ScalarCollection, Error> {
        let domain = args.dirichlet_boundary.clone();
        let btrans_out = self.new_collection(&domain)?;
        let a0 = self.space(&domain)?;
        let a1 = self
            .grid_args(GridArrays {
                face_cells: true,
                cell_centroids: true,
                face_areas: true,
                face_centroids: true,
                ..GridArrays::default()
            })?;
        let a2 = self.scalar_pointer(args.k)?;
        let a3 = btrans_out.pointer();
        let call = self
            .call_over(&KERNELS, &COMPUTE_BTRANS, "compute_btrans", domain.len())?
            .arg(a0)
            .arg(a1)
            .arg(a2)
            .arg(a3);
        let count = domain.len();
        self.launch_over(call, count)?;
        Ok(btrans_out)
    }
    fn compute_u(
        &mut self,
        args: ComputeU<'_, Self>,
    ) -> Result<ScalarCollection, Error> {
        if self.uses_closed_forms() && args.itrans.is_per_axis() {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let u_2_out = self.new_collection(&domain)?;
            let a0 = self.cartesian_args()?;
            let a1 = {
                let of = args.dirichlet_boundary.clone();
                self.cartesian_ranks(&of)?
            };
            let u_dense = self.dense(args.u)?;
            let a2 = u_dense.pointer();
            let a3 = args.itrans.pointer();
            let btrans_dense = self.dense(args.btrans)?;
            let a4 = btrans_dense.pointer();
            let dirichlet_val_dense = self.dense(args.dirichlet_val)?;
            let a5 = dirichlet_val_dense.pointer();
            let a6 = self.scalar_pointer(args.dt)?;
            let a7 = u_2_out.pointer();
            let call = self
                .call_over(&KERNELS, &COMPUTE_U, "compute_u_cartesian", domain.len())?
                .arg(a0)
                .arg(a1)
                .arg(a2)
                .arg(a3)
                .arg(a4)
                .arg(a5)
                .arg(a6)
                .arg(a7);
            let call = call
                .or_with_rows(&KERNELS, &[(2, "compute_u_cartesian_rows_x2")]);
            self.launch_inside_and_boundary(call)?;
            Ok(u_2_out)
        } else {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let u_2_out = self.new_collection(&domain)?;
            let a0 = self.space(&domain)?;
            let a1 = self
                .grid_args(GridArrays {
                    sides: true,
                    side_ranks: true,
                    cell_volumes: true,
                    ..GridArrays::default()
                })?;
            let a2 = {
                let of = args.dirichlet_boundary.clone();
                self.ranks(&of)?
            };
            let u_dense = self.dense(args.u)?;
            let a3 = u_dense.pointer();
            let a4 = self.by_side(args.itrans)?;
            let btrans_dense = self.dense(args.btrans)?;
            let a5 = btrans_dense.pointer();
            let dirichlet_val_dense = self.dense(args.dirichlet_val)?;
            let a6 = dirichlet_val_dense.pointer();
            let a7 = self.scalar_pointer(args.dt)?;
            let a8 = u_2_out.pointer();
            let call = self
                .call_over(&KERNELS, &COMPUTE_U, "compute_u", domain.len())?
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
            Ok(u_2_out)
        }
    }
}
