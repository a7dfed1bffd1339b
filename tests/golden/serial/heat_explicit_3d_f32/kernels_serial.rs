//! Kernels of heat_explicit_3d.equelle as loops.
#![allow(non_snake_case, clippy::too_many_arguments, clippy::needless_range_loop)]

use backend_serial::runtime::entities::{Arrays, Entities, Places, Positions};
use backend_serial::runtime::kernel::{
    CartesianGrid, SubsetRanks, lane, length, vector_add, vector_sub,
};
use backend_serial::runtime::sweep::{FaceRun, Side, Sweep};
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
        let _timer = self.session_mut().time_kernel(&COMPUTE_MINUS_ITRANS, "per axis");
        if let Some(grid) = self.closed_grid() {
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
            .time_kernel_over(
                &COMPUTE_BTRANS_DIRECTION,
                "list",
                args.dirichlet_boundary.len(),
            );
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
        let _timer = self.session_mut().time_kernel(&COMPUTE_U, "rows");
        if let Some(grid) = self.rounded_closed_grid()
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
        let _timer = self.session_mut().time_kernel(&COMPUTE_MAX_U, "list");
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
                                vector_add(
                                    grid.cell_centroid(cells_here[1]),
                                    grid.face_gap(here),
                                ),
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
    let u = rt.dense(args.u);
    let u = &u[..];
    let dt = *args.dt as f32;
    let dirichlet_boundary_ranks = SubsetRanks::new(args.dirichlet_boundary);
    let btrans_direction = rt.dense(args.btrans_direction);
    let btrans_direction = &btrans_direction[..];
    let dirichlet_val = rt.dense(args.dirichlet_val);
    let dirichlet_val = &dirichlet_val[..];
    let minus_itrans = args.minus_itrans.per_axis().unwrap_or([f32::NAN; 3]);
    let domain = &all_cells;
    let mut u_new = rt.take_buffer(grid.n_cells());
    rt.each_row(
        grid,
        &COMPUTE_U,
        &mut u_new[..],
        |range, u_new_values| {
            let boundary = |side: &Side| {
                let here = side.cell;
                let axis = side.axis;
                let at = side.at;
                if side.high {
                    let boundary_face = grid.boundary_face(at, axis, true);
                    [
                        if dirichlet_boundary_ranks.contains(boundary_face) {
                            btrans_direction[dirichlet_boundary_ranks.of(boundary_face)]
                                * (u[here]
                                    - dirichlet_val[dirichlet_boundary_ranks.of(boundary_face)])
                        } else {
                            0.0
                        },
                    ]
                } else {
                    let boundary_face = grid.boundary_face(at, axis, false);
                    [
                        if dirichlet_boundary_ranks.contains(boundary_face) {
                            btrans_direction[dirichlet_boundary_ranks.of(boundary_face)]
                                * (u[here]
                                    - dirichlet_val[dirichlet_boundary_ranks.of(boundary_face)])
                        } else {
                            0.0
                        },
                    ]
                }
            };
            let faces = |
                faces: &FaceRun,
                []: [&[f32]; 0],
                []: [&[f32]; 0],
                [term_0,
                ]: [&mut [f32]; 1]|
            match faces.axis {
                0 => {
                    compute_u_faces_x(
                        term_0,
                        minus_itrans,
                        &u[faces.second..][..faces.len],
                        &u[faces.first..][..faces.len],
                    )
                }
                1 => {
                    compute_u_faces_y(
                        term_0,
                        minus_itrans,
                        &u[faces.second..][..faces.len],
                        &u[faces.first..][..faces.len],
                    )
                }
                _ => {
                    compute_u_faces_z(
                        term_0,
                        minus_itrans,
                        &u[faces.second..][..faces.len],
                        &u[faces.first..][..faces.len],
                    )
                }
            };
            let mut sweep = Sweep::<f32, DIM, 0, 1>::new(grid);
            for row in sweep.blocks(&range) {
                let len = row.len;
                if row.inside {
                    compute_u_inside::<
                        DIM,
                    >(
                        &mut u_new_values[row.start - range.start..][..len],
                        minus_itrans,
                        &u[row.start..][..len],
                        std::array::from_fn(|axis| {
                            &u[row.start - grid.stride[axis]..][..len]
                        }),
                        std::array::from_fn(|axis| {
                            &u[row.start + grid.stride[axis]..][..len]
                        }),
                        dt,
                        grid,
                    );
                    sweep
                        .each_end(
                            &row,
                            &faces,
                            &boundary,
                            |side: &Side, terms| {
                                u_new_values[side.cell - range.start] = compute_u_cell::<
                                    DIM,
                                >(
                                    terms,
                                    minus_itrans,
                                    u[side.cell],
                                    std::array::from_fn(|axis| {
                                        u[side.cell - grid.stride[axis]]
                                    }),
                                    std::array::from_fn(|axis| {
                                        u[side.cell + grid.stride[axis]]
                                    }),
                                    dt,
                                    grid,
                                );
                            },
                        );
                } else {
                    sweep.advance(&row, false, |_, []| {}, &faces, &boundary);
                    compute_u_row::<
                        DIM,
                    >(
                        &mut u_new_values[row.start - range.start..][..len],
                        sweep.low(0),
                        sweep.high(0),
                        &u[row.start..][..len],
                        dt,
                        grid,
                    );
                }
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, u_new))
}

/// [`Kernels::compute_u`] for a row of cells, from the terms of their faces.
#[inline(never)]
fn compute_u_row<const DIM: usize>(
    u_new: &mut [f32],
    divergence_fluxes_terms_low: [&[f32]; DIM],
    divergence_fluxes_terms_high: [&[f32]; DIM],
    u: &[f32],
    dt: f32,
    grid: &CartesianGrid<f32>,
) {
    let len = u_new.len();
    let divergence_fluxes_terms_low_x = lane(&divergence_fluxes_terms_low, 0, len);
    let divergence_fluxes_terms_low_y = lane(&divergence_fluxes_terms_low, 1, len);
    let divergence_fluxes_terms_low_z = lane(&divergence_fluxes_terms_low, 2, len);
    let divergence_fluxes_terms_high_x = lane(&divergence_fluxes_terms_high, 0, len);
    let divergence_fluxes_terms_high_y = lane(&divergence_fluxes_terms_high, 1, len);
    let divergence_fluxes_terms_high_z = lane(&divergence_fluxes_terms_high, 2, len);
    let u = &u[..len];
    for i in 0..len {
        let mut divergence_fluxes = 0.0;
        divergence_fluxes -= divergence_fluxes_terms_low_x[i];
        divergence_fluxes += divergence_fluxes_terms_high_x[i];
        if DIM > 1 {
            divergence_fluxes -= divergence_fluxes_terms_low_y[i];
            divergence_fluxes += divergence_fluxes_terms_high_y[i];
        }
        if DIM > 2 {
            divergence_fluxes -= divergence_fluxes_terms_low_z[i];
            divergence_fluxes += divergence_fluxes_terms_high_z[i];
        }
        u_new[i] = u[i] - dt / grid.volume * divergence_fluxes;
    }
}

/// Terms of [`Kernels::compute_u`] on faces that x crosses, each between a first and a second cell.
#[inline(never)]
fn compute_u_faces_x(
    divergence_fluxes_2: &mut [f32],
    minus_itrans: [f32; 3],
    u_second: &[f32],
    u_first: &[f32],
) {
    let len = divergence_fluxes_2.len();
    let u_second = &u_second[..len];
    let u_first = &u_first[..len];
    for i in 0..len {
        divergence_fluxes_2[i] = minus_itrans[0] * (u_second[i] - u_first[i]);
    }
}

/// Terms of [`Kernels::compute_u`] on faces that y crosses, each between a first and a second cell.
#[inline(never)]
fn compute_u_faces_y(
    divergence_fluxes_2: &mut [f32],
    minus_itrans: [f32; 3],
    u_second: &[f32],
    u_first: &[f32],
) {
    let len = divergence_fluxes_2.len();
    let u_second = &u_second[..len];
    let u_first = &u_first[..len];
    for i in 0..len {
        divergence_fluxes_2[i] = minus_itrans[1] * (u_second[i] - u_first[i]);
    }
}

/// Terms of [`Kernels::compute_u`] on faces that z crosses, each between a first and a second cell.
#[inline(never)]
fn compute_u_faces_z(
    divergence_fluxes_2: &mut [f32],
    minus_itrans: [f32; 3],
    u_second: &[f32],
    u_first: &[f32],
) {
    let len = divergence_fluxes_2.len();
    let u_second = &u_second[..len];
    let u_first = &u_first[..len];
    for i in 0..len {
        divergence_fluxes_2[i] = minus_itrans[2] * (u_second[i] - u_first[i]);
    }
}

/// [`Kernels::compute_u`] for a cell whose sides are interior but for those along the row of which `row_ends` has the terms, low and high.
#[inline(always)]
fn compute_u_cell<const DIM: usize>(
    row_ends: [Option<[f32; 1]>; 2],
    minus_itrans: [f32; 3],
    u: f32,
    u_low: [f32; DIM],
    u_high: [f32; DIM],
    dt: f32,
    grid: &CartesianGrid<f32>,
) -> f32 {
    let mut divergence_fluxes = 0.0;
    let [divergence_fluxes_low] = row_ends[0]
        .unwrap_or_else(|| [minus_itrans[0] * (u - u_low[0])]);
    divergence_fluxes -= divergence_fluxes_low;
    let [divergence_fluxes_high] = row_ends[1]
        .unwrap_or_else(|| [minus_itrans[0] * (u_high[0] - u)]);
    divergence_fluxes += divergence_fluxes_high;
    if DIM > 1 {
        divergence_fluxes -= minus_itrans[1] * (u - u_low[1]);
        divergence_fluxes += minus_itrans[1] * (u_high[1] - u);
    }
    if DIM > 2 {
        divergence_fluxes -= minus_itrans[2] * (u - u_low[2]);
        divergence_fluxes += minus_itrans[2] * (u_high[2] - u);
    }
    u - dt / grid.volume * divergence_fluxes
}

/// [`Kernels::compute_u`] for rows inside the grid, as if they were one row: values at their ends are to be made again.
#[inline(never)]
fn compute_u_inside<const DIM: usize>(
    u_new: &mut [f32],
    minus_itrans: [f32; 3],
    u: &[f32],
    u_low: [&[f32]; DIM],
    u_high: [&[f32]; DIM],
    dt: f32,
    grid: &CartesianGrid<f32>,
) {
    let len = u_new.len();
    let u = &u[..len];
    let u_low = u_low.map(|side| &side[..len]);
    let u_high = u_high.map(|side| &side[..len]);
    for i in 0..len {
        u_new[i] = compute_u_cell::<
            DIM,
        >(
            [None; 2],
            minus_itrans,
            u[i],
            u_low.map(|side| side[i]),
            u_high.map(|side| side[i]),
            dt,
            grid,
        );
    }
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
