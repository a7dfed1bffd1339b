// Kernels of swe_stage. Helpers beginning with eq_ or Eq are the runtime's.

extern "C" __global__ void EQ_HEAVY stage(
    const EqSpace space,
    const EqGrid grid,
    const double* __restrict__ w,
    const double* __restrict__ hu,
    const double* __restrict__ hv,
    const double* __restrict__ b,
    const double* __restrict__ b_north,
    const double* __restrict__ b_south,
    const double* __restrict__ b_east,
    const double* __restrict__ b_west,
    const double* __restrict__ dx_at,
    const double* __restrict__ dy_at,
    const double* __restrict__ dt_at,
    double* __restrict__ w_out,
    double* __restrict__ hu_out,
    double* __restrict__ hv_out) {
  const double dx = *dx_at;
  const double dy = *dy_at;
  const double dt = *dt_at;
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  double sum_w = 0.0;
  double sum_hu = 0.0;
  double sum_hv = 0.0;
  const EqSides f_sides = eq_sides(grid, here);
  for (EqOffset f_at = f_sides.begin; f_at < f_sides.end; f_at += EQ_SLICE) {
    const EqEntity f_neighbour = eq_neighbour_at(grid, f_at);
    if (f_neighbour == EQ_NO_SIDE) break;
    const EqEntity f = grid.side_faces[f_at];
    const EqPair f_cells = eq_side_cells(here, f_neighbour);
    if (eq_is_inside(f_neighbour)) {
      const double nx = eq_face_normal(grid, f).c[0];
      const double ny = eq_face_normal(grid, f).c[1];
      const double h1 = w[f_cells.first] - b[f_cells.first];
      const bool wet1 = h1 > 0.05;
      double quotient_3;
      double quotient_1;
      if (wet1) {
        quotient_3 = eq_divide(hv[f_cells.first], h1);
        quotient_1 = eq_divide(hu[f_cells.first], h1);
      } else {
        quotient_3 = 0.0;
        quotient_1 = 0.0;
      }
      const double c1 = wet1 ? sqrt((9.81 * h1)) : 0.0;
      const double h2 = w[f_cells.second] - b[f_cells.second];
      const bool wet2 = h2 > 0.05;
      double quotient_4;
      double quotient_2;
      if (wet2) {
        quotient_4 = eq_divide(hv[f_cells.second], h2);
        quotient_2 = eq_divide(hu[f_cells.second], h2);
      } else {
        quotient_4 = 0.0;
        quotient_2 = 0.0;
      }
      const double c2 = wet2 ? sqrt((9.81 * h2)) : 0.0;
      const double v1x = wet1 ? quotient_1 : 0.0;
      const double v2x = wet2 ? quotient_2 : 0.0;
      const double low_x = ((v1x - c1) < (v2x - c2)) ? (v1x - c1) : (v2x - c2);
      const double high_x = ((v1x + c1) > (v2x + c2)) ? (v1x + c1) : (v2x + c2);
      const double am_x = (low_x < 0.0) ? low_x : 0.0;
      const double ap_x = (high_x > 0.0) ? high_x : 0.0;
      const double width_x = ap_x - am_x;
      double mass_x;
      double normal_x;
      double tangential_x;
      if ((width_x * width_x) > 0.0025000000000000005) {
        const double m1x = wet1 ? hu[f_cells.first] : 0.0;
        const double n1x = wet1 ? ((hu[f_cells.first] * quotient_1) + ((4.905 * h1) * h1)) : 0.0;
        const double t1x = wet1 ? eq_divide(hu[f_cells.first] * hv[f_cells.first], h1) : 0.0;
        const double m2x = wet2 ? hu[f_cells.second] : 0.0;
        const double n2x = wet2 ? ((hu[f_cells.second] * quotient_2) + ((4.905 * h2) * h2)) : 0.0;
        const double t2x = wet2 ? eq_divide(hu[f_cells.second] * hv[f_cells.second], h2) : 0.0;
        const double blend_x = eq_divide(ap_x * am_x, width_x);
        mass_x = eq_divide((ap_x * m1x) - (am_x * m2x), width_x) + (blend_x * (w[f_cells.second] - w[f_cells.first]));
        normal_x = eq_divide((ap_x * n1x) - (am_x * n2x), width_x) + (blend_x * (hu[f_cells.second] - hu[f_cells.first]));
        tangential_x = eq_divide((ap_x * t1x) - (am_x * t2x), width_x) + (blend_x * (hv[f_cells.second] - hv[f_cells.first]));
      } else {
        mass_x = 0.0;
        normal_x = 0.0;
        tangential_x = 0.0;
      }
      const double v1y = wet1 ? quotient_3 : 0.0;
      const double v2y = wet2 ? quotient_4 : 0.0;
      const double low_y = ((v1y - c1) < (v2y - c2)) ? (v1y - c1) : (v2y - c2);
      const double high_y = ((v1y + c1) > (v2y + c2)) ? (v1y + c1) : (v2y + c2);
      const double am_y = (low_y < 0.0) ? low_y : 0.0;
      const double ap_y = (high_y > 0.0) ? high_y : 0.0;
      const double width_y = ap_y - am_y;
      double mass_y;
      double normal_y;
      double tangential_y;
      if ((width_y * width_y) > 0.0025000000000000005) {
        const double m1y = wet1 ? hv[f_cells.first] : 0.0;
        const double n1y = wet1 ? ((hv[f_cells.first] * quotient_3) + ((4.905 * h1) * h1)) : 0.0;
        const double t1y = wet1 ? eq_divide(hv[f_cells.first] * hu[f_cells.first], h1) : 0.0;
        const double m2y = wet2 ? hv[f_cells.second] : 0.0;
        const double n2y = wet2 ? ((hv[f_cells.second] * quotient_4) + ((4.905 * h2) * h2)) : 0.0;
        const double t2y = wet2 ? eq_divide(hv[f_cells.second] * hu[f_cells.second], h2) : 0.0;
        const double blend_y = eq_divide(ap_y * am_y, width_y);
        mass_y = eq_divide((ap_y * m1y) - (am_y * m2y), width_y) + (blend_y * (w[f_cells.second] - w[f_cells.first]));
        normal_y = eq_divide((ap_y * n1y) - (am_y * n2y), width_y) + (blend_y * (hv[f_cells.second] - hv[f_cells.first]));
        tangential_y = eq_divide((ap_y * t1y) - (am_y * t2y), width_y) + (blend_y * (hu[f_cells.second] - hu[f_cells.first]));
      } else {
        mass_y = 0.0;
        normal_y = 0.0;
        tangential_y = 0.0;
      }
      const double ax = sqrt((nx * nx));
      const double ay = sqrt((ny * ny));
      const double flux_w = (ax * mass_x) + (ay * mass_y);
      const double flux_hu = (ax * normal_x) + (ay * tangential_y);
      const double flux_hv = (ax * tangential_x) + (ay * normal_y);
      const double area = eq_face_area(grid, f);
      const double sum_w_term = area * flux_w;
      sum_w = eq_is_outward(f_neighbour) ? sum_w + sum_w_term : sum_w - sum_w_term;
      const double sum_hu_term = area * flux_hu;
      sum_hu = eq_is_outward(f_neighbour) ? sum_hu + sum_hu_term : sum_hu - sum_hu_term;
      const double sum_hv_term = area * flux_hv;
      sum_hv = eq_is_outward(f_neighbour) ? sum_hv + sum_hv_term : sum_hv - sum_hv_term;
    } else {
      const double nx = eq_face_normal(grid, f).c[0];
      const double ny = eq_face_normal(grid, f).c[1];
      const EqEntity inside = ((f_cells.first == EQ_NONE) ? f_cells.second : f_cells.first);
      const double h_wall = w[inside] - b[inside];
      const double pressure = (h_wall > 0.05) ? ((4.905 * h_wall) * h_wall) : 0.0;
      const double sx = (nx > 0.0) ? 1.0 : (-1.0);
      const double sy = (ny > 0.0) ? 1.0 : (-1.0);
      const double flux_w = 0.0;
      const double flux_hu = (sqrt((nx * nx)) * pressure) * sx;
      const double flux_hv = (sqrt((ny * ny)) * pressure) * sy;
      const double area = eq_face_area(grid, f);
      const double sum_w_term_2 = area * flux_w;
      sum_w = eq_is_outward(f_neighbour) ? sum_w + sum_w_term_2 : sum_w - sum_w_term_2;
      const double sum_hu_term_2 = area * flux_hu;
      sum_hu = eq_is_outward(f_neighbour) ? sum_hu + sum_hu_term_2 : sum_hu - sum_hu_term_2;
      const double sum_hv_term_2 = area * flux_hv;
      sum_hv = eq_is_outward(f_neighbour) ? sum_hv + sum_hv_term_2 : sum_hv - sum_hv_term_2;
    }
  }
  const double wet = ((w[element] - b[element]) > 0.05) ? 1.0 : 0.0;
  const double slope_x = eq_divide(b_east[element] - b_west[element], dx);
  const double slope_y = eq_divide(b_north[element] - b_south[element], dy);
  const double depth_x = eq_divide((w[element] - b_east[element]) + (w[element] - b_west[element]), 2.0);
  const double depth_y = eq_divide((w[element] - b_north[element]) + (w[element] - b_south[element]), 2.0);
  const double source_hu = (((-9.81) * slope_x) * depth_x) * wet;
  const double source_hv = (((-9.81) * slope_y) * depth_y) * wet;
  const double v = eq_cell_volume(grid, here);
  w_out[element] = w[element] + (dt * ((1.0 / v) * (-sum_w)));
  hu_out[element] = hu[element] + (dt * ((1.0 / v) * ((-sum_hu) + (v * source_hu))));
  hv_out[element] = hv[element] + (dt * ((1.0 / v) * ((-sum_hv) + (v * source_hv))));
}

extern "C" __global__ void EQ_HEAVY stage_cartesian(
    const EqCartesian g,
    const double* __restrict__ w,
    const double* __restrict__ hu,
    const double* __restrict__ hv,
    const double* __restrict__ b,
    const double* __restrict__ b_north,
    const double* __restrict__ b_south,
    const double* __restrict__ b_east,
    const double* __restrict__ b_west,
    const double* __restrict__ dx_at,
    const double* __restrict__ dy_at,
    const double* __restrict__ dt_at,
    double* __restrict__ w_out,
    double* __restrict__ hu_out,
    double* __restrict__ hv_out) {
  const double dx = *dx_at;
  const double dy = *dy_at;
  const double dt = *dt_at;
  if (eq_is_inside_block(g)) {
    EqInsideCell cell;
    #pragma unroll 1
    for (unsigned int step = 0; step < g.cells_per_thread; ++step) {
      if (!eq_inside_cell_here(g, step, cell)) continue;
      const double w_here = w[cell.index];
      const double b_here = b[cell.index];
      const double hu_here = hu[cell.index];
      const double hv_here = hv[cell.index];
      const double b_east_here = b_east[cell.index];
      const double b_west_here = b_west[cell.index];
      const double b_north_here = b_north[cell.index];
      const double b_south_here = b_south[cell.index];
      double sum_w = 0.0;
      double sum_hu = 0.0;
      double sum_hv = 0.0;
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        const bool along_x_low = axis == 0;
        const double h1_low = w[eq_neighbour(g, cell, axis, 0)] - b[eq_neighbour(g, cell, axis, 0)];
        const bool wet1_low = h1_low > 0.05;
        const double c1_low = wet1_low ? sqrt((9.81 * h1_low)) : 0.0;
        const double h2_low = w_here - b_here;
        const bool wet2_low = h2_low > 0.05;
        const double c2_low = wet2_low ? sqrt((9.81 * h2_low)) : 0.0;
        const double mn1_low = along_x_low ? hu[eq_neighbour(g, cell, axis, 0)] : hv[eq_neighbour(g, cell, axis, 0)];
        double quotient_5;
        if (wet1_low) {
          quotient_5 = eq_divide(mn1_low, h1_low);
        } else {
          quotient_5 = 0.0;
        }
        const double mt1_low = along_x_low ? hv[eq_neighbour(g, cell, axis, 0)] : hu[eq_neighbour(g, cell, axis, 0)];
        const double mn2_low = along_x_low ? hu_here : hv_here;
        double quotient_6;
        if (wet2_low) {
          quotient_6 = eq_divide(mn2_low, h2_low);
        } else {
          quotient_6 = 0.0;
        }
        const double mt2_low = along_x_low ? hv_here : hu_here;
        const double v1n_low = wet1_low ? quotient_5 : 0.0;
        const double v2n_low = wet2_low ? quotient_6 : 0.0;
        const double low_n_low = ((v1n_low - c1_low) < (v2n_low - c2_low)) ? (v1n_low - c1_low) : (v2n_low - c2_low);
        const double high_n_low = ((v1n_low + c1_low) > (v2n_low + c2_low)) ? (v1n_low + c1_low) : (v2n_low + c2_low);
        const double am_n_low = (low_n_low < 0.0) ? low_n_low : 0.0;
        const double ap_n_low = (high_n_low > 0.0) ? high_n_low : 0.0;
        const double width_n_low = ap_n_low - am_n_low;
        double mass_n_low;
        double normal_n_low;
        double tangential_n_low;
        if ((width_n_low * width_n_low) > 0.0025000000000000005) {
          const double m1n_low = wet1_low ? mn1_low : 0.0;
          const double n1n_low = wet1_low ? ((mn1_low * quotient_5) + ((4.905 * h1_low) * h1_low)) : 0.0;
          const double t1n_low = wet1_low ? eq_divide(mn1_low * mt1_low, h1_low) : 0.0;
          const double m2n_low = wet2_low ? mn2_low : 0.0;
          const double n2n_low = wet2_low ? ((mn2_low * quotient_6) + ((4.905 * h2_low) * h2_low)) : 0.0;
          const double t2n_low = wet2_low ? eq_divide(mn2_low * mt2_low, h2_low) : 0.0;
          const double blend_n_low = eq_divide(ap_n_low * am_n_low, width_n_low);
          mass_n_low = eq_divide((ap_n_low * m1n_low) - (am_n_low * m2n_low), width_n_low) + (blend_n_low * (w_here - w[eq_neighbour(g, cell, axis, 0)]));
          normal_n_low = eq_divide((ap_n_low * n1n_low) - (am_n_low * n2n_low), width_n_low) + (blend_n_low * (mn2_low - mn1_low));
          tangential_n_low = eq_divide((ap_n_low * t1n_low) - (am_n_low * t2n_low), width_n_low) + (blend_n_low * (mt2_low - mt1_low));
        } else {
          mass_n_low = 0.0;
          normal_n_low = 0.0;
          tangential_n_low = 0.0;
        }
        const double area_low = eq_at(g.area, axis);
        sum_w = sum_w - (area_low * mass_n_low);
        sum_hu = sum_hu - (area_low * (along_x_low ? normal_n_low : tangential_n_low));
        sum_hv = sum_hv - (area_low * (along_x_low ? tangential_n_low : normal_n_low));
        const bool along_x_high = axis == 0;
        const double h1_high = w_here - b_here;
        const bool wet1_high = h1_high > 0.05;
        const double c1_high = wet1_high ? sqrt((9.81 * h1_high)) : 0.0;
        const double h2_high = w[eq_neighbour(g, cell, axis, 1)] - b[eq_neighbour(g, cell, axis, 1)];
        const bool wet2_high = h2_high > 0.05;
        const double c2_high = wet2_high ? sqrt((9.81 * h2_high)) : 0.0;
        const double mn1_high = along_x_high ? hu_here : hv_here;
        double quotient_7;
        if (wet1_high) {
          quotient_7 = eq_divide(mn1_high, h1_high);
        } else {
          quotient_7 = 0.0;
        }
        const double mt1_high = along_x_high ? hv_here : hu_here;
        const double mn2_high = along_x_high ? hu[eq_neighbour(g, cell, axis, 1)] : hv[eq_neighbour(g, cell, axis, 1)];
        double quotient_8;
        if (wet2_high) {
          quotient_8 = eq_divide(mn2_high, h2_high);
        } else {
          quotient_8 = 0.0;
        }
        const double mt2_high = along_x_high ? hv[eq_neighbour(g, cell, axis, 1)] : hu[eq_neighbour(g, cell, axis, 1)];
        const double v1n_high = wet1_high ? quotient_7 : 0.0;
        const double v2n_high = wet2_high ? quotient_8 : 0.0;
        const double low_n_high = ((v1n_high - c1_high) < (v2n_high - c2_high)) ? (v1n_high - c1_high) : (v2n_high - c2_high);
        const double high_n_high = ((v1n_high + c1_high) > (v2n_high + c2_high)) ? (v1n_high + c1_high) : (v2n_high + c2_high);
        const double am_n_high = (low_n_high < 0.0) ? low_n_high : 0.0;
        const double ap_n_high = (high_n_high > 0.0) ? high_n_high : 0.0;
        const double width_n_high = ap_n_high - am_n_high;
        double mass_n_high;
        double normal_n_high;
        double tangential_n_high;
        if ((width_n_high * width_n_high) > 0.0025000000000000005) {
          const double m1n_high = wet1_high ? mn1_high : 0.0;
          const double n1n_high = wet1_high ? ((mn1_high * quotient_7) + ((4.905 * h1_high) * h1_high)) : 0.0;
          const double t1n_high = wet1_high ? eq_divide(mn1_high * mt1_high, h1_high) : 0.0;
          const double m2n_high = wet2_high ? mn2_high : 0.0;
          const double n2n_high = wet2_high ? ((mn2_high * quotient_8) + ((4.905 * h2_high) * h2_high)) : 0.0;
          const double t2n_high = wet2_high ? eq_divide(mn2_high * mt2_high, h2_high) : 0.0;
          const double blend_n_high = eq_divide(ap_n_high * am_n_high, width_n_high);
          mass_n_high = eq_divide((ap_n_high * m1n_high) - (am_n_high * m2n_high), width_n_high) + (blend_n_high * (w[eq_neighbour(g, cell, axis, 1)] - w_here));
          normal_n_high = eq_divide((ap_n_high * n1n_high) - (am_n_high * n2n_high), width_n_high) + (blend_n_high * (mn2_high - mn1_high));
          tangential_n_high = eq_divide((ap_n_high * t1n_high) - (am_n_high * t2n_high), width_n_high) + (blend_n_high * (mt2_high - mt1_high));
        } else {
          mass_n_high = 0.0;
          normal_n_high = 0.0;
          tangential_n_high = 0.0;
        }
        const double area_high = eq_at(g.area, axis);
        sum_w = sum_w + (area_high * mass_n_high);
        sum_hu = sum_hu + (area_high * (along_x_high ? normal_n_high : tangential_n_high));
        sum_hv = sum_hv + (area_high * (along_x_high ? tangential_n_high : normal_n_high));
      }
      const double wet = ((w_here - b_here) > 0.05) ? 1.0 : 0.0;
      const double slope_x = eq_divide(b_east_here - b_west_here, dx);
      const double slope_y = eq_divide(b_north_here - b_south_here, dy);
      const double depth_x = eq_divide((w_here - b_east_here) + (w_here - b_west_here), 2.0);
      const double depth_y = eq_divide((w_here - b_north_here) + (w_here - b_south_here), 2.0);
      const double source_hu = (((-9.81) * slope_x) * depth_x) * wet;
      const double source_hv = (((-9.81) * slope_y) * depth_y) * wet;
      const double v = g.volume;
      w_out[cell.index] = w_here + (dt * ((1.0 / v) * (-sum_w)));
      hu_out[cell.index] = hu_here + (dt * ((1.0 / v) * ((-sum_hu) + (v * source_hu))));
      hv_out[cell.index] = hv_here + (dt * ((1.0 / v) * ((-sum_hv) + (v * source_hv))));
    }
    return;
  }
  EqCell cell;
  if (!eq_boundary_cell_here(g, cell)) return;
  const double w_here = w[cell.index];
  const double b_here = b[cell.index];
  const double hu_here = hu[cell.index];
  const double hv_here = hv[cell.index];
  const double b_east_here = b_east[cell.index];
  const double b_west_here = b_west[cell.index];
  const double b_north_here = b_north[cell.index];
  const double b_south_here = b_south[cell.index];
  double sum_w = 0.0;
  double sum_hu = 0.0;
  double sum_hv = 0.0;
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (!eq_side_on_boundary(g, cell, axis, 0)) {
      const bool along_x_low = axis == 0;
      const double h1_low = w[eq_neighbour(g, cell, axis, 0)] - b[eq_neighbour(g, cell, axis, 0)];
      const bool wet1_low = h1_low > 0.05;
      const double c1_low = wet1_low ? sqrt((9.81 * h1_low)) : 0.0;
      const double h2_low = w_here - b_here;
      const bool wet2_low = h2_low > 0.05;
      const double c2_low = wet2_low ? sqrt((9.81 * h2_low)) : 0.0;
      const double mn1_low = along_x_low ? hu[eq_neighbour(g, cell, axis, 0)] : hv[eq_neighbour(g, cell, axis, 0)];
      double quotient_5;
      if (wet1_low) {
        quotient_5 = eq_divide(mn1_low, h1_low);
      } else {
        quotient_5 = 0.0;
      }
      const double mt1_low = along_x_low ? hv[eq_neighbour(g, cell, axis, 0)] : hu[eq_neighbour(g, cell, axis, 0)];
      const double mn2_low = along_x_low ? hu_here : hv_here;
      double quotient_6;
      if (wet2_low) {
        quotient_6 = eq_divide(mn2_low, h2_low);
      } else {
        quotient_6 = 0.0;
      }
      const double mt2_low = along_x_low ? hv_here : hu_here;
      const double v1n_low = wet1_low ? quotient_5 : 0.0;
      const double v2n_low = wet2_low ? quotient_6 : 0.0;
      const double low_n_low = ((v1n_low - c1_low) < (v2n_low - c2_low)) ? (v1n_low - c1_low) : (v2n_low - c2_low);
      const double high_n_low = ((v1n_low + c1_low) > (v2n_low + c2_low)) ? (v1n_low + c1_low) : (v2n_low + c2_low);
      const double am_n_low = (low_n_low < 0.0) ? low_n_low : 0.0;
      const double ap_n_low = (high_n_low > 0.0) ? high_n_low : 0.0;
      const double width_n_low = ap_n_low - am_n_low;
      double mass_n_low;
      double normal_n_low;
      double tangential_n_low;
      if ((width_n_low * width_n_low) > 0.0025000000000000005) {
        const double m1n_low = wet1_low ? mn1_low : 0.0;
        const double n1n_low = wet1_low ? ((mn1_low * quotient_5) + ((4.905 * h1_low) * h1_low)) : 0.0;
        const double t1n_low = wet1_low ? eq_divide(mn1_low * mt1_low, h1_low) : 0.0;
        const double m2n_low = wet2_low ? mn2_low : 0.0;
        const double n2n_low = wet2_low ? ((mn2_low * quotient_6) + ((4.905 * h2_low) * h2_low)) : 0.0;
        const double t2n_low = wet2_low ? eq_divide(mn2_low * mt2_low, h2_low) : 0.0;
        const double blend_n_low = eq_divide(ap_n_low * am_n_low, width_n_low);
        mass_n_low = eq_divide((ap_n_low * m1n_low) - (am_n_low * m2n_low), width_n_low) + (blend_n_low * (w_here - w[eq_neighbour(g, cell, axis, 0)]));
        normal_n_low = eq_divide((ap_n_low * n1n_low) - (am_n_low * n2n_low), width_n_low) + (blend_n_low * (mn2_low - mn1_low));
        tangential_n_low = eq_divide((ap_n_low * t1n_low) - (am_n_low * t2n_low), width_n_low) + (blend_n_low * (mt2_low - mt1_low));
      } else {
        mass_n_low = 0.0;
        normal_n_low = 0.0;
        tangential_n_low = 0.0;
      }
      const double area_low = eq_at(g.area, axis);
      sum_w = sum_w - (area_low * mass_n_low);
      sum_hu = sum_hu - (area_low * (along_x_low ? normal_n_low : tangential_n_low));
      sum_hv = sum_hv - (area_low * (along_x_low ? tangential_n_low : normal_n_low));
    } else {
      const bool wall_x_low = axis == 0;
      const double h_wall_low = w_here - b_here;
      const double pressure_low = (h_wall_low > 0.05) ? ((4.905 * h_wall_low) * h_wall_low) : 0.0;
      const double wall_area_low = eq_at(g.area, axis);
      sum_w = sum_w - 0.0;
      sum_hu = sum_hu - (wall_x_low ? (wall_area_low * pressure_low) : 0.0);
      sum_hv = sum_hv - (wall_x_low ? 0.0 : (wall_area_low * pressure_low));
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      const bool along_x_high = axis == 0;
      const double h1_high = w_here - b_here;
      const bool wet1_high = h1_high > 0.05;
      const double c1_high = wet1_high ? sqrt((9.81 * h1_high)) : 0.0;
      const double h2_high = w[eq_neighbour(g, cell, axis, 1)] - b[eq_neighbour(g, cell, axis, 1)];
      const bool wet2_high = h2_high > 0.05;
      const double c2_high = wet2_high ? sqrt((9.81 * h2_high)) : 0.0;
      const double mn1_high = along_x_high ? hu_here : hv_here;
      double quotient_7;
      if (wet1_high) {
        quotient_7 = eq_divide(mn1_high, h1_high);
      } else {
        quotient_7 = 0.0;
      }
      const double mt1_high = along_x_high ? hv_here : hu_here;
      const double mn2_high = along_x_high ? hu[eq_neighbour(g, cell, axis, 1)] : hv[eq_neighbour(g, cell, axis, 1)];
      double quotient_8;
      if (wet2_high) {
        quotient_8 = eq_divide(mn2_high, h2_high);
      } else {
        quotient_8 = 0.0;
      }
      const double mt2_high = along_x_high ? hv[eq_neighbour(g, cell, axis, 1)] : hu[eq_neighbour(g, cell, axis, 1)];
      const double v1n_high = wet1_high ? quotient_7 : 0.0;
      const double v2n_high = wet2_high ? quotient_8 : 0.0;
      const double low_n_high = ((v1n_high - c1_high) < (v2n_high - c2_high)) ? (v1n_high - c1_high) : (v2n_high - c2_high);
      const double high_n_high = ((v1n_high + c1_high) > (v2n_high + c2_high)) ? (v1n_high + c1_high) : (v2n_high + c2_high);
      const double am_n_high = (low_n_high < 0.0) ? low_n_high : 0.0;
      const double ap_n_high = (high_n_high > 0.0) ? high_n_high : 0.0;
      const double width_n_high = ap_n_high - am_n_high;
      double mass_n_high;
      double normal_n_high;
      double tangential_n_high;
      if ((width_n_high * width_n_high) > 0.0025000000000000005) {
        const double m1n_high = wet1_high ? mn1_high : 0.0;
        const double n1n_high = wet1_high ? ((mn1_high * quotient_7) + ((4.905 * h1_high) * h1_high)) : 0.0;
        const double t1n_high = wet1_high ? eq_divide(mn1_high * mt1_high, h1_high) : 0.0;
        const double m2n_high = wet2_high ? mn2_high : 0.0;
        const double n2n_high = wet2_high ? ((mn2_high * quotient_8) + ((4.905 * h2_high) * h2_high)) : 0.0;
        const double t2n_high = wet2_high ? eq_divide(mn2_high * mt2_high, h2_high) : 0.0;
        const double blend_n_high = eq_divide(ap_n_high * am_n_high, width_n_high);
        mass_n_high = eq_divide((ap_n_high * m1n_high) - (am_n_high * m2n_high), width_n_high) + (blend_n_high * (w[eq_neighbour(g, cell, axis, 1)] - w_here));
        normal_n_high = eq_divide((ap_n_high * n1n_high) - (am_n_high * n2n_high), width_n_high) + (blend_n_high * (mn2_high - mn1_high));
        tangential_n_high = eq_divide((ap_n_high * t1n_high) - (am_n_high * t2n_high), width_n_high) + (blend_n_high * (mt2_high - mt1_high));
      } else {
        mass_n_high = 0.0;
        normal_n_high = 0.0;
        tangential_n_high = 0.0;
      }
      const double area_high = eq_at(g.area, axis);
      sum_w = sum_w + (area_high * mass_n_high);
      sum_hu = sum_hu + (area_high * (along_x_high ? normal_n_high : tangential_n_high));
      sum_hv = sum_hv + (area_high * (along_x_high ? tangential_n_high : normal_n_high));
    } else {
      const bool wall_x_high = axis == 0;
      const double h_wall_high = w_here - b_here;
      const double pressure_high = (h_wall_high > 0.05) ? ((4.905 * h_wall_high) * h_wall_high) : 0.0;
      const double wall_area_high = eq_at(g.area, axis);
      sum_w = sum_w + 0.0;
      sum_hu = sum_hu + (wall_x_high ? (wall_area_high * pressure_high) : 0.0);
      sum_hv = sum_hv + (wall_x_high ? 0.0 : (wall_area_high * pressure_high));
    }
  }
  const double wet = ((w_here - b_here) > 0.05) ? 1.0 : 0.0;
  const double slope_x = eq_divide(b_east_here - b_west_here, dx);
  const double slope_y = eq_divide(b_north_here - b_south_here, dy);
  const double depth_x = eq_divide((w_here - b_east_here) + (w_here - b_west_here), 2.0);
  const double depth_y = eq_divide((w_here - b_north_here) + (w_here - b_south_here), 2.0);
  const double source_hu = (((-9.81) * slope_x) * depth_x) * wet;
  const double source_hv = (((-9.81) * slope_y) * depth_y) * wet;
  const double v = g.volume;
  w_out[cell.index] = w_here + (dt * ((1.0 / v) * (-sum_w)));
  hu_out[cell.index] = hu_here + (dt * ((1.0 / v) * ((-sum_hu) + (v * source_hu))));
  hv_out[cell.index] = hv_here + (dt * ((1.0 / v) * ((-sum_hv) + (v * source_hv))));
}

extern "C" __global__ void EQ_LIGHT mean(
    const EqSpace space,
    const double* __restrict__ old,
    const double* __restrict__ ahead_2,
    double* __restrict__ new_out) {
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  new_out[element] = (0.5 * old[element]) + (0.5 * ahead_2[element]);
}

extern "C" __global__ void EQ_LIGHT bottom(
    const EqSpace space,
    const double* __restrict__ north,
    const double* __restrict__ south,
    const double* __restrict__ east,
    const double* __restrict__ west,
    double* __restrict__ b_out) {
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  b_out[element] = eq_divide(((north[element] + south[element]) + east[element]) + west[element], 4.0);
}
