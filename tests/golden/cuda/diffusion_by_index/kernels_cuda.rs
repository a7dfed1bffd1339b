//!Kernels of diffusion on a CUDA device: arguments and launches. The kernels themselves are in `kernels.cu`.
#![allow(unused_imports, unused_variables)]
use backend_cuda::runtime::{
    CudaRuntime, FloatingPoint, GridArrays, KernelModule, Scalar, ScalarCollection,
};
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent, Reduction};
use crate::kernels::{Kernels, ComputeU, COMPUTE_U};
/// The kernels' CUDA C++ text, compiled at start for the device.
pub const KERNELS: KernelModule = KernelModule::constant(
    "diffusion",
    include_str!("kernels.cu"),
    FloatingPoint::Strict,
);
impl Kernels for CudaRuntime {
    /// diffusion.equelle:10: u = u + dt * rate * (second_4(w, i) + second_4(w, j) + second_4(w, k))
    /// equelle:derivatives:19: second_4(f, a) = { → (16 * (f(a+1) + f(a-1)) - (f(a+2) + f(a-2)) - 30 * f) / (12 * Width(a)^2) }
    fn compute_u(
        &mut self,
        args: ComputeU<'_, Self>,
    ) -> Result<ScalarCollection, Error> {
        let domain = self
            .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
        let u_new_out = self.new_collection(&domain)?;
        let a0 = self.cartesian_args()?;
        let u_dense = self.dense(args.u)?;
        let a1 = u_dense.pointer();
        let a2 = self.scalar_pointer(args.dt)?;
        let rate_dense = self.dense(args.rate)?;
        let a3 = rate_dense.pointer();
        let a4 = self.scalar_pointer(args.width)?;
        let a5 = self.scalar_pointer(args.width_2)?;
        let a6 = self.scalar_pointer(args.width_3)?;
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
        let call = call.or_by_planes(&KERNELS, &[(2, "compute_u_cartesian_rows_x2")]);
        self.launch_over_cells(call)?;
        Ok(u_new_out)
    }
}
