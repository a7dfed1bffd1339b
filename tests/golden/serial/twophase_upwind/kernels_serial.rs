//! Kernels of twophase_upwind.equelle as loops.
#![allow(non_snake_case, clippy::too_many_arguments, clippy::needless_range_loop)]

use backend_serial::runtime::entities::{Arrays, Entities, Positions};
use backend_serial::runtime::kernel::{CartesianGrid, SubsetRanks};
use backend_serial::runtime::{ScalarCollection, SerialRuntime};
use equelle_runtime::grid::NONE;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent};

use crate::kernels::{ComputeResidual, Kernels};

impl Kernels for SerialRuntime {
    fn compute_residual(
        &mut self,
        args: ComputeResidual<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        if let Some(grid) = self.cartesian_grid() {
            return match self.grid().dim() {
                1 => compute_residual_cartesian::<1>(self, &args, &grid),
                2 => compute_residual_cartesian::<2>(self, &args, &grid),
                _ => compute_residual_cartesian::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_topology();
        compute_residual_general(self, &args, &grid)
    }
}

/// [`Kernels::compute_residual`] on a Cartesian grid.
fn compute_residual_cartesian<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &ComputeResidual<'_, SerialRuntime>,
    grid: &CartesianGrid,
) -> Result<ScalarCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let flux = rt.dense(args.flux);
    let flux = &flux[..];
    let s = rt.dense(args.s);
    let s = &s[..];
    let watervisc = *args.watervisc;
    let oilvisc = *args.oilvisc;
    let source_cells_ranks = SubsetRanks::new(args.source_cells);
    let source_values = rt.dense(args.source_values);
    let source_values = &source_values[..];
    let s0 = rt.dense(args.s0);
    let s0 = &s0[..];
    let dt = *args.dt;
    let pore_volume = rt.dense(args.pore_volume);
    let pore_volume = &pore_volume[..];
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
                                -= compute_residual_outflow_low(
                                    flux[grid.interior_face(at, axis, false)],
                                    s[here - grid.stride[axis]],
                                    s[here],
                                    watervisc,
                                    oilvisc,
                                );
                        }
                        if at[axis] + 1 < grid.n[axis] {
                            outflow
                                += compute_residual_outflow_high(
                                    flux[grid.interior_face(at, axis, true)],
                                    s[here],
                                    s[here + grid.stride[axis]],
                                    watervisc,
                                    oilvisc,
                                );
                        }
                    }
                    let inflow = if source_cells_ranks.contains(here) {
                        let water_here = s[here] / watervisc;
                        let oil_here = (1.0 - s[here]) / oilvisc;
                        let injected = if source_values[source_cells_ranks.of(here)]
                            > 0.0
                        {
                            source_values[source_cells_ranks.of(here)]
                        } else {
                            0.0
                        };
                        let produced = if source_values[source_cells_ranks.of(here)]
                            < 0.0
                        {
                            source_values[source_cells_ranks.of(here)]
                        } else {
                            0.0
                        };
                        injected + produced * (water_here / (water_here + oil_here))
                    } else {
                        0.0
                    };
                    residual_values[here - range.start] = s[here] - s0[here]
                        + dt / pore_volume[here] * (outflow - inflow);
                }
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, residual))
}

/// Term of the low side of a cell where there is a cell beyond; the caller subtracts it.
#[inline(always)]
fn compute_residual_outflow_low(
    flux_low: f64,
    s_low: f64,
    s: f64,
    watervisc: f64,
    oilvisc: f64,
) -> f64 {
    let upwind = flux_low >= 0.0;
    let water = (if upwind { s_low } else { s }) / watervisc;
    let oil = (1.0 - (if upwind { s_low } else { s })) / oilvisc;
    water / (water + oil) * flux_low
}

/// Term of the high side of a cell where there is a cell beyond; the caller adds it.
#[inline(always)]
fn compute_residual_outflow_high(
    flux_high: f64,
    s: f64,
    s_high: f64,
    watervisc: f64,
    oilvisc: f64,
) -> f64 {
    let upwind_high = flux_high >= 0.0;
    let water_high = (if upwind_high { s } else { s_high }) / watervisc;
    let oil_high = (1.0 - (if upwind_high { s } else { s_high })) / oilvisc;
    water_high / (water_high + oil_high) * flux_high
}

/// [`Kernels::compute_residual`] on any grid.
fn compute_residual_general<G: Entities>(
    rt: &mut SerialRuntime,
    args: &ComputeResidual<'_, SerialRuntime>,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let interior_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let interior_faces_ranks = grid.canonical_ranks(&interior_faces);
    let flux = rt.dense(args.flux);
    let flux = &flux[..];
    let s = rt.dense(args.s);
    let s = &s[..];
    let watervisc = *args.watervisc;
    let oilvisc = *args.oilvisc;
    let source_cells_ranks = grid.ranks(args.source_cells);
    let source_values = rt.dense(args.source_values);
    let source_values = &source_values[..];
    let s0 = rt.dense(args.s0);
    let s0 = &s0[..];
    let dt = *args.dt;
    let pore_volume = rt.dense(args.pore_volume);
    let pore_volume = &pore_volume[..];
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
                        let upwind = if flux[interior_faces_ranks.of(f)] >= 0.0 {
                            cell
                        } else {
                            to
                        };
                        let water = s[upwind as usize] / watervisc;
                        let oil = (1.0 - s[upwind as usize]) / oilvisc;
                        outflow
                            += water / (water + oil) * flux[interior_faces_ranks.of(f)];
                    } else {
                        let upwind = if flux[interior_faces_ranks.of(f)] >= 0.0 {
                            from
                        } else {
                            cell
                        };
                        let water = s[upwind as usize] / watervisc;
                        let oil = (1.0 - s[upwind as usize]) / oilvisc;
                        outflow
                            -= water / (water + oil) * flux[interior_faces_ranks.of(f)];
                    }
                }
                let inflow = if source_cells_ranks.contains(here) {
                    let water_here = s[position] / watervisc;
                    let oil_here = (1.0 - s[position]) / oilvisc;
                    let injected = if source_values[source_cells_ranks.of(here)] > 0.0 {
                        source_values[source_cells_ranks.of(here)]
                    } else {
                        0.0
                    };
                    let produced = if source_values[source_cells_ranks.of(here)] < 0.0 {
                        source_values[source_cells_ranks.of(here)]
                    } else {
                        0.0
                    };
                    injected + produced * (water_here / (water_here + oil_here))
                } else {
                    0.0
                };
                residual_values[position - range.start] = s[position] - s0[position]
                    + dt / pore_volume[position] * (outflow - inflow);
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, residual))
}
