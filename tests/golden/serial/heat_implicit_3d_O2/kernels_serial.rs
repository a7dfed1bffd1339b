//! Kernels of heat_implicit_3d.equelle as loops.
#![allow(non_snake_case, clippy::too_many_arguments, clippy::needless_range_loop)]

use backend_serial::runtime::entities::{Arrays, Entities, Places, Positions};
use backend_serial::runtime::kernel::{
    CartesianGrid, SubsetRanks, lane, length, vector_add, vector_sub,
};
use backend_serial::runtime::stencil::{Pattern, Reach, RowEntries};
use backend_serial::runtime::{ScalarCollection, SerialRuntime};
use equelle_runtime::grid::NONE;
use equelle_runtime::threads::Entries;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent, Reduction};

use crate::kernels::{
    COMPUTE_BTRANS_DIRECTION, COMPUTE_DT_CV_VOLUME, COMPUTE_MAX_U0,
    COMPUTE_MAX_U_INITIAL, COMPUTE_MINUS_ITRANS, ComputeBtransDirection,
    ComputeDtCvVolume, ComputeMaxU0, ComputeMaxUInitial, ComputeMinusItrans, Kernels,
    RESIDUAL_U, ResidualU,
};

impl Kernels for SerialRuntime {
    fn residual_u(
        &mut self,
        args: ResidualU<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self.session_mut().time_kernel(&RESIDUAL_U, "rows");
        if let Some(grid) = self.cartesian_grid()
            && args.dt_cv_volume.per_axis().is_some()
            && args.minus_itrans.per_axis().is_some()
        {
            return match self.grid().dim() {
                1 => residual_u_cartesian::<1>(self, &args, &grid),
                2 => residual_u_cartesian::<2>(self, &args, &grid),
                _ => residual_u_cartesian::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_sides();
        residual_u_general(self, &args, &grid)
    }

    fn compute_max_u_initial(
        &mut self,
        args: ComputeMaxUInitial<'_, SerialRuntime>,
    ) -> Result<f64, Error> {
        let _timer = self.session_mut().time_kernel(&COMPUTE_MAX_U_INITIAL, "list");
        compute_max_u_initial_general(self, &args)
    }

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
                args.dir_boundary.len(),
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

    fn compute_dt_cv_volume(
        &mut self,
        args: ComputeDtCvVolume<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self.session_mut().time_kernel(&COMPUTE_DT_CV_VOLUME, "per axis");
        if let Some(grid) = self.closed_grid() {
            return match self.grid().dim() {
                1 => compute_dt_cv_volume_per_axis::<1>(self, &args, &grid),
                2 => compute_dt_cv_volume_per_axis::<2>(self, &args, &grid),
                _ => compute_dt_cv_volume_per_axis::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_geometry();
        compute_dt_cv_volume_general(self, &args, &grid)
    }

    fn compute_max_u0(
        &mut self,
        args: ComputeMaxU0<'_, SerialRuntime>,
    ) -> Result<f64, Error> {
        let _timer = self.session_mut().time_kernel(&COMPUTE_MAX_U0, "list");
        compute_max_u0_general(self, &args)
    }
}

/// [`Kernels::residual_u`] on a Cartesian grid.
fn residual_u_cartesian<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &ResidualU<'_, SerialRuntime>,
    grid: &CartesianGrid,
) -> Result<ScalarCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let dt_cv_volume = args.dt_cv_volume.per_axis().unwrap_or([f64::NAN; 3]);
    let minus_itrans = args.minus_itrans.per_axis().unwrap_or([f64::NAN; 3]);
    let u = rt.unknown_values(args.u);
    let u = &u[..];
    let dir_boundary_ranks = SubsetRanks::new(args.dir_boundary);
    let btrans_direction = rt.dense(args.btrans_direction);
    let btrans_direction = &btrans_direction[..];
    let dir_val = rt.dense(args.dir_val);
    let dir_val = &dir_val[..];
    let u0 = rt.dense(args.u0);
    let u0 = &u0[..];
    let domain = &all_cells;
    let mut u_u0 = rt.take_buffer(grid.n_cells());
    let stencil = rt
        .cartesian_stencil(
            &RESIDUAL_U,
            grid,
            domain,
            &[args.u],
            &[
                Reach {
                    own: true,
                    low: true,
                    high: true,
                },
            ],
        )?;
    let mut rows = rt.take_entries(stencil.entries());
    rt.each_row(
        grid,
        &RESIDUAL_U,
        (&mut u_u0[..], Entries::new(stencil.row_ptr(), &mut rows[..])),
        |range, (u_u0_values, mut entries)| {
            for row in grid.rows_in(&range) {
                let step = if row.interior { grid.n[0] - 1 } else { 1 };
                for i in (0..grid.n[0]).step_by(step) {
                    let here = row.start + i;
                    let at = [i, row.j, row.k];
                    let mut low_by_u = [0.0; 3];
                    let mut own_u = 0.0;
                    let mut high_by_u = [0.0; 3];
                    own_u += 1.0;
                    let t_7 = dt_cv_volume[0];
                    let mut divergence_fluxes = 0.0;
                    for axis in 0..DIM {
                        if at[axis] > 0 {
                            divergence_fluxes
                                -= residual_u_divergence_fluxes_low(
                                    minus_itrans[axis],
                                    t_7,
                                    u[here],
                                    u[here - grid.stride[axis]],
                                    &mut own_u,
                                    &mut low_by_u[axis],
                                );
                        } else {
                            let boundary_face = grid.boundary_face(at, axis, false);
                            let chosen = if dir_boundary_ranks.contains(boundary_face) {
                                let t_2 = btrans_direction[dir_boundary_ranks
                                    .of(boundary_face)];
                                own_u -= t_7 * t_2;
                                t_2
                                    * (u[here] - dir_val[dir_boundary_ranks.of(boundary_face)])
                            } else {
                                0.0
                            };
                            divergence_fluxes -= chosen;
                        }
                        if at[axis] + 1 < grid.n[axis] {
                            divergence_fluxes
                                += residual_u_divergence_fluxes_high(
                                    minus_itrans[axis],
                                    t_7,
                                    u[here + grid.stride[axis]],
                                    u[here],
                                    &mut high_by_u[axis],
                                    &mut own_u,
                                );
                        } else {
                            let boundary_face = grid.boundary_face(at, axis, true);
                            let chosen_2 = if dir_boundary_ranks.contains(boundary_face)
                            {
                                let t_6 = btrans_direction[dir_boundary_ranks
                                    .of(boundary_face)];
                                own_u += t_7 * t_6;
                                t_6
                                    * (u[here] - dir_val[dir_boundary_ranks.of(boundary_face)])
                            } else {
                                0.0
                            };
                            divergence_fluxes += chosen_2;
                        }
                    }
                    u_u0_values[here - range.start] = u[here] - u0[here]
                        + t_7 * divergence_fluxes;
                    let mut row = RowEntries::new(entries.row(here));
                    row.low_within::<DIM>(at, low_by_u);
                    row.own(own_u);
                    row.high_within::<DIM>(grid, at, high_by_u);
                }
                if row.interior {
                    let (first, len) = (row.start + 1, grid.n[0] - 2);
                    let u_low: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &u[first - grid.stride[axis]..][..len]
                    });
                    let u_high: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &u[first + grid.stride[axis]..][..len]
                    });
                    residual_u_row(
                        entries.rows(first, len),
                        &mut u_u0_values[first - range.start..][..len],
                        dt_cv_volume,
                        minus_itrans,
                        &u[first..][..len],
                        u_low,
                        u_high,
                        &u0[first..][..len],
                    );
                }
            }
        },
    );
    let u_u0 = rt.scalar_collection_from(domain, u_u0);
    Ok(rt.equation(u_u0, &stencil, rows))
}

/// [`Kernels::residual_u`] inside a row of cells, where no side is on the boundary.
#[inline(never)]
fn residual_u_row<const DIM: usize>(
    entries: &mut [f64],
    u_u0: &mut [f64],
    dt_cv_volume: [f64; 3],
    minus_itrans: [f64; 3],
    u: &[f64],
    u_low: [&[f64]; DIM],
    u_high: [&[f64]; DIM],
    u0: &[f64],
) {
    let len = u_u0.len();
    let u = &u[..len];
    let u_low_x = lane(&u_low, 0, len);
    let u_low_y = lane(&u_low, 1, len);
    let u_low_z = lane(&u_low, 2, len);
    let u_high_x = lane(&u_high, 0, len);
    let u_high_y = lane(&u_high, 1, len);
    let u_high_z = lane(&u_high, 2, len);
    let u0 = &u0[..len];
    for (i, row) in (0..len).zip(entries.chunks_exact_mut(1 + 2 * DIM)) {
        let mut low_by_u = [0.0; 3];
        let mut own_u = 0.0;
        let mut high_by_u = [0.0; 3];
        own_u += 1.0;
        let t_7 = dt_cv_volume[0];
        let mut divergence_fluxes = 0.0;
        divergence_fluxes
            -= residual_u_divergence_fluxes_low(
                minus_itrans[0],
                t_7,
                u[i],
                u_low_x[i],
                &mut own_u,
                &mut low_by_u[0],
            );
        divergence_fluxes
            += residual_u_divergence_fluxes_high(
                minus_itrans[0],
                t_7,
                u_high_x[i],
                u[i],
                &mut high_by_u[0],
                &mut own_u,
            );
        if DIM > 1 {
            divergence_fluxes
                -= residual_u_divergence_fluxes_low(
                    minus_itrans[1],
                    t_7,
                    u[i],
                    u_low_y[i],
                    &mut own_u,
                    &mut low_by_u[1],
                );
            divergence_fluxes
                += residual_u_divergence_fluxes_high(
                    minus_itrans[1],
                    t_7,
                    u_high_y[i],
                    u[i],
                    &mut high_by_u[1],
                    &mut own_u,
                );
        }
        if DIM > 2 {
            divergence_fluxes
                -= residual_u_divergence_fluxes_low(
                    minus_itrans[2],
                    t_7,
                    u[i],
                    u_low_z[i],
                    &mut own_u,
                    &mut low_by_u[2],
                );
            divergence_fluxes
                += residual_u_divergence_fluxes_high(
                    minus_itrans[2],
                    t_7,
                    u_high_z[i],
                    u[i],
                    &mut high_by_u[2],
                    &mut own_u,
                );
        }
        u_u0[i] = u[i] - u0[i] + t_7 * divergence_fluxes;
        let mut row = RowEntries::new(row);
        row.low::<DIM>(low_by_u);
        row.own(own_u);
        row.high::<DIM>(high_by_u);
    }
}

/// Term of the low side of a cell where there is a cell beyond; the caller subtracts it.
#[inline(always)]
fn residual_u_divergence_fluxes_low(
    minus_itrans: f64,
    t_7: f64,
    u: f64,
    u_low: f64,
    own_u: &mut f64,
    low_by_u: &mut f64,
) -> f64 {
    let t = minus_itrans;
    let d = t_7 * t;
    *own_u -= d;
    *low_by_u += d;
    t * (u - u_low)
}

/// Term of the high side of a cell where there is a cell beyond; the caller adds it.
#[inline(always)]
fn residual_u_divergence_fluxes_high(
    minus_itrans: f64,
    t_7: f64,
    u_high: f64,
    u: f64,
    high_by_u: &mut f64,
    own_u: &mut f64,
) -> f64 {
    let t_5 = minus_itrans;
    let d_2 = t_7 * t_5;
    *high_by_u += d_2;
    *own_u -= d_2;
    t_5 * (u_high - u)
}

/// [`Kernels::residual_u`] on any grid: the residual, and its derivatives by the unknowns.
fn residual_u_general<G: Entities>(
    rt: &mut SerialRuntime,
    args: &ResidualU<'_, SerialRuntime>,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let interior_faces = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Face, Extent::Interior))?;
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let dt_cv_volume = rt.dense(args.dt_cv_volume);
    let dt_cv_volume = &dt_cv_volume[..];
    let interior_faces_ranks = grid.canonical_ranks(&interior_faces);
    let minus_itrans = rt.dense(args.minus_itrans);
    let minus_itrans = &minus_itrans[..];
    let u = rt.unknown_values(args.u);
    let u = &u[..];
    let dir_boundary_ranks = grid.ranks(args.dir_boundary);
    let btrans_direction = rt.dense(args.btrans_direction);
    let btrans_direction = &btrans_direction[..];
    let dir_val = rt.dense(args.dir_val);
    let dir_val = &dir_val[..];
    let u0 = rt.dense(args.u0);
    let u0 = &u0[..];
    let domain = &all_cells;
    let stencil = rt
        .stencil(
            &RESIDUAL_U,
            domain,
            &[args.u],
            &[],
            |rt, pattern| { residual_u_pattern(rt, args, grid, pattern) },
        )?;
    let mut u_u0 = rt.take_buffer(domain.len());
    let mut rows = rt.take_entries(stencil.entries());
    let slots = stencil.slots();
    rt.each(
        domain.len(),
        (&mut u_u0[..], Entries::new(stencil.row_ptr(), &mut rows[..])),
        move |range, (u_u0_values, mut entries)| {
            let slots = slots.from(range.start);
            let mut next = 0;
            for position in range.clone() {
                let here = position as u32;
                let row = entries.row(position);
                row.fill(0.0);
                let own_u_slot = usize::from(slots[next]);
                next += 1;
                let mut own_u = 0.0;
                own_u += 1.0;
                let t_5 = dt_cv_volume[position];
                let mut divergence_fluxes = 0.0;
                let u_here = u[position];
                let cell = here;
                for (f, neighbour, outward) in grid.sides_of(cell) {
                    if outward {
                        let flux = if neighbour != NONE {
                            let t = minus_itrans[interior_faces_ranks.of(f)];
                            let d = t_5 * t;
                            row[usize::from(slots[next])] += d;
                            next += 1;
                            own_u -= d;
                            t * (u[neighbour as usize] - u_here)
                        } else {
                            let chosen = if dir_boundary_ranks.contains(f) {
                                let t_2 = btrans_direction[dir_boundary_ranks.of(f)];
                                own_u += t_5 * t_2;
                                t_2 * (u_here - dir_val[dir_boundary_ranks.of(f)])
                            } else {
                                0.0
                            };
                            chosen
                        };
                        divergence_fluxes += flux;
                    } else {
                        let flux = if neighbour != NONE {
                            let t = minus_itrans[interior_faces_ranks.of(f)];
                            let d = t_5 * t;
                            own_u -= d;
                            row[usize::from(slots[next])] += d;
                            next += 1;
                            t * (u_here - u[neighbour as usize])
                        } else {
                            let chosen = if dir_boundary_ranks.contains(f) {
                                let t_2 = btrans_direction[dir_boundary_ranks.of(f)];
                                own_u -= t_5 * t_2;
                                t_2 * (u_here - dir_val[dir_boundary_ranks.of(f)])
                            } else {
                                0.0
                            };
                            chosen
                        };
                        divergence_fluxes -= flux;
                    }
                }
                u_u0_values[position - range.start] = u[position] - u0[position]
                    + t_5 * divergence_fluxes;
                row[own_u_slot] += own_u;
            }
        },
    );
    let u_u0 = rt.scalar_collection_from(domain, u_u0);
    Ok(rt.equation(u_u0, &stencil, rows))
}

/// Which derivatives [`Kernels::residual_u`] has, element by element.
fn residual_u_pattern<G: Entities>(
    rt: &mut SerialRuntime,
    args: &ResidualU<'_, SerialRuntime>,
    grid: &G,
    pattern: &mut Pattern,
) -> Result<(), Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let dir_boundary_ranks = grid.ranks(args.dir_boundary);
    let domain = &all_cells;
    for position in 0..domain.len() {
        let here = position as u32;
        pattern.add(0, position);
        let cell = here;
        for (f, neighbour, outward) in grid.sides_of(cell) {
            if outward {
                if neighbour != NONE {
                    pattern.add(0, neighbour as usize);
                } else {
                    if dir_boundary_ranks.contains(f) {}
                }
            } else {
                if neighbour != NONE {
                    pattern.add(0, neighbour as usize);
                } else {
                    if dir_boundary_ranks.contains(f) {}
                }
            }
        }
        pattern.end_row();
    }
    Ok(())
}

/// [`Kernels::compute_max_u_initial`] on any grid.
fn compute_max_u_initial_general(
    rt: &mut SerialRuntime,
    args: &ComputeMaxUInitial<'_, SerialRuntime>,
) -> Result<f64, Error> {
    Ok(
        rt
            .reduce_collection_in_kernel(
                Reduction::Max,
                args.u_initial,
                &COMPUTE_MAX_U_INITIAL,
            )?,
    )
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
    Ok(rt.per_axis_collection(domain, minus_itrans))
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
                        )));
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
    let domain = args.dir_boundary;
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
                btrans_direction_values[i] = k
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
                        )) * (if cells_here[0] == NONE { -1.0 } else { 1.0 });
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, btrans_direction))
}

/// [`Kernels::compute_dt_cv_volume`] on a Cartesian grid.
fn compute_dt_cv_volume_per_axis<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &ComputeDtCvVolume<'_, SerialRuntime>,
    grid: &CartesianGrid,
) -> Result<ScalarCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let dt = *args.dt;
    let cv = *args.cv;
    let domain = &all_cells;
    let mut dt_cv_volume = [0.0; 3];
    dt_cv_volume[0] = dt / (cv * grid.volume);
    Ok(rt.per_axis_collection(domain, dt_cv_volume))
}

/// [`Kernels::compute_dt_cv_volume`] on any grid.
fn compute_dt_cv_volume_general<G: Entities>(
    rt: &mut SerialRuntime,
    args: &ComputeDtCvVolume<'_, SerialRuntime>,
    grid: &G,
) -> Result<ScalarCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let dt = *args.dt;
    let cv = *args.cv;
    let domain = &all_cells;
    let mut dt_cv_volume = rt.take_buffer(domain.len());
    rt.each(
        domain.len(),
        &mut dt_cv_volume[..],
        move |range, dt_cv_volume_values| {
            for (cells, volume_at) in grid.rows_with_volumes(range.clone()) {
                let len = cells.len();
                let dt_cv_volume_values = &mut dt_cv_volume_values[cells.start
                    - range.start..][..len];
                for i in 0..len {
                    dt_cv_volume_values[i] = dt / (cv * volume_at(i));
                }
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, dt_cv_volume))
}

/// [`Kernels::compute_max_u0`] on any grid.
fn compute_max_u0_general(
    rt: &mut SerialRuntime,
    args: &ComputeMaxU0<'_, SerialRuntime>,
) -> Result<f64, Error> {
    Ok(rt.reduce_collection_in_kernel(Reduction::Max, args.u0, &COMPUTE_MAX_U0)?)
}
