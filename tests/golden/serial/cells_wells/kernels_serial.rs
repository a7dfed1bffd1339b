//! Kernels of cells_wells.equelle as loops.
#![allow(non_snake_case, clippy::too_many_arguments, clippy::needless_range_loop)]

use backend_serial::runtime::entities::{Arrays, Entities, Places, Positions};
use backend_serial::runtime::kernel::{CartesianGrid, SubsetRanks, length, vector_sub};
use backend_serial::runtime::{ScalarCollection, SerialRuntime};
use equelle_runtime::grid::NONE;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent};

use crate::kernels::{ComputeItrans, Kernels, ResidualOfCells, ResidualOfWells};

impl Kernels for SerialRuntime {
    fn residual_of_cells(
        &mut self,
        args: ResidualOfCells<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        if let Some(grid) = self.cartesian_grid() && args.itrans.per_axis().is_some() {
            return match self.grid().dim() {
                1 => residual_of_cells_cartesian::<1>(self, &args, &grid),
                2 => residual_of_cells_cartesian::<2>(self, &args, &grid),
                _ => residual_of_cells_cartesian::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_topology().with_geometry();
        residual_of_cells_general(self, &args, &grid)
    }

    fn residual_of_wells(
        &mut self,
        args: ResidualOfWells<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        residual_of_wells_general(self, &args)
    }

    fn compute_itrans(
        &mut self,
        args: ComputeItrans<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        if let Some(grid) = self.cartesian_grid() {
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
    let itrans = args.itrans.per_axis().unwrap_or([f64::NAN; 3]);
    let p = rt.dense(args.p);
    let p = &p[..];
    let wells_ranks = SubsetRanks::new(args.wells);
    let index = rt.dense(args.index);
    let index = &index[..];
    let bhp = rt.dense(args.bhp);
    let bhp = &bhp[..];
    let dt = *args.dt;
    let compressibility = *args.compressibility;
    let p0 = rt.dense(args.p0);
    let p0 = &p0[..];
    let domain = &all_cells;
    let mut residual = rt.take_buffer(grid.n_cells());
    rt.each_row(
        grid,
        &mut residual[..],
        |range, residual_values| {
            for row in grid.rows_in(&range) {
                for i in 0..grid.n[0] {
                    let here = row.start + i;
                    let at = [i, row.j, row.k];
                    let mut outflow = 0.0;
                    for axis in 0..DIM {
                        if at[axis] > 0 {
                            outflow
                                -= residual_of_cells_outflow_low(
                                    itrans[axis],
                                    p[here],
                                    p[here - grid.stride[axis]],
                                );
                        }
                        if at[axis] + 1 < grid.n[axis] {
                            outflow
                                += residual_of_cells_outflow_high(
                                    itrans[axis],
                                    p[here + grid.stride[axis]],
                                    p[here],
                                );
                        }
                    }
                    let taken = if wells_ranks.contains(here) {
                        index[wells_ranks.of(here)]
                            * (p[here] - bhp[wells_ranks.of(here)])
                    } else {
                        0.0
                    };
                    residual_values[here - range.start] = grid.volume / dt
                        * compressibility * (p[here] - p0[here]) + outflow + taken;
                }
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, residual))
}

/// Term of the low side of a cell where there is a cell beyond; the caller subtracts it.
#[inline(always)]
fn residual_of_cells_outflow_low(itrans: f64, p: f64, p_low: f64) -> f64 {
    -itrans * (p - p_low)
}

/// Term of the high side of a cell where there is a cell beyond; the caller adds it.
#[inline(always)]
fn residual_of_cells_outflow_high(itrans: f64, p_high: f64, p: f64) -> f64 {
    -itrans * (p_high - p)
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
        |range, residual_values| {
            for position in range.clone() {
                let here = position as u32;
                let mut outflow = 0.0;
                let cell = here;
                for f in grid.faces_of(cell) {
                    let [from, to] = grid.face_cells(f);
                    if from == NONE || to == NONE {
                        continue;
                    }
                    if from == cell {
                        outflow
                            += -itrans[interior_faces_ranks.of(f)]
                                * (p[to as usize] - p[position]);
                    } else {
                        outflow
                            -= -itrans[interior_faces_ranks.of(f)]
                                * (p[position] - p[from as usize]);
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
        |range, residual_values| {
            for position in range.clone() {
                let here = elements[position];
                residual_values[position - range.start] = index[position]
                    * (p[here as usize] - bhp[position]) - rate[position];
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
        |range, itrans_values| {
            for position in range.clone() {
                let here = elements[position];
                itrans_values[position - range.start] = mobility
                    * (grid.face_area(here)
                        / length(
                            vector_sub(
                                grid.cell_centroid(grid.first_cell(here)),
                                grid.cell_centroid(grid.second_cell(here)),
                            ),
                        ));
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, itrans))
}
