//! Kernels of swe_stage.equelle as loops.
#![allow(non_snake_case, clippy::too_many_arguments, clippy::needless_range_loop)]

use backend_serial::runtime::entities::{Arrays, Places};
use backend_serial::runtime::kernel::{CartesianGrid, component, lane};
use backend_serial::runtime::{ScalarCollection, SerialRuntime};
use equelle_runtime::grid::NONE;
use equelle_runtime::{CanonicalSet, EntityKind, Error, Extent};

use crate::kernels::{Bottom, Kernels, Mean, STAGE, Stage};

impl Kernels for SerialRuntime {
    fn stage(
        &mut self,
        args: Stage<'_, SerialRuntime>,
    ) -> Result<(ScalarCollection, ScalarCollection, ScalarCollection), Error> {
        self.needs_dimension(2, &STAGE)?;
        if let Some(grid) = self.cartesian_grid() {
            return match self.grid().dim() {
                1 => stage_cartesian::<1>(self, &args, &grid),
                2 => stage_cartesian::<2>(self, &args, &grid),
                _ => stage_cartesian::<3>(self, &args, &grid),
            };
        }
        let grid = self.shared_grid();
        let grid = Arrays::of(&grid).with_topology().with_geometry();
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
        mean_general(self, &args)
    }

    fn bottom(
        &mut self,
        args: Bottom<'_, SerialRuntime>,
    ) -> Result<ScalarCollection, Error> {
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
    let hu = rt.dense(args.hu);
    let hu = &hu[..];
    let hv = rt.dense(args.hv);
    let hv = &hv[..];
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
    let domain = &all_cells;
    let mut w_2 = rt.take_buffer(grid.n_cells());
    let mut hu_2 = rt.take_buffer(grid.n_cells());
    let mut hv_2 = rt.take_buffer(grid.n_cells());
    rt.each_row(
        grid,
        (&mut w_2[..], &mut hu_2[..], &mut hv_2[..]),
        |range, (w_2_values, hu_2_values, hv_2_values)| {
            for row in grid.rows_in(&range) {
                let step = if row.interior { grid.n[0] - 1 } else { 1 };
                for i in (0..grid.n[0]).step_by(step) {
                    let here = row.start + i;
                    let at = [i, row.j, row.k];
                    let mut sum_w = 0.0;
                    let mut sum_hu = 0.0;
                    let mut sum_hv = 0.0;
                    for axis in 0..DIM {
                        if at[axis] > 0 {
                            let terms = stage_sum_w_low::<
                                DIM,
                            >(
                                grid,
                                axis,
                                w[here - grid.stride[axis]],
                                b[here - grid.stride[axis]],
                                w[here],
                                b[here],
                                hu[here - grid.stride[axis]],
                                hv[here - grid.stride[axis]],
                                hu[here],
                                hv[here],
                            );
                            sum_w -= terms.0;
                            sum_hu -= terms.1;
                            sum_hv -= terms.2;
                        } else {
                            let wall_x_low = component(grid.normal::<DIM>(axis), 0)
                                == 1.0;
                            let h_wall_low = w[here] - b[here];
                            let pressure_low = if h_wall_low > 0.05 {
                                4.905 * h_wall_low * h_wall_low
                            } else {
                                0.0
                            };
                            let wall_area_low = grid.area[axis];
                            sum_w -= 0.0;
                            sum_hu
                                -= if wall_x_low {
                                    wall_area_low * pressure_low
                                } else {
                                    0.0
                                };
                            sum_hv
                                -= if wall_x_low {
                                    0.0
                                } else {
                                    wall_area_low * pressure_low
                                };
                        }
                        if at[axis] + 1 < grid.n[axis] {
                            let terms = stage_sum_w_high::<
                                DIM,
                            >(
                                grid,
                                axis,
                                w[here],
                                b[here],
                                w[here + grid.stride[axis]],
                                b[here + grid.stride[axis]],
                                hu[here],
                                hv[here],
                                hu[here + grid.stride[axis]],
                                hv[here + grid.stride[axis]],
                            );
                            sum_w += terms.0;
                            sum_hu += terms.1;
                            sum_hv += terms.2;
                        } else {
                            let wall_x_high = component(grid.normal::<DIM>(axis), 0)
                                == 1.0;
                            let h_wall_high = w[here] - b[here];
                            let pressure_high = if h_wall_high > 0.05 {
                                4.905 * h_wall_high * h_wall_high
                            } else {
                                0.0
                            };
                            let wall_area_high = grid.area[axis];
                            sum_w += 0.0;
                            sum_hu
                                += if wall_x_high {
                                    wall_area_high * pressure_high
                                } else {
                                    0.0
                                };
                            sum_hv
                                += if wall_x_high {
                                    0.0
                                } else {
                                    wall_area_high * pressure_high
                                };
                        }
                    }
                    let wet = if w[here] - b[here] > 0.05 { 1.0 } else { 0.0 };
                    let slope_x = (b_east[here] - b_west[here]) / dx;
                    let slope_y = (b_north[here] - b_south[here]) / dy;
                    let depth_x = (w[here] - b_east[here] + (w[here] - b_west[here]))
                        / 2.0;
                    let depth_y = (w[here] - b_north[here] + (w[here] - b_south[here]))
                        / 2.0;
                    let source_hu = -9.81 * slope_x * depth_x * wet;
                    let source_hv = -9.81 * slope_y * depth_y * wet;
                    let v = grid.volume;
                    w_2_values[here - range.start] = w[here] + dt * (1.0 / v * -sum_w);
                    hu_2_values[here - range.start] = hu[here]
                        + dt * (1.0 / v * (-sum_hu + v * source_hu));
                    hv_2_values[here - range.start] = hv[here]
                        + dt * (1.0 / v * (-sum_hv + v * source_hv));
                }
                if row.interior {
                    let (first, len) = (row.start + 1, grid.n[0] - 2);
                    let w_low: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &w[first - grid.stride[axis]..][..len]
                    });
                    let b_low: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &b[first - grid.stride[axis]..][..len]
                    });
                    let hu_low: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &hu[first - grid.stride[axis]..][..len]
                    });
                    let hv_low: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &hv[first - grid.stride[axis]..][..len]
                    });
                    let w_high: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &w[first + grid.stride[axis]..][..len]
                    });
                    let b_high: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &b[first + grid.stride[axis]..][..len]
                    });
                    let hu_high: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &hu[first + grid.stride[axis]..][..len]
                    });
                    let hv_high: [&[f64]; DIM] = std::array::from_fn(|axis| {
                        &hv[first + grid.stride[axis]..][..len]
                    });
                    stage_row(
                        grid,
                        &mut w_2_values[first - range.start..][..len],
                        &mut hu_2_values[first - range.start..][..len],
                        &mut hv_2_values[first - range.start..][..len],
                        w_low,
                        b_low,
                        &w[first..][..len],
                        &b[first..][..len],
                        hu_low,
                        hv_low,
                        &hu[first..][..len],
                        &hv[first..][..len],
                        w_high,
                        b_high,
                        hu_high,
                        hv_high,
                        &b_east[first..][..len],
                        &b_west[first..][..len],
                        dx,
                        &b_north[first..][..len],
                        &b_south[first..][..len],
                        dy,
                        dt,
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

/// [`Kernels::stage`] inside a row of cells, where no side is on the boundary.
#[inline(never)]
fn stage_row<const DIM: usize>(
    grid: &CartesianGrid,
    w_2: &mut [f64],
    hu_2: &mut [f64],
    hv_2: &mut [f64],
    w_low: [&[f64]; DIM],
    b_low: [&[f64]; DIM],
    w: &[f64],
    b: &[f64],
    hu_low: [&[f64]; DIM],
    hv_low: [&[f64]; DIM],
    hu: &[f64],
    hv: &[f64],
    w_high: [&[f64]; DIM],
    b_high: [&[f64]; DIM],
    hu_high: [&[f64]; DIM],
    hv_high: [&[f64]; DIM],
    b_east: &[f64],
    b_west: &[f64],
    dx: f64,
    b_north: &[f64],
    b_south: &[f64],
    dy: f64,
    dt: f64,
) {
    let len = w_2.len();
    let hu_2 = &mut hu_2[..len];
    let hv_2 = &mut hv_2[..len];
    let w_low_x = lane(&w_low, 0, len);
    let w_low_y = lane(&w_low, 1, len);
    let w_low_z = lane(&w_low, 2, len);
    let b_low_x = lane(&b_low, 0, len);
    let b_low_y = lane(&b_low, 1, len);
    let b_low_z = lane(&b_low, 2, len);
    let w = &w[..len];
    let b = &b[..len];
    let hu_low_x = lane(&hu_low, 0, len);
    let hu_low_y = lane(&hu_low, 1, len);
    let hu_low_z = lane(&hu_low, 2, len);
    let hv_low_x = lane(&hv_low, 0, len);
    let hv_low_y = lane(&hv_low, 1, len);
    let hv_low_z = lane(&hv_low, 2, len);
    let hu = &hu[..len];
    let hv = &hv[..len];
    let w_high_x = lane(&w_high, 0, len);
    let w_high_y = lane(&w_high, 1, len);
    let w_high_z = lane(&w_high, 2, len);
    let b_high_x = lane(&b_high, 0, len);
    let b_high_y = lane(&b_high, 1, len);
    let b_high_z = lane(&b_high, 2, len);
    let hu_high_x = lane(&hu_high, 0, len);
    let hu_high_y = lane(&hu_high, 1, len);
    let hu_high_z = lane(&hu_high, 2, len);
    let hv_high_x = lane(&hv_high, 0, len);
    let hv_high_y = lane(&hv_high, 1, len);
    let hv_high_z = lane(&hv_high, 2, len);
    let b_east = &b_east[..len];
    let b_west = &b_west[..len];
    let b_north = &b_north[..len];
    let b_south = &b_south[..len];
    for i in 0..len {
        let mut sum_w = 0.0;
        let mut sum_hu = 0.0;
        let mut sum_hv = 0.0;
        let terms = stage_sum_w_low::<
            DIM,
        >(
            grid,
            0,
            w_low_x[i],
            b_low_x[i],
            w[i],
            b[i],
            hu_low_x[i],
            hv_low_x[i],
            hu[i],
            hv[i],
        );
        sum_w -= terms.0;
        sum_hu -= terms.1;
        sum_hv -= terms.2;
        let terms = stage_sum_w_high::<
            DIM,
        >(
            grid,
            0,
            w[i],
            b[i],
            w_high_x[i],
            b_high_x[i],
            hu[i],
            hv[i],
            hu_high_x[i],
            hv_high_x[i],
        );
        sum_w += terms.0;
        sum_hu += terms.1;
        sum_hv += terms.2;
        if DIM > 1 {
            let terms = stage_sum_w_low::<
                DIM,
            >(
                grid,
                1,
                w_low_y[i],
                b_low_y[i],
                w[i],
                b[i],
                hu_low_y[i],
                hv_low_y[i],
                hu[i],
                hv[i],
            );
            sum_w -= terms.0;
            sum_hu -= terms.1;
            sum_hv -= terms.2;
            let terms = stage_sum_w_high::<
                DIM,
            >(
                grid,
                1,
                w[i],
                b[i],
                w_high_y[i],
                b_high_y[i],
                hu[i],
                hv[i],
                hu_high_y[i],
                hv_high_y[i],
            );
            sum_w += terms.0;
            sum_hu += terms.1;
            sum_hv += terms.2;
        }
        if DIM > 2 {
            let terms = stage_sum_w_low::<
                DIM,
            >(
                grid,
                2,
                w_low_z[i],
                b_low_z[i],
                w[i],
                b[i],
                hu_low_z[i],
                hv_low_z[i],
                hu[i],
                hv[i],
            );
            sum_w -= terms.0;
            sum_hu -= terms.1;
            sum_hv -= terms.2;
            let terms = stage_sum_w_high::<
                DIM,
            >(
                grid,
                2,
                w[i],
                b[i],
                w_high_z[i],
                b_high_z[i],
                hu[i],
                hv[i],
                hu_high_z[i],
                hv_high_z[i],
            );
            sum_w += terms.0;
            sum_hu += terms.1;
            sum_hv += terms.2;
        }
        let wet = if w[i] - b[i] > 0.05 { 1.0 } else { 0.0 };
        let slope_x = (b_east[i] - b_west[i]) / dx;
        let slope_y = (b_north[i] - b_south[i]) / dy;
        let depth_x = (w[i] - b_east[i] + (w[i] - b_west[i])) / 2.0;
        let depth_y = (w[i] - b_north[i] + (w[i] - b_south[i])) / 2.0;
        let source_hu = -9.81 * slope_x * depth_x * wet;
        let source_hv = -9.81 * slope_y * depth_y * wet;
        let v = grid.volume;
        w_2[i] = w[i] + dt * (1.0 / v * -sum_w);
        hu_2[i] = hu[i] + dt * (1.0 / v * (-sum_hu + v * source_hu));
        hv_2[i] = hv[i] + dt * (1.0 / v * (-sum_hv + v * source_hv));
    }
}

/// Term of the low side of a cell where there is a cell beyond; the caller subtracts it.
#[inline(always)]
fn stage_sum_w_low<const DIM: usize>(
    grid: &CartesianGrid,
    axis: usize,
    w_low: f64,
    b_low: f64,
    w: f64,
    b: f64,
    hu_low: f64,
    hv_low: f64,
    hu: f64,
    hv: f64,
) -> (f64, f64, f64) {
    let along_x_low = component(grid.normal::<DIM>(axis), 0) == 1.0;
    let h1_low = w_low - b_low;
    let wet1_low = h1_low > 0.05;
    let c1_low = if wet1_low { (9.81 * h1_low).sqrt() } else { 0.0 };
    let h2_low = w - b;
    let wet2_low = h2_low > 0.05;
    let c2_low = if wet2_low { (9.81 * h2_low).sqrt() } else { 0.0 };
    let mn1_low = if along_x_low { hu_low } else { hv_low };
    let mt1_low = if along_x_low { hv_low } else { hu_low };
    let mn2_low = if along_x_low { hu } else { hv };
    let mt2_low = if along_x_low { hv } else { hu };
    let v1n_low = if wet1_low { mn1_low / h1_low } else { 0.0 };
    let v2n_low = if wet2_low { mn2_low / h2_low } else { 0.0 };
    let low_n_low = if v1n_low - c1_low < v2n_low - c2_low {
        v1n_low - c1_low
    } else {
        v2n_low - c2_low
    };
    let high_n_low = if v1n_low + c1_low > v2n_low + c2_low {
        v1n_low + c1_low
    } else {
        v2n_low + c2_low
    };
    let am_n_low = if low_n_low < 0.0 { low_n_low } else { 0.0 };
    let ap_n_low = if high_n_low > 0.0 { high_n_low } else { 0.0 };
    let width_n_low = ap_n_low - am_n_low;
    let (mass_n_low, normal_n_low, tangential_n_low) = if width_n_low * width_n_low
        > 0.0025000000000000005
    {
        let m1n_low = if wet1_low { mn1_low } else { 0.0 };
        let n1n_low = if wet1_low {
            mn1_low * (mn1_low / h1_low) + 4.905 * h1_low * h1_low
        } else {
            0.0
        };
        let t1n_low = if wet1_low { mn1_low * mt1_low / h1_low } else { 0.0 };
        let m2n_low = if wet2_low { mn2_low } else { 0.0 };
        let n2n_low = if wet2_low {
            mn2_low * (mn2_low / h2_low) + 4.905 * h2_low * h2_low
        } else {
            0.0
        };
        let t2n_low = if wet2_low { mn2_low * mt2_low / h2_low } else { 0.0 };
        let blend_n_low = ap_n_low * am_n_low / width_n_low;
        (
            (ap_n_low * m1n_low - am_n_low * m2n_low) / width_n_low
                + blend_n_low * (w - w_low),
            (ap_n_low * n1n_low - am_n_low * n2n_low) / width_n_low
                + blend_n_low * (mn2_low - mn1_low),
            (ap_n_low * t1n_low - am_n_low * t2n_low) / width_n_low
                + blend_n_low * (mt2_low - mt1_low),
        )
    } else {
        (0.0, 0.0, 0.0)
    };
    let area_low = grid.area[axis];
    (
        area_low * mass_n_low,
        area_low * (if along_x_low { normal_n_low } else { tangential_n_low }),
        area_low * (if along_x_low { tangential_n_low } else { normal_n_low }),
    )
}

/// Term of the high side of a cell where there is a cell beyond; the caller adds it.
#[inline(always)]
fn stage_sum_w_high<const DIM: usize>(
    grid: &CartesianGrid,
    axis: usize,
    w: f64,
    b: f64,
    w_high: f64,
    b_high: f64,
    hu: f64,
    hv: f64,
    hu_high: f64,
    hv_high: f64,
) -> (f64, f64, f64) {
    let along_x_high = component(grid.normal::<DIM>(axis), 0) == 1.0;
    let h1_high = w - b;
    let wet1_high = h1_high > 0.05;
    let c1_high = if wet1_high { (9.81 * h1_high).sqrt() } else { 0.0 };
    let h2_high = w_high - b_high;
    let wet2_high = h2_high > 0.05;
    let c2_high = if wet2_high { (9.81 * h2_high).sqrt() } else { 0.0 };
    let mn1_high = if along_x_high { hu } else { hv };
    let mt1_high = if along_x_high { hv } else { hu };
    let mn2_high = if along_x_high { hu_high } else { hv_high };
    let mt2_high = if along_x_high { hv_high } else { hu_high };
    let v1n_high = if wet1_high { mn1_high / h1_high } else { 0.0 };
    let v2n_high = if wet2_high { mn2_high / h2_high } else { 0.0 };
    let low_n_high = if v1n_high - c1_high < v2n_high - c2_high {
        v1n_high - c1_high
    } else {
        v2n_high - c2_high
    };
    let high_n_high = if v1n_high + c1_high > v2n_high + c2_high {
        v1n_high + c1_high
    } else {
        v2n_high + c2_high
    };
    let am_n_high = if low_n_high < 0.0 { low_n_high } else { 0.0 };
    let ap_n_high = if high_n_high > 0.0 { high_n_high } else { 0.0 };
    let width_n_high = ap_n_high - am_n_high;
    let (mass_n_high, normal_n_high, tangential_n_high) = if width_n_high * width_n_high
        > 0.0025000000000000005
    {
        let m1n_high = if wet1_high { mn1_high } else { 0.0 };
        let n1n_high = if wet1_high {
            mn1_high * (mn1_high / h1_high) + 4.905 * h1_high * h1_high
        } else {
            0.0
        };
        let t1n_high = if wet1_high { mn1_high * mt1_high / h1_high } else { 0.0 };
        let m2n_high = if wet2_high { mn2_high } else { 0.0 };
        let n2n_high = if wet2_high {
            mn2_high * (mn2_high / h2_high) + 4.905 * h2_high * h2_high
        } else {
            0.0
        };
        let t2n_high = if wet2_high { mn2_high * mt2_high / h2_high } else { 0.0 };
        let blend_n_high = ap_n_high * am_n_high / width_n_high;
        (
            (ap_n_high * m1n_high - am_n_high * m2n_high) / width_n_high
                + blend_n_high * (w_high - w),
            (ap_n_high * n1n_high - am_n_high * n2n_high) / width_n_high
                + blend_n_high * (mn2_high - mn1_high),
            (ap_n_high * t1n_high - am_n_high * t2n_high) / width_n_high
                + blend_n_high * (mt2_high - mt1_high),
        )
    } else {
        (0.0, 0.0, 0.0)
    };
    let area_high = grid.area[axis];
    (
        area_high * mass_n_high,
        area_high * (if along_x_high { normal_n_high } else { tangential_n_high }),
        area_high * (if along_x_high { tangential_n_high } else { normal_n_high }),
    )
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
    let b = rt.dense(args.b);
    let b = &b[..];
    let hu = rt.dense(args.hu);
    let hu = &hu[..];
    let hv = rt.dense(args.hv);
    let hv = &hv[..];
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
    let domain = &all_cells;
    let mut w_2 = rt.take_buffer(domain.len());
    let mut hu_2 = rt.take_buffer(domain.len());
    let mut hv_2 = rt.take_buffer(domain.len());
    rt.each(
        domain.len(),
        (&mut w_2[..], &mut hu_2[..], &mut hv_2[..]),
        |range, (w_2_values, hu_2_values, hv_2_values)| {
            for position in range.clone() {
                let here = position as u32;
                let mut sum_w = 0.0;
                let mut sum_hu = 0.0;
                let mut sum_hv = 0.0;
                let cell = here;
                for f in grid.faces_of(cell) {
                    let [from, to] = grid.face_cells(f);
                    let sign = if from == cell { 1.0 } else { -1.0 };
                    let nx = component(grid.face_normal(f), 0);
                    let ny = component(grid.face_normal(f), 1);
                    let (flux_w, flux_hu, flux_hv) = if from != NONE && to != NONE {
                        let h1 = w[from as usize] - b[from as usize];
                        let wet1 = h1 > 0.05;
                        let c1 = if wet1 { (9.81 * h1).sqrt() } else { 0.0 };
                        let h2 = w[to as usize] - b[to as usize];
                        let wet2 = h2 > 0.05;
                        let c2 = if wet2 { (9.81 * h2).sqrt() } else { 0.0 };
                        let v1x = if wet1 { hu[from as usize] / h1 } else { 0.0 };
                        let v2x = if wet2 { hu[to as usize] / h2 } else { 0.0 };
                        let low_x = if v1x - c1 < v2x - c2 {
                            v1x - c1
                        } else {
                            v2x - c2
                        };
                        let high_x = if v1x + c1 > v2x + c2 {
                            v1x + c1
                        } else {
                            v2x + c2
                        };
                        let am_x = if low_x < 0.0 { low_x } else { 0.0 };
                        let ap_x = if high_x > 0.0 { high_x } else { 0.0 };
                        let width_x = ap_x - am_x;
                        let (mass_x, normal_x, tangential_x) = if width_x * width_x
                            > 0.0025000000000000005
                        {
                            let m1x = if wet1 { hu[from as usize] } else { 0.0 };
                            let n1x = if wet1 {
                                hu[from as usize] * (hu[from as usize] / h1)
                                    + 4.905 * h1 * h1
                            } else {
                                0.0
                            };
                            let t1x = if wet1 {
                                hu[from as usize] * hv[from as usize] / h1
                            } else {
                                0.0
                            };
                            let m2x = if wet2 { hu[to as usize] } else { 0.0 };
                            let n2x = if wet2 {
                                hu[to as usize] * (hu[to as usize] / h2) + 4.905 * h2 * h2
                            } else {
                                0.0
                            };
                            let t2x = if wet2 {
                                hu[to as usize] * hv[to as usize] / h2
                            } else {
                                0.0
                            };
                            let blend_x = ap_x * am_x / width_x;
                            (
                                (ap_x * m1x - am_x * m2x) / width_x
                                    + blend_x * (w[to as usize] - w[from as usize]),
                                (ap_x * n1x - am_x * n2x) / width_x
                                    + blend_x * (hu[to as usize] - hu[from as usize]),
                                (ap_x * t1x - am_x * t2x) / width_x
                                    + blend_x * (hv[to as usize] - hv[from as usize]),
                            )
                        } else {
                            (0.0, 0.0, 0.0)
                        };
                        let v1y = if wet1 { hv[from as usize] / h1 } else { 0.0 };
                        let v2y = if wet2 { hv[to as usize] / h2 } else { 0.0 };
                        let low_y = if v1y - c1 < v2y - c2 {
                            v1y - c1
                        } else {
                            v2y - c2
                        };
                        let high_y = if v1y + c1 > v2y + c2 {
                            v1y + c1
                        } else {
                            v2y + c2
                        };
                        let am_y = if low_y < 0.0 { low_y } else { 0.0 };
                        let ap_y = if high_y > 0.0 { high_y } else { 0.0 };
                        let width_y = ap_y - am_y;
                        let (mass_y, normal_y, tangential_y) = if width_y * width_y
                            > 0.0025000000000000005
                        {
                            let m1y = if wet1 { hv[from as usize] } else { 0.0 };
                            let n1y = if wet1 {
                                hv[from as usize] * (hv[from as usize] / h1)
                                    + 4.905 * h1 * h1
                            } else {
                                0.0
                            };
                            let t1y = if wet1 {
                                hv[from as usize] * hu[from as usize] / h1
                            } else {
                                0.0
                            };
                            let m2y = if wet2 { hv[to as usize] } else { 0.0 };
                            let n2y = if wet2 {
                                hv[to as usize] * (hv[to as usize] / h2) + 4.905 * h2 * h2
                            } else {
                                0.0
                            };
                            let t2y = if wet2 {
                                hv[to as usize] * hu[to as usize] / h2
                            } else {
                                0.0
                            };
                            let blend_y = ap_y * am_y / width_y;
                            (
                                (ap_y * m1y - am_y * m2y) / width_y
                                    + blend_y * (w[to as usize] - w[from as usize]),
                                (ap_y * n1y - am_y * n2y) / width_y
                                    + blend_y * (hv[to as usize] - hv[from as usize]),
                                (ap_y * t1y - am_y * t2y) / width_y
                                    + blend_y * (hu[to as usize] - hu[from as usize]),
                            )
                        } else {
                            (0.0, 0.0, 0.0)
                        };
                        let ax = (nx * nx).sqrt();
                        let ay = (ny * ny).sqrt();
                        (
                            ax * mass_x + ay * mass_y,
                            ax * normal_x + ay * tangential_y,
                            ax * tangential_x + ay * normal_y,
                        )
                    } else {
                        let inside = if from == NONE { to } else { from };
                        let h_wall = w[inside as usize] - b[inside as usize];
                        let pressure = if h_wall > 0.05 {
                            4.905 * h_wall * h_wall
                        } else {
                            0.0
                        };
                        let sx = if nx > 0.0 { 1.0 } else { -1.0 };
                        let sy = if ny > 0.0 { 1.0 } else { -1.0 };
                        (
                            0.0,
                            (nx * nx).sqrt() * pressure * sx,
                            (ny * ny).sqrt() * pressure * sy,
                        )
                    };
                    let area = grid.face_area(f);
                    sum_w += sign * (area * flux_w);
                    sum_hu += sign * (area * flux_hu);
                    sum_hv += sign * (area * flux_hv);
                }
                let wet = if w[position] - b[position] > 0.05 { 1.0 } else { 0.0 };
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
        |range, new_values| {
            for position in range.clone() {
                new_values[position - range.start] = 0.5 * old[position]
                    + 0.5 * ahead[position];
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
        |range, b_values| {
            for position in range.clone() {
                b_values[position - range.start] = (north[position] + south[position]
                    + east[position] + west[position]) / 4.0;
            }
        },
    );
    Ok(rt.scalar_collection_from(domain, b))
}
