//!Kernels of every_construct on a CUDA device: arguments and launches. The kernels themselves are in `kernels.cu`.
#![allow(unused_imports, unused_variables)]
use backend_cuda::runtime::{
    CudaRuntime, FloatingPoint, GridArrays, KernelModule, Scalar, ScalarCollection,
    BoolCollection, VectorCollection,
};
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent, Reduction};
use crate::kernels::{
    Kernels, Geometry, Transmissibility, Weight, Transport, Diffuse, Jump, Inside,
    Outside, Extremes, Ratio, GEOMETRY, TRANSMISSIBILITY, WEIGHT, TRANSPORT, DIFFUSE,
    JUMP, INSIDE, OUTSIDE, EXTREMES, RATIO, SIZES,
};
/// The kernels' CUDA C++ text, compiled at start for the device.
pub const KERNELS: KernelModule = KernelModule::constant(
    "every_construct",
    include_str!("kernels.cu"),
    FloatingPoint::Strict,
);
impl Kernels for CudaRuntime {
    fn geometry(
        &mut self,
        args: Geometry<'_, Self>,
    ) -> Result<(VectorCollection, BoolCollection, ScalarCollection), Error> {
        let domain = self
            .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
        let centre_out = self.new_vector_collection(&domain)?;
        let far_out = self.new_bool_collection(&domain)?;
        let size_out = self.new_collection(&domain)?;
        let a0 = self.space(&domain)?;
        let a1 = self
            .grid_args(GridArrays {
                cell_volumes: true,
                cell_centroids: true,
                ..GridArrays::default()
            })?;
        let a2 = self.scalar_pointer(args.k)?;
        let a3 = centre_out.pointer();
        let a4 = far_out.pointer();
        let a5 = size_out.pointer();
        let call = self
            .call_over(&KERNELS, &GEOMETRY, "geometry", domain.len())?
            .arg(a0)
            .arg(a1)
            .arg(a2)
            .arg(a3)
            .arg(a4)
            .arg(a5);
        let count = domain.len();
        self.launch_over(call, count)?;
        Ok((centre_out, far_out, size_out))
    }
    fn transmissibility(
        &mut self,
        args: Transmissibility<'_, Self>,
    ) -> Result<ScalarCollection, Error> {
        if self.uses_closed_forms() {
            let domain = self
                .canonical_domain(
                    CanonicalSet::new(EntityKind::Face, Extent::Interior),
                )?;
            let t_out = self.new_per_axis_collection(&domain)?;
            let a0 = self.cartesian_args()?;
            let a1 = self.scalar_pointer(args.k)?;
            let a2 = t_out.pointer();
            let call = self
                .call_over(
                    &KERNELS,
                    &TRANSMISSIBILITY,
                    "transmissibility_per_axis",
                    domain.len(),
                )?
                .arg(a0)
                .arg(a1)
                .arg(a2);
            let count = self.per_axis_len(&domain);
            self.launch_over(call, count)?;
            Ok(t_out)
        } else {
            let domain = self
                .canonical_domain(
                    CanonicalSet::new(EntityKind::Face, Extent::Interior),
                )?;
            let t_out = self.new_collection(&domain)?;
            let a0 = self.space(&domain)?;
            let a1 = self
                .grid_args(GridArrays {
                    face_cells: true,
                    cell_centroids: true,
                    face_areas: true,
                    ..GridArrays::default()
                })?;
            let a2 = self.scalar_pointer(args.k)?;
            let a3 = t_out.pointer();
            let call = self
                .call_over(
                    &KERNELS,
                    &TRANSMISSIBILITY,
                    "transmissibility",
                    domain.len(),
                )?
                .arg(a0)
                .arg(a1)
                .arg(a2)
                .arg(a3);
            let count = domain.len();
            self.launch_over(call, count)?;
            Ok(t_out)
        }
    }
    fn weight(&mut self, args: Weight<'_, Self>) -> Result<ScalarCollection, Error> {
        if self.uses_closed_forms() {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let w_out = self.new_per_axis_collection(&domain)?;
            let a0 = self.cartesian_args()?;
            let a1 = self.scalar_pointer(args.k)?;
            let a2 = w_out.pointer();
            let call = self
                .call_over(&KERNELS, &WEIGHT, "weight_per_axis", domain.len())?
                .arg(a0)
                .arg(a1)
                .arg(a2);
            let count = self.per_axis_len(&domain);
            self.launch_over(call, count)?;
            Ok(w_out)
        } else {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let w_out = self.new_collection(&domain)?;
            let a0 = self.space(&domain)?;
            let a1 = self
                .grid_args(GridArrays {
                    cell_volumes: true,
                    ..GridArrays::default()
                })?;
            let a2 = self.scalar_pointer(args.k)?;
            let a3 = w_out.pointer();
            let call = self
                .call_over(&KERNELS, &WEIGHT, "weight", domain.len())?
                .arg(a0)
                .arg(a1)
                .arg(a2)
                .arg(a3);
            let count = domain.len();
            self.launch_over(call, count)?;
            Ok(w_out)
        }
    }
    fn transport(
        &mut self,
        args: Transport<'_, Self>,
    ) -> Result<(ScalarCollection, BoolCollection, Scalar, Scalar), Error> {
        let domain = self
            .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
        let a_out = self.new_collection(&domain)?;
        let b_out = self.new_bool_collection(&domain)?;
        let total_out = self.leaves(Reduction::Sum, &domain)?;
        let most_out = self.leaves(Reduction::Max, &domain)?;
        let a0 = self.space_in_file_order(&domain)?;
        let a1 = self
            .grid_args(GridArrays {
                sides: true,
                side_faces: true,
                side_ranks: true,
                face_areas: true,
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
            let of = args.wells.clone();
            self.ranks(&of)?
        };
        let u_dense = self.dense(args.u)?;
        let a4 = u_dense.pointer();
        let row_dense = self.dense(args.row)?;
        let a5 = row_dense.pointer();
        let t_dense = self.dense(args.t)?;
        let a6 = t_dense.pointer();
        let a7 = args.centre.pointer();
        let a8 = args.centre.domain().len() as u32;
        let a9 = args.far.pointer();
        let rate_dense = self.dense(args.rate)?;
        let a10 = rate_dense.pointer();
        let a11 = self.scalar_pointer(args.grid)?;
        let a12 = a_out.pointer();
        let a13 = b_out.pointer();
        let a14 = total_out.pointer();
        let a15 = most_out.pointer();
        let call = self
            .call_over(&KERNELS, &TRANSPORT, "transport", domain.len())?
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
        self.launch_over_leaves(call, total_out.len())?;
        Ok((a_out, b_out, self.combine(total_out)?, self.combine(most_out)?))
    }
    fn diffuse(
        &mut self,
        args: Diffuse<'_, Self>,
    ) -> Result<(ScalarCollection, BoolCollection), Error> {
        if self.uses_cartesian_forms() {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let u_new_out = self.new_collection(&domain)?;
            let even_out = self.new_bool_collection(&domain)?;
            let a0 = self.cartesian_args()?;
            let a1 = {
                let of = self
                    .canonical_domain(
                        CanonicalSet::new(EntityKind::Face, Extent::Interior),
                    )?;
                self.cartesian_ranks(&of)?
            };
            let u_dense = self.dense(args.u)?;
            let a2 = u_dense.pointer();
            let len_dense = self.dense(args.len)?;
            let a3 = len_dense.pointer();
            let g_dense = self.dense(args.g)?;
            let a4 = g_dense.pointer();
            let a5 = args.t.pointer();
            let a6 = args.w.pointer();
            let a7 = args.far.pointer();
            let a8 = self.scalar_pointer(args.dt)?;
            let a9 = u_new_out.pointer();
            let a10 = even_out.pointer();
            let call = self
                .call_over(&KERNELS, &DIFFUSE, "diffuse_cartesian", domain.len())?
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
            self.launch_inside_and_boundary(call)?;
            Ok((u_new_out, even_out))
        } else {
            let domain = self
                .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
            let u_new_out = self.new_collection(&domain)?;
            let even_out = self.new_bool_collection(&domain)?;
            let a0 = self.space(&domain)?;
            let a1 = self
                .grid_args(GridArrays {
                    sides: true,
                    side_faces: true,
                    side_ranks: true,
                    cell_volumes: true,
                    cell_centroids: true,
                    face_areas: true,
                    face_normals: true,
                    ..GridArrays::default()
                })?;
            let a2 = {
                let of = self
                    .canonical_domain(
                        CanonicalSet::new(EntityKind::Face, Extent::Interior),
                    )?;
                self.ranks(&of)?
            };
            let u_dense = self.dense(args.u)?;
            let a3 = u_dense.pointer();
            let len_dense = self.dense(args.len)?;
            let a4 = len_dense.pointer();
            let g_dense = self.dense(args.g)?;
            let a5 = g_dense.pointer();
            let t_dense = self.dense(args.t)?;
            let a6 = t_dense.pointer();
            let w_dense = self.dense(args.w)?;
            let a7 = w_dense.pointer();
            let a8 = args.far.pointer();
            let a9 = self.scalar_pointer(args.dt)?;
            let a10 = u_new_out.pointer();
            let a11 = even_out.pointer();
            let call = self
                .call_over(&KERNELS, &DIFFUSE, "diffuse", domain.len())?
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
            Ok((u_new_out, even_out))
        }
    }
    fn jump(&mut self, args: Jump<'_, Self>) -> Result<ScalarCollection, Error> {
        let domain = self
            .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
        let j_out = self.new_collection(&domain)?;
        let a0 = self.space(&domain)?;
        let a1 = self
            .grid_args(GridArrays {
                sides: true,
                face_cells: true,
                ..GridArrays::default()
            })?;
        let u_dense = self.dense(args.u)?;
        let a2 = u_dense.pointer();
        let a3 = args.cells.pointer();
        let a4 = j_out.pointer();
        let call = self
            .call_over(&KERNELS, &JUMP, "jump", domain.len())?
            .arg(a0)
            .arg(a1)
            .arg(a2)
            .arg(a3)
            .arg(a4);
        let count = domain.len();
        self.launch_over(call, count)?;
        Ok(j_out)
    }
    fn inside(&mut self, args: Inside<'_, Self>) -> Result<ScalarCollection, Error> {
        let domain = args.inlet.clone();
        let u_inside_out = self.new_collection(&domain)?;
        let a0 = self.space(&domain)?;
        let a1 = self
            .grid_args(GridArrays {
                face_cells: true,
                ..GridArrays::default()
            })?;
        let a2 = self.checks(&INSIDE, &domain)?;
        let u_dense = self.dense(args.u)?;
        let a3 = u_dense.pointer();
        let a4 = u_inside_out.pointer();
        let call = self
            .call_over(&KERNELS, &INSIDE, "inside", domain.len())?
            .arg(a0)
            .arg(a1)
            .arg(a2)
            .arg(a3)
            .arg(a4);
        let count = domain.len();
        self.launch_over(call, count)?;
        Ok(u_inside_out)
    }
    fn outside(&mut self, args: Outside<'_, Self>) -> Result<(), Error> {
        let domain = args.inlet.clone();
        let a0 = self.space(&domain)?;
        let a1 = {
            let of = self
                .canonical_domain(
                    CanonicalSet::new(EntityKind::Face, Extent::Boundary),
                )?;
            self.ranks(&of)?
        };
        let a2 = self.one_cell_checks(&OUTSIDE, &domain)?;
        let call = self
            .call_over(&KERNELS, &OUTSIDE, "outside", domain.len())?
            .arg(a0)
            .arg(a1)
            .arg(a2);
        let count = domain.len();
        self.launch_over(call, count)?;
        self.check_flag()?;
        Ok(())
    }
    fn extremes(&mut self, args: Extremes<'_, Self>) -> Result<(Scalar, Scalar), Error> {
        let domain = args.wells.clone();
        let least_out = self.leaves(Reduction::Min, &domain)?;
        let product_out = self.leaves(Reduction::Prod, &domain)?;
        let a0 = self.space_in_file_order(&domain)?;
        let rate_dense = self.dense(args.rate)?;
        let a1 = rate_dense.pointer();
        let a2 = least_out.pointer();
        let a3 = product_out.pointer();
        let call = self
            .call_over(&KERNELS, &EXTREMES, "extremes", domain.len())?
            .arg(a0)
            .arg(a1)
            .arg(a2)
            .arg(a3);
        self.launch_over_leaves(call, least_out.len())?;
        Ok((self.combine(least_out)?, self.combine(product_out)?))
    }
    fn ratio(&mut self, args: Ratio<'_, Self>) -> Result<Scalar, Error> {
        let r_out = self.new_number()?;
        let a0 = self.scalar_pointer(args.a)?;
        let a1 = self.scalar_pointer(args.b)?;
        let a2 = r_out.address();
        let call = self.call_over(&KERNELS, &RATIO, "ratio", 1)?.arg(a0).arg(a1).arg(a2);
        self.launch_over(call, 1)?;
        Ok(Scalar::Device(r_out))
    }
    fn sizes(&mut self) -> Result<ScalarCollection, Error> {
        let domain = self
            .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::All))?;
        let size_out = self.new_collection(&domain)?;
        let a0 = self.space(&domain)?;
        let a1 = self
            .grid_args(GridArrays {
                face_areas: true,
                ..GridArrays::default()
            })?;
        let a2 = size_out.pointer();
        let call = self
            .call_over(&KERNELS, &SIZES, "sizes", domain.len())?
            .arg(a0)
            .arg(a1)
            .arg(a2);
        let count = domain.len();
        self.launch_over(call, count)?;
        Ok(size_out)
    }
}
