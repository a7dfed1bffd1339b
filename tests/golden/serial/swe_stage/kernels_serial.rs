//! Kernels of swe_stage.equelle as loops.
#![allow(non_snake_case, clippy::too_many_arguments, clippy::needless_range_loop)]

use backend_serial::runtime::entities::{Arrays, Places};
use backend_serial::runtime::kernel::{CartesianGrid, component, lane};
use backend_serial::runtime::sweep::{Side, Sweep};
use backend_serial::runtime::{ScalarCollection, SerialRuntime};
use equelle_runtime::grid::NONE;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent};

use crate::kernels::{BOTTOM, Bottom, Kernels, MEAN, Mean, STAGE, Stage};

impl Kernels for SerialRuntime {
    fn stage(
        &mut self,
        args: Stage<'_, SerialRuntime>,
    ) -> Result<(ScalarCollection, ScalarCollection, ScalarCollection), Error> {
        let _timer = self.session_mut().time_kernel(&STAGE, "rows");
        self.needs_dimension(2, &STAGE)?;
        if let Some(grid) = self.closed_grid() {
            return match self.grid().dim() {
                1 => stage_cartesian::<1>(self, &args, &grid),
                2 => stage_cartesian::<2>(self, &args, &grid),
                _ => stage_cartesian::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_topology().with_sides().with_geometry();
        match self.grid().dim() {
            1 => stage_general::<1, _>(self, &args, &grid),
            2 => stage_general::<2, _>(self, &args, &grid),
            _ => stage_general::<3, _>(self, &args, &grid),
        }
    }

    fn mean(
        &mut self,
        args: Mean<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self.session_mut().time_kernel(&MEAN, "list");
        mean_general(self, &args)
    }

    fn bottom(
        &mut self,
        args: Bottom<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
        let _timer = self.session_mut().time_kernel(&BOTTOM, "list");
        bottom_general(self, &args)
    }
}

/// [`Kernels::stage`] on a Cartesian grid.
fn stage_cartesian<const DIM: usize>(
    rt: &mut SerialRuntime,
    args: &Stage<'_, SerialRuntime>,
    grid: &CartesianGrid,
) -> Result<(ScalarCollection, ScalarCollection, ScalarCollection), Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let w = rt.dense(args.w);
    let w = &w[..];
    let b = rt.dense(args.b);
    let b = &b[..];
    let dt = *args.dt;
    let hu = rt.dense(args.hu);
    let hu = &hu[..];
    let b_east = rt.dense(args.b_east);
    let b_east = &b_east[..];
    let b_west = rt.dense(args.b_west);
    let b_west = &b_west[..];
    let dx = *args.dx;
    let hv = rt.dense(args.hv);
    let hv = &hv[..];
    let b_north = rt.dense(args.b_north);
    let b_north = &b_north[..];
    let b_south = rt.dense(args.b_south);
    let b_south = &b_south[..];
    let dy = *args.dy;
    let domain = &all_cells;
    let mut w_2 = rt.take_buffer(grid.n_cells());
    let mut hu_2 = rt.take_buffer(grid.n_cells());
    let mut hv_2 = rt.take_buffer(grid.n_cells());
    rt.each_row(
        grid,
        &STAGE,
        (&mut w_2[..], &mut hu_2[..], &mut hv_2[..]),
        |range, (w_2_values, hu_2_values, hv_2_values)| {
            let boundary = |side: &Side| {
                let here = side.cell;
                let axis = side.axis;
                if side.high {
                    let wall_x_high = axis == 0;
                    let h_wall_high = w[here] - b[here];
                    let pressure_high = if h_wall_high > 0.05 {
                        4.905 * h_wall_high * h_wall_high
                    } else {
                        0.0
                    };
                    let wall_area_high = grid.area[axis];
                    [
                        0.0,
                        if wall_x_high { wall_area_high * pressure_high } else { 0.0 },
                        if wall_x_high { 0.0 } else { wall_area_high * pressure_high },
                    ]
                } else {
                    let wall_x_low = axis == 0;
                    let h_wall_low = w[here] - b[here];
                    let pressure_low = if h_wall_low > 0.05 {
                        4.905 * h_wall_low * h_wall_low
                    } else {
                        0.0
                    };
                    let wall_area_low = grid.area[axis];
                    [
                        0.0,
                        if wall_x_low { wall_area_low * pressure_low } else { 0.0 },
                        if wall_x_low { 0.0 } else { wall_area_low * pressure_low },
                    ]
                }
            };
            let mut sweep = Sweep::<f64, DIM, 9, 3>::new(grid);
            for row in sweep.strips(&range) {
                let len = row.len;
                let with_next = row.at[1] + 1 < grid.n[1];
                sweep
                    .advance(
                        &row,
                        with_next,
                        |
                            cells,
                            [value_0,
                            value_1,
                            value_2,
                            value_3,
                            value_4,
                            value_5,
                            value_6,
                            value_7,
                            value_8,
                            ]|
                        stage_cells(
                            value_0,
                            value_1,
                            value_2,
                            value_3,
                            value_4,
                            value_5,
                            value_6,
                            value_7,
                            value_8,
                            &w[cells.clone()],
                            &b[cells.clone()],
                            &hu[cells.clone()],
                            &hv[cells.clone()],
                        ),
                        |
                            faces,
                            [first_0,
                            first_1,
                            first_2,
                            first_3,
                            first_4,
                            first_5,
                            first_6,
                            first_7,
                            first_8,
                            ],
                            [second_0,
                            second_1,
                            second_2,
                            second_3,
                            second_4,
                            second_5,
                            second_6,
                            second_7,
                            second_8,
                            ],
                            [term_0,
                            term_1,
                            term_2,
                            ]|
                        match faces.axis {
                            0 => {
                                stage_faces_x(
                                    term_0,
                                    term_1,
                                    term_2,
                                    first_0,
                                    second_0,
                                    first_1,
                                    second_1,
                                    first_2,
                                    second_2,
                                    &w[faces.second..][..faces.len],
                                    &w[faces.first..][..faces.len],
                                    first_3,
                                    second_3,
                                    &hu[faces.second..][..faces.len],
                                    &hu[faces.first..][..faces.len],
                                    first_4,
                                    second_4,
                                    &hv[faces.second..][..faces.len],
                                    &hv[faces.first..][..faces.len],
                                    grid,
                                )
                            }
                            1 => {
                                stage_faces_y(
                                    term_0,
                                    term_1,
                                    term_2,
                                    first_5,
                                    second_5,
                                    first_6,
                                    second_6,
                                    first_7,
                                    second_7,
                                    &w[faces.second..][..faces.len],
                                    &w[faces.first..][..faces.len],
                                    first_8,
                                    second_8,
                                    &hv[faces.second..][..faces.len],
                                    &hv[faces.first..][..faces.len],
                                    first_4,
                                    second_4,
                                    &hu[faces.second..][..faces.len],
                                    &hu[faces.first..][..faces.len],
                                    grid,
                                )
                            }
                            _ => {
                                stage_faces_z(
                                    term_0,
                                    term_1,
                                    term_2,
                                    first_5,
                                    second_5,
                                    first_6,
                                    second_6,
                                    first_7,
                                    second_7,
                                    &w[faces.second..][..faces.len],
                                    &w[faces.first..][..faces.len],
                                    first_8,
                                    second_8,
                                    &hv[faces.second..][..faces.len],
                                    &hv[faces.first..][..faces.len],
                                    first_4,
                                    second_4,
                                    &hu[faces.second..][..faces.len],
                                    &hu[faces.first..][..faces.len],
                                    grid,
                                )
                            }
                        },
                        &boundary,
                    );
                if with_next {
                    let around = sweep.around(&row);
                    let faces = around.faces;
                    let [between_0, between_1, between_2] = around.between;
                    stage_row_and_faces_y::<
                        DIM,
                    >(
                        &mut w_2_values[row.start - range.start..][..len],
                        &mut hu_2_values[row.start - range.start..][..len],
                        &mut hv_2_values[row.start - range.start..][..len],
                        between_0,
                        between_1,
                        between_2,
                        around.low[0],
                        around.high[0],
                        around.low[1],
                        around.high[1],
                        around.low[2],
                        around.high[2],
                        around.here[5],
                        around.next[5],
                        around.here[6],
                        around.next[6],
                        around.here[7],
                        around.next[7],
                        &w[faces.second..][..faces.len],
                        &w[row.start..][..len],
                        around.here[8],
                        around.next[8],
                        &hv[faces.second..][..faces.len],
                        &hv[row.start..][..len],
                        around.here[4],
                        around.next[4],
                        &hu[faces.second..][..faces.len],
                        &hu[row.start..][..len],
                        grid,
                        &b[row.start..][..len],
                        dt,
                        &b_east[row.start..][..len],
                        &b_west[row.start..][..len],
                        dx,
                        &b_north[row.start..][..len],
                        &b_south[row.start..][..len],
                        dy,
                    );
                } else {
                    stage_row::<
                        DIM,
                    >(
                        &mut w_2_values[row.start - range.start..][..len],
                        &mut hu_2_values[row.start - range.start..][..len],
                        &mut hv_2_values[row.start - range.start..][..len],
                        sweep.low(0),
                        sweep.high(0),
                        sweep.low(1),
                        sweep.high(1),
                        sweep.low(2),
                        sweep.high(2),
                        &w[row.start..][..len],
                        &b[row.start..][..len],
                        grid,
                        dt,
                        &hu[row.start..][..len],
                        &b_east[row.start..][..len],
                        &b_west[row.start..][..len],
                        dx,
                        &hv[row.start..][..len],
                        &b_north[row.start..][..len],
                        &b_south[row.start..][..len],
                        dy,
                    );
                }
            }
        },
    );
    Ok((
        rt.scalar_collection_from(domain, w_2),
        rt.scalar_collection_from(domain, hu_2),
        rt.scalar_collection_from(domain, hv_2),
    ))
}

/// [`Kernels::stage`] for a row of cells, from the terms of their faces.
#[inline(never)]
fn stage_row<const DIM: usize>(
    w_2: &mut [f64],
    hu_2: &mut [f64],
    hv_2: &mut [f64],
    sum_w_terms_low: [&[f64]; DIM],
    sum_w_terms_high: [&[f64]; DIM],
    sum_hu_terms_low: [&[f64]; DIM],
    sum_hu_terms_high: [&[f64]; DIM],
    sum_hv_terms_low: [&[f64]; DIM],
    sum_hv_terms_high: [&[f64]; DIM],
    w: &[f64],
    b: &[f64],
    grid: &CartesianGrid,
    dt: f64,
    hu: &[f64],
    b_east: &[f64],
    b_west: &[f64],
    dx: f64,
    hv: &[f64],
    b_north: &[f64],
    b_south: &[f64],
    dy: f64,
) {
    let len = w_2.len();
    let hu_2 = &mut hu_2[..len];
    let hv_2 = &mut hv_2[..len];
    let sum_w_terms_low_x = lane(&sum_w_terms_low, 0, len);
    let sum_w_terms_low_y = lane(&sum_w_terms_low, 1, len);
    let sum_w_terms_low_z = lane(&sum_w_terms_low, 2, len);
    let sum_w_terms_high_x = lane(&sum_w_terms_high, 0, len);
    let sum_w_terms_high_y = lane(&sum_w_terms_high, 1, len);
    let sum_w_terms_high_z = lane(&sum_w_terms_high, 2, len);
    let sum_hu_terms_low_x = lane(&sum_hu_terms_low, 0, len);
    let sum_hu_terms_low_y = lane(&sum_hu_terms_low, 1, len);
    let sum_hu_terms_low_z = lane(&sum_hu_terms_low, 2, len);
    let sum_hu_terms_high_x = lane(&sum_hu_terms_high, 0, len);
    let sum_hu_terms_high_y = lane(&sum_hu_terms_high, 1, len);
    let sum_hu_terms_high_z = lane(&sum_hu_terms_high, 2, len);
    let sum_hv_terms_low_x = lane(&sum_hv_terms_low, 0, len);
    let sum_hv_terms_low_y = lane(&sum_hv_terms_low, 1, len);
    let sum_hv_terms_low_z = lane(&sum_hv_terms_low, 2, len);
    let sum_hv_terms_high_x = lane(&sum_hv_terms_high, 0, len);
    let sum_hv_terms_high_y = lane(&sum_hv_terms_high, 1, len);
    let sum_hv_terms_high_z = lane(&sum_hv_terms_high, 2, len);
    let w = &w[..len];
    let b = &b[..len];
    let hu = &hu[..len];
    let b_east = &b_east[..len];
    let b_west = &b_west[..len];
    let hv = &hv[..len];
    let b_north = &b_north[..len];
    let b_south = &b_south[..len];
    for i in 0..len {
        let mut sum_w = 0.0;
        sum_w -= sum_w_terms_low_x[i];
        sum_w += sum_w_terms_high_x[i];
        if DIM > 1 {
            sum_w -= sum_w_terms_low_y[i];
            sum_w += sum_w_terms_high_y[i];
        }
        if DIM > 2 {
            sum_w -= sum_w_terms_low_z[i];
            sum_w += sum_w_terms_high_z[i];
        }
        let mut sum_hu = 0.0;
        sum_hu -= sum_hu_terms_low_x[i];
        sum_hu += sum_hu_terms_high_x[i];
        if DIM > 1 {
            sum_hu -= sum_hu_terms_low_y[i];
            sum_hu += sum_hu_terms_high_y[i];
        }
        if DIM > 2 {
            sum_hu -= sum_hu_terms_low_z[i];
            sum_hu += sum_hu_terms_high_z[i];
        }
        let mut sum_hv = 0.0;
        sum_hv -= sum_hv_terms_low_x[i];
        sum_hv += sum_hv_terms_high_x[i];
        if DIM > 1 {
            sum_hv -= sum_hv_terms_low_y[i];
            sum_hv += sum_hv_terms_high_y[i];
        }
        if DIM > 2 {
            sum_hv -= sum_hv_terms_low_z[i];
            sum_hv += sum_hv_terms_high_z[i];
        }
        let wet1_low = w[i] - b[i] > 0.05;
        let wet = if wet1_low { 1.0 } else { 0.0 };
        let value_2 = 1.0 / grid.volume;
        w_2[i] = w[i] + dt * (value_2 * -sum_w);
        hu_2[i] = hu[i]
            + dt
                * (value_2
                    * (-sum_hu
                        + grid.volume
                            * (-9.81 * ((b_east[i] - b_west[i]) / dx)
                                * ((w[i] - b_east[i] + (w[i] - b_west[i])) / 2.0) * wet)));
        hv_2[i] = hv[i]
            + dt
                * (value_2
                    * (-sum_hv
                        + grid.volume
                            * (-9.81 * ((b_north[i] - b_south[i]) / dy)
                                * ((w[i] - b_north[i] + (w[i] - b_south[i])) / 2.0)
                                * wet)));
    }
}

/// [`Kernels::stage`] for a row of cells, with the terms of the faces between it and the next row.
#[inline(never)]
fn stage_row_and_faces_y<const DIM: usize>(
    w_2: &mut [f64],
    hu_2: &mut [f64],
    hv_2: &mut [f64],
    sum_w_between: &mut [f64],
    sum_hu_between: &mut [f64],
    sum_hv_between: &mut [f64],
    sum_w_terms_low: [&[f64]; DIM],
    sum_w_terms_high: [&[f64]; DIM],
    sum_hu_terms_low: [&[f64]; DIM],
    sum_hu_terms_high: [&[f64]; DIM],
    sum_hv_terms_low: [&[f64]; DIM],
    sum_hv_terms_high: [&[f64]; DIM],
    value_first: &[f64],
    value_second: &[f64],
    value_first_2: &[f64],
    value_second_2: &[f64],
    m1n_low_first: &[f64],
    m1n_low_second: &[f64],
    w_second: &[f64],
    w: &[f64],
    n1n_low_first: &[f64],
    n1n_low_second: &[f64],
    hv_second: &[f64],
    hv: &[f64],
    t1n_low_first: &[f64],
    t1n_low_second: &[f64],
    hu_second: &[f64],
    hu: &[f64],
    grid: &CartesianGrid,
    b: &[f64],
    dt: f64,
    b_east: &[f64],
    b_west: &[f64],
    dx: f64,
    b_north: &[f64],
    b_south: &[f64],
    dy: f64,
) {
    let len = w_2.len();
    let hu_2 = &mut hu_2[..len];
    let hv_2 = &mut hv_2[..len];
    let sum_w_between = &mut sum_w_between[..len];
    let sum_hu_between = &mut sum_hu_between[..len];
    let sum_hv_between = &mut sum_hv_between[..len];
    let sum_w_terms_low_x = lane(&sum_w_terms_low, 0, len);
    let sum_w_terms_low_z = lane(&sum_w_terms_low, 2, len);
    let sum_w_terms_high_x = lane(&sum_w_terms_high, 0, len);
    let sum_w_terms_high_z = lane(&sum_w_terms_high, 2, len);
    let sum_hu_terms_low_x = lane(&sum_hu_terms_low, 0, len);
    let sum_hu_terms_low_z = lane(&sum_hu_terms_low, 2, len);
    let sum_hu_terms_high_x = lane(&sum_hu_terms_high, 0, len);
    let sum_hu_terms_high_z = lane(&sum_hu_terms_high, 2, len);
    let sum_hv_terms_low_x = lane(&sum_hv_terms_low, 0, len);
    let sum_hv_terms_low_z = lane(&sum_hv_terms_low, 2, len);
    let sum_hv_terms_high_x = lane(&sum_hv_terms_high, 0, len);
    let sum_hv_terms_high_z = lane(&sum_hv_terms_high, 2, len);
    let value_first = &value_first[..len];
    let value_second = &value_second[..len];
    let value_first_2 = &value_first_2[..len];
    let value_second_2 = &value_second_2[..len];
    let m1n_low_first = &m1n_low_first[..len];
    let m1n_low_second = &m1n_low_second[..len];
    let w_second = &w_second[..len];
    let w = &w[..len];
    let n1n_low_first = &n1n_low_first[..len];
    let n1n_low_second = &n1n_low_second[..len];
    let hv_second = &hv_second[..len];
    let hv = &hv[..len];
    let t1n_low_first = &t1n_low_first[..len];
    let t1n_low_second = &t1n_low_second[..len];
    let hu_second = &hu_second[..len];
    let hu = &hu[..len];
    let b = &b[..len];
    let b_east = &b_east[..len];
    let b_west = &b_west[..len];
    let b_north = &b_north[..len];
    let b_south = &b_south[..len];
    for i in 0..len {
        let value_2 = value_first[i] < value_second[i];
        let low_n_low = if value_2 { value_first[i] } else { value_second[i] };
        let value_3 = value_first_2[i] > value_second_2[i];
        let high_n_low = if value_3 { value_first_2[i] } else { value_second_2[i] };
        let value_4 = low_n_low < 0.0;
        let am_n_low = if value_4 { low_n_low } else { 0.0 };
        let value_5 = high_n_low > 0.0;
        let ap_n_low = if value_5 { high_n_low } else { 0.0 };
        let width_n_low = ap_n_low - am_n_low;
        let value_6 = width_n_low * width_n_low > 0.0025000000000000005;
        let blend_n_low = ap_n_low * am_n_low / width_n_low;
        let value_7 = (ap_n_low * m1n_low_first[i] - am_n_low * m1n_low_second[i])
            / width_n_low + blend_n_low * (w_second[i] - w[i]);
        let value_8 = (ap_n_low * n1n_low_first[i] - am_n_low * n1n_low_second[i])
            / width_n_low + blend_n_low * (hv_second[i] - hv[i]);
        let value_9 = (ap_n_low * t1n_low_first[i] - am_n_low * t1n_low_second[i])
            / width_n_low + blend_n_low * (hu_second[i] - hu[i]);
        let sum_w_above = grid.area[1] * (if value_6 { value_7 } else { 0.0 });
        let mut sum_w = 0.0;
        sum_w -= sum_w_terms_low_x[i];
        sum_w += sum_w_terms_high_x[i];
        sum_w -= sum_w_between[i];
        sum_w += sum_w_above;
        if DIM > 2 {
            sum_w -= sum_w_terms_low_z[i];
            sum_w += sum_w_terms_high_z[i];
        }
        sum_w_between[i] = sum_w_above;
        let sum_hu_above = grid.area[1] * (if value_6 { value_9 } else { 0.0 });
        let mut sum_hu = 0.0;
        sum_hu -= sum_hu_terms_low_x[i];
        sum_hu += sum_hu_terms_high_x[i];
        sum_hu -= sum_hu_between[i];
        sum_hu += sum_hu_above;
        if DIM > 2 {
            sum_hu -= sum_hu_terms_low_z[i];
            sum_hu += sum_hu_terms_high_z[i];
        }
        sum_hu_between[i] = sum_hu_above;
        let sum_hv_above = grid.area[1] * (if value_6 { value_8 } else { 0.0 });
        let mut sum_hv = 0.0;
        sum_hv -= sum_hv_terms_low_x[i];
        sum_hv += sum_hv_terms_high_x[i];
        sum_hv -= sum_hv_between[i];
        sum_hv += sum_hv_above;
        if DIM > 2 {
            sum_hv -= sum_hv_terms_low_z[i];
            sum_hv += sum_hv_terms_high_z[i];
        }
        sum_hv_between[i] = sum_hv_above;
        let wet1_low = w[i] - b[i] > 0.05;
        let wet = if wet1_low { 1.0 } else { 0.0 };
        let value_10 = 1.0 / grid.volume;
        w_2[i] = w[i] + dt * (value_10 * -sum_w);
        hu_2[i] = hu[i]
            + dt
                * (value_10
                    * (-sum_hu
                        + grid.volume
                            * (-9.81 * ((b_east[i] - b_west[i]) / dx)
                                * ((w[i] - b_east[i] + (w[i] - b_west[i])) / 2.0) * wet)));
        hv_2[i] = hv[i]
            + dt
                * (value_10
                    * (-sum_hv
                        + grid.volume
                            * (-9.81 * ((b_north[i] - b_south[i]) / dy)
                                * ((w[i] - b_north[i] + (w[i] - b_south[i])) / 2.0)
                                * wet)));
    }
}

/// Values that [`Kernels::stage`] needs of one cell, for a row of cells.
#[inline(never)]
fn stage_cells(
    value_2: &mut [f64],
    value_3: &mut [f64],
    m1n_low: &mut [f64],
    n1n_low: &mut [f64],
    t1n_low: &mut [f64],
    value_4: &mut [f64],
    value_5: &mut [f64],
    m1n_low_2: &mut [f64],
    n1n_low_2: &mut [f64],
    w: &[f64],
    b: &[f64],
    hu: &[f64],
    hv: &[f64],
) {
    let len = value_2.len();
    let value_3 = &mut value_3[..len];
    let m1n_low = &mut m1n_low[..len];
    let n1n_low = &mut n1n_low[..len];
    let t1n_low = &mut t1n_low[..len];
    let value_4 = &mut value_4[..len];
    let value_5 = &mut value_5[..len];
    let m1n_low_2 = &mut m1n_low_2[..len];
    let n1n_low_2 = &mut n1n_low_2[..len];
    let w = &w[..len];
    let b = &b[..len];
    let hu = &hu[..len];
    let hv = &hv[..len];
    for i in 0..len {
        let h1_low = w[i] - b[i];
        let wet1_low = h1_low > 0.05;
        let value_6 = f64::sqrt(9.81 * h1_low);
        let c1_low = if wet1_low { value_6 } else { 0.0 };
        let value_7 = hu[i] / h1_low;
        let v1n_low = if wet1_low { value_7 } else { 0.0 };
        let value_8 = 4.905 * h1_low * h1_low;
        let value_9 = hu[i] * value_7 + value_8;
        let value_10 = hu[i] * hv[i] / h1_low;
        let value_11 = hv[i] / h1_low;
        let v1n_low_2 = if wet1_low { value_11 } else { 0.0 };
        let value_12 = hv[i] * value_11 + value_8;
        value_2[i] = v1n_low - c1_low;
        value_3[i] = v1n_low + c1_low;
        m1n_low[i] = if wet1_low { hu[i] } else { 0.0 };
        n1n_low[i] = if wet1_low { value_9 } else { 0.0 };
        t1n_low[i] = if wet1_low { value_10 } else { 0.0 };
        value_4[i] = v1n_low_2 - c1_low;
        value_5[i] = v1n_low_2 + c1_low;
        m1n_low_2[i] = if wet1_low { hv[i] } else { 0.0 };
        n1n_low_2[i] = if wet1_low { value_12 } else { 0.0 };
    }
}

/// Terms of [`Kernels::stage`] on faces that x crosses, each between a first and a second cell.
#[inline(never)]
fn stage_faces_x(
    sum_w_2: &mut [f64],
    sum_hu_2: &mut [f64],
    sum_hv_2: &mut [f64],
    value_first: &[f64],
    value_second: &[f64],
    value_first_2: &[f64],
    value_second_2: &[f64],
    m1n_low_first: &[f64],
    m1n_low_second: &[f64],
    w_second: &[f64],
    w_first: &[f64],
    n1n_low_first: &[f64],
    n1n_low_second: &[f64],
    hu_second: &[f64],
    hu_first: &[f64],
    t1n_low_first: &[f64],
    t1n_low_second: &[f64],
    hv_second: &[f64],
    hv_first: &[f64],
    grid: &CartesianGrid,
) {
    let len = sum_w_2.len();
    let sum_hu_2 = &mut sum_hu_2[..len];
    let sum_hv_2 = &mut sum_hv_2[..len];
    let value_first = &value_first[..len];
    let value_second = &value_second[..len];
    let value_first_2 = &value_first_2[..len];
    let value_second_2 = &value_second_2[..len];
    let m1n_low_first = &m1n_low_first[..len];
    let m1n_low_second = &m1n_low_second[..len];
    let w_second = &w_second[..len];
    let w_first = &w_first[..len];
    let n1n_low_first = &n1n_low_first[..len];
    let n1n_low_second = &n1n_low_second[..len];
    let hu_second = &hu_second[..len];
    let hu_first = &hu_first[..len];
    let t1n_low_first = &t1n_low_first[..len];
    let t1n_low_second = &t1n_low_second[..len];
    let hv_second = &hv_second[..len];
    let hv_first = &hv_first[..len];
    for i in 0..len {
        let value_2 = value_first[i] < value_second[i];
        let low_n_low = if value_2 { value_first[i] } else { value_second[i] };
        let value_3 = value_first_2[i] > value_second_2[i];
        let high_n_low = if value_3 { value_first_2[i] } else { value_second_2[i] };
        let value_4 = low_n_low < 0.0;
        let am_n_low = if value_4 { low_n_low } else { 0.0 };
        let value_5 = high_n_low > 0.0;
        let ap_n_low = if value_5 { high_n_low } else { 0.0 };
        let width_n_low = ap_n_low - am_n_low;
        let value_6 = width_n_low * width_n_low > 0.0025000000000000005;
        let blend_n_low = ap_n_low * am_n_low / width_n_low;
        let value_7 = (ap_n_low * m1n_low_first[i] - am_n_low * m1n_low_second[i])
            / width_n_low + blend_n_low * (w_second[i] - w_first[i]);
        let value_8 = (ap_n_low * n1n_low_first[i] - am_n_low * n1n_low_second[i])
            / width_n_low + blend_n_low * (hu_second[i] - hu_first[i]);
        let value_9 = (ap_n_low * t1n_low_first[i] - am_n_low * t1n_low_second[i])
            / width_n_low + blend_n_low * (hv_second[i] - hv_first[i]);
        sum_w_2[i] = grid.area[0] * (if value_6 { value_7 } else { 0.0 });
        sum_hu_2[i] = grid.area[0] * (if value_6 { value_8 } else { 0.0 });
        sum_hv_2[i] = grid.area[0] * (if value_6 { value_9 } else { 0.0 });
    }
}

/// Terms of [`Kernels::stage`] on faces that y crosses, each between a first and a second cell.
#[inline(never)]
fn stage_faces_y(
    sum_w_2: &mut [f64],
    sum_hu_2: &mut [f64],
    sum_hv_2: &mut [f64],
    value_first: &[f64],
    value_second: &[f64],
    value_first_2: &[f64],
    value_second_2: &[f64],
    m1n_low_first: &[f64],
    m1n_low_second: &[f64],
    w_second: &[f64],
    w_first: &[f64],
    n1n_low_first: &[f64],
    n1n_low_second: &[f64],
    hv_second: &[f64],
    hv_first: &[f64],
    t1n_low_first: &[f64],
    t1n_low_second: &[f64],
    hu_second: &[f64],
    hu_first: &[f64],
    grid: &CartesianGrid,
) {
    let len = sum_w_2.len();
    let sum_hu_2 = &mut sum_hu_2[..len];
    let sum_hv_2 = &mut sum_hv_2[..len];
    let value_first = &value_first[..len];
    let value_second = &value_second[..len];
    let value_first_2 = &value_first_2[..len];
    let value_second_2 = &value_second_2[..len];
    let m1n_low_first = &m1n_low_first[..len];
    let m1n_low_second = &m1n_low_second[..len];
    let w_second = &w_second[..len];
    let w_first = &w_first[..len];
    let n1n_low_first = &n1n_low_first[..len];
    let n1n_low_second = &n1n_low_second[..len];
    let hv_second = &hv_second[..len];
    let hv_first = &hv_first[..len];
    let t1n_low_first = &t1n_low_first[..len];
    let t1n_low_second = &t1n_low_second[..len];
    let hu_second = &hu_second[..len];
    let hu_first = &hu_first[..len];
    for i in 0..len {
        let value_2 = value_first[i] < value_second[i];
        let low_n_low = if value_2 { value_first[i] } else { value_second[i] };
        let value_3 = value_first_2[i] > value_second_2[i];
        let high_n_low = if value_3 { value_first_2[i] } else { value_second_2[i] };
        let value_4 = low_n_low < 0.0;
        let am_n_low = if value_4 { low_n_low } else { 0.0 };
        let value_5 = high_n_low > 0.0;
        let ap_n_low = if value_5 { high_n_low } else { 0.0 };
        let width_n_low = ap_n_low - am_n_low;
        let value_6 = width_n_low * width_n_low > 0.0025000000000000005;
        let blend_n_low = ap_n_low * am_n_low / width_n_low;
        let value_7 = (ap_n_low * m1n_low_first[i] - am_n_low * m1n_low_second[i])
            / width_n_low + blend_n_low * (w_second[i] - w_first[i]);
        let value_8 = (ap_n_low * n1n_low_first[i] - am_n_low * n1n_low_second[i])
            / width_n_low + blend_n_low * (hv_second[i] - hv_first[i]);
        let value_9 = (ap_n_low * t1n_low_first[i] - am_n_low * t1n_low_second[i])
            / width_n_low + blend_n_low * (hu_second[i] - hu_first[i]);
        sum_w_2[i] = grid.area[1] * (if value_6 { value_7 } else { 0.0 });
        sum_hu_2[i] = grid.area[1] * (if value_6 { value_9 } else { 0.0 });
        sum_hv_2[i] = grid.area[1] * (if value_6 { value_8 } else { 0.0 });
    }
}

/// Terms of [`Kernels::stage`] on faces that z crosses, each between a first and a second cell.
#[inline(never)]
fn stage_faces_z(
    sum_w_2: &mut [f64],
    sum_hu_2: &mut [f64],
    sum_hv_2: &mut [f64],
    value_first: &[f64],
    value_second: &[f64],
    value_first_2: &[f64],
    value_second_2: &[f64],
    m1n_low_first: &[f64],
    m1n_low_second: &[f64],
    w_second: &[f64],
    w_first: &[f64],
    n1n_low_first: &[f64],
    n1n_low_second: &[f64],
    hv_second: &[f64],
    hv_first: &[f64],
    t1n_low_first: &[f64],
    t1n_low_second: &[f64],
    hu_second: &[f64],
    hu_first: &[f64],
    grid: &CartesianGrid,
) {
    let len = sum_w_2.len();
    let sum_hu_2 = &mut sum_hu_2[..len];
    let sum_hv_2 = &mut sum_hv_2[..len];
    let value_first = &value_first[..len];
    let value_second = &value_second[..len];
    let value_first_2 = &value_first_2[..len];
    let value_second_2 = &value_second_2[..len];
    let m1n_low_first = &m1n_low_first[..len];
    let m1n_low_second = &m1n_low_second[..len];
    let w_second = &w_second[..len];
    let w_first = &w_first[..len];
    let n1n_low_first = &n1n_low_first[..len];
    let n1n_low_second = &n1n_low_second[..len];
    let hv_second = &hv_second[..len];
    let hv_first = &hv_first[..len];
    let t1n_low_first = &t1n_low_first[..len];
    let t1n_low_second = &t1n_low_second[..len];
    let hu_second = &hu_second[..len];
    let hu_first = &hu_first[..len];
    for i in 0..len {
        let value_2 = value_first[i] < value_second[i];
        let low_n_low = if value_2 { value_first[i] } else { value_second[i] };
        let value_3 = value_first_2[i] > value_second_2[i];
        let high_n_low = if value_3 { value_first_2[i] } else { value_second_2[i] };
        let value_4 = low_n_low < 0.0;
        let am_n_low = if value_4 { low_n_low } else { 0.0 };
        let value_5 = high_n_low > 0.0;
        let ap_n_low = if value_5 { high_n_low } else { 0.0 };
        let width_n_low = ap_n_low - am_n_low;
        let value_6 = width_n_low * width_n_low > 0.0025000000000000005;
        let blend_n_low = ap_n_low * am_n_low / width_n_low;
        let value_7 = (ap_n_low * m1n_low_first[i] - am_n_low * m1n_low_second[i])
            / width_n_low + blend_n_low * (w_second[i] - w_first[i]);
        let value_8 = (ap_n_low * n1n_low_first[i] - am_n_low * n1n_low_second[i])
            / width_n_low + blend_n_low * (hv_second[i] - hv_first[i]);
        let value_9 = (ap_n_low * t1n_low_first[i] - am_n_low * t1n_low_second[i])
            / width_n_low + blend_n_low * (hu_second[i] - hu_first[i]);
        sum_w_2[i] = grid.area[2] * (if value_6 { value_7 } else { 0.0 });
        sum_hu_2[i] = grid.area[2] * (if value_6 { value_9 } else { 0.0 });
        sum_hv_2[i] = grid.area[2] * (if value_6 { value_8 } else { 0.0 });
    }
}

/// [`Kernels::stage`] on any grid.
fn stage_general<const DIM: usize, G: Places<DIM>>(
    rt: &mut SerialRuntime,
    args: &Stage<'_, SerialRuntime>,
    grid: &G,
) -> Result<(ScalarCollection, ScalarCollection, ScalarCollection), Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let w = rt.dense(args.w);
    let w = &w[..];
    let hu = rt.dense(args.hu);
    let hu = &hu[..];
    let hv = rt.dense(args.hv);
    let hv = &hv[..];
    let b = rt.dense(args.b);
    let b = &b[..];
    let b_east = rt.dense(args.b_east);
    let b_east = &b_east[..];
    let b_west = rt.dense(args.b_west);
    let b_west = &b_west[..];
    let dx = *args.dx;
    let b_north = rt.dense(args.b_north);
    let b_north = &b_north[..];
    let b_south = rt.dense(args.b_south);
    let b_south = &b_south[..];
    let dy = *args.dy;
    let dt = *args.dt;
    let cells = rt.grid().n_cells();
    // Values of a cell that its faces read, once for each cell.
    let mut value_of_cells = rt.take_buffer(cells);
    let mut value_of_cells_2 = rt.take_buffer(cells);
    let mut m1x_of_cells = rt.take_buffer(cells);
    let mut n1x_of_cells = rt.take_buffer(cells);
    let mut t1x_of_cells = rt.take_buffer(cells);
    let mut value_of_cells_3 = rt.take_buffer(cells);
    let mut value_of_cells_4 = rt.take_buffer(cells);
    let mut m1y_of_cells = rt.take_buffer(cells);
    let mut n1y_of_cells = rt.take_buffer(cells);
    rt.each(
        cells,
        (
            &mut value_of_cells[..],
            &mut value_of_cells_2[..],
            &mut m1x_of_cells[..],
            &mut n1x_of_cells[..],
            &mut t1x_of_cells[..],
            &mut value_of_cells_3[..],
            &mut value_of_cells_4[..],
            &mut m1y_of_cells[..],
            &mut n1y_of_cells[..],
        ),
        |
            range,
            (
                value_of_cells_values,
                value_of_cells_values_2,
                m1x_of_cells_values,
                n1x_of_cells_values,
                t1x_of_cells_values,
                value_of_cells_values_3,
                value_of_cells_values_4,
                m1y_of_cells_values,
                n1y_of_cells_values,
            )|
        stage_values(
            value_of_cells_values,
            value_of_cells_values_2,
            m1x_of_cells_values,
            n1x_of_cells_values,
            t1x_of_cells_values,
            value_of_cells_values_3,
            value_of_cells_values_4,
            m1y_of_cells_values,
            n1y_of_cells_values,
            &w[range.clone()],
            &b[range.clone()],
            &hu[range.clone()],
            &hv[range.clone()],
        ),
    );
    let value_of_cells = &value_of_cells[..];
    let value_of_cells_2 = &value_of_cells_2[..];
    let m1x_of_cells = &m1x_of_cells[..];
    let n1x_of_cells = &n1x_of_cells[..];
    let t1x_of_cells = &t1x_of_cells[..];
    let value_of_cells_3 = &value_of_cells_3[..];
    let value_of_cells_4 = &value_of_cells_4[..];
    let m1y_of_cells = &m1y_of_cells[..];
    let n1y_of_cells = &n1y_of_cells[..];
    // Terms of `sum_w`, `sum_hu`, `sum_hv`, the same for both cells of a face: made here, added below.
    let mut buffer = rt.take_buffer(3 * rt.grid().n_faces());
    rt.each(
        rt.grid().n_faces(),
        buffer.as_chunks_mut::<3>().0,
        move |range, part| {
            let value_of_cells = &value_of_cells[..cells];
            let value_of_cells_2 = &value_of_cells_2[..cells];
            let m1x_of_cells = &m1x_of_cells[..cells];
            let n1x_of_cells = &n1x_of_cells[..cells];
            let t1x_of_cells = &t1x_of_cells[..cells];
            let value_of_cells_3 = &value_of_cells_3[..cells];
            let value_of_cells_4 = &value_of_cells_4[..cells];
            let m1y_of_cells = &m1y_of_cells[..cells];
            let n1y_of_cells = &n1y_of_cells[..cells];
            let w = &w[..cells];
            let hu = &hu[..cells];
            let hv = &hv[..cells];
            for position in range.clone() {
                let f = position as u32;
                let [from, to] = grid.face_cells(f);
                if from == NONE || to == NONE {
                    continue;
                }
                let value_2 = value_of_cells[from as usize]
                    < value_of_cells[to as usize];
                let low_x_2 = if value_2 {
                    value_of_cells[from as usize]
                } else {
                    value_of_cells[to as usize]
                };
                let value_3 = value_of_cells_2[from as usize]
                    > value_of_cells_2[to as usize];
                let high_x_2 = if value_3 {
                    value_of_cells_2[from as usize]
                } else {
                    value_of_cells_2[to as usize]
                };
                let value_4 = low_x_2 < 0.0;
                let am_x_2 = if value_4 { low_x_2 } else { 0.0 };
                let value_5 = high_x_2 > 0.0;
                let ap_x_2 = if value_5 { high_x_2 } else { 0.0 };
                let width_x_2 = ap_x_2 - am_x_2;
                let value_6 = width_x_2 * width_x_2 > 0.0025000000000000005;
                let blend_x_2 = ap_x_2 * am_x_2 / width_x_2;
                let value_7 = w[to as usize] - w[from as usize];
                let value_8 = (ap_x_2 * m1x_of_cells[from as usize]
                    - am_x_2 * m1x_of_cells[to as usize]) / width_x_2
                    + blend_x_2 * value_7;
                let value_9 = hu[to as usize] - hu[from as usize];
                let value_10 = (ap_x_2 * n1x_of_cells[from as usize]
                    - am_x_2 * n1x_of_cells[to as usize]) / width_x_2
                    + blend_x_2 * value_9;
                let value_11 = hv[to as usize] - hv[from as usize];
                let value_12 = (ap_x_2 * t1x_of_cells[from as usize]
                    - am_x_2 * t1x_of_cells[to as usize]) / width_x_2
                    + blend_x_2 * value_11;
                let value_13 = value_of_cells_3[from as usize]
                    < value_of_cells_3[to as usize];
                let low_y_2 = if value_13 {
                    value_of_cells_3[from as usize]
                } else {
                    value_of_cells_3[to as usize]
                };
                let value_14 = value_of_cells_4[from as usize]
                    > value_of_cells_4[to as usize];
                let high_y_2 = if value_14 {
                    value_of_cells_4[from as usize]
                } else {
                    value_of_cells_4[to as usize]
                };
                let value_15 = low_y_2 < 0.0;
                let am_y_2 = if value_15 { low_y_2 } else { 0.0 };
                let value_16 = high_y_2 > 0.0;
                let ap_y_2 = if value_16 { high_y_2 } else { 0.0 };
                let width_y_2 = ap_y_2 - am_y_2;
                let value_17 = width_y_2 * width_y_2 > 0.0025000000000000005;
                let blend_y_2 = ap_y_2 * am_y_2 / width_y_2;
                let value_18 = (ap_y_2 * m1y_of_cells[from as usize]
                    - am_y_2 * m1y_of_cells[to as usize]) / width_y_2
                    + blend_y_2 * value_7;
                let value_19 = (ap_y_2 * n1y_of_cells[from as usize]
                    - am_y_2 * n1y_of_cells[to as usize]) / width_y_2
                    + blend_y_2 * value_11;
                let value_20 = (ap_y_2 * t1x_of_cells[from as usize]
                    - am_y_2 * t1x_of_cells[to as usize]) / width_y_2
                    + blend_y_2 * value_9;
                let ax_2 = f64::sqrt(
                    component(grid.face_normal(f), 0) * component(grid.face_normal(f), 0),
                );
                let ay_2 = f64::sqrt(
                    component(grid.face_normal(f), 1) * component(grid.face_normal(f), 1),
                );
                part[position - range.start] = [
                    grid.face_area(f)
                        * (ax_2 * (if value_6 { value_8 } else { 0.0 })
                            + ay_2 * (if value_17 { value_18 } else { 0.0 })),
                    grid.face_area(f)
                        * (ax_2 * (if value_6 { value_10 } else { 0.0 })
                            + ay_2 * (if value_17 { value_20 } else { 0.0 })),
                    grid.face_area(f)
                        * (ax_2 * (if value_6 { value_12 } else { 0.0 })
                            + ay_2 * (if value_17 { value_19 } else { 0.0 })),
                ];
            }
        },
    );
    let terms_of_faces = buffer.as_chunks::<3>().0;
    let domain = &all_cells;
    let mut w_2 = rt.take_buffer(domain.len());
    let mut hu_2 = rt.take_buffer(domain.len());
    let mut hv_2 = rt.take_buffer(domain.len());
    rt.each(
        domain.len(),
        (&mut w_2[..], &mut hu_2[..], &mut hv_2[..]),
        move |range, (w_2_values, hu_2_values, hv_2_values)| {
            for position in range.clone() {
                let here = position as u32;
                let mut sum_w = 0.0;
                let mut sum_hu = 0.0;
                let mut sum_hv = 0.0;
                let cell = here;
                for (f, neighbour, outward) in grid.sides_of(cell) {
                    if neighbour != NONE {
                        let [sum_w_term, sum_hu_term, sum_hv_term] = terms_of_faces[f
                            as usize];
                        if outward {
                            sum_w += sum_w_term;
                            sum_hu += sum_hu_term;
                            sum_hv += sum_hv_term;
                        } else {
                            sum_w -= sum_w_term;
                            sum_hu -= sum_hu_term;
                            sum_hv -= sum_hv_term;
                        }
                    } else {
                        let sign = if outward { 1.0 } else { -1.0 };
                        let [from_2, to_2] = if outward {
                            [cell, neighbour]
                        } else {
                            [neighbour, cell]
                        };
                        let nx = component(grid.face_normal(f), 0);
                        let ny = component(grid.face_normal(f), 1);
                        let inside = if from_2 == NONE { to_2 } else { from_2 };
                        let h_wall = w[inside as usize] - b[inside as usize];
                        let pressure = if h_wall > 0.05 {
                            4.905 * h_wall * h_wall
                        } else {
                            0.0
                        };
                        let sx: f64 = if nx > 0.0 { 1.0 } else { -1.0 };
                        let sy: f64 = if ny > 0.0 { 1.0 } else { -1.0 };
                        let flux_w: f64 = 0.0;
                        let flux_hu = (nx * nx).sqrt() * pressure * sx;
                        let flux_hv = (ny * ny).sqrt() * pressure * sy;
                        let area = grid.face_area(f);
                        sum_w += sign * (area * flux_w);
                        sum_hu += sign * (area * flux_hu);
                        sum_hv += sign * (area * flux_hv);
                    }
                }
                let wet: f64 = if w[position] - b[position] > 0.05 { 1.0 } else { 0.0 };
                let slope_x = (b_east[position] - b_west[position]) / dx;
                let slope_y = (b_north[position] - b_south[position]) / dy;
                let depth_x = (w[position] - b_east[position]
                    + (w[position] - b_west[position])) / 2.0;
                let depth_y = (w[position] - b_north[position]
                    + (w[position] - b_south[position])) / 2.0;
                let source_hu = -9.81 * slope_x * depth_x * wet;
                let source_hv = -9.81 * slope_y * depth_y * wet;
                let v = grid.cell_volume(here);
                w_2_values[position - range.start] = w[position]
                    + dt * (1.0 / v * -sum_w);
                hu_2_values[position - range.start] = hu[position]
                    + dt * (1.0 / v * (-sum_hu + v * source_hu));
                hv_2_values[position - range.start] = hv[position]
                    + dt * (1.0 / v * (-sum_hv + v * source_hv));
            }
        },
    );
    Ok((
        rt.scalar_collection_from(domain, w_2),
        rt.scalar_collection_from(domain, hu_2),
        rt.scalar_collection_from(domain, hv_2),
    ))
}

/// Values of a cell that its faces read in [`Kernels::stage`], for some cells.
#[inline(never)]
fn stage_values(
    value_2: &mut [f64],
    value_3: &mut [f64],
    m1x_2: &mut [f64],
    n1x_2: &mut [f64],
    t1x_2: &mut [f64],
    value_4: &mut [f64],
    value_5: &mut [f64],
    m1y_2: &mut [f64],
    n1y_2: &mut [f64],
    w_3: &[f64],
    b_2: &[f64],
    hu_3: &[f64],
    hv_3: &[f64],
) {
    let len = value_2.len();
    let value_3 = &mut value_3[..len];
    let m1x_2 = &mut m1x_2[..len];
    let n1x_2 = &mut n1x_2[..len];
    let t1x_2 = &mut t1x_2[..len];
    let value_4 = &mut value_4[..len];
    let value_5 = &mut value_5[..len];
    let m1y_2 = &mut m1y_2[..len];
    let n1y_2 = &mut n1y_2[..len];
    let w_3 = &w_3[..len];
    let b_2 = &b_2[..len];
    let hu_3 = &hu_3[..len];
    let hv_3 = &hv_3[..len];
    for i in 0..len {
        let h1_2 = w_3[i] - b_2[i];
        let wet1_2 = h1_2 > 0.05;
        let value_6 = f64::sqrt(9.81 * h1_2);
        let c1_2 = if wet1_2 { value_6 } else { 0.0 };
        let value_7 = hu_3[i] / h1_2;
        let v1x_2 = if wet1_2 { value_7 } else { 0.0 };
        let value_8 = 4.905 * h1_2 * h1_2;
        let value_9 = hu_3[i] * value_7 + value_8;
        let value_10 = hu_3[i] * hv_3[i] / h1_2;
        let value_11 = hv_3[i] / h1_2;
        let v1y_2 = if wet1_2 { value_11 } else { 0.0 };
        let value_12 = hv_3[i] * value_11 + value_8;
        value_2[i] = v1x_2 - c1_2;
        value_3[i] = v1x_2 + c1_2;
        m1x_2[i] = if wet1_2 { hu_3[i] } else { 0.0 };
        n1x_2[i] = if wet1_2 { value_9 } else { 0.0 };
        t1x_2[i] = if wet1_2 { value_10 } else { 0.0 };
        value_4[i] = v1y_2 - c1_2;
        value_5[i] = v1y_2 + c1_2;
        m1y_2[i] = if wet1_2 { hv_3[i] } else { 0.0 };
        n1y_2[i] = if wet1_2 { value_12 } else { 0.0 };
    }
}

/// [`Kernels::mean`] on any grid.
fn mean_general(
    rt: &mut SerialRuntime,
    args: &Mean<'_, SerialRuntime>,
) -> Result<ScalarCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let old = rt.dense(args.old);
    let old = &old[..];
    let ahead = rt.dense(args.ahead);
    let ahead = &ahead[..];
    let domain = &all_cells;
    let mut new = rt.take_buffer(domain.len());
    rt.each(
        domain.len(),
        &mut new[..],
        move |range, new_values| {
            let len = range.len();
            let old = &old[range.start..][..len];
            let ahead = &ahead[range.start..][..len];
            let new_values = &mut new_values[..len];
            for i in 0..len {
                new_values[i] = 0.5 * old[i] + 0.5 * ahead[i];
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, new))
}

/// [`Kernels::bottom`] on any grid.
fn bottom_general(
    rt: &mut SerialRuntime,
    args: &Bottom<'_, SerialRuntime>,
) -> Result<ScalarCollection, Error> {
    let all_cells = rt
        .canonical_domain(CanonicalSet::new(EntityKind::Cell, Extent::All))?;
    let north = rt.dense(args.north);
    let north = &north[..];
    let south = rt.dense(args.south);
    let south = &south[..];
    let east = rt.dense(args.east);
    let east = &east[..];
    let west = rt.dense(args.west);
    let west = &west[..];
    let domain = &all_cells;
    let mut b = rt.take_buffer(domain.len());
    rt.each(
        domain.len(),
        &mut b[..],
        move |range, b_values| {
            let len = range.len();
            let north = &north[range.start..][..len];
            let south = &south[range.start..][..len];
            let east = &east[range.start..][..len];
            let west = &west[range.start..][..len];
            let b_values = &mut b_values[..len];
            for i in 0..len {
                b_values[i] = (north[i] + south[i] + east[i] + west[i]) / 4.0;
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, b))
}
