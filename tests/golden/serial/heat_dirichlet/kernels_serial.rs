//! Kernels of heat_dirichlet.equelle as loops.
#![allow(non_snake_case, clippy::too_many_arguments, clippy::needless_range_loop)]

use backend_serial::runtime::entities::{Arrays, Entities, Places, Positions};
use backend_serial::runtime::kernel::{
    CartesianGrid, SubsetRanks, lane, length, vector_sub,
};
use backend_serial::runtime::sweep::{FaceRun, Side, Sweep};
use backend_serial::runtime::{ScalarCollection, SerialRuntime};
use equelle_runtime::grid::NONE;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent};

use crate::kernels::{
    COMPUTE_BTRANS, COMPUTE_ITRANS, COMPUTE_U, ComputeBtrans, ComputeItrans, ComputeU,
    Kernels,
};

impl Kernels for SerialRuntime {
    fn compute_itrans(
        &mut self,
        args: ComputeItrans<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self.session_mut().time_kernel(&COMPUTE_ITRANS, "per axis");
        if let Some(grid) = self.closed_grid() {
            return match self.grid().dim() {
                1 => compute_itrans_per_axis::<1>(self, &args, &grid),
                2 => compute_itrans_per_axis::<2>(self, &args, &grid),
                _ => compute_itrans_per_axis::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_topology().with_geometry();
        match self.grid().dim() {
            1 => compute_itrans_general::<1, _>(self, &args, &grid),
            2 => compute_itrans_general::<2, _>(self, &args, &grid),
            _ => compute_itrans_general::<3, _>(self, &args, &grid),
        }
    }

    fn compute_btrans(
        &mut self,
        args: ComputeBtrans<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self
            .session()
            .time_kernel_over(&COMPUTE_BTRANS, "list", args.dirichlet_boundary.len());
        if let Some(grid) = self.cartesian_grid() {
            return match self.grid().dim() {
                1 => compute_btrans_general::<1, _>(self, &args, &grid),
                2 => compute_btrans_general::<2, _>(self, &args, &grid),
                _ => compute_btrans_general::<3, _>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_topology().with_geometry();
        match self.grid().dim() {
            1 => compute_btrans_general::<1, _>(self, &args, &grid),
            2 => compute_btrans_general::<2, _>(self, &args, &grid),
            _ => compute_btrans_general::<3, _>(self, &args, &grid),
        }
    }

    fn compute_u(
        &mut self,
        args: ComputeU<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self.session_mut().time_kernel(&COMPUTE_U, "rows");
        if let Some(grid) = self.closed_grid() && args.itrans.per_axis().is_some() {
            return match self.grid().dim() {
                1 => compute_u_cartesian::<1>(self, &args, &grid),
                2 => compute_u_cartesian::<2>(self, &args, &grid),
                _ => compute_u_cartesian::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_sides().with_geometry();
        compute_u_general(self, &args, &grid)
    }
}

/// [`Kernels::compute_itrans`] on a Cartesian grid.
fn compute_itrans_per_axis<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &ComputeItrans<'_, SerialRuntime>,
    grid: &CartesianGrid,
) -> Result<ScalarCollection, Error> {
    let interior_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let k = *args.k;
    let domain = &interior_faces;
    let mut itrans = [0.0; 3];
    for axis in 0..DIM {
        itrans[axis] = k
            * (grid.area[axis] / length(grid.displacement::<DIM>(axis, -1.0)));
    }
    Ok(rt.per_axis_collection(domain, itrans))
}

/// [`Kernels::compute_itrans`] on any grid.
fn compute_itrans_general<const DIM: usize, G: Places<DIM>>(
    rt: &mut SerialRuntime,
    args: &ComputeItrans<'_, SerialRuntime>,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let interior_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let k = *args.k;
    let domain = &interior_faces;
    let mut itrans = rt.take_buffer(domain.len());
    let elements = domain.elements();
    rt.each(
        domain.len(),
        &mut itrans[..],
        move |range, itrans_values| {
            let len = range.len();
            let itrans_values = &mut itrans_values[..len];
            let elements = &elements[range.start..][..len];
            for i in 0..len {
                let here = elements[i];
                let cells_here = grid.face_cells(here);
                itrans_values[i] = k
                    * (grid.face_area(here)
                        / length(
                            vector_sub(
                                grid.cell_centroid(cells_here[0]),
                                grid.cell_centroid(cells_here[1]),
                            ),
                        ));
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, itrans))
}

/// [`Kernels::compute_btrans`] on any grid.
fn compute_btrans_general<const DIM: usize, G: Places<DIM>>(
    rt: &mut SerialRuntime,
    args: &ComputeBtrans<'_, SerialRuntime>,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let k = *args.k;
    let domain = args.dirichlet_boundary;
    let mut btrans = rt.take_buffer(domain.len());
    let elements = domain.elements();
    rt.each(
        domain.len(),
        &mut btrans[..],
        move |range, btrans_values| {
            let len = range.len();
            let btrans_values = &mut btrans_values[..len];
            let elements = &elements[range.start..][..len];
            for i in 0..len {
                let here = elements[i];
                let cells_here = grid.face_cells(here);
                let inside = if cells_here[0] == NONE {
                    cells_here[1]
                } else {
                    cells_here[0]
                };
                btrans_values[i] = k
                    * (grid.face_area(here)
                        / length(
                            vector_sub(
                                grid.face_centroid(here),
                                grid.cell_centroid(inside),
                            ),
                        ));
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, btrans))
}

/// [`Kernels::compute_u`] on a Cartesian grid.
fn compute_u_cartesian<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &ComputeU<'_, SerialRuntime>,
    grid: &CartesianGrid,
) -> Result<ScalarCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let u = rt.dense(args.u);
    let u = &u[..];
    let dt = *args.dt;
    let dirichlet_boundary_ranks = SubsetRanks::new(args.dirichlet_boundary);
    let btrans = rt.dense(args.btrans);
    let btrans = &btrans[..];
    let dirichlet_val = rt.dense(args.dirichlet_val);
    let dirichlet_val = &dirichlet_val[..];
    let itrans = args.itrans.per_axis().unwrap_or([f64::NAN; 3]);
    let domain = &all_cells;
    let mut u_2 = rt.take_buffer(grid.n_cells());
    rt.each_row(
        grid,
        &COMPUTE_U,
        &mut u_2[..],
        |range, u_2_values| {
            let boundary = |side: &Side| {
                let here = side.cell;
                let axis = side.axis;
                let at = side.at;
                if side.high {
                    let boundary_face = grid.boundary_face(at, axis, true);
                    [
                        if dirichlet_boundary_ranks.contains(boundary_face) {
                            btrans[dirichlet_boundary_ranks.of(boundary_face)]
                                * (1.0
                                    * (u[here]
                                        - dirichlet_val[dirichlet_boundary_ranks
                                            .of(boundary_face)]))
                        } else {
                            0.0
                        },
                    ]
                } else {
                    let boundary_face = grid.boundary_face(at, axis, false);
                    [
                        if dirichlet_boundary_ranks.contains(boundary_face) {
                            btrans[dirichlet_boundary_ranks.of(boundary_face)]
                                * (-1.0
                                    * (u[here]
                                        - dirichlet_val[dirichlet_boundary_ranks
                                            .of(boundary_face)]))
                        } else {
                            0.0
                        },
                    ]
                }
            };
            let faces = |
                faces: &FaceRun,
                []: [&[f64]; 0],
                []: [&[f64]; 0],
                [term_0,
                ]: [&mut [f64]; 1]|
            match faces.axis {
                0 => {
                    compute_u_faces_x(
                        term_0,
                        itrans,
                        &u[faces.second..][..faces.len],
                        &u[faces.first..][..faces.len],
                    )
                }
                1 => {
                    compute_u_faces_y(
                        term_0,
                        itrans,
                        &u[faces.second..][..faces.len],
                        &u[faces.first..][..faces.len],
                    )
                }
                _ => {
                    compute_u_faces_z(
                        term_0,
                        itrans,
                        &u[faces.second..][..faces.len],
                        &u[faces.first..][..faces.len],
                    )
                }
            };
            let mut sweep = Sweep::<f64, DIM, 0, 1>::new(grid);
            for row in sweep.blocks(&range) {
                let len = row.len;
                if row.inside {
                    compute_u_inside::<
                        DIM,
                    >(
                        &mut u_2_values[row.start - range.start..][..len],
                        itrans,
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
                                u_2_values[side.cell - range.start] = compute_u_cell::<
                                    DIM,
                                >(
                                    terms,
                                    itrans,
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
                        &mut u_2_values[row.start - range.start..][..len],
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
    Ok(rt.scalar_collection_from(domain, u_2))
}

/// [`Kernels::compute_u`] for a row of cells, from the terms of their faces.
#[inline(never)]
fn compute_u_row<const DIM: usize>(
    u_2: &mut [f64],
    outflow_terms_low: [&[f64]; DIM],
    outflow_terms_high: [&[f64]; DIM],
    u: &[f64],
    dt: f64,
    grid: &CartesianGrid,
) {
    let len = u_2.len();
    let outflow_terms_low_x = lane(&outflow_terms_low, 0, len);
    let outflow_terms_low_y = lane(&outflow_terms_low, 1, len);
    let outflow_terms_low_z = lane(&outflow_terms_low, 2, len);
    let outflow_terms_high_x = lane(&outflow_terms_high, 0, len);
    let outflow_terms_high_y = lane(&outflow_terms_high, 1, len);
    let outflow_terms_high_z = lane(&outflow_terms_high, 2, len);
    let u = &u[..len];
    for i in 0..len {
        let mut outflow = 0.0;
        outflow -= outflow_terms_low_x[i];
        outflow += outflow_terms_high_x[i];
        if DIM > 1 {
            outflow -= outflow_terms_low_y[i];
            outflow += outflow_terms_high_y[i];
        }
        if DIM > 2 {
            outflow -= outflow_terms_low_z[i];
            outflow += outflow_terms_high_z[i];
        }
        u_2[i] = u[i] - dt / grid.volume * outflow;
    }
}

/// Terms of [`Kernels::compute_u`] on faces that x crosses, each between a first and a second cell.
#[inline(never)]
fn compute_u_faces_x(
    outflow_2: &mut [f64],
    itrans: [f64; 3],
    u_second: &[f64],
    u_first: &[f64],
) {
    let len = outflow_2.len();
    let u_second = &u_second[..len];
    let u_first = &u_first[..len];
    for i in 0..len {
        outflow_2[i] = -itrans[0] * (u_second[i] - u_first[i]);
    }
}

/// Terms of [`Kernels::compute_u`] on faces that y crosses, each between a first and a second cell.
#[inline(never)]
fn compute_u_faces_y(
    outflow_2: &mut [f64],
    itrans: [f64; 3],
    u_second: &[f64],
    u_first: &[f64],
) {
    let len = outflow_2.len();
    let u_second = &u_second[..len];
    let u_first = &u_first[..len];
    for i in 0..len {
        outflow_2[i] = -itrans[1] * (u_second[i] - u_first[i]);
    }
}

/// Terms of [`Kernels::compute_u`] on faces that z crosses, each between a first and a second cell.
#[inline(never)]
fn compute_u_faces_z(
    outflow_2: &mut [f64],
    itrans: [f64; 3],
    u_second: &[f64],
    u_first: &[f64],
) {
    let len = outflow_2.len();
    let u_second = &u_second[..len];
    let u_first = &u_first[..len];
    for i in 0..len {
        outflow_2[i] = -itrans[2] * (u_second[i] - u_first[i]);
    }
}

/// [`Kernels::compute_u`] for a cell whose sides are interior but for those along the row of which `row_ends` has the terms, low and high.
#[inline(always)]
fn compute_u_cell<const DIM: usize>(
    row_ends: [Option<[f64; 1]>; 2],
    itrans: [f64; 3],
    u: f64,
    u_low: [f64; DIM],
    u_high: [f64; DIM],
    dt: f64,
    grid: &CartesianGrid,
) -> f64 {
    let mut outflow = 0.0;
    let [outflow_low] = row_ends[0].unwrap_or_else(|| [-itrans[0] * (u - u_low[0])]);
    outflow -= outflow_low;
    let [outflow_high] = row_ends[1].unwrap_or_else(|| [-itrans[0] * (u_high[0] - u)]);
    outflow += outflow_high;
    if DIM > 1 {
        outflow -= -itrans[1] * (u - u_low[1]);
        outflow += -itrans[1] * (u_high[1] - u);
    }
    if DIM > 2 {
        outflow -= -itrans[2] * (u - u_low[2]);
        outflow += -itrans[2] * (u_high[2] - u);
    }
    u - dt / grid.volume * outflow
}

/// [`Kernels::compute_u`] for rows inside the grid, as if they were one row: values at their ends are to be made again.
#[inline(never)]
fn compute_u_inside<const DIM: usize>(
    u_2: &mut [f64],
    itrans: [f64; 3],
    u: &[f64],
    u_low: [&[f64]; DIM],
    u_high: [&[f64]; DIM],
    dt: f64,
    grid: &CartesianGrid,
) {
    let len = u_2.len();
    let u = &u[..len];
    let u_low = u_low.map(|side| &side[..len]);
    let u_high = u_high.map(|side| &side[..len]);
    for i in 0..len {
        u_2[i] = compute_u_cell::<
            DIM,
        >(
            [None; 2],
            itrans,
            u[i],
            u_low.map(|side| side[i]),
            u_high.map(|side| side[i]),
            dt,
            grid,
        );
    }
}

/// [`Kernels::compute_u`] on any grid.
fn compute_u_general<G: Entities>(
    rt: &mut SerialRuntime,
    args: &ComputeU<'_, SerialRuntime>,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let interior_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let interior_faces_ranks = grid.canonical_ranks(&interior_faces);
    let itrans = rt.dense(args.itrans);
    let itrans = &itrans[..];
    let u = rt.dense(args.u);
    let u = &u[..];
    let dirichlet_boundary_ranks = grid.ranks(args.dirichlet_boundary);
    let btrans = rt.dense(args.btrans);
    let btrans = &btrans[..];
    let dirichlet_val = rt.dense(args.dirichlet_val);
    let dirichlet_val = &dirichlet_val[..];
    let dt = *args.dt;
    let domain = &all_cells;
    let mut u_2 = rt.take_buffer(domain.len());
    rt.each(
        domain.len(),
        &mut u_2[..],
        move |range, u_2_values| {
            for position in range.clone() {
                let here = position as u32;
                let mut outflow = 0.0;
                let u_here = u[position];
                let cell = here;
                for (f, neighbour, outward) in grid.sides_of(cell) {
                    if neighbour != NONE {
                        outflow
                            += -itrans[interior_faces_ranks.of(f)]
                                * (u[neighbour as usize] - u_here);
                    } else {
                        if outward {
                            let boundary_flux = if dirichlet_boundary_ranks.contains(f) {
                                let inside = if cell == NONE { neighbour } else { cell };
                                let sign: f64 = if cell == NONE { -1.0 } else { 1.0 };
                                btrans[dirichlet_boundary_ranks.of(f)]
                                    * (sign
                                        * (u[inside as usize]
                                            - dirichlet_val[dirichlet_boundary_ranks.of(f)]))
                            } else {
                                0.0
                            };
                            let flux = boundary_flux;
                            outflow += flux;
                        } else {
                            let boundary_flux = if dirichlet_boundary_ranks.contains(f) {
                                let inside = if neighbour == NONE {
                                    cell
                                } else {
                                    neighbour
                                };
                                let sign: f64 = if neighbour == NONE { -1.0 } else { 1.0 };
                                btrans[dirichlet_boundary_ranks.of(f)]
                                    * (sign
                                        * (u[inside as usize]
                                            - dirichlet_val[dirichlet_boundary_ranks.of(f)]))
                            } else {
                                0.0
                            };
                            let flux = boundary_flux;
                            outflow -= flux;
                        }
                    }
                }
                u_2_values[position - range.start] = u[position]
                    - dt / grid.cell_volume(here) * outflow;
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, u_2))
}
