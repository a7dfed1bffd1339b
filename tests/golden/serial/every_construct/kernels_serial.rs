//! Kernels of every_construct.equelle as loops.
#![allow(non_snake_case, clippy::too_many_arguments, clippy::needless_range_loop)]

use backend_serial::runtime::entities::{Arrays, Entities, Places, Positions};
use backend_serial::runtime::kernel::{
    CartesianGrid, SubsetRanks, component, components, dot, lane, length, vector_add,
    vector_at, vector_div, vector_mul, vector_neg, vector_sub,
};
use backend_serial::runtime::{
    BoolCollection, ScalarCollection, SerialRuntime, VectorCollection,
};
use equelle_runtime::grid::NONE;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent, Reduction};

use crate::kernels::{
    DIFFUSE, Diffuse, EXTREMES, Extremes, GEOMETRY, Geometry, INSIDE, Inside, JUMP, Jump,
    Kernels, OUTSIDE, Outside, RATIO, Ratio, SIZES, TRANSMISSIBILITY, TRANSPORT,
    Transmissibility, Transport, WEIGHT, Weight,
};

impl Kernels for SerialRuntime {
    fn geometry(
        &mut self,
        args: Geometry<'_, SerialRuntime>,
    ) -> Result<(VectorCollection, BoolCollection, ScalarCollection), Error> {
        let _timer = self.session_mut().time_kernel(&GEOMETRY, "list");
        self.needs_dimension(2, &GEOMETRY)?;
        if let Some(grid) = self.cartesian_grid() {
            return match self.grid().dim() {
                1 => geometry_general::<1, _>(self, &args, &grid),
                2 => geometry_general::<2, _>(self, &args, &grid),
                _ => geometry_general::<3, _>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_geometry();
        match self.grid().dim() {
            1 => geometry_general::<1, _>(self, &args, &grid),
            2 => geometry_general::<2, _>(self, &args, &grid),
            _ => geometry_general::<3, _>(self, &args, &grid),
        }
    }

    fn transmissibility(
        &mut self,
        args: Transmissibility<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self.session_mut().time_kernel(&TRANSMISSIBILITY, "per axis");
        if let Some(grid) = self.closed_grid() {
            return match self.grid().dim() {
                1 => transmissibility_per_axis::<1>(self, &args, &grid),
                2 => transmissibility_per_axis::<2>(self, &args, &grid),
                _ => transmissibility_per_axis::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_topology().with_geometry();
        match self.grid().dim() {
            1 => transmissibility_general::<1, _>(self, &args, &grid),
            2 => transmissibility_general::<2, _>(self, &args, &grid),
            _ => transmissibility_general::<3, _>(self, &args, &grid),
        }
    }

    fn weight(
        &mut self,
        args: Weight<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self.session_mut().time_kernel(&WEIGHT, "per axis");
        if let Some(grid) = self.closed_grid() {
            return match self.grid().dim() {
                1 => weight_per_axis::<1>(self, &args, &grid),
                2 => weight_per_axis::<2>(self, &args, &grid),
                _ => weight_per_axis::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_geometry();
        weight_general(self, &args, &grid)
    }

    fn transport(
        &mut self,
        args: Transport<'_, SerialRuntime>,
    ) -> Result<(ScalarCollection, BoolCollection, f64, f64), Error> {
        let _timer = self.session_mut().time_kernel(&TRANSPORT, "cells");
        if let Some(grid) = self.cartesian_grid() && args.t.per_axis().is_some() {
            return match self.grid().dim() {
                1 => transport_cartesian::<1>(self, &args, &grid),
                2 => transport_cartesian::<2>(self, &args, &grid),
                _ => transport_cartesian::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_sides().with_geometry();
        match self.grid().dim() {
            1 => transport_general::<1, _>(self, &args, &grid),
            2 => transport_general::<2, _>(self, &args, &grid),
            _ => transport_general::<3, _>(self, &args, &grid),
        }
    }

    fn diffuse(
        &mut self,
        args: Diffuse<'_, SerialRuntime>,
    ) -> Result<(ScalarCollection, BoolCollection), Error> {
        let _timer = self.session_mut().time_kernel(&DIFFUSE, "rows");
        if let Some(grid) = self.cartesian_grid() && args.t.per_axis().is_some()
            && args.w.per_axis().is_some()
        {
            return match self.grid().dim() {
                1 => diffuse_cartesian::<1>(self, &args, &grid),
                2 => diffuse_cartesian::<2>(self, &args, &grid),
                _ => diffuse_cartesian::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_sides().with_geometry();
        match self.grid().dim() {
            1 => diffuse_general::<1, _>(self, &args, &grid),
            2 => diffuse_general::<2, _>(self, &args, &grid),
            _ => diffuse_general::<3, _>(self, &args, &grid),
        }
    }

    fn jump(
        &mut self,
        args: Jump<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self.session_mut().time_kernel(&JUMP, "list");
        if let Some(grid) = self.cartesian_grid() {
            return jump_general(self, &args, &grid);
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_topology().with_sides();
        jump_general(self, &args, &grid)
    }

    fn inside(
        &mut self,
        args: Inside<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self.session().time_kernel_over(&INSIDE, "list", args.inlet.len());
        if let Some(grid) = self.cartesian_grid() {
            return inside_general(self, &args, &grid);
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_topology();
        inside_general(self, &args, &grid)
    }

    fn outside(&mut self, args: Outside<'_, SerialRuntime>) -> Result<(), Error> {
        let _timer = self.session().time_kernel_over(&OUTSIDE, "list", args.inlet.len());
        if let Some(grid) = self.cartesian_grid() {
            return outside_general(self, &args, &grid);
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_topology();
        outside_general(self, &args, &grid)
    }

    fn extremes(
        &mut self,
        args: Extremes<'_, SerialRuntime>,
    ) -> Result<(f64, f64), Error> {
        let _timer = self
            .session()
            .time_kernel_over(&EXTREMES, "list", args.wells.len());
        extremes_general(self, &args)
    }

    fn ratio(&mut self, args: Ratio<'_, SerialRuntime>) -> Result<f64, Error> {
        let _timer = self.session_mut().time_kernel(&RATIO, "list");
        ratio_general(self, &args)
    }

    fn sizes(&mut self) -> Result<ScalarCollection, Error> {
        let _timer = self.session_mut().time_kernel(&SIZES, "list");
        if let Some(grid) = self.cartesian_grid() {
            return sizes_general(self, &grid);
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_geometry();
        sizes_general(self, &grid)
    }
}

/// [`Kernels::geometry`] on any grid.
fn geometry_general<const DIM: usize, G: Places<DIM>>(
    rt: &mut SerialRuntime,
    args: &Geometry<'_, SerialRuntime>,
    grid: &G,
) -> Result<(VectorCollection, BoolCollection, ScalarCollection), Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let k = *args.k;
    let domain = &all_cells;
    let mut centre: [_; DIM] = std::array::from_fn(|_| rt.take_buffer(domain.len()));
    let mut far = rt.take_bool_buffer(domain.len());
    let mut size = rt.take_buffer(domain.len());
    rt.each(
        domain.len(),
        (
            centre.each_mut().map(|component| &mut component[..]),
            &mut far[..],
            &mut size[..],
        ),
        move |range, (mut centre_values, far_values, size_values)| {
            for (cells, volume_at) in grid.rows_with_volumes(range.clone()) {
                let len = cells.len();
                let mut centre_values = centre_values
                    .each_mut()
                    .map(|component| &mut component[cells.start - range.start..][..len]);
                let far_values = &mut far_values[cells.start - range.start..][..len];
                let size_values = &mut size_values[cells.start - range.start..][..len];
                for i in 0..len {
                    let here = (cells.start + i) as u32;
                    let c = vector_mul(grid.cell_centroid(here), k);
                    let turned = vector_add(
                        vector_neg(c),
                        vector_mul(vector_div(c, k), 2.0),
                    );
                    for (component, value) in centre_values
                        .iter_mut()
                        .zip(vector_sub(turned, c))
                    {
                        component[i] = value;
                    }
                    far_values[i] = (component(c, 0) > 1.0) ^ (component(c, 1) < 1.0);
                    size_values[i] = volume_at(i);
                }
            }
        },
    );
    Ok((
        rt.vector_collection_from(domain, centre),
        rt.bool_collection_from(domain, far),
        rt.scalar_collection_from(domain, size),
    ))
}

/// [`Kernels::transmissibility`] on a Cartesian grid.
fn transmissibility_per_axis<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &Transmissibility<'_, SerialRuntime>,
    grid: &CartesianGrid,
) -> Result<ScalarCollection, Error> {
    let interior_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let k = *args.k;
    let domain = &interior_faces;
    let mut t = [0.0; 3];
    for axis in 0..DIM {
        t[axis] = k * grid.area[axis] / length(grid.displacement::<DIM>(axis, -1.0));
    }
    Ok(rt.per_axis_collection(domain, t))
}

/// [`Kernels::transmissibility`] on any grid.
fn transmissibility_general<const DIM: usize, G: Places<DIM>>(
    rt: &mut SerialRuntime,
    args: &Transmissibility<'_, SerialRuntime>,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let interior_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let k = *args.k;
    let domain = &interior_faces;
    let mut t = rt.take_buffer(domain.len());
    let elements = domain.elements();
    rt.each(
        domain.len(),
        &mut t[..],
        move |range, t_values| {
            let len = range.len();
            let t_values = &mut t_values[..len];
            let elements = &elements[range.start..][..len];
            for i in 0..len {
                let here = elements[i];
                let cells_here = grid.face_cells(here);
                t_values[i] = k * grid.face_area(here)
                    / length(
                        vector_sub(
                            grid.cell_centroid(cells_here[0]),
                            grid.cell_centroid(cells_here[1]),
                        ),
                    );
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, t))
}

/// [`Kernels::weight`] on a Cartesian grid.
fn weight_per_axis<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &Weight<'_, SerialRuntime>,
    grid: &CartesianGrid,
) -> Result<ScalarCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let k = *args.k;
    let domain = &all_cells;
    let mut w = [0.0; 3];
    w[0] = k / grid.volume;
    Ok(rt.per_axis_collection(domain, w))
}

/// [`Kernels::weight`] on any grid.
fn weight_general<G: Entities>(
    rt: &mut SerialRuntime,
    args: &Weight<'_, SerialRuntime>,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let k = *args.k;
    let domain = &all_cells;
    let mut w = rt.take_buffer(domain.len());
    rt.each(
        domain.len(),
        &mut w[..],
        move |range, w_values| {
            for (cells, volume_at) in grid.rows_with_volumes(range.clone()) {
                let len = cells.len();
                let w_values = &mut w_values[cells.start - range.start..][..len];
                for i in 0..len {
                    w_values[i] = k / volume_at(i);
                }
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, w))
}

/// [`Kernels::transport`] on a Cartesian grid.
fn transport_cartesian<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &Transport<'_, SerialRuntime>,
    grid: &CartesianGrid,
) -> Result<(ScalarCollection, BoolCollection, f64, f64), Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let row_2 = rt.dense(args.row);
    let row_2 = &row_2[..];
    let t = args.t.per_axis().unwrap_or([f64::NAN; 3]);
    let u = rt.dense(args.u);
    let u = &u[..];
    let wells_ranks = SubsetRanks::new(args.wells);
    let rate = rt.dense(args.rate);
    let rate = &rate[..];
    let centre = components::<DIM>(args.centre);
    let grid_2 = *args.grid;
    let far = &args.far.values()[..];
    let domain = &all_cells;
    let mut a = rt.take_buffer(grid.n_cells());
    let mut b = rt.take_bool_buffer(grid.n_cells());
    let mut total = rt.take_buffer(grid.n_cells());
    let mut most = rt.take_buffer(grid.n_cells());
    rt.each_row(
        grid,
        &TRANSPORT,
        (&mut a[..], &mut b[..], &mut total[..], &mut most[..]),
        |range, (a_values, b_values, total_values, most_values)| {
            for row in grid.rows_in(&range) {
                for i in 0..grid.n[0] {
                    let here = row.start + i;
                    let at = [i, row.j, row.k];
                    let mut out2 = 0.0;
                    let mut area2 = 0.0;
                    for axis in 0..DIM {
                        if at[axis] > 0 {
                            let terms = transport_out2_low(
                                grid,
                                axis,
                                row_2[grid.face(at, axis, false)],
                                t[axis],
                                u[here - grid.stride[axis]],
                                u[here],
                            );
                            out2 -= terms.0;
                            area2 -= terms.1;
                        } else {
                            out2 -= row_2[grid.face(at, axis, false)] * u[here];
                            area2 -= grid.area[axis];
                        }
                        if at[axis] + 1 < grid.n[axis] {
                            let terms = transport_out2_high(
                                grid,
                                axis,
                                row_2[grid.face(at, axis, true)],
                                t[axis],
                                u[here],
                                u[here + grid.stride[axis]],
                            );
                            out2 += terms.0;
                            area2 += terms.1;
                        } else {
                            out2 += row_2[grid.face(at, axis, true)] * u[here];
                            area2 += grid.area[axis];
                        }
                    }
                    let taken2 = if wells_ranks.contains(here) {
                        rate[wells_ranks.of(here)]
                    } else {
                        0.0
                    };
                    let d2 = dot(vector_at(&centre, here), vector_at(&centre, here));
                    a_values[here - range.start] = u[here] - grid_2 * out2
                        + (taken2 + d2);
                    b_values[here - range.start] = far[here] || !(area2 == 0.0);
                    total_values[here - range.start] = out2;
                    most_values[here - range.start] = area2.abs();
                }
            }
        },
    );
    Ok((
        rt.scalar_collection_from(domain, a),
        rt.bool_collection_from(domain, b),
        rt.reduce_in_kernel(Reduction::Sum, domain, total, &TRANSPORT)?,
        rt.reduce_in_kernel(Reduction::Max, domain, most, &TRANSPORT)?,
    ))
}

/// Term of the low side of a cell where there is a cell beyond; the caller subtracts it.
#[inline(always)]
fn transport_out2_low(
    grid: &CartesianGrid,
    axis: usize,
    row_2_low: f64,
    t: f64,
    u_low: f64,
    u: f64,
) -> (f64, f64) {
    let up_low = row_2_low > 0.0;
    (t * ((if up_low { u_low } else { u }) * row_2_low), grid.area[axis])
}

/// Term of the high side of a cell where there is a cell beyond; the caller adds it.
#[inline(always)]
fn transport_out2_high(
    grid: &CartesianGrid,
    axis: usize,
    row_2_high: f64,
    t: f64,
    u: f64,
    u_high: f64,
) -> (f64, f64) {
    let up_high = row_2_high > 0.0;
    (t * ((if up_high { u } else { u_high }) * row_2_high), grid.area[axis])
}

/// [`Kernels::transport`] on any grid.
fn transport_general<const DIM: usize, G: Entities>(
    rt: &mut SerialRuntime,
    args: &Transport<'_, SerialRuntime>,
    grid: &G,
) -> Result<(ScalarCollection, BoolCollection, f64, f64), Error> {
    let interior_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let row_2 = rt.dense(args.row);
    let row_2 = &row_2[..];
    let interior_faces_ranks = grid.canonical_ranks(&interior_faces);
    let t = rt.dense(args.t);
    let t = &t[..];
    let u = rt.dense(args.u);
    let u = &u[..];
    let wells_ranks = grid.ranks(args.wells);
    let rate = rt.dense(args.rate);
    let rate = &rate[..];
    let centre = components::<DIM>(args.centre);
    let grid_2 = *args.grid;
    let far = &args.far.values()[..];
    let domain = &all_cells;
    let mut a = rt.take_buffer(domain.len());
    let mut b = rt.take_bool_buffer(domain.len());
    let mut total = rt.take_buffer(domain.len());
    let mut most = rt.take_buffer(domain.len());
    rt.each(
        domain.len(),
        (&mut a[..], &mut b[..], &mut total[..], &mut most[..]),
        move |range, (a_values, b_values, total_values, most_values)| {
            for position in range.clone() {
                let here = position as u32;
                let mut out = 0.0;
                let mut area = 0.0;
                let u_here = u[position];
                let cell = here;
                for (f, neighbour, outward) in grid.sides_of(cell) {
                    if neighbour != NONE {
                        if outward {
                            let up = if row_2[f as usize] > 0.0 {
                                cell
                            } else {
                                neighbour
                            };
                            let w = t[interior_faces_ranks.of(f)]
                                * (u[up as usize] * row_2[f as usize]);
                            out += w;
                            area += grid.face_area(f);
                        } else {
                            let up = if row_2[f as usize] > 0.0 {
                                neighbour
                            } else {
                                cell
                            };
                            let w = t[interior_faces_ranks.of(f)]
                                * (u[up as usize] * row_2[f as usize]);
                            out -= w;
                            area -= grid.face_area(f);
                        }
                    } else {
                        if outward {
                            let w = row_2[f as usize] * u_here;
                            out += w;
                            area += grid.face_area(f);
                        } else {
                            let w = row_2[f as usize] * u_here;
                            out -= w;
                            area -= grid.face_area(f);
                        }
                    }
                }
                let taken = if wells_ranks.contains(here) {
                    rate[wells_ranks.of(here)]
                } else {
                    0.0
                };
                let d = dot(vector_at(&centre, position), vector_at(&centre, position));
                a_values[position - range.start] = u[position] - grid_2 * out
                    + (taken + d);
                b_values[position - range.start] = far[position] || !(area == 0.0);
                total_values[position - range.start] = out;
                most_values[position - range.start] = area.abs();
            }
        },
    );
    Ok((
        rt.scalar_collection_from(domain, a),
        rt.bool_collection_from(domain, b),
        rt.reduce_in_kernel(Reduction::Sum, domain, total, &TRANSPORT)?,
        rt.reduce_in_kernel(Reduction::Max, domain, most, &TRANSPORT)?,
    ))
}

/// [`Kernels::diffuse`] on a Cartesian grid.
fn diffuse_cartesian<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &Diffuse<'_, SerialRuntime>,
    grid: &CartesianGrid,
) -> Result<(ScalarCollection, BoolCollection), Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let u = rt.dense(args.u);
    let u = &u[..];
    let t = args.t.per_axis().unwrap_or([f64::NAN; 3]);
    let len_2 = rt.dense(args.len);
    let len_2 = &len_2[..];
    let g = rt.dense(args.g);
    let g = &g[..];
    let far = &args.far.values()[..];
    let w = args.w.per_axis().unwrap_or([f64::NAN; 3]);
    let dt = *args.dt;
    let domain = &all_cells;
    let mut u_new = rt.take_buffer(grid.n_cells());
    let mut even = rt.take_bool_buffer(grid.n_cells());
    rt.each_row(
        grid,
        &DIFFUSE,
        (&mut u_new[..], &mut even[..]),
        |range, (u_new_values, even_values)| {
            for row in grid.rows_in(&range) {
                let step = if row.interior { grid.n[0] - 1 } else { 1 };
                for i in (0..grid.n[0]).step_by(step) {
                    let here = row.start + i;
                    let at = [i, row.j, row.k];
                    let half_c = 0.5 * u[here];
                    let mut s_c = 0.0;
                    let mut n_c = 0.0;
                    for axis in 0..DIM {
                        if at[axis] > 0 {
                            let terms = diffuse_s_c_low::<
                                DIM,
                            >(
                                grid,
                                axis,
                                t[axis],
                                u[here],
                                u[here - grid.stride[axis]],
                                len_2[grid.face(at, axis, false)],
                                g[grid.interior_face(at, axis, false)],
                                half_c,
                            );
                            s_c -= terms.0;
                            n_c -= terms.1;
                        }
                        if at[axis] + 1 < grid.n[axis] {
                            let terms = diffuse_s_c_high::<
                                DIM,
                            >(
                                grid,
                                axis,
                                t[axis],
                                u[here + grid.stride[axis]],
                                u[here],
                                len_2[grid.face(at, axis, true)],
                                g[grid.interior_face(at, axis, true)],
                                half_c,
                            );
                            s_c += terms.0;
                            n_c += terms.1;
                        }
                    }
                    let mut edge_c = 0.0;
                    for axis in 0..DIM {
                        if at[axis] == 0 {
                            edge_c
                                -= grid.area[axis] * len_2[grid.face(at, axis, false)];
                        }
                        if at[axis] + 1 == grid.n[axis] {
                            edge_c += grid.area[axis] * len_2[grid.face(at, axis, true)];
                        }
                    }
                    let x_c = if far[here] { s_c * w[0] } else { (s_c + n_c) * 2.0 };
                    u_new_values[here - range.start] = u[here] + dt * x_c
                        - edge_c * grid.volume;
                    even_values[here - range.start] = s_c < n_c;
                }
                if row.interior {
                    let (first, len) = (row.start + 1, grid.n[0] - 2);
                    let u_low: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &u[first - grid.stride[axis]..][..len]
                    });
                    let len_2_low: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &len_2[grid.face([1, row.j, row.k], axis, false)..][..len]
                    });
                    let g_low: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &g[grid.interior_face([1, row.j, row.k], axis, false)..][..len]
                    });
                    let u_high: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &u[first + grid.stride[axis]..][..len]
                    });
                    let len_2_high: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &len_2[grid.face([1, row.j, row.k], axis, true)..][..len]
                    });
                    let g_high: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &g[grid.interior_face([1, row.j, row.k], axis, true)..][..len]
                    });
                    diffuse_row(
                        grid,
                        &mut u_new_values[first - range.start..][..len],
                        &mut even_values[first - range.start..][..len],
                        &u[first..][..len],
                        t,
                        u_low,
                        len_2_low,
                        g_low,
                        u_high,
                        len_2_high,
                        g_high,
                        &far[first..][..len],
                        w,
                        dt,
                    );
                }
            }
        },
    );
    Ok((rt.scalar_collection_from(domain, u_new), rt.bool_collection_from(domain, even)))
}

/// [`Kernels::diffuse`] inside a row of cells, where no side is on the boundary.
#[inline(never)]
fn diffuse_row<const DIM: usize>(
    grid: &CartesianGrid,
    u_new: &mut [f64],
    even: &mut [bool],
    u: &[f64],
    t: [f64; 3],
    u_low: [&[f64]; DIM],
    len_2_low: [&[f64]; DIM],
    g_low: [&[f64]; DIM],
    u_high: [&[f64]; DIM],
    len_2_high: [&[f64]; DIM],
    g_high: [&[f64]; DIM],
    far: &[bool],
    w: [f64; 3],
    dt: f64,
) {
    let len = u_new.len();
    let even = &mut even[..len];
    let u = &u[..len];
    let u_low_x = lane(&u_low, 0, len);
    let u_low_y = lane(&u_low, 1, len);
    let u_low_z = lane(&u_low, 2, len);
    let len_2_low_x = lane(&len_2_low, 0, len);
    let len_2_low_y = lane(&len_2_low, 1, len);
    let len_2_low_z = lane(&len_2_low, 2, len);
    let g_low_x = lane(&g_low, 0, len);
    let g_low_y = lane(&g_low, 1, len);
    let g_low_z = lane(&g_low, 2, len);
    let u_high_x = lane(&u_high, 0, len);
    let u_high_y = lane(&u_high, 1, len);
    let u_high_z = lane(&u_high, 2, len);
    let len_2_high_x = lane(&len_2_high, 0, len);
    let len_2_high_y = lane(&len_2_high, 1, len);
    let len_2_high_z = lane(&len_2_high, 2, len);
    let g_high_x = lane(&g_high, 0, len);
    let g_high_y = lane(&g_high, 1, len);
    let g_high_z = lane(&g_high, 2, len);
    let far = &far[..len];
    for i in 0..len {
        let half_c = 0.5 * u[i];
        let mut s_c = 0.0;
        let mut n_c = 0.0;
        let terms = diffuse_s_c_low::<
            DIM,
        >(grid, 0, t[0], u[i], u_low_x[i], len_2_low_x[i], g_low_x[i], half_c);
        s_c -= terms.0;
        n_c -= terms.1;
        let terms = diffuse_s_c_high::<
            DIM,
        >(grid, 0, t[0], u_high_x[i], u[i], len_2_high_x[i], g_high_x[i], half_c);
        s_c += terms.0;
        n_c += terms.1;
        if DIM > 1 {
            let terms = diffuse_s_c_low::<
                DIM,
            >(grid, 1, t[1], u[i], u_low_y[i], len_2_low_y[i], g_low_y[i], half_c);
            s_c -= terms.0;
            n_c -= terms.1;
            let terms = diffuse_s_c_high::<
                DIM,
            >(grid, 1, t[1], u_high_y[i], u[i], len_2_high_y[i], g_high_y[i], half_c);
            s_c += terms.0;
            n_c += terms.1;
        }
        if DIM > 2 {
            let terms = diffuse_s_c_low::<
                DIM,
            >(grid, 2, t[2], u[i], u_low_z[i], len_2_low_z[i], g_low_z[i], half_c);
            s_c -= terms.0;
            n_c -= terms.1;
            let terms = diffuse_s_c_high::<
                DIM,
            >(grid, 2, t[2], u_high_z[i], u[i], len_2_high_z[i], g_high_z[i], half_c);
            s_c += terms.0;
            n_c += terms.1;
        }
        let edge_c: f64 = 0.0;
        let x_c = if far[i] { s_c * w[0] } else { (s_c + n_c) * 2.0 };
        u_new[i] = u[i] + dt * x_c - edge_c * grid.volume;
        even[i] = s_c < n_c;
    }
}

/// Term of the low side of a cell where there is a cell beyond; the caller subtracts it.
#[inline(always)]
fn diffuse_s_c_low<const DIM: usize>(
    grid: &CartesianGrid,
    axis: usize,
    t: f64,
    u: f64,
    u_low: f64,
    len_2_low: f64,
    g_low: f64,
    half_c: f64,
) -> (f64, f64) {
    let across_low = grid.displacement::<DIM>(axis, 1.0);
    (
        t * (u - u_low) + len_2_low * g_low,
        half_c * dot(grid.normal::<DIM>(axis), across_low),
    )
}

/// Term of the high side of a cell where there is a cell beyond; the caller adds it.
#[inline(always)]
fn diffuse_s_c_high<const DIM: usize>(
    grid: &CartesianGrid,
    axis: usize,
    t: f64,
    u_high: f64,
    u: f64,
    len_2_high: f64,
    g_high: f64,
    half_c: f64,
) -> (f64, f64) {
    let across_high = grid.displacement::<DIM>(axis, 1.0);
    (
        t * (u_high - u) + len_2_high * g_high,
        half_c * dot(grid.normal::<DIM>(axis), across_high),
    )
}

/// [`Kernels::diffuse`] on any grid.
fn diffuse_general<const DIM: usize, G: Places<DIM>>(
    rt: &mut SerialRuntime,
    args: &Diffuse<'_, SerialRuntime>,
    grid: &G,
) -> Result<(ScalarCollection, BoolCollection), Error> {
    let interior_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let u = rt.dense(args.u);
    let u = &u[..];
    let interior_faces_ranks = grid.canonical_ranks(&interior_faces);
    let t = rt.dense(args.t);
    let t = &t[..];
    let len_2 = rt.dense(args.len);
    let len_2 = &len_2[..];
    let g = rt.dense(args.g);
    let g = &g[..];
    let far = &args.far.values()[..];
    let w = rt.dense(args.w);
    let w = &w[..];
    let dt = *args.dt;
    let domain = &all_cells;
    let mut u_new = rt.take_buffer(domain.len());
    let mut even = rt.take_bool_buffer(domain.len());
    rt.each(
        domain.len(),
        (&mut u_new[..], &mut even[..]),
        move |range, (u_new_values, even_values)| {
            for position in range.clone() {
                let here = position as u32;
                let half = 0.5 * u[position];
                let mut s = 0.0;
                let mut n = 0.0;
                let u_here = u[position];
                let cell = here;
                for (f, neighbour, outward) in grid.sides_of(cell) {
                    if neighbour != NONE {
                        if outward {
                            let across = vector_sub(
                                grid.cell_centroid(neighbour),
                                grid.cell_centroid(cell),
                            );
                            s
                                += t[interior_faces_ranks.of(f)]
                                    * (u[neighbour as usize] - u_here)
                                    + len_2[f as usize] * g[interior_faces_ranks.of(f)];
                            n += half * dot(grid.face_normal(f), across);
                        } else {
                            let across = vector_sub(
                                grid.cell_centroid(cell),
                                grid.cell_centroid(neighbour),
                            );
                            s
                                -= t[interior_faces_ranks.of(f)]
                                    * (u_here - u[neighbour as usize])
                                    + len_2[f as usize] * g[interior_faces_ranks.of(f)];
                            n -= half * dot(grid.face_normal(f), across);
                        }
                    }
                }
                let mut edge = 0.0;
                let cell_2 = here;
                for (e, neighbour_2, outward_2) in grid.sides_of(cell_2) {
                    if neighbour_2 == NONE {
                        if outward_2 {
                            edge += grid.face_area(e) * len_2[e as usize];
                        } else {
                            edge -= grid.face_area(e) * len_2[e as usize];
                        }
                    }
                }
                let x = if far[position] { s * w[position] } else { (s + n) * 2.0 };
                u_new_values[position - range.start] = u[position] + dt * x
                    - edge * grid.cell_volume(here);
                even_values[position - range.start] = s < n;
            }
        },
    );
    Ok((rt.scalar_collection_from(domain, u_new), rt.bool_collection_from(domain, even)))
}

/// [`Kernels::jump`] on any grid.
fn jump_general<G: Entities>(
    rt: &mut SerialRuntime,
    args: &Jump<'_, SerialRuntime>,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let interior_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let cells_2 = &args.cells.values()[..];
    let u = rt.dense(args.u);
    let u = &u[..];
    let domain = &interior_faces;
    let mut j = rt.take_buffer(domain.len());
    let elements = domain.elements();
    rt.each(
        domain.len(),
        &mut j[..],
        move |range, j_values| {
            for position in range.clone() {
                let here = elements[position];
                let cells_here = grid.face_cells(here);
                let far = if cells_2[position] == cells_here[0] {
                    cells_here[1]
                } else {
                    cells_here[0]
                };
                let mut ring = 0.0;
                let cell = far;
                for (_, neighbour, outward) in grid.sides_of(cell) {
                    if outward {
                        ring
                            += if neighbour == NONE {
                                1.0
                            } else {
                                u[neighbour as usize]
                            };
                    } else {
                        ring -= if cell == NONE { 1.0 } else { u[cell as usize] };
                    }
                }
                j_values[position - range.start] = u[cells_2[position] as usize]
                    - u[far as usize] + ring.abs().sqrt();
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, j))
}

/// [`Kernels::inside`] on any grid.
fn inside_general<G: Entities>(
    rt: &mut SerialRuntime,
    args: &Inside<'_, SerialRuntime>,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let u = rt.dense(args.u);
    let u = &u[..];
    let domain = args.inlet;
    let mut u_inside = rt.take_buffer(domain.len());
    let elements = domain.elements();
    rt.try_each(
            domain.len(),
            &mut u_inside[..],
            move |range, u_inside_values| {
                for position in range.clone() {
                    let here = elements[position];
                    let cells_here = grid.face_cells(here);
                    if !!(cells_here[0] == NONE) {
                        if domain.is_own(position) {
                            return Err(position);
                        }
                        u_inside_values[position - range.start] = 0.0;
                        continue;
                    }
                    u_inside_values[position - range.start] = u[cells_here[0] as usize];
                }
                Ok(())
            },
        )
        .map_err(|position| rt.on_empty_in_kernel(&INSIDE, domain, position))?;
    Ok(rt.scalar_collection_from(domain, u_inside))
}

/// [`Kernels::outside`] on any grid.
fn outside_general<G: Entities>(
    rt: &mut SerialRuntime,
    args: &Outside<'_, SerialRuntime>,
    grid: &G,
) -> Result<(), Error> {
    let domain = args.inlet;
    let elements = domain.elements();
    rt.try_each(
            domain.len(),
            (),
            move |range, ()| {
                for position in range {
                    let here = elements[position];
                    if !grid.is_boundary_face(here) {
                        if domain.is_own(position) {
                            return Err(position);
                        }
                        continue;
                    }
                }
                Ok(())
            },
        )
        .map_err(|position| rt.two_cells_in_kernel(&OUTSIDE, domain, position))?;
    Ok(())
}

/// [`Kernels::extremes`] on any grid.
fn extremes_general(
    rt: &mut SerialRuntime,
    args: &Extremes<'_, SerialRuntime>,
) -> Result<(f64, f64), Error> {
    let rate = rt.dense(args.rate);
    let rate = &rate[..];
    let domain = args.wells;
    let mut least = rt.take_buffer(domain.len());
    let mut product = rt.take_buffer(domain.len());
    rt.each(
        domain.len(),
        (&mut least[..], &mut product[..]),
        move |range, (least_values, product_values)| {
            let len = range.len();
            let rate = &rate[range.start..][..len];
            let least_values = &mut least_values[..len];
            let product_values = &mut product_values[..len];
            for i in 0..len {
                least_values[i] = rate[i] - 1.0;
                product_values[i] = rate[i] * 2.0;
            }
        },
    );
    Ok((
        rt.reduce_in_kernel(Reduction::Min, domain, least, &EXTREMES)?,
        rt.reduce_in_kernel(Reduction::Prod, domain, product, &EXTREMES)?,
    ))
}

/// [`Kernels::ratio`] on any grid.
fn ratio_general(
    _rt: &mut SerialRuntime,
    args: &Ratio<'_, SerialRuntime>,
) -> Result<f64, Error> {
    let a = *args.a;
    let b = *args.b;
    Ok(a / b)
}

/// [`Kernels::sizes`] on any grid.
fn sizes_general<G: Entities>(
    rt: &mut SerialRuntime,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let all_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::All))?;
    let domain = &all_faces;
    let mut size = rt.take_buffer(domain.len());
    rt.each(
        domain.len(),
        &mut size[..],
        move |range, size_values| {
            let len = range.len();
            let size_values = &mut size_values[..len];
            for i in 0..len {
                let here = (range.start + i) as u32;
                size_values[i] = grid.face_area(here);
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, size))
}
