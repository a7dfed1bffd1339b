//! Kernels of twophase_upwind.equelle as loops.
#![allow(non_snake_case, clippy::too_many_arguments, clippy::needless_range_loop)]

use backend_serial::runtime::entities::{Arrays, Entities, Positions};
use backend_serial::runtime::kernel::{CartesianGrid, SubsetRanks, lane};
use backend_serial::runtime::sweep::{Side, Sweep, cells_in};
use backend_serial::runtime::{ScalarCollection, SerialRuntime};
use equelle_runtime::grid::NONE;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent};

use crate::kernels::{COMPUTE_RESIDUAL, ComputeResidual, Kernels};

impl Kernels for SerialRuntime {
    fn compute_residual(
        &mut self,
        args: ComputeResidual<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self.session_mut().time_kernel(&COMPUTE_RESIDUAL, "rows");
        if let Some(grid) = self.cartesian_grid() {
            return match self.grid().dim() {
                1 => compute_residual_cartesian::<1>(self, &args, &grid),
                2 => compute_residual_cartesian::<2>(self, &args, &grid),
                _ => compute_residual_cartesian::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_sides();
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
    let s = rt.dense(args.s);
    let s = &s[..];
    let s0 = rt.dense(args.s0);
    let s0 = &s0[..];
    let dt = *args.dt;
    let pore_volume = rt.dense(args.pore_volume);
    let pore_volume = &pore_volume[..];
    let flux = rt.dense(args.flux);
    let flux = &flux[..];
    let watervisc = *args.watervisc;
    let oilvisc = *args.oilvisc;
    let source_cells_ranks = SubsetRanks::new(args.source_cells);
    let source_values = rt.dense(args.source_values);
    let source_values = &source_values[..];
    let domain = &all_cells;
    let mut residual = rt.take_buffer(grid.n_cells());
    rt.each_row(
        grid,
        &COMPUTE_RESIDUAL,
        &mut residual[..],
        |range, residual_values| {
            let boundary = |_: &Side| { [0.0] };
            let mut sweep = Sweep::<f64, DIM, 0, 1>::new(grid);
            for row in sweep.strips(&range) {
                let len = row.len;
                let with_next = row.at[1] + 1 < grid.n[1];
                sweep
                    .advance(
                        &row,
                        with_next,
                        |_, []| {},
                        |faces, [], [], [term_0]| match faces.axis {
                            0 => {
                                compute_residual_faces_x(
                                    term_0,
                                    &flux[grid
                                        .interior_face(
                                            faces.at,
                                            faces.axis,
                                            faces.high,
                                        )..][..faces.len],
                                    &s[faces.first..][..faces.len],
                                    &s[faces.second..][..faces.len],
                                    watervisc,
                                    oilvisc,
                                )
                            }
                            1 => {
                                compute_residual_faces_y(
                                    term_0,
                                    &flux[grid
                                        .interior_face(
                                            faces.at,
                                            faces.axis,
                                            faces.high,
                                        )..][..faces.len],
                                    &s[faces.first..][..faces.len],
                                    &s[faces.second..][..faces.len],
                                    watervisc,
                                    oilvisc,
                                )
                            }
                            _ => {
                                compute_residual_faces_z(
                                    term_0,
                                    &flux[grid
                                        .interior_face(
                                            faces.at,
                                            faces.axis,
                                            faces.high,
                                        )..][..faces.len],
                                    &s[faces.first..][..faces.len],
                                    &s[faces.second..][..faces.len],
                                    watervisc,
                                    oilvisc,
                                )
                            }
                        },
                        &boundary,
                    );
                if with_next {
                    let around = sweep.around(&row);
                    let faces = around.faces;
                    let [between_0] = around.between;
                    compute_residual_row_and_faces_y::<
                        DIM,
                    >(
                        &mut residual_values[row.start - range.start..][..len],
                        between_0,
                        around.low[0],
                        around.high[0],
                        &flux[grid
                            .interior_face(
                                faces.at,
                                faces.axis,
                                faces.high,
                            )..][..faces.len],
                        &s[row.start..][..len],
                        &s[faces.second..][..faces.len],
                        watervisc,
                        oilvisc,
                        &s0[row.start..][..len],
                        dt,
                        &pore_volume[row.start..][..len],
                    );
                } else {
                    compute_residual_row::<
                        DIM,
                    >(
                        &mut residual_values[row.start - range.start..][..len],
                        sweep.low(0),
                        sweep.high(0),
                        &s[row.start..][..len],
                        &s0[row.start..][..len],
                        dt,
                        &pore_volume[row.start..][..len],
                    );
                }
            }
            for here in cells_in(args.source_cells, &range) {
                let at = grid.at(here);
                let mut outflow = 0.0;
                for axis in 0..DIM {
                    if at[axis] > 0 {
                        let upwind = if flux[grid.interior_face(at, axis, false)] >= 0.0
                        {
                            (here - grid.stride[axis]) as u32
                        } else {
                            here as u32
                        };
                        let water = s[upwind as usize] / watervisc;
                        let oil = (1.0 - s[upwind as usize]) / oilvisc;
                        outflow
                            -= water / (water + oil)
                                * flux[grid.interior_face(at, axis, false)];
                    }
                    if at[axis] + 1 < grid.n[axis] {
                        let upwind_high = if flux[grid.interior_face(at, axis, true)]
                            >= 0.0
                        {
                            here as u32
                        } else {
                            (here + grid.stride[axis]) as u32
                        };
                        let water_high = s[upwind_high as usize] / watervisc;
                        let oil_high = (1.0 - s[upwind_high as usize]) / oilvisc;
                        outflow
                            += water_high / (water_high + oil_high)
                                * flux[grid.interior_face(at, axis, true)];
                    }
                }
                let inflow = if source_cells_ranks.contains(here) {
                    let water_here = s[here] / watervisc;
                    let oil_here = (1.0 - s[here]) / oilvisc;
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
                residual_values[here - range.start] = s[here] - s0[here]
                    + dt / pore_volume[here] * (outflow - inflow);
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, residual))
}

/// [`Kernels::compute_residual`] for a row of cells, from the terms of their faces.
#[inline(never)]
fn compute_residual_row<const DIM: usize>(
    residual: &mut [f64],
    outflow_terms_low: [&[f64]; DIM],
    outflow_terms_high: [&[f64]; DIM],
    s: &[f64],
    s0: &[f64],
    dt: f64,
    pore_volume: &[f64],
) {
    let len = residual.len();
    let outflow_terms_low_x = lane(&outflow_terms_low, 0, len);
    let outflow_terms_low_y = lane(&outflow_terms_low, 1, len);
    let outflow_terms_low_z = lane(&outflow_terms_low, 2, len);
    let outflow_terms_high_x = lane(&outflow_terms_high, 0, len);
    let outflow_terms_high_y = lane(&outflow_terms_high, 1, len);
    let outflow_terms_high_z = lane(&outflow_terms_high, 2, len);
    let s = &s[..len];
    let s0 = &s0[..len];
    let pore_volume = &pore_volume[..len];
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
        residual[i] = s[i] - s0[i] + dt / pore_volume[i] * (outflow - 0.0);
    }
}

/// [`Kernels::compute_residual`] for a row of cells, with the terms of the faces between it and the next row.
#[inline(never)]
fn compute_residual_row_and_faces_y<const DIM: usize>(
    residual: &mut [f64],
    outflow_between: &mut [f64],
    outflow_terms_low: [&[f64]; DIM],
    outflow_terms_high: [&[f64]; DIM],
    flux_face: &[f64],
    s: &[f64],
    s_second: &[f64],
    watervisc: f64,
    oilvisc: f64,
    s0: &[f64],
    dt: f64,
    pore_volume: &[f64],
) {
    let len = residual.len();
    let outflow_between = &mut outflow_between[..len];
    let outflow_terms_low_x = lane(&outflow_terms_low, 0, len);
    let outflow_terms_low_z = lane(&outflow_terms_low, 2, len);
    let outflow_terms_high_x = lane(&outflow_terms_high, 0, len);
    let outflow_terms_high_z = lane(&outflow_terms_high, 2, len);
    let flux_face = &flux_face[..len];
    let s = &s[..len];
    let s_second = &s_second[..len];
    let s0 = &s0[..len];
    let pore_volume = &pore_volume[..len];
    for i in 0..len {
        let value_2 = flux_face[i] >= 0.0;
        let value_3 = if value_2 { s[i] } else { s_second[i] };
        let water = value_3 / watervisc;
        let outflow_above = water / (water + (1.0 - value_3) / oilvisc) * flux_face[i];
        let mut outflow = 0.0;
        outflow -= outflow_terms_low_x[i];
        outflow += outflow_terms_high_x[i];
        outflow -= outflow_between[i];
        outflow += outflow_above;
        if DIM > 2 {
            outflow -= outflow_terms_low_z[i];
            outflow += outflow_terms_high_z[i];
        }
        outflow_between[i] = outflow_above;
        residual[i] = s[i] - s0[i] + dt / pore_volume[i] * (outflow - 0.0);
    }
}

/// Terms of [`Kernels::compute_residual`] on faces that x crosses, each between a first and a second cell.
#[inline(never)]
fn compute_residual_faces_x(
    outflow_2: &mut [f64],
    flux_face: &[f64],
    s_first: &[f64],
    s_second: &[f64],
    watervisc: f64,
    oilvisc: f64,
) {
    let len = outflow_2.len();
    let flux_face = &flux_face[..len];
    let s_first = &s_first[..len];
    let s_second = &s_second[..len];
    for i in 0..len {
        let value_2 = flux_face[i] >= 0.0;
        let value_3 = if value_2 { s_first[i] } else { s_second[i] };
        let water = value_3 / watervisc;
        outflow_2[i] = water / (water + (1.0 - value_3) / oilvisc) * flux_face[i];
    }
}

/// Terms of [`Kernels::compute_residual`] on faces that y crosses, each between a first and a second cell.
#[inline(never)]
fn compute_residual_faces_y(
    outflow_2: &mut [f64],
    flux_face: &[f64],
    s_first: &[f64],
    s_second: &[f64],
    watervisc: f64,
    oilvisc: f64,
) {
    let len = outflow_2.len();
    let flux_face = &flux_face[..len];
    let s_first = &s_first[..len];
    let s_second = &s_second[..len];
    for i in 0..len {
        let value_2 = flux_face[i] >= 0.0;
        let value_3 = if value_2 { s_first[i] } else { s_second[i] };
        let water = value_3 / watervisc;
        outflow_2[i] = water / (water + (1.0 - value_3) / oilvisc) * flux_face[i];
    }
}

/// Terms of [`Kernels::compute_residual`] on faces that z crosses, each between a first and a second cell.
#[inline(never)]
fn compute_residual_faces_z(
    outflow_2: &mut [f64],
    flux_face: &[f64],
    s_first: &[f64],
    s_second: &[f64],
    watervisc: f64,
    oilvisc: f64,
) {
    let len = outflow_2.len();
    let flux_face = &flux_face[..len];
    let s_first = &s_first[..len];
    let s_second = &s_second[..len];
    for i in 0..len {
        let value_2 = flux_face[i] >= 0.0;
        let value_3 = if value_2 { s_first[i] } else { s_second[i] };
        let water = value_3 / watervisc;
        outflow_2[i] = water / (water + (1.0 - value_3) / oilvisc) * flux_face[i];
    }
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
        move |range, residual_values| {
            for position in range.clone() {
                let here = position as u32;
                let mut outflow = 0.0;
                let cell = here;
                for (f, neighbour, outward) in grid.sides_of(cell) {
                    if neighbour != NONE {
                        if outward {
                            let upwind = if flux[interior_faces_ranks.of(f)] >= 0.0 {
                                cell
                            } else {
                                neighbour
                            };
                            let water = s[upwind as usize] / watervisc;
                            let oil = (1.0 - s[upwind as usize]) / oilvisc;
                            outflow
                                += water / (water + oil) * flux[interior_faces_ranks.of(f)];
                        } else {
                            let upwind = if flux[interior_faces_ranks.of(f)] >= 0.0 {
                                neighbour
                            } else {
                                cell
                            };
                            let water = s[upwind as usize] / watervisc;
                            let oil = (1.0 - s[upwind as usize]) / oilvisc;
                            outflow
                                -= water / (water + oil) * flux[interior_faces_ranks.of(f)];
                        }
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
