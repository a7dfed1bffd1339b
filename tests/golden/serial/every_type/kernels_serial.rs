//! Kernels of every_type.equelle as loops.
#![allow(non_snake_case, clippy::too_many_arguments, clippy::needless_range_loop)]

use backend_serial::runtime::entities::{Arrays, Entities, Places, Positions};
use backend_serial::runtime::kernel::{
    CartesianGrid, component, components, dot, lane, padded, vector, vector_add,
    vector_at, vector_div, vector_mul, vector_neg, vector_sub,
};
use backend_serial::runtime::stencil_rows::STRIP;
use backend_serial::runtime::{
    BoolCollection, EntityCollection, ScalarCollection, SerialRuntime, VectorCollection,
};
use equelle_runtime::grid::NONE;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent, Reduction, math};

use crate::kernels::{
    DIRECTION, Direction, EXTREMES, Extremes, FIELDS, FLUXES, Fields, Fluxes, INSIDE,
    Kernels, LIVELY, LOOKUP, Lively, Lookup, NOTHING, Nothing, RATES, Rates, SMOOTHED,
    Smoothed, WITNESS, Witness,
};

impl Kernels for SerialRuntime {
    fn direction(
        &mut self,
        args: Direction<'_, SerialRuntime>,
    ) -> Result<([f64; 3], bool, f64), Error> {
        let _timer = self.session_mut().time_kernel(&DIRECTION, "list");
        self.vector_size(2, &DIRECTION)?;
        match self.grid().dim() {
            1 => direction_general::<1>(self, &args),
            2 => direction_general::<2>(self, &args),
            _ => direction_general::<3>(self, &args),
        }
    }

    fn inside(&mut self) -> Result<EntityCollection, Error> {
        let _timer = self.session_mut().time_kernel(&INSIDE, "list");
        if let Some(grid) = self.cartesian_grid() {
            return inside_general(self, &grid);
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_topology();
        inside_general(self, &grid)
    }

    fn lively(
        &mut self,
        args: Lively<'_, SerialRuntime>,
    ) -> Result<EntityCollection, Error> {
        let _timer = self.session_mut().time_kernel(&LIVELY, "cells");
        if let Some(grid) = self.cartesian_grid() {
            return match self.grid().dim() {
                1 => lively_cartesian::<1>(self, &args, &grid),
                2 => lively_cartesian::<2>(self, &args, &grid),
                _ => lively_cartesian::<3>(self, &args, &grid),
            };
        }
        lively_general(self, &args)
    }

    fn fields(
        &mut self,
        args: Fields<'_, SerialRuntime>,
    ) -> Result<(VectorCollection, ScalarCollection, BoolCollection), Error> {
        let _timer = self.session_mut().time_kernel(&FIELDS, "cells");
        self.vector_size(2, &FIELDS)?;
        if let Some(grid) = self.closed_grid() {
            return match self.grid().dim() {
                1 => fields_cartesian::<1>(self, &args, &grid),
                2 => fields_cartesian::<2>(self, &args, &grid),
                _ => fields_cartesian::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_sides().with_geometry();
        match self.grid().dim() {
            1 => fields_general::<1, _>(self, &args, &grid),
            2 => fields_general::<2, _>(self, &args, &grid),
            _ => fields_general::<3, _>(self, &args, &grid),
        }
    }

    fn smoothed(
        &mut self,
        args: Smoothed<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self.session_mut().time_kernel(&SMOOTHED, "rows");
        self.needs_dimension(2, &SMOOTHED)?;
        if let Some(grid) = self.closed_grid() {
            return match self.grid().dim() {
                1 => smoothed_cartesian::<1>(self, &args, &grid),
                2 => smoothed_cartesian::<2>(self, &args, &grid),
                _ => smoothed_cartesian::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_sides().with_geometry();
        match self.grid().dim() {
            1 => smoothed_general::<1, _>(self, &args, &grid),
            2 => smoothed_general::<2, _>(self, &args, &grid),
            _ => smoothed_general::<3, _>(self, &args, &grid),
        }
    }

    fn fluxes(
        &mut self,
        args: Fluxes<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self.session_mut().time_kernel(&FLUXES, "rows");
        self.needs_dimension(2, &FLUXES)?;
        if let Some(grid) = self.closed_grid() {
            return match self.grid().dim() {
                1 => fluxes_cartesian::<1>(self, &args, &grid),
                2 => fluxes_cartesian::<2>(self, &args, &grid),
                _ => fluxes_cartesian::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_sides().with_geometry();
        match self.grid().dim() {
            1 => fluxes_general::<1, _>(self, &args, &grid),
            2 => fluxes_general::<2, _>(self, &args, &grid),
            _ => fluxes_general::<3, _>(self, &args, &grid),
        }
    }

    fn extremes(
        &mut self,
        args: Extremes<'_, SerialRuntime>,
    ) -> Result<
        ([f64; 3], [f64; 3], [f64; 3], bool, bool, f64, VectorCollection),
        Error,
    > {
        let _timer = self.session_mut().time_kernel(&EXTREMES, "list");
        match self.grid().dim() {
            1 => extremes_general::<1>(self, &args),
            2 => extremes_general::<2>(self, &args),
            _ => extremes_general::<3>(self, &args),
        }
    }

    fn nothing(
        &mut self,
        args: Nothing<'_, SerialRuntime>,
    ) -> Result<([f64; 3], bool, bool, f64), Error> {
        let _timer = self
            .session()
            .time_kernel_over(&NOTHING, "list", args.nowhere.len());
        if let Some(grid) = self.cartesian_grid() {
            return match self.grid().dim() {
                1 => nothing_general::<1, _>(self, &args, &grid),
                2 => nothing_general::<2, _>(self, &args, &grid),
                _ => nothing_general::<3, _>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_geometry();
        match self.grid().dim() {
            1 => nothing_general::<1, _>(self, &args, &grid),
            2 => nothing_general::<2, _>(self, &args, &grid),
            _ => nothing_general::<3, _>(self, &args, &grid),
        }
    }

    fn lookup(
        &mut self,
        args: Lookup<'_, SerialRuntime>,
    ) -> Result<
        (VectorCollection, EntityCollection, VectorCollection, BoolCollection),
        Error,
    > {
        let _timer = self.session_mut().time_kernel(&LOOKUP, "list");
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid);
        match self.grid().dim() {
            1 => lookup_general::<1, _>(self, &args, &grid),
            2 => lookup_general::<2, _>(self, &args, &grid),
            _ => lookup_general::<3, _>(self, &args, &grid),
        }
    }

    fn rates(
        &mut self,
        args: Rates<'_, SerialRuntime>,
    ) -> Result<VectorCollection, Error> {
        let _timer = self.session().time_kernel_over(&RATES, "list", args.wells.len());
        match self.grid().dim() {
            1 => rates_general::<1>(self, &args),
            2 => rates_general::<2>(self, &args),
            _ => rates_general::<3>(self, &args),
        }
    }

    fn witness(
        &mut self,
        args: Witness<'_, SerialRuntime>,
    ) -> Result<(VectorCollection, BoolCollection), Error> {
        let _timer = self.session_mut().time_kernel(&WITNESS, "list");
        match self.grid().dim() {
            1 => witness_general::<1>(self, &args),
            2 => witness_general::<2>(self, &args),
            _ => witness_general::<3>(self, &args),
        }
    }
}

/// [`Kernels::direction`] on any grid.
fn direction_general<const DIM: usize>(
    _rt: &mut SerialRuntime,
    args: &Direction<'_, SerialRuntime>,
) -> Result<([f64; 3], bool, f64), Error> {
    let k = *args.k;
    Ok((
        padded(vector::<DIM>(&[2.0 * k, math::exp(k) - math::sin(0.5)])),
        k > 0.125,
        math::pow(math::max(k, 0.5), 1.5) * math::pow(2.0, k),
    ))
}

/// [`Kernels::inside`] on any grid.
fn inside_general<G: Entities>(
    rt: &mut SerialRuntime,
    grid: &G,
) -> Result<EntityCollection, Error> {
    let all_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::All))?;
    let domain = &all_faces;
    let mut cell = rt.take_entity_buffer(domain.len());
    rt.each(
        domain.len(),
        &mut cell[..],
        move |range, cell_values| {
            let len = range.len();
            let cell_values = &mut cell_values[..len];
            for i in 0..len {
                let here = (range.start + i) as u32;
                let cells_here = grid.face_cells(here);
                cell_values[i] = if cells_here[0] == NONE {
                    cells_here[1]
                } else {
                    cells_here[0]
                };
            }
        },
    );
    Ok(rt.entity_collection_from(domain, EntityKind::Cell, cell))
}

/// [`Kernels::lively`] on a Cartesian grid.
fn lively_cartesian<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &Lively<'_, SerialRuntime>,
    grid: &CartesianGrid,
) -> Result<EntityCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let u = rt.dense(args.u);
    let u = &u[..];
    let big = *args.big;
    let domain = &all_cells;
    let mut self_2 = rt.take_entity_buffer(grid.n_cells());
    rt.each_row(
        grid,
        &LIVELY,
        &mut self_2[..],
        |range, self_2_values| {
            for row in grid.rows_in(&range) {
                for i in 0..grid.n[0] {
                    let here = row.start + i;
                    self_2_values[here - range.start] = if u[here] > 0.0 && big {
                        here as u32
                    } else {
                        NONE
                    };
                }
            }
        },
    );
    Ok(rt.entity_collection_from(domain, EntityKind::Cell, self_2))
}

/// [`Kernels::lively`] on any grid.
fn lively_general(
    rt: &mut SerialRuntime,
    args: &Lively<'_, SerialRuntime>,
) -> Result<EntityCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let u = rt.dense(args.u);
    let u = &u[..];
    let big = *args.big;
    let domain = &all_cells;
    let mut self_2 = rt.take_entity_buffer(domain.len());
    rt.each(
        domain.len(),
        &mut self_2[..],
        move |range, self_2_values| {
            let len = range.len();
            let u = &u[range.start..][..len];
            let self_2_values = &mut self_2_values[..len];
            for i in 0..len {
                let here = (range.start + i) as u32;
                self_2_values[i] = if u[i] > 0.0 && big { here } else { NONE };
            }
        },
    );
    Ok(rt.entity_collection_from(domain, EntityKind::Cell, self_2))
}

/// [`Kernels::fields`] on a Cartesian grid.
fn fields_cartesian<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &Fields<'_, SerialRuntime>,
    grid: &CartesianGrid,
) -> Result<(VectorCollection, ScalarCollection, BoolCollection), Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let big = *args.big;
    let along = vector::<DIM>(args.along);
    let u = rt.dense(args.u);
    let u = &u[..];
    let growth = *args.growth;
    let domain = &all_cells;
    let mut v: [_; DIM] = std::array::from_fn(|_| rt.take_buffer(grid.n_cells()));
    let mut s = rt.take_buffer(grid.n_cells());
    let mut b = rt.take_bool_buffer(grid.n_cells());
    rt.each_row(
        grid,
        &FIELDS,
        (v.each_mut().map(|component| &mut component[..]), &mut s[..], &mut b[..]),
        |range, (mut v_values, s_values, b_values)| {
            for row in grid.rows_in(&range) {
                for i in 0..grid.n[0] {
                    let here = row.start + i;
                    let at = [i, row.j, row.k];
                    let scaled_c = if big {
                        vector_mul(along, u[here])
                    } else {
                        [0.0; DIM]
                    };
                    let mut across_c = 0.0;
                    for axis in 0..DIM {
                        if !grid.is_boundary_side(at, axis, false) {
                            across_c
                                -= fields_across_c_low::<
                                    DIM,
                                >(
                                    grid,
                                    axis,
                                    u[here],
                                    u[grid.beside(here, at, axis, false)],
                                    big,
                                    along,
                                    growth,
                                );
                        }
                        if !grid.is_boundary_side(at, axis, true) {
                            across_c
                                += fields_across_c_high::<
                                    DIM,
                                >(
                                    grid,
                                    axis,
                                    u[grid.beside(here, at, axis, true)],
                                    u[here],
                                    big,
                                    along,
                                    growth,
                                );
                        }
                    }
                    let waves_c = math::sin(u[here]) + math::cos(u[here])
                        + math::tan(u[here]);
                    let logs_c = math::log(u[here].abs() + growth);
                    for (component, value) in v_values
                        .iter_mut()
                        .zip(vector_add(scaled_c, vector::<DIM>(&[u[here], waves_c])))
                    {
                        component[here - range.start] = value;
                    }
                    s_values[here - range.start] = across_c + waves_c
                        + math::pow(logs_c, 2.0);
                    b_values[here - range.start] = math::min(u[here], 0.25) == u[here];
                }
            }
        },
    );
    Ok((
        rt.vector_collection_from(domain, v),
        rt.scalar_collection_from(domain, s),
        rt.bool_collection_from(domain, b),
    ))
}

/// Term of the low side of a cell where there is a cell beyond; the caller subtracts it.
#[inline(always)]
fn fields_across_c_low<const DIM: usize>(
    grid: &CartesianGrid,
    axis: usize,
    u: f64,
    u_low: f64,
    big: bool,
    along: [f64; DIM],
    growth: f64,
) -> f64 {
    let jump_low = u - u_low;
    if big {
        math::min(jump_low, dot(along, grid.normal::<DIM>(axis)))
    } else {
        math::max(growth, jump_low)
    }
}

/// Term of the high side of a cell where there is a cell beyond; the caller adds it.
#[inline(always)]
fn fields_across_c_high<const DIM: usize>(
    grid: &CartesianGrid,
    axis: usize,
    u_high: f64,
    u: f64,
    big: bool,
    along: [f64; DIM],
    growth: f64,
) -> f64 {
    let jump_high = u_high - u;
    if big {
        math::min(jump_high, dot(along, grid.normal::<DIM>(axis)))
    } else {
        math::max(growth, jump_high)
    }
}

/// [`Kernels::fields`] on any grid.
fn fields_general<const DIM: usize, G: Places<DIM>>(
    rt: &mut SerialRuntime,
    args: &Fields<'_, SerialRuntime>,
    grid: &G,
) -> Result<(VectorCollection, ScalarCollection, BoolCollection), Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let u = rt.dense(args.u);
    let u = &u[..];
    let growth = *args.growth;
    let big = *args.big;
    let along = vector::<DIM>(args.along);
    let domain = &all_cells;
    let mut v: [_; DIM] = std::array::from_fn(|_| rt.take_buffer(domain.len()));
    let mut s = rt.take_buffer(domain.len());
    let mut b = rt.take_bool_buffer(domain.len());
    rt.each(
        domain.len(),
        (v.each_mut().map(|component| &mut component[..]), &mut s[..], &mut b[..]),
        move |range, (mut v_values, s_values, b_values)| {
            let mut sin_here_strip = [0.0; STRIP];
            let mut cos_here_strip = [0.0; STRIP];
            let mut tan_here_strip = [0.0; STRIP];
            let mut pow_here_strip = [0.0; STRIP];
            for first in range.clone().step_by(STRIP) {
                let strip = first..range.end.min(first + STRIP);
                {
                    let len = strip.len();
                    let u = &u[strip.start..][..len];
                    let sin_here_strip = &mut sin_here_strip[..len];
                    let cos_here_strip = &mut cos_here_strip[..len];
                    let tan_here_strip = &mut tan_here_strip[..len];
                    let pow_here_strip = &mut pow_here_strip[..len];
                    for i in 0..len {
                        let sin_here = math::sin(u[i]);
                        let cos_here = math::cos(u[i]);
                        let tan_here = math::tan(u[i]);
                        let log_here = math::log(u[i].abs() + growth);
                        let pow_here = math::pow(log_here, 2.0);
                        sin_here_strip[i] = sin_here;
                        cos_here_strip[i] = cos_here;
                        tan_here_strip[i] = tan_here;
                        pow_here_strip[i] = pow_here;
                    }
                }
                for position in strip.clone() {
                    let here = position as u32;
                    let sin_here = sin_here_strip[position - strip.start];
                    let cos_here = cos_here_strip[position - strip.start];
                    let tan_here = tan_here_strip[position - strip.start];
                    let pow_here = pow_here_strip[position - strip.start];
                    let scaled = if big {
                        vector_mul(along, u[position])
                    } else {
                        [0.0; DIM]
                    };
                    let mut across = 0.0;
                    let u_here = u[position];
                    let cell = here;
                    for (f, neighbour, outward) in grid.sides_of(cell) {
                        if neighbour != NONE {
                            if outward {
                                let jump = u[neighbour as usize] - u_here;
                                across
                                    += if big {
                                        math::min(jump, dot(along, grid.face_normal(f)))
                                    } else {
                                        math::max(growth, jump)
                                    };
                            } else {
                                let jump = u_here - u[neighbour as usize];
                                across
                                    -= if big {
                                        math::min(jump, dot(along, grid.face_normal(f)))
                                    } else {
                                        math::max(growth, jump)
                                    };
                            }
                        }
                    }
                    let waves = sin_here + cos_here + tan_here;
                    for (component, value) in v_values
                        .iter_mut()
                        .zip(vector_add(scaled, vector::<DIM>(&[u[position], waves])))
                    {
                        component[position - range.start] = value;
                    }
                    s_values[position - range.start] = across + waves + pow_here;
                    b_values[position - range.start] = math::min(u[position], 0.25)
                        == u[position];
                }
            }
        },
    );
    Ok((
        rt.vector_collection_from(domain, v),
        rt.scalar_collection_from(domain, s),
        rt.bool_collection_from(domain, b),
    ))
}

/// [`Kernels::smoothed`] on a Cartesian grid.
fn smoothed_cartesian<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &Smoothed<'_, SerialRuntime>,
    grid: &CartesianGrid,
) -> Result<ScalarCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let along = vector::<DIM>(args.along);
    let big = *args.big;
    let u = rt.dense(args.u);
    let u = &u[..];
    let domain = &all_cells;
    let mut w = rt.take_buffer(grid.n_cells());
    rt.each_row(
        grid,
        &SMOOTHED,
        &mut w[..],
        |range, w_values| {
            for row in grid.rows_in(&range) {
                let step = if row.interior { grid.n[0] - 1 } else { 1 };
                for i in (0..grid.n[0]).step_by(step) {
                    let here = row.start + i;
                    let at = [i, row.j, row.k];
                    let mut flow_c = 0.0;
                    for axis in 0..DIM {
                        if !grid.is_boundary_side(at, axis, false) {
                            flow_c
                                -= smoothed_flow_c_low::<
                                    DIM,
                                >(
                                    grid,
                                    axis,
                                    along,
                                    big,
                                    u[here],
                                    u[grid.beside(here, at, axis, false)],
                                );
                        }
                        if !grid.is_boundary_side(at, axis, true) {
                            flow_c
                                += smoothed_flow_c_high::<
                                    DIM,
                                >(
                                    grid,
                                    axis,
                                    along,
                                    big,
                                    u[grid.beside(here, at, axis, true)],
                                    u[here],
                                );
                        }
                    }
                    w_values[here - range.start] = if big ^ (u[here] < 0.0) {
                        u[here] + flow_c
                    } else {
                        math::min(flow_c, component(along, 1))
                    };
                }
                if row.interior {
                    let (first, len) = (row.start + 1, grid.n[0] - 2);
                    let u_low: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &u[first - grid.stride[axis]..][..len]
                    });
                    let u_high: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &u[first + grid.stride[axis]..][..len]
                    });
                    smoothed_row(
                        grid,
                        &mut w_values[first - range.start..][..len],
                        along,
                        big,
                        &u[first..][..len],
                        u_low,
                        u_high,
                    );
                }
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, w))
}

/// [`Kernels::smoothed`] inside a row of cells, where no side is on the boundary.
#[inline(never)]
fn smoothed_row<const DIM: usize>(
    grid: &CartesianGrid,
    w: &mut [f64],
    along: [f64; DIM],
    big: bool,
    u: &[f64],
    u_low: [&[f64]; DIM],
    u_high: [&[f64]; DIM],
) {
    let len = w.len();
    let u = &u[..len];
    let u_low_x = lane(&u_low, 0, len);
    let u_low_y = lane(&u_low, 1, len);
    let u_low_z = lane(&u_low, 2, len);
    let u_high_x = lane(&u_high, 0, len);
    let u_high_y = lane(&u_high, 1, len);
    let u_high_z = lane(&u_high, 2, len);
    for i in 0..len {
        let mut flow_c = 0.0;
        flow_c -= smoothed_flow_c_low::<DIM>(grid, 0, along, big, u[i], u_low_x[i]);
        flow_c += smoothed_flow_c_high::<DIM>(grid, 0, along, big, u_high_x[i], u[i]);
        if DIM > 1 {
            flow_c -= smoothed_flow_c_low::<DIM>(grid, 1, along, big, u[i], u_low_y[i]);
            flow_c
                += smoothed_flow_c_high::<DIM>(grid, 1, along, big, u_high_y[i], u[i]);
        }
        if DIM > 2 {
            flow_c -= smoothed_flow_c_low::<DIM>(grid, 2, along, big, u[i], u_low_z[i]);
            flow_c
                += smoothed_flow_c_high::<DIM>(grid, 2, along, big, u_high_z[i], u[i]);
        }
        w[i] = if big ^ (u[i] < 0.0) {
            u[i] + flow_c
        } else {
            math::min(flow_c, component(along, 1))
        };
    }
}

/// Term of the low side of a cell where there is a cell beyond; the caller subtracts it.
#[inline(always)]
fn smoothed_flow_c_low<const DIM: usize>(
    grid: &CartesianGrid,
    axis: usize,
    along: [f64; DIM],
    big: bool,
    u: f64,
    u_low: f64,
) -> f64 {
    let push_low = dot(along, grid.normal::<DIM>(axis));
    if big { push_low * (u - u_low) } else { math::max(push_low, u_low) }
}

/// Term of the high side of a cell where there is a cell beyond; the caller adds it.
#[inline(always)]
fn smoothed_flow_c_high<const DIM: usize>(
    grid: &CartesianGrid,
    axis: usize,
    along: [f64; DIM],
    big: bool,
    u_high: f64,
    u: f64,
) -> f64 {
    let push_high = dot(along, grid.normal::<DIM>(axis));
    if big { push_high * (u_high - u) } else { math::max(push_high, u) }
}

/// [`Kernels::smoothed`] on any grid.
fn smoothed_general<const DIM: usize, G: Places<DIM>>(
    rt: &mut SerialRuntime,
    args: &Smoothed<'_, SerialRuntime>,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let along = vector::<DIM>(args.along);
    let big = *args.big;
    let u = rt.dense(args.u);
    let u = &u[..];
    let domain = &all_cells;
    let mut w = rt.take_buffer(domain.len());
    rt.each(
        domain.len(),
        &mut w[..],
        move |range, w_values| {
            for position in range.clone() {
                let here = position as u32;
                let mut flow = 0.0;
                let u_here = u[position];
                let cell = here;
                for (f, neighbour, outward) in grid.sides_of(cell) {
                    if neighbour != NONE {
                        if outward {
                            let push = dot(along, grid.face_normal(f));
                            flow
                                += if big {
                                    push * (u[neighbour as usize] - u_here)
                                } else {
                                    math::max(push, u_here)
                                };
                        } else {
                            let push = dot(along, grid.face_normal(f));
                            flow
                                -= if big {
                                    push * (u_here - u[neighbour as usize])
                                } else {
                                    math::max(push, u[neighbour as usize])
                                };
                        }
                    }
                }
                w_values[position - range.start] = if big ^ (u[position] < 0.0) {
                    u[position] + flow
                } else {
                    math::min(flow, component(along, 1))
                };
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, w))
}

/// [`Kernels::fluxes`] on a Cartesian grid.
fn fluxes_cartesian<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &Fluxes<'_, SerialRuntime>,
    grid: &CartesianGrid,
) -> Result<ScalarCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let u = rt.dense(args.u);
    let u = &u[..];
    let domain = &all_cells;
    let mut flux = rt.take_buffer(grid.n_cells());
    rt.each_row(
        grid,
        &FLUXES,
        &mut flux[..],
        |range, flux_values| {
            for row in grid.rows_in(&range) {
                let step = if row.interior { grid.n[0] - 1 } else { 1 };
                for i in (0..grid.n[0]).step_by(step) {
                    let here = row.start + i;
                    let at = [i, row.j, row.k];
                    let mut q_c = 0.0;
                    for axis in 0..DIM {
                        if !grid.is_boundary_side(at, axis, false) {
                            q_c
                                -= fluxes_q_c_low::<
                                    DIM,
                                >(
                                    grid,
                                    axis,
                                    u[here],
                                    u[grid.beside(here, at, axis, false)],
                                );
                        }
                        if !grid.is_boundary_side(at, axis, true) {
                            q_c
                                += fluxes_q_c_high::<
                                    DIM,
                                >(
                                    grid,
                                    axis,
                                    u[grid.beside(here, at, axis, true)],
                                    u[here],
                                );
                        }
                    }
                    flux_values[here - range.start] = q_c;
                }
                if row.interior {
                    let (first, len) = (row.start + 1, grid.n[0] - 2);
                    let u_low: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &u[first - grid.stride[axis]..][..len]
                    });
                    let u_high: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &u[first + grid.stride[axis]..][..len]
                    });
                    fluxes_row(
                        grid,
                        &mut flux_values[first - range.start..][..len],
                        &u[first..][..len],
                        u_low,
                        u_high,
                    );
                }
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, flux))
}

/// [`Kernels::fluxes`] inside a row of cells, where no side is on the boundary.
#[inline(never)]
fn fluxes_row<const DIM: usize>(
    grid: &CartesianGrid,
    flux: &mut [f64],
    u: &[f64],
    u_low: [&[f64]; DIM],
    u_high: [&[f64]; DIM],
) {
    let len = flux.len();
    let u = &u[..len];
    let u_low_x = lane(&u_low, 0, len);
    let u_low_y = lane(&u_low, 1, len);
    let u_low_z = lane(&u_low, 2, len);
    let u_high_x = lane(&u_high, 0, len);
    let u_high_y = lane(&u_high, 1, len);
    let u_high_z = lane(&u_high, 2, len);
    for i in 0..len {
        let mut q_c = 0.0;
        q_c -= fluxes_q_c_low::<DIM>(grid, 0, u[i], u_low_x[i]);
        q_c += fluxes_q_c_high::<DIM>(grid, 0, u_high_x[i], u[i]);
        if DIM > 1 {
            q_c -= fluxes_q_c_low::<DIM>(grid, 1, u[i], u_low_y[i]);
            q_c += fluxes_q_c_high::<DIM>(grid, 1, u_high_y[i], u[i]);
        }
        if DIM > 2 {
            q_c -= fluxes_q_c_low::<DIM>(grid, 2, u[i], u_low_z[i]);
            q_c += fluxes_q_c_high::<DIM>(grid, 2, u_high_z[i], u[i]);
        }
        flux[i] = q_c;
    }
}

/// Term of the low side of a cell where there is a cell beyond; the caller subtracts it.
#[inline(always)]
fn fluxes_q_c_low<const DIM: usize>(
    grid: &CartesianGrid,
    axis: usize,
    u: f64,
    u_low: f64,
) -> f64 {
    let jump_low = u - u_low;
    let rise_low = component(grid.displacement::<DIM>(axis, 1.0), 1);
    if axis == 0 {
        component(grid.normal::<DIM>(axis), 0).abs().sqrt() * jump_low.abs().sqrt()
    } else {
        jump_low * math::log(rise_low) * component(grid.normal::<DIM>(axis), 1)
    }
}

/// Term of the high side of a cell where there is a cell beyond; the caller adds it.
#[inline(always)]
fn fluxes_q_c_high<const DIM: usize>(
    grid: &CartesianGrid,
    axis: usize,
    u_high: f64,
    u: f64,
) -> f64 {
    let jump_high = u_high - u;
    let rise_high = component(grid.displacement::<DIM>(axis, 1.0), 1);
    if axis == 0 { jump_high.abs().sqrt() } else { jump_high * math::log(rise_high) }
}

/// [`Kernels::fluxes`] on any grid.
fn fluxes_general<const DIM: usize, G: Places<DIM>>(
    rt: &mut SerialRuntime,
    args: &Fluxes<'_, SerialRuntime>,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let u = rt.dense(args.u);
    let u = &u[..];
    let domain = &all_cells;
    let mut flux = rt.take_buffer(domain.len());
    rt.each(
        domain.len(),
        &mut flux[..],
        move |range, flux_values| {
            for position in range.clone() {
                let here = position as u32;
                let mut q = 0.0;
                let u_here = u[position];
                let cell = here;
                for (f, neighbour, outward) in grid.sides_of(cell) {
                    if neighbour != NONE {
                        if outward {
                            let jump = u[neighbour as usize] - u_here;
                            let rise = component(
                                vector_sub(
                                    grid.cell_centroid(neighbour),
                                    grid.cell_centroid(cell),
                                ),
                                1,
                            );
                            q
                                += if component(grid.face_normal(f), 0).abs() > 0.5 {
                                    jump.abs().sqrt()
                                } else {
                                    jump * math::log(rise)
                                };
                        } else {
                            let jump = u_here - u[neighbour as usize];
                            let rise = component(
                                vector_sub(
                                    grid.cell_centroid(cell),
                                    grid.cell_centroid(neighbour),
                                ),
                                1,
                            );
                            q
                                -= if component(grid.face_normal(f), 0).abs() > 0.5 {
                                    jump.abs().sqrt()
                                } else {
                                    jump * math::log(rise)
                                };
                        }
                    }
                }
                flux_values[position - range.start] = q;
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, flux))
}

/// [`Kernels::extremes`] on any grid.
fn extremes_general<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &Extremes<'_, SerialRuntime>,
) -> Result<([f64; 3], [f64; 3], [f64; 3], bool, bool, f64, VectorCollection), Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let v = components::<DIM>(args.v);
    let b = &args.b.values()[..];
    let domain = &all_cells;
    let mut total: [_; DIM] = std::array::from_fn(|_| rt.take_buffer(domain.len()));
    let mut most: [_; DIM] = std::array::from_fn(|_| rt.take_buffer(domain.len()));
    let mut least: [_; DIM] = std::array::from_fn(|_| rt.take_buffer(domain.len()));
    let mut some = rt.take_bool_buffer(domain.len());
    let mut every = rt.take_bool_buffer(domain.len());
    let mut product = rt.take_buffer(domain.len());
    let mut doubled: [_; DIM] = std::array::from_fn(|_| rt.take_buffer(domain.len()));
    rt.each(
        domain.len(),
        (
            total.each_mut().map(|component| &mut component[..]),
            most.each_mut().map(|component| &mut component[..]),
            least.each_mut().map(|component| &mut component[..]),
            &mut some[..],
            &mut every[..],
            &mut product[..],
            doubled.each_mut().map(|component| &mut component[..]),
        ),
        move |
            range,
            (
                mut total_values,
                mut most_values,
                mut least_values,
                some_values,
                every_values,
                product_values,
                mut doubled_values,
            )|
        {
            let len = range.len();
            let v = v.map(|component| &component[range.start..][..len]);
            let b = &b[range.start..][..len];
            let mut total_values = total_values
                .each_mut()
                .map(|component| &mut component[..len]);
            let mut most_values = most_values
                .each_mut()
                .map(|component| &mut component[..len]);
            let mut least_values = least_values
                .each_mut()
                .map(|component| &mut component[..len]);
            let some_values = &mut some_values[..len];
            let every_values = &mut every_values[..len];
            let product_values = &mut product_values[..len];
            let mut doubled_values = doubled_values
                .each_mut()
                .map(|component| &mut component[..len]);
            for i in 0..len {
                for (component, value) in total_values.iter_mut().zip(vector_at(&v, i)) {
                    component[i] = value;
                }
                for (component, value) in most_values.iter_mut().zip(vector_at(&v, i)) {
                    component[i] = value;
                }
                for (component, value) in least_values
                    .iter_mut()
                    .zip(vector_mul(vector_at(&v, i), -1.0))
                {
                    component[i] = value;
                }
                some_values[i] = b[i];
                every_values[i] = b[i] || true;
                product_values[i] = 1.0 + 0.125 * component(vector_at(&v, i), 0);
                for (component, value) in doubled_values
                    .iter_mut()
                    .zip(vector_div(vector_at(&v, i), 0.5))
                {
                    component[i] = value;
                }
            }
        },
    );
    Ok((
        rt.reduce_vectors_in_kernel(Reduction::Sum, domain, total, &EXTREMES)?,
        rt.reduce_vectors_in_kernel(Reduction::Max, domain, most, &EXTREMES)?,
        rt.reduce_vectors_in_kernel(Reduction::Min, domain, least, &EXTREMES)?,
        some.iter().any(|&value| value),
        every.iter().all(|&value| value),
        rt.reduce_in_kernel(Reduction::Prod, domain, product, &EXTREMES)?,
        rt.vector_collection_from(domain, doubled),
    ))
}

/// [`Kernels::nothing`] on any grid.
fn nothing_general<const DIM: usize, G: Places<DIM>>(
    rt: &mut SerialRuntime,
    args: &Nothing<'_, SerialRuntime>,
    grid: &G,
) -> Result<([f64; 3], bool, bool, f64), Error> {
    let domain = args.nowhere;
    let mut total: [_; DIM] = std::array::from_fn(|_| rt.take_buffer(domain.len()));
    let mut some = rt.take_bool_buffer(domain.len());
    let mut every = rt.take_bool_buffer(domain.len());
    let mut number = rt.take_buffer(domain.len());
    let elements = domain.elements();
    rt.each(
        domain.len(),
        (
            total.each_mut().map(|component| &mut component[..]),
            &mut some[..],
            &mut every[..],
            &mut number[..],
        ),
        move |range, (mut total_values, some_values, every_values, number_values)| {
            let len = range.len();
            let mut total_values = total_values
                .each_mut()
                .map(|component| &mut component[..len]);
            let some_values = &mut some_values[..len];
            let every_values = &mut every_values[..len];
            let number_values = &mut number_values[..len];
            let elements = &elements[range.start..][..len];
            for i in 0..len {
                let here = elements[i];
                for (component, value) in total_values
                    .iter_mut()
                    .zip(grid.cell_centroid(here))
                {
                    component[i] = value;
                }
                some_values[i] = true;
                every_values[i] = false;
                number_values[i] = 1.0;
            }
        },
    );
    Ok((
        rt.reduce_vectors_in_kernel(Reduction::Sum, domain, total, &NOTHING)?,
        some.iter().any(|&value| value),
        every.iter().all(|&value| value),
        rt.reduce_in_kernel(Reduction::Sum, domain, number, &NOTHING)?,
    ))
}

/// [`Kernels::lookup`] on any grid.
fn lookup_general<const DIM: usize, G: Entities>(
    rt: &mut SerialRuntime,
    args: &Lookup<'_, SerialRuntime>,
    grid: &G,
) -> Result<
    (VectorCollection, EntityCollection, VectorCollection, BoolCollection),
    Error,
> {
    let all_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::All))?;
    let cell = &args.cell.values()[..];
    let v = components::<DIM>(args.v);
    let self_2 = &args.self_2.values()[..];
    let wells_ranks = grid.ranks(args.wells);
    let rate = components::<DIM>(args.rate);
    let domain = &all_faces;
    let mut at_cell: [_; DIM] = std::array::from_fn(|_| rt.take_buffer(domain.len()));
    let mut alive = rt.take_entity_buffer(domain.len());
    let mut padded_2: [_; DIM] = std::array::from_fn(|_| rt.take_buffer(domain.len()));
    let mut same_cell = rt.take_bool_buffer(domain.len());
    rt.each(
        domain.len(),
        (
            at_cell.each_mut().map(|component| &mut component[..]),
            &mut alive[..],
            padded_2.each_mut().map(|component| &mut component[..]),
            &mut same_cell[..],
        ),
        move |
            range,
            (mut at_cell_values, alive_values, mut padded_2_values, same_cell_values)|
        {
            for position in range.clone() {
                for (component, value) in at_cell_values
                    .iter_mut()
                    .zip(vector_at(&v, cell[position] as usize))
                {
                    component[position - range.start] = value;
                }
                alive_values[position - range.start] = self_2[cell[position] as usize];
                for (component, value) in padded_2_values
                    .iter_mut()
                    .zip(
                        if wells_ranks.contains(cell[position]) {
                            vector_at(&rate, wells_ranks.of(cell[position]))
                        } else {
                            [0.0; DIM]
                        },
                    )
                {
                    component[position - range.start] = value;
                }
                same_cell_values[position - range.start] = self_2[cell[position]
                    as usize] == cell[position];
            }
        },
    );
    Ok((
        rt.vector_collection_from(domain, at_cell),
        rt.entity_collection_from(domain, EntityKind::Cell, alive),
        rt.vector_collection_from(domain, padded_2),
        rt.bool_collection_from(domain, same_cell),
    ))
}

/// [`Kernels::rates`] on any grid.
fn rates_general<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &Rates<'_, SerialRuntime>,
) -> Result<VectorCollection, Error> {
    let v = components::<DIM>(args.v);
    let domain = args.wells;
    let mut rate: [_; DIM] = std::array::from_fn(|_| rt.take_buffer(domain.len()));
    let elements = domain.elements();
    rt.each(
        domain.len(),
        rate.each_mut().map(|component| &mut component[..]),
        move |range, mut rate_values| {
            let len = range.len();
            let mut rate_values = rate_values
                .each_mut()
                .map(|component| &mut component[..len]);
            let elements = &elements[range.start..][..len];
            for i in 0..len {
                let here = elements[i];
                for (component, value) in rate_values
                    .iter_mut()
                    .zip(vector_neg(vector_at(&v, here as usize)))
                {
                    component[i] = value;
                }
            }
        },
    );
    Ok(rt.vector_collection_from(domain, rate))
}

/// [`Kernels::witness`] on any grid.
fn witness_general<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &Witness<'_, SerialRuntime>,
) -> Result<(VectorCollection, BoolCollection), Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let total = vector::<DIM>(args.total);
    let most = vector::<DIM>(args.most);
    let least = vector::<DIM>(args.least);
    let product = *args.product;
    let none = vector::<DIM>(args.none);
    let number = *args.number;
    let some = *args.some;
    let every = *args.every;
    let always = *args.always;
    let never = *args.never;
    let domain = &all_cells;
    let mut seen: [_; DIM] = std::array::from_fn(|_| rt.take_buffer(domain.len()));
    let mut told = rt.take_bool_buffer(domain.len());
    rt.each(
        domain.len(),
        (seen.each_mut().map(|component| &mut component[..]), &mut told[..]),
        move |range, (mut seen_values, told_values)| {
            let len = range.len();
            let mut seen_values = seen_values
                .each_mut()
                .map(|component| &mut component[..len]);
            let told_values = &mut told_values[..len];
            for i in 0..len {
                for (component, value) in seen_values
                    .iter_mut()
                    .zip(
                        vector_add(
                            vector_sub(
                                vector_add(total, most),
                                vector_mul(least, product),
                            ),
                            vector_div(none, number + 1.0),
                        ),
                    )
                {
                    component[i] = value;
                }
                told_values[i] = some && every && (always && !never);
            }
        },
    );
    Ok((rt.vector_collection_from(domain, seen), rt.bool_collection_from(domain, told)))
}
