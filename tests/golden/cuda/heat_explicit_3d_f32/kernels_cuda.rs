//!Kernels of heat_explicit_3d on a CUDA device: arguments and launches. The kernels themselves are in `kernels.cu`.
#![allow(unused_imports, unused_variables)]
use backend_cuda::runtime::{
    CudaRuntime, FloatingPoint, GridArrays, KernelModule, Scalar, ScalarCollection,
};
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent, Reduction};
use crate::kernels::{
    Kernels, ComputeMinusItrans, ComputeBtransDirection, ComputeU, ComputeMaxU,
    COMPUTE_MINUS_ITRANS, COMPUTE_BTRANS_DIRECTION, COMPUTE_U, COMPUTE_MAX_U,
};
/// The kernels' CUDA C++ text, compiled at start for the device.
pub const KERNELS: KernelModule = KernelModule::constant(
    "heat_explicit_3d",
    include_str!("kernels.cu"),
    FloatingPoint::Strict,
);
impl Kernels for CudaRuntime {
    /// heat_explicit_3d.equelle:14: itrans = k * |interior| / |Centroid(first) - Centroid(second)|
    /// heat_explicit_3d.equelle:23: → -itrans * Gradient(u)
    fn compute_minus_itrans(
        &mut self,
        args: ComputeMinusItrans<'_, Self>,
    ) -> Result<ScalarCollection, Error> {
        if self.uses_closed_forms() {
            let domain = self
                .canonical_domain(
                    CanonicalSet::new(EntityKind::Face, Extent::Interior),
                )?;
            let minus_itrans_out = self.new_per_axis_collection(&domain)?;
            let a0 = self.cartesian_args()?;
            let a1 = self.scalar_pointer(args.k)?;
            let a2 = minus_itrans_out.pointer();
            let call = self
                .call_over(
                    &KERNELS,
                    &COMPUTE_MINUS_ITRANS,
                    "compute_minus_itrans_per_axis",
                    domain.len(),
                )?
                .arg(a0)
                .arg(a1)
                .arg(a2);
            let count = self.per_axis_len(&domain);
            self.launch_over(call, count)?;
            Ok(minus_itrans_out)
        } else {
            let domain = self
                .canonical_domain(
                    CanonicalSet::new(EntityKind::Face, Extent::Interior),
                )?;
            let minus_itrans_out = self.new_collection(&domain)?;
            let a0 = self.space(&domain)?;
            let a1 = self
                .grid_args(GridArrays {
                    face_cells: true,
                    cell_centroids: true,
                    face_areas: true,
                    face_gaps: true,
                    ..GridArrays::default()
                })?;
            let a2 = self.scalar_pointer(args.k)?;
            let a3 = minus_itrans_out.pointer();
            let call = self
                .call_over(
                    &KERNELS,
                    &COMPUTE_MINUS_ITRANS,
                    "compute_minus_itrans",
                    domain.len(),
                )?
                .arg(a0)
                .arg(a1)
                .arg(a2)
                .arg(a3);
            let count = domain.len();
            self.launch_over(call, count)?;
            Ok(minus_itrans_out)
        }
    }
    /// heat_explicit_3d.equelle:4: k = InputScalarWithDefault("k", 0.3) * 1 [Meter^2/Second]  # thermal diffusivity
    /// heat_explicit_3d.equelle:17: inside = InnerCell(dirichlet_boundary)
    /// heat_explicit_3d.equelle:18: direction = OutwardSign(dirichlet_boundary)
    /// heat_explicit_3d.equelle:19: btrans = k * |dirichlet_boundary| / |Centroid(dirichlet_boundary) - Centroid(inside)|
    /// heat_explicit_3d.equelle:28: → btrans * direction * (u_inside - dirichlet_val)
    fn compute_btrans_direction(
        &mut self,
        args: ComputeBtransDirection<'_, Self>,
    ) -> Result<ScalarCollection, Error> {
        let domain = args.dirichlet_boundary.clone();
        let btrans_direction_out = self.new_collection(&domain)?;
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
        let a3 = btrans_direction_out.pointer();
        let call = self
            .call_over(
                &KERNELS,
                &COMPUTE_BTRANS_DIRECTION,
                "compute_btrans_direction",
                domain.len(),
            )?
            .arg(a0)
            .arg(a1)
            .arg(a2)
            .arg(a3);
        let count = domain.len();
        self.launch_over(call, count)?;
        Ok(btrans_direction_out)
    }
    /// heat_explicit_3d.equelle:17: inside = InnerCell(dirichlet_boundary)
    /// heat_explicit_3d.equelle:23: → -itrans * Gradient(u)
    /// heat_explicit_3d.equelle:27: u_inside = u On inside
    /// heat_explicit_3d.equelle:28: → btrans * direction * (u_inside - dirichlet_val)
    /// heat_explicit_3d.equelle:31: volume = |AllCells()|
    /// heat_explicit_3d.equelle:37: fluxes = (interior_flux(u) Extend AllFaces()) + (boundary_flux(u) Extend AllFaces())
    /// heat_explicit_3d.equelle:38: u = u - (dt / volume) * Divergence(fluxes)
    fn compute_u(
        &mut self,
        args: ComputeU<'_, Self>,
    ) -> Result<ScalarCollection, Error> {
        if self.uses_closed_forms() && args.minus_itrans.is_per_axis() {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let u_new_out = self.new_collection(&domain)?;
            let a0 = self.cartesian_args()?;
            let a1 = {
                let of = args.dirichlet_boundary.clone();
                self.cartesian_ranks(&of)?
            };
            let u_dense = self.dense(args.u)?;
            let a2 = u_dense.pointer();
            let a3 = self.scalar_pointer(args.dt)?;
            let a4 = args.minus_itrans.pointer();
            let btrans_direction_dense = self.dense(args.btrans_direction)?;
            let a5 = btrans_direction_dense.pointer();
            let dirichlet_val_dense = self.dense(args.dirichlet_val)?;
            let a6 = dirichlet_val_dense.pointer();
            let a7 = u_new_out.pointer();
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
                .or_with_rows(
                    &KERNELS,
                    &[
                        (2, "compute_u_cartesian_rows_x2"),
                        (4, "compute_u_cartesian_rows_x4"),
                    ],
                );
            self.launch_inside_and_boundary(call)?;
            Ok(u_new_out)
        } else {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let u_new_out = self.new_collection(&domain)?;
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
            let a4 = self.scalar_pointer(args.dt)?;
            let a5 = self.by_side(args.minus_itrans)?;
            let btrans_direction_dense = self.dense(args.btrans_direction)?;
            let a6 = btrans_direction_dense.pointer();
            let dirichlet_val_dense = self.dense(args.dirichlet_val)?;
            let a7 = dirichlet_val_dense.pointer();
            let a8 = u_new_out.pointer();
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
            Ok(u_new_out)
        }
    }
    /// heat_explicit_3d.equelle:40: Output("maximum of u", MaxReduce(u))
    fn compute_max_u(&mut self, args: ComputeMaxU<'_, Self>) -> Result<Scalar, Error> {
        let domain = self
            .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
        let max_u_out = self.leaves(Reduction::Max, &domain)?;
        let a0 = self.space_in_file_order(&domain)?;
        let u_dense = self.dense(args.u)?;
        let a1 = u_dense.pointer();
        let a2 = max_u_out.pointer();
        let call = self
            .call_over(&KERNELS, &COMPUTE_MAX_U, "compute_max_u", domain.len())?
            .arg(a0)
            .arg(a1)
            .arg(a2);
        self.launch_over_leaves(call, max_u_out.len())?;
        Ok(self.combine(max_u_out)?)
    }
}
