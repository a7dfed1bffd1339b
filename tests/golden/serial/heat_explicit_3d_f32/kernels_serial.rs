//! Kernels of heat_explicit_3d.equelle as loops.
#![allow(non_snake_case, clippy::too_many_arguments, clippy::needless_range_loop)]

use backend_serial::runtime::entities::{Arrays, Entities, Places, Positions};
use backend_serial::runtime::kernel::{
    CartesianGrid, SubsetRanks, lane, length, vector_sub,
};
use equelle_runtime::grid::NONE;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent, Reduction};

use crate::kernels::{
    COMPUTE_BTRANS_DIRECTION, COMPUTE_MAX_U, COMPUTE_MINUS_ITRANS, COMPUTE_U,
    ComputeBtransDirection, ComputeMaxU, ComputeMinusItrans, ComputeU, Kernels,
};

type ScalarCollection = backend_serial::runtime::ScalarCollection<f32>;
type SerialRuntime = backend_serial::runtime::SerialRuntime<f32>;

impl Kernels for SerialRuntime {
    fn compute_minus_itrans(
        &mut self,
        args: ComputeMinusItrans<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self.session_mut().time_kernel(&COMPUTE_MINUS_ITRANS);
        if let Some(grid) = self.cartesian_grid() {
            return match self.grid().dim() {
                1 => compute_minus_itrans_per_axis::<1>(self, &args, &grid),
                2 => compute_minus_itrans_per_axis::<2>(self, &args, &grid),
                _ => compute_minus_itrans_per_axis::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_topology().with_geometry();
        match self.grid().dim() {
            1 => compute_minus_itrans_general::<1, _>(self, &args, &grid),
            2 => compute_minus_itrans_general::<2, _>(self, &args, &grid),
            _ => compute_minus_itrans_general::<3, _>(self, &args, &grid),
        }
    }

    fn compute_btrans_direction(
        &mut self,
        args: ComputeBtransDirection<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self
            .session()
            .time_kernel_over(&COMPUTE_BTRANS_DIRECTION, args.dirichlet_boundary.len());
        if let Some(grid) = self.cartesian_grid() {
            return match self.grid().dim() {
                1 => compute_btrans_direction_general::<1, _>(self, &args, &grid),
                2 => compute_btrans_direction_general::<2, _>(self, &args, &grid),
                _ => compute_btrans_direction_general::<3, _>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_topology().with_geometry();
        match self.grid().dim() {
            1 => compute_btrans_direction_general::<1, _>(self, &args, &grid),
            2 => compute_btrans_direction_general::<2, _>(self, &args, &grid),
            _ => compute_btrans_direction_general::<3, _>(self, &args, &grid),
        }
    }

    fn compute_u(
        &mut self,
        args: ComputeU<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self.session_mut().time_kernel(&COMPUTE_U);
        if let Some(grid) = self.rounded_cartesian_grid()
            && args.minus_itrans.per_axis().is_some()
        {
            return match self.grid().dim() {
                1 => compute_u_cartesian::<1>(self, &args, &grid),
                2 => compute_u_cartesian::<2>(self, &args, &grid),
                _ => compute_u_cartesian::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_sides().with_geometry().rounded::<f32>();
        compute_u_general(self, &args, &grid)
    }

    fn compute_max_u(
        &mut self,
        args: ComputeMaxU<'_, SerialRuntime>,
    ) -> Result<f64, Error> {
        let _timer = self.session_mut().time_kernel(&COMPUTE_MAX_U);
        compute_max_u_general(self, &args)
    }
}

/// [`Kernels::compute_minus_itrans`] on a Cartesian grid.
fn compute_minus_itrans_per_axis<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &ComputeMinusItrans<'_, SerialRuntime>,
    grid: &CartesianGrid,
) -> Result<ScalarCollection, Error> {
    let interior_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let k = *args.k;
    let domain = &interior_faces;
    let mut minus_itrans = [0.0; 3];
    for axis in 0..DIM {
        minus_itrans[axis] = -(k
            * (grid.area[axis] / length(grid.displacement::<DIM>(axis, -1.0))));
    }
    Ok(rt.per_axis_collection(domain, minus_itrans.map(|value| value as f32)))
}

/// [`Kernels::compute_minus_itrans`] on any grid.
fn compute_minus_itrans_general<const DIM: usize, G: Places<DIM>>(
    rt: &mut SerialRuntime,
    args: &ComputeMinusItrans<'_, SerialRuntime>,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let interior_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let k = *args.k;
    let domain = &interior_faces;
    let mut minus_itrans = rt.take_buffer(domain.len());
    let elements = domain.elements();
    rt.each(
        domain.len(),
        &mut minus_itrans[..],
        move |range, minus_itrans_values| {
            let len = range.len();
            let minus_itrans_values = &mut minus_itrans_values[..len];
            let elements = &elements[range.start..][..len];
            for i in 0..len {
                let here = elements[i];
                let cells_here = grid.face_cells(here);
                minus_itrans_values[i] = -(k
                    * (grid.face_area(here)
                        / length(
                            vector_sub(
                                grid.cell_centroid(cells_here[0]),
                                grid.cell_centroid(cells_here[1]),
                            ),
                        ))) as f32;
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, minus_itrans))
}

/// [`Kernels::compute_btrans_direction`] on any grid.
fn compute_btrans_direction_general<const DIM: usize, G: Places<DIM>>(
    rt: &mut SerialRuntime,
    args: &ComputeBtransDirection<'_, SerialRuntime>,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let k = *args.k;
    let domain = args.dirichlet_boundary;
    let mut btrans_direction = rt.take_buffer(domain.len());
    let elements = domain.elements();
    rt.each(
        domain.len(),
        &mut btrans_direction[..],
        move |range, btrans_direction_values| {
            let len = range.len();
            let btrans_direction_values = &mut btrans_direction_values[..len];
            let elements = &elements[range.start..][..len];
            for i in 0..len {
                let here = elements[i];
                let cells_here = grid.face_cells(here);
                btrans_direction_values[i] = (k
                    * (grid.face_area(here)
                        / length(
                            vector_sub(
                                grid.face_centroid(here),
                                grid
                                    .cell_centroid(
                                        if cells_here[0] == NONE {
                                            cells_here[1]
                                        } else {
                                            cells_here[0]
                                        },
                                    ),
                            ),
                        )) * (if cells_here[0] == NONE { -1.0 } else { 1.0 })) as f32;
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, btrans_direction))
}

/// [`Kernels::compute_u`] on a Cartesian grid.
fn compute_u_cartesian<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &ComputeU<'_, SerialRuntime>,
    grid: &CartesianGrid<f32>,
) -> Result<ScalarCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let minus_itrans = args.minus_itrans.per_axis().unwrap_or([f32::NAN; 3]);
    let u = rt.dense(args.u);
    let u = &u[..];
    let dirichlet_boundary_ranks = SubsetRanks::new(args.dirichlet_boundary);
    let btrans_direction = rt.dense(args.btrans_direction);
    let btrans_direction = &btrans_direction[..];
    let dirichlet_val = rt.dense(args.dirichlet_val);
    let dirichlet_val = &dirichlet_val[..];
    let dt = *args.dt as f32;
    let domain = &all_cells;
    let mut u_new = rt.take_buffer(grid.n_cells());
    rt.each_row(
        grid,
        &mut u_new[..],
        |range, u_new_values| {
            for row in grid.rows_in(&range) {
                let step = if row.interior { grid.n[0] - 1 } else { 1 };
                for i in (0..grid.n[0]).step_by(step) {
                    let here = row.start + i;
                    let at = [i, row.j, row.k];
                    let mut divergence_fluxes = 0.0;
                    for axis in 0..DIM {
                        if at[axis] > 0 {
                            divergence_fluxes
                                -= compute_u_divergence_fluxes_low(
                                    minus_itrans[axis],
                                    u[here],
                                    u[here - grid.stride[axis]],
                                );
                        } else {
                            let boundary_face = grid.boundary_face(at, axis, false);
                            divergence_fluxes
                                -= if dirichlet_boundary_ranks.contains(boundary_face) {
                                    btrans_direction[dirichlet_boundary_ranks.of(boundary_face)]
                                        * (u[here]
                                            - dirichlet_val[dirichlet_boundary_ranks.of(boundary_face)])
                                } else {
                                    0.0
                                };
                        }
                        if at[axis] + 1 < grid.n[axis] {
                            divergence_fluxes
                                += compute_u_divergence_fluxes_high(
                                    minus_itrans[axis],
                                    u[here + grid.stride[axis]],
                                    u[here],
                                );
                        } else {
                            let boundary_face = grid.boundary_face(at, axis, true);
                            divergence_fluxes
                                += if dirichlet_boundary_ranks.contains(boundary_face) {
                                    btrans_direction[dirichlet_boundary_ranks.of(boundary_face)]
                                        * (u[here]
                                            - dirichlet_val[dirichlet_boundary_ranks.of(boundary_face)])
                                } else {
                                    0.0
                                };
                        }
                    }
                    u_new_values[here - range.start] = u[here]
                        - dt / grid.volume * divergence_fluxes;
                }
                if row.interior {
                    let (first, len) = (row.start + 1, grid.n[0] - 2);
                    let u_low: [&[f32]; DIM] = std::array::from_fn(|axis| {
                        &u[first - grid.stride[axis]..][..len]
                    });
                    let u_high: [&[f32]; DIM] = std::array::from_fn(|axis| {
                        &u[first + grid.stride[axis]..][..len]
                    });
                    compute_u_row(
                        grid,
                        &mut u_new_values[first - range.start..][..len],
                        minus_itrans,
                        &u[first..][..len],
                        u_low,
                        u_high,
                        dt,
                    );
                }
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, u_new))
}

/// [`Kernels::compute_u`] inside a row of cells, where no side is on the boundary.
#[inline(never)]
fn compute_u_row<const DIM: usize>(
    grid: &CartesianGrid<f32>,
    u_new: &mut [f32],
    minus_itrans: [f32; 3],
    u: &[f32],
    u_low: [&[f32]; DIM],
    u_high: [&[f32]; DIM],
    dt: f32,
) {
    let len = u_new.len();
    let u = &u[..len];
    let u_low_x = lane(&u_low, 0, len);
    let u_low_y = lane(&u_low, 1, len);
    let u_low_z = lane(&u_low, 2, len);
    let u_high_x = lane(&u_high, 0, len);
    let u_high_y = lane(&u_high, 1, len);
    let u_high_z = lane(&u_high, 2, len);
    for i in 0..len {
        let mut divergence_fluxes = 0.0;
        divergence_fluxes
            -= compute_u_divergence_fluxes_low(minus_itrans[0], u[i], u_low_x[i]);
        divergence_fluxes
            += compute_u_divergence_fluxes_high(minus_itrans[0], u_high_x[i], u[i]);
        if DIM > 1 {
            divergence_fluxes
                -= compute_u_divergence_fluxes_low(minus_itrans[1], u[i], u_low_y[i]);
            divergence_fluxes
                += compute_u_divergence_fluxes_high(minus_itrans[1], u_high_y[i], u[i]);
        }
        if DIM > 2 {
            divergence_fluxes
                -= compute_u_divergence_fluxes_low(minus_itrans[2], u[i], u_low_z[i]);
            divergence_fluxes
                += compute_u_divergence_fluxes_high(minus_itrans[2], u_high_z[i], u[i]);
        }
        u_new[i] = u[i] - dt / grid.volume * divergence_fluxes;
    }
}

/// Term of the low side of a cell where there is a cell beyond; the caller subtracts it.
#[inline(always)]
fn compute_u_divergence_fluxes_low(minus_itrans: f32, u: f32, u_low: f32) -> f32 {
    minus_itrans * (u - u_low)
}

/// Term of the high side of a cell where there is a cell beyond; the caller adds it.
#[inline(always)]
fn compute_u_divergence_fluxes_high(minus_itrans: f32, u_high: f32, u: f32) -> f32 {
    minus_itrans * (u_high - u)
}

/// [`Kernels::compute_u`] on any grid.
fn compute_u_general<G: Entities<f32>>(
    rt: &mut SerialRuntime,
    args: &ComputeU<'_, SerialRuntime>,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let interior_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let interior_faces_ranks = grid.canonical_ranks(&interior_faces);
    let minus_itrans = rt.dense(args.minus_itrans);
    let minus_itrans = &minus_itrans[..];
    let u = rt.dense(args.u);
    let u = &u[..];
    let dirichlet_boundary_ranks = grid.ranks(args.dirichlet_boundary);
    let btrans_direction = rt.dense(args.btrans_direction);
    let btrans_direction = &btrans_direction[..];
    let dirichlet_val = rt.dense(args.dirichlet_val);
    let dirichlet_val = &dirichlet_val[..];
    let dt = *args.dt as f32;
    let domain = &all_cells;
    let mut u_new = rt.take_buffer(domain.len());
    rt.each(
        domain.len(),
        &mut u_new[..],
        move |range, u_new_values| {
            for position in range.clone() {
                let here = position as u32;
                let mut divergence_fluxes = 0.0;
                let u_here = u[position];
                let cell = here;
                for (f, neighbour, outward) in grid.sides_of(cell) {
                    if neighbour != NONE {
                        divergence_fluxes
                            += minus_itrans[interior_faces_ranks.of(f)]
                                * (u[neighbour as usize] - u_here);
                    } else {
                        if outward {
                            divergence_fluxes
                                += if dirichlet_boundary_ranks.contains(f) {
                                    btrans_direction[dirichlet_boundary_ranks.of(f)]
                                        * (u_here - dirichlet_val[dirichlet_boundary_ranks.of(f)])
                                } else {
                                    0.0
                                };
                        } else {
                            divergence_fluxes
                                -= if dirichlet_boundary_ranks.contains(f) {
                                    btrans_direction[dirichlet_boundary_ranks.of(f)]
                                        * (u_here - dirichlet_val[dirichlet_boundary_ranks.of(f)])
                                } else {
                                    0.0
                                };
                        }
                    }
                }
                u_new_values[position - range.start] = u[position]
                    - dt / grid.cell_volume(here) * divergence_fluxes;
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, u_new))
}

/// [`Kernels::compute_max_u`] on any grid.
fn compute_max_u_general(
    rt: &mut SerialRuntime,
    args: &ComputeMaxU<'_, SerialRuntime>,
) -> Result<f64, Error> {
    Ok(rt.reduce_collection_in_kernel(Reduction::Max, args.u, &COMPUTE_MAX_U)?)
}
