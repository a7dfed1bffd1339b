//! Kernels of cells_wells.equelle as loops.
#![allow(non_snake_case, clippy::too_many_arguments, clippy::needless_range_loop)]

use backend_serial::runtime::entities::{Arrays, Entities, Places, Positions};
use backend_serial::runtime::kernel::{
    CartesianGrid, SubsetRanks, lane, length, vector_sub,
};
use backend_serial::runtime::sweep::{FaceRun, Side, Sweep, cells_in};
use backend_serial::runtime::{ScalarCollection, SerialRuntime};
use equelle_runtime::grid::NONE;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent};

use crate::kernels::{
    COMPUTE_ITRANS, ComputeItrans, Kernels, RESIDUAL_OF_CELLS, RESIDUAL_OF_WELLS,
    ResidualOfCells, ResidualOfWells,
};

impl Kernels for SerialRuntime {
    fn residual_of_cells(
        &mut self,
        args: ResidualOfCells<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self.session_mut().time_kernel(&RESIDUAL_OF_CELLS, "rows");
        if let Some(grid) = self.closed_grid() && args.itrans.per_axis().is_some() {
            return match self.grid().dim() {
                1 => residual_of_cells_cartesian::<1>(self, &args, &grid),
                2 => residual_of_cells_cartesian::<2>(self, &args, &grid),
                _ => residual_of_cells_cartesian::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_sides().with_geometry();
        residual_of_cells_general(self, &args, &grid)
    }

    fn residual_of_wells(
        &mut self,
        args: ResidualOfWells<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self
            .session()
            .time_kernel_over(&RESIDUAL_OF_WELLS, "list", args.wells.len());
        residual_of_wells_general(self, &args)
    }

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
}

/// [`Kernels::residual_of_cells`] on a Cartesian grid.
fn residual_of_cells_cartesian<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &ResidualOfCells<'_, SerialRuntime>,
    grid: &CartesianGrid,
) -> Result<ScalarCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let dt = *args.dt;
    let compressibility = *args.compressibility;
    let p = rt.dense(args.p);
    let p = &p[..];
    let p0 = rt.dense(args.p0);
    let p0 = &p0[..];
    let wells_ranks = SubsetRanks::new(args.wells);
    let index = rt.dense(args.index);
    let index = &index[..];
    let bhp = rt.dense(args.bhp);
    let bhp = &bhp[..];
    let itrans = args.itrans.per_axis().unwrap_or([f64::NAN; 3]);
    let domain = &all_cells;
    let mut residual = rt.take_buffer(grid.n_cells());
    rt.each_row(
        grid,
        &RESIDUAL_OF_CELLS,
        &mut residual[..],
        |range, residual_values| {
            let boundary = |_: &Side| { [0.0] };
            let faces = |
                faces: &FaceRun,
                []: [&[f64]; 0],
                []: [&[f64]; 0],
                [term_0,
                ]: [&mut [f64]; 1]|
            match faces.axis {
                0 => {
                    residual_of_cells_faces_x(
                        term_0,
                        itrans,
                        &p[faces.second..][..faces.len],
                        &p[faces.first..][..faces.len],
                    )
                }
                1 => {
                    residual_of_cells_faces_y(
                        term_0,
                        itrans,
                        &p[faces.second..][..faces.len],
                        &p[faces.first..][..faces.len],
                    )
                }
                _ => {
                    residual_of_cells_faces_z(
                        term_0,
                        itrans,
                        &p[faces.second..][..faces.len],
                        &p[faces.first..][..faces.len],
                    )
                }
            };
            let mut sweep = Sweep::<f64, DIM, 0, 1>::new(grid);
            for row in sweep.blocks(&range) {
                let len = row.len;
                if row.inside {
                    residual_of_cells_inside::<
                        DIM,
                    >(
                        &mut residual_values[row.start - range.start..][..len],
                        itrans,
                        &p[row.start..][..len],
                        std::array::from_fn(|axis| {
                            &p[row.start - grid.stride[axis]..][..len]
                        }),
                        std::array::from_fn(|axis| {
                            &p[row.start + grid.stride[axis]..][..len]
                        }),
                        grid,
                        dt,
                        compressibility,
                        &p0[row.start..][..len],
                    );
                    sweep
                        .each_end(
                            &row,
                            &faces,
                            &boundary,
                            |side: &Side, terms| {
                                residual_values[side.cell - range.start] = residual_of_cells_cell::<
                                    DIM,
                                >(
                                    terms,
                                    itrans,
                                    p[side.cell],
                                    std::array::from_fn(|axis| {
                                        p[side.cell - grid.stride[axis]]
                                    }),
                                    std::array::from_fn(|axis| {
                                        p[side.cell + grid.stride[axis]]
                                    }),
                                    grid,
                                    dt,
                                    compressibility,
                                    p0[side.cell],
                                );
                            },
                        );
                } else {
                    sweep.advance(&row, false, |_, []| {}, &faces, &boundary);
                    residual_of_cells_row::<
                        DIM,
                    >(
                        &mut residual_values[row.start - range.start..][..len],
                        sweep.low(0),
                        sweep.high(0),
                        grid,
                        dt,
                        compressibility,
                        &p[row.start..][..len],
                        &p0[row.start..][..len],
                    );
                }
            }
            for here in cells_in(args.wells, &range) {
                let at = grid.at(here);
                let mut outflow = 0.0;
                for axis in 0..DIM {
                    if !grid.is_boundary_side(at, axis, false) {
                        outflow
                            -= -itrans[axis]
                                * (p[here] - p[grid.beside(here, at, axis, false)]);
                    }
                    if !grid.is_boundary_side(at, axis, true) {
                        outflow
                            += -itrans[axis]
                                * (p[grid.beside(here, at, axis, true)] - p[here]);
                    }
                }
                let taken = if wells_ranks.contains(here) {
                    index[wells_ranks.of(here)] * (p[here] - bhp[wells_ranks.of(here)])
                } else {
                    0.0
                };
                residual_values[here - range.start] = grid.volume / dt * compressibility
                    * (p[here] - p0[here]) + outflow + taken;
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, residual))
}

/// [`Kernels::residual_of_cells`] for a row of cells, from the terms of their faces.
#[inline(never)]
fn residual_of_cells_row<const DIM: usize>(
    residual: &mut [f64],
    outflow_terms_low: [&[f64]; DIM],
    outflow_terms_high: [&[f64]; DIM],
    grid: &CartesianGrid,
    dt: f64,
    compressibility: f64,
    p: &[f64],
    p0: &[f64],
) {
    let len = residual.len();
    let outflow_terms_low_x = lane(&outflow_terms_low, 0, len);
    let outflow_terms_low_y = lane(&outflow_terms_low, 1, len);
    let outflow_terms_low_z = lane(&outflow_terms_low, 2, len);
    let outflow_terms_high_x = lane(&outflow_terms_high, 0, len);
    let outflow_terms_high_y = lane(&outflow_terms_high, 1, len);
    let outflow_terms_high_z = lane(&outflow_terms_high, 2, len);
    let p = &p[..len];
    let p0 = &p0[..len];
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
        residual[i] = grid.volume / dt * compressibility * (p[i] - p0[i]) + outflow
            + 0.0;
    }
}

/// Terms of [`Kernels::residual_of_cells`] on faces that x crosses, each between a first and a second cell.
#[inline(never)]
fn residual_of_cells_faces_x(
    outflow_2: &mut [f64],
    itrans: [f64; 3],
    p_second: &[f64],
    p_first: &[f64],
) {
    let len = outflow_2.len();
    let p_second = &p_second[..len];
    let p_first = &p_first[..len];
    for i in 0..len {
        outflow_2[i] = -itrans[0] * (p_second[i] - p_first[i]);
    }
}

/// Terms of [`Kernels::residual_of_cells`] on faces that y crosses, each between a first and a second cell.
#[inline(never)]
fn residual_of_cells_faces_y(
    outflow_2: &mut [f64],
    itrans: [f64; 3],
    p_second: &[f64],
    p_first: &[f64],
) {
    let len = outflow_2.len();
    let p_second = &p_second[..len];
    let p_first = &p_first[..len];
    for i in 0..len {
        outflow_2[i] = -itrans[1] * (p_second[i] - p_first[i]);
    }
}

/// Terms of [`Kernels::residual_of_cells`] on faces that z crosses, each between a first and a second cell.
#[inline(never)]
fn residual_of_cells_faces_z(
    outflow_2: &mut [f64],
    itrans: [f64; 3],
    p_second: &[f64],
    p_first: &[f64],
) {
    let len = outflow_2.len();
    let p_second = &p_second[..len];
    let p_first = &p_first[..len];
    for i in 0..len {
        outflow_2[i] = -itrans[2] * (p_second[i] - p_first[i]);
    }
}

/// [`Kernels::residual_of_cells`] for a cell whose sides are interior but for those along the row of which `row_ends` has the terms, low and high.
#[inline(always)]
fn residual_of_cells_cell<const DIM: usize>(
    row_ends: [Option<[f64; 1]>; 2],
    itrans: [f64; 3],
    p: f64,
    p_low: [f64; DIM],
    p_high: [f64; DIM],
    grid: &CartesianGrid,
    dt: f64,
    compressibility: f64,
    p0: f64,
) -> f64 {
    let mut outflow = 0.0;
    let [outflow_low] = row_ends[0].unwrap_or_else(|| [-itrans[0] * (p - p_low[0])]);
    outflow -= outflow_low;
    let [outflow_high] = row_ends[1].unwrap_or_else(|| [-itrans[0] * (p_high[0] - p)]);
    outflow += outflow_high;
    if DIM > 1 {
        outflow -= -itrans[1] * (p - p_low[1]);
        outflow += -itrans[1] * (p_high[1] - p);
    }
    if DIM > 2 {
        outflow -= -itrans[2] * (p - p_low[2]);
        outflow += -itrans[2] * (p_high[2] - p);
    }
    grid.volume / dt * compressibility * (p - p0) + outflow + 0.0
}

/// [`Kernels::residual_of_cells`] for rows inside the grid, as if they were one row: values at their ends are to be made again.
#[inline(never)]
fn residual_of_cells_inside<const DIM: usize>(
    residual: &mut [f64],
    itrans: [f64; 3],
    p: &[f64],
    p_low: [&[f64]; DIM],
    p_high: [&[f64]; DIM],
    grid: &CartesianGrid,
    dt: f64,
    compressibility: f64,
    p0: &[f64],
) {
    let len = residual.len();
    let p = &p[..len];
    let p_low = p_low.map(|side| &side[..len]);
    let p_high = p_high.map(|side| &side[..len]);
    let p0 = &p0[..len];
    for i in 0..len {
        residual[i] = residual_of_cells_cell::<
            DIM,
        >(
            [None; 2],
            itrans,
            p[i],
            p_low.map(|side| side[i]),
            p_high.map(|side| side[i]),
            grid,
            dt,
            compressibility,
            p0[i],
        );
    }
}

/// [`Kernels::residual_of_cells`] on any grid.
fn residual_of_cells_general<G: Entities>(
    rt: &mut SerialRuntime,
    args: &ResidualOfCells<'_, SerialRuntime>,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let interior_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let interior_faces_ranks = grid.canonical_ranks(&interior_faces);
    let itrans = rt.dense(args.itrans);
    let itrans = &itrans[..];
    let p = rt.dense(args.p);
    let p = &p[..];
    let wells_ranks = grid.ranks(args.wells);
    let index = rt.dense(args.index);
    let index = &index[..];
    let bhp = rt.dense(args.bhp);
    let bhp = &bhp[..];
    let dt = *args.dt;
    let compressibility = *args.compressibility;
    let p0 = rt.dense(args.p0);
    let p0 = &p0[..];
    let domain = &all_cells;
    let mut residual = rt.take_buffer(domain.len());
    rt.each(
        domain.len(),
        &mut residual[..],
        move |range, residual_values| {
            for position in range.clone() {
                let here = position as u32;
                let mut outflow = 0.0;
                let p_here = p[position];
                let cell = here;
                for (f, neighbour, _) in grid.sides_of(cell) {
                    if neighbour != NONE {
                        outflow
                            += -itrans[interior_faces_ranks.of(f)]
                                * (p[neighbour as usize] - p_here);
                    }
                }
                let taken = if wells_ranks.contains(here) {
                    index[wells_ranks.of(here)]
                        * (p[position] - bhp[wells_ranks.of(here)])
                } else {
                    0.0
                };
                residual_values[position - range.start] = grid.cell_volume(here) / dt
                    * compressibility * (p[position] - p0[position]) + outflow + taken;
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, residual))
}

/// [`Kernels::residual_of_wells`] on any grid.
fn residual_of_wells_general(
    rt: &mut SerialRuntime,
    args: &ResidualOfWells<'_, SerialRuntime>,
) -> Result<ScalarCollection, Error> {
    let index = rt.dense(args.index);
    let index = &index[..];
    let p = rt.dense(args.p);
    let p = &p[..];
    let bhp = rt.dense(args.bhp);
    let bhp = &bhp[..];
    let rate = rt.dense(args.rate);
    let rate = &rate[..];
    let domain = args.wells;
    let mut residual = rt.take_buffer(domain.len());
    let elements = domain.elements();
    rt.each(
        domain.len(),
        &mut residual[..],
        move |range, residual_values| {
            let len = range.len();
            let bhp = &bhp[range.start..][..len];
            let index = &index[range.start..][..len];
            let rate = &rate[range.start..][..len];
            let residual_values = &mut residual_values[..len];
            let elements = &elements[range.start..][..len];
            for i in 0..len {
                let here = elements[i];
                residual_values[i] = index[i] * (p[here as usize] - bhp[i]) - rate[i];
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, residual))
}

/// [`Kernels::compute_itrans`] on a Cartesian grid.
fn compute_itrans_per_axis<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &ComputeItrans<'_, SerialRuntime>,
    grid: &CartesianGrid,
) -> Result<ScalarCollection, Error> {
    let interior_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let mobility = *args.mobility;
    let domain = &interior_faces;
    let mut itrans = [0.0; 3];
    for axis in 0..DIM {
        itrans[axis] = mobility
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
    let mobility = *args.mobility;
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
                itrans_values[i] = mobility
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
