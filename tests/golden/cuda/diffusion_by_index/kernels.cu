// Kernels of diffusion. Helpers beginning with eq_ or Eq are the runtime's.

// diffusion.equelle:10: u = u + dt * rate * (second_4(w, i) + second_4(w, j) + second_4(w, k))
// equelle:derivatives:19: second_4(f, a) = { -> (16 * (f(a+1) + f(a-1)) - (f(a+2) + f(a-2)) - 30 * f) / (12 * Width(a)^2) }
extern "C" __global__ void EQ_LIGHT compute_u_cartesian(
    const EqCartesian g,
    const double* __restrict__ u,
    const double* __restrict__ dt_at,
    const double* __restrict__ rate,
    const double* __restrict__ width_at,
    const double* __restrict__ width_2_at,
    const double* __restrict__ width_3_at,
    double* __restrict__ u_new_out) {
  const double dt = *dt_at;
  const double width = *width_at;
  const double width_2 = *width_2_at;
  const double width_3 = *width_3_at;
  EqCell cell;
  if (!eq_cell_here(g, cell)) return;
  const EqEntity row_2 = g.n[0] * (cell.ijk[1] + g.n[1] * cell.ijk[2]);
  const unsigned int at_xp1 = eq_near_place(cell.ijk[0], 1, g.n[0], EQ_CLAMP, EQ_MIRROR);
  const unsigned int at_xm1 = eq_near_place(cell.ijk[0], -1, g.n[0], EQ_MIRROR, EQ_CLAMP);
  const unsigned int at_xp2 = eq_near_place(cell.ijk[0], 2, g.n[0], EQ_CLAMP, EQ_MIRROR);
  const unsigned int at_xm2 = eq_near_place(cell.ijk[0], -2, g.n[0], EQ_MIRROR, EQ_CLAMP);
  const unsigned int at_yp1 = eq_near_place(cell.ijk[1], 1, g.n[1], EQ_CLAMP, EQ_WRAP);
  const EqEntity row_yp1 = g.n[0] * (at_yp1 + g.n[1] * cell.ijk[2]);
  const unsigned int at_ym1 = eq_near_place(cell.ijk[1], -1, g.n[1], EQ_WRAP, EQ_CLAMP);
  const EqEntity row_ym1 = g.n[0] * (at_ym1 + g.n[1] * cell.ijk[2]);
  const unsigned int at_yp2 = eq_near_place(cell.ijk[1], 2, g.n[1], EQ_CLAMP, EQ_WRAP);
  const EqEntity row_yp2 = g.n[0] * (at_yp2 + g.n[1] * cell.ijk[2]);
  const unsigned int at_ym2 = eq_near_place(cell.ijk[1], -2, g.n[1], EQ_WRAP, EQ_CLAMP);
  const EqEntity row_ym2 = g.n[0] * (at_ym2 + g.n[1] * cell.ijk[2]);
  const unsigned int at_zp1 = eq_near_place(cell.ijk[2], 1, g.n[2], EQ_CLAMP, EQ_CLAMP);
  const EqEntity row_zp1 = g.n[0] * (cell.ijk[1] + g.n[1] * at_zp1);
  const unsigned int at_zm1 = eq_near_place(cell.ijk[2], -1, g.n[2], EQ_CLAMP, EQ_CLAMP);
  const EqEntity row_zm1 = g.n[0] * (cell.ijk[1] + g.n[1] * at_zm1);
  const unsigned int at_zp2 = eq_place(cell.ijk[2], 2, g.n[2], EQ_CLAMP, EQ_CLAMP);
  const EqEntity row_zp2 = g.n[0] * (cell.ijk[1] + g.n[1] * at_zp2);
  const unsigned int at_zm2 = eq_place(cell.ijk[2], -2, g.n[2], EQ_CLAMP, EQ_CLAMP);
  const EqEntity row_zm2 = g.n[0] * (cell.ijk[1] + g.n[1] * at_zm2);
  const double u_here = u[cell.index];
  const double rate_here = rate[cell.index];
  const double u_2 = 30.0 * u_here;
  u_new_out[cell.index] = u_here + ((dt * rate_here) * ((eq_divide(((16.0 * (u[row_2 + at_xp1] + u[row_2 + at_xm1])) - (u[row_2 + at_xp2] + u[row_2 + at_xm2])) - u_2, 12.0 * (width * width)) + eq_divide(((16.0 * (u[row_yp1 + cell.ijk[0]] + u[row_ym1 + cell.ijk[0]])) - (u[row_yp2 + cell.ijk[0]] + u[row_ym2 + cell.ijk[0]])) - u_2, 12.0 * (width_2 * width_2))) + eq_divide(((16.0 * (u[row_zp1 + cell.ijk[0]] + u[row_zm1 + cell.ijk[0]])) - (u[row_zp2 + cell.ijk[0]] + u[row_zm2 + cell.ijk[0]])) - u_2, 12.0 * (width_3 * width_3))));
}

// diffusion.equelle:10: u = u + dt * rate * (second_4(w, i) + second_4(w, j) + second_4(w, k))
// equelle:derivatives:19: second_4(f, a) = { -> (16 * (f(a+1) + f(a-1)) - (f(a+2) + f(a-2)) - 30 * f) / (12 * Width(a)^2) }
template <int ROW>
EQ_FUNCTION void compute_u_cartesian_rows(
    const EqCartesian g,
    const double* __restrict__ u,
    const double* __restrict__ dt_at,
    const double* __restrict__ rate,
    const double* __restrict__ width_at,
    const double* __restrict__ width_2_at,
    const double* __restrict__ width_3_at,
    double* __restrict__ u_new_out) {
  const double dt = *dt_at;
  const double width = *width_at;
  const double width_2 = *width_2_at;
  const double width_3 = *width_3_at;
  EqCell cell;
  if (!eq_column_here<ROW>(g, cell)) return;
  bool rare = false;
  const double divisor_inverse = eq_inverse(12.0 * (width * width), rare);
  const double divisor_inverse_2 = eq_inverse(12.0 * (width_2 * width_2), rare);
  const double divisor_inverse_3 = eq_inverse(12.0 * (width_3 * width_3), rare);
  const bool rare_divisor = rare;
  const unsigned int at_yp1 = eq_near_place(cell.ijk[1], 1, g.n[1], EQ_CLAMP, EQ_WRAP);
  const unsigned int at_ym1 = eq_near_place(cell.ijk[1], -1, g.n[1], EQ_WRAP, EQ_CLAMP);
  const unsigned int at_yp2 = eq_near_place(cell.ijk[1], 2, g.n[1], EQ_CLAMP, EQ_WRAP);
  const unsigned int at_ym2 = eq_near_place(cell.ijk[1], -2, g.n[1], EQ_WRAP, EQ_CLAMP);
  EqColumn<double, ROW, -2, 2> u_column;
  #pragma unroll
  for (int step = -2; step < 2; ++step) eq_load_row(u_column[step], u, cell.ijk[0] + g.n[0] * (cell.ijk[1] + g.n[1] * eq_place(cell.ijk[2], step, g.n[2], EQ_CLAMP, EQ_CLAMP)));
  const unsigned int end = eq_end_of_planes(g, cell);
  #pragma unroll 1
  for (; cell.ijk[2] < end; eq_next_plane(g, cell)) {
    eq_load_row(u_column[2], u, cell.ijk[0] + g.n[0] * (cell.ijk[1] + g.n[1] * eq_place(cell.ijk[2], 2, g.n[2], EQ_CLAMP, EQ_CLAMP)));
    rare = rare_divisor;
    const EqEntity row_2 = g.n[0] * (cell.ijk[1] + g.n[1] * cell.ijk[2]);
    double rate_2[ROW];
    eq_load_row(rate_2, rate, row_2 + cell.ijk[0]);
    EqAdjacent<double, ROW, 2, 2> u_adjacent;
    u_adjacent.take(u_column[0]);
    eq_load_adjacent<true, EQ_MIRROR, EQ_MIRROR>(u_adjacent, u, row_2, cell.ijk[0], g.n[0]);
    const EqEntity row_yp1 = g.n[0] * (at_yp1 + g.n[1] * cell.ijk[2]);
    double u_yp1[ROW];
    eq_load_row(u_yp1, u, row_yp1 + cell.ijk[0]);
    const EqEntity row_ym1 = g.n[0] * (at_ym1 + g.n[1] * cell.ijk[2]);
    double u_ym1[ROW];
    eq_load_row(u_ym1, u, row_ym1 + cell.ijk[0]);
    const EqEntity row_yp2 = g.n[0] * (at_yp2 + g.n[1] * cell.ijk[2]);
    double u_yp2[ROW];
    eq_load_row(u_yp2, u, row_yp2 + cell.ijk[0]);
    const EqEntity row_ym2 = g.n[0] * (at_ym2 + g.n[1] * cell.ijk[2]);
    double u_ym2[ROW];
    eq_load_row(u_ym2, u, row_ym2 + cell.ijk[0]);
    double u_new_out_row[ROW];
    const EqCell row = cell;
    #pragma unroll
    for (int at = 0; at < ROW; ++at) {
      const EqCell cell = eq_cell_of_row(row, at);
      const double u_2 = 30.0 * u_column[0][at];
      u_new_out_row[at] = u_column[0][at] + ((dt * rate_2[at]) * ((eq_divide_by(((16.0 * (u_adjacent[at + 1] + u_adjacent[at - 1])) - (u_adjacent[at + 2] + u_adjacent[at - 2])) - u_2, 12.0 * (width * width), divisor_inverse, rare) + eq_divide_by(((16.0 * (u_yp1[at] + u_ym1[at])) - (u_yp2[at] + u_ym2[at])) - u_2, 12.0 * (width_2 * width_2), divisor_inverse_2, rare)) + eq_divide_by(((16.0 * (u_column[1][at] + u_column[-1][at])) - (u_column[2][at] + u_column[-2][at])) - u_2, 12.0 * (width_3 * width_3), divisor_inverse_3, rare)));
    }
    eq_store_row(u_new_out, row.index, u_new_out_row);
    if (rare) {
      #pragma unroll 1
      for (int at = 0; at < ROW; ++at) {
        EqCell cell = eq_cell_of_row(row, at);
        eq_forget(cell);
        const EqEntity row_3 = g.n[0] * (cell.ijk[1] + g.n[1] * cell.ijk[2]);
        const unsigned int at_xp1 = eq_near_place(cell.ijk[0], 1, g.n[0], EQ_CLAMP, EQ_MIRROR);
        const unsigned int at_xm1 = eq_near_place(cell.ijk[0], -1, g.n[0], EQ_MIRROR, EQ_CLAMP);
        const unsigned int at_xp2 = eq_near_place(cell.ijk[0], 2, g.n[0], EQ_CLAMP, EQ_MIRROR);
        const unsigned int at_xm2 = eq_near_place(cell.ijk[0], -2, g.n[0], EQ_MIRROR, EQ_CLAMP);
        const unsigned int at_yp1_2 = eq_near_place(cell.ijk[1], 1, g.n[1], EQ_CLAMP, EQ_WRAP);
        const EqEntity row_yp1_2 = g.n[0] * (at_yp1_2 + g.n[1] * cell.ijk[2]);
        const unsigned int at_ym1_2 = eq_near_place(cell.ijk[1], -1, g.n[1], EQ_WRAP, EQ_CLAMP);
        const EqEntity row_ym1_2 = g.n[0] * (at_ym1_2 + g.n[1] * cell.ijk[2]);
        const unsigned int at_yp2_2 = eq_near_place(cell.ijk[1], 2, g.n[1], EQ_CLAMP, EQ_WRAP);
        const EqEntity row_yp2_2 = g.n[0] * (at_yp2_2 + g.n[1] * cell.ijk[2]);
        const unsigned int at_ym2_2 = eq_near_place(cell.ijk[1], -2, g.n[1], EQ_WRAP, EQ_CLAMP);
        const EqEntity row_ym2_2 = g.n[0] * (at_ym2_2 + g.n[1] * cell.ijk[2]);
        const unsigned int at_zp1 = eq_near_place(cell.ijk[2], 1, g.n[2], EQ_CLAMP, EQ_CLAMP);
        const EqEntity row_zp1 = g.n[0] * (cell.ijk[1] + g.n[1] * at_zp1);
        const unsigned int at_zm1 = eq_near_place(cell.ijk[2], -1, g.n[2], EQ_CLAMP, EQ_CLAMP);
        const EqEntity row_zm1 = g.n[0] * (cell.ijk[1] + g.n[1] * at_zm1);
        const unsigned int at_zp2 = eq_place(cell.ijk[2], 2, g.n[2], EQ_CLAMP, EQ_CLAMP);
        const EqEntity row_zp2 = g.n[0] * (cell.ijk[1] + g.n[1] * at_zp2);
        const unsigned int at_zm2 = eq_place(cell.ijk[2], -2, g.n[2], EQ_CLAMP, EQ_CLAMP);
        const EqEntity row_zm2 = g.n[0] * (cell.ijk[1] + g.n[1] * at_zm2);
        const double u_2 = 30.0 * u[cell.index];
        u_new_out[cell.index] = u[cell.index] + ((dt * rate[cell.index]) * ((eq_divide(((16.0 * (u[row_3 + at_xp1] + u[row_3 + at_xm1])) - (u[row_3 + at_xp2] + u[row_3 + at_xm2])) - u_2, 12.0 * (width * width)) + eq_divide(((16.0 * (u[row_yp1_2 + cell.ijk[0]] + u[row_ym1_2 + cell.ijk[0]])) - (u[row_yp2_2 + cell.ijk[0]] + u[row_ym2_2 + cell.ijk[0]])) - u_2, 12.0 * (width_2 * width_2))) + eq_divide(((16.0 * (u[row_zp1 + cell.ijk[0]] + u[row_zm1 + cell.ijk[0]])) - (u[row_zp2 + cell.ijk[0]] + u[row_zm2 + cell.ijk[0]])) - u_2, 12.0 * (width_3 * width_3))));
      }
    }
    u_column.go_on();
  }
}
extern "C" __global__ void EQ_PLANES compute_u_cartesian_rows_x2(
    const EqCartesian g,
    const double* __restrict__ u,
    const double* __restrict__ dt_at,
    const double* __restrict__ rate,
    const double* __restrict__ width_at,
    const double* __restrict__ width_2_at,
    const double* __restrict__ width_3_at,
    double* __restrict__ u_new_out) {
  compute_u_cartesian_rows<2>(g, u, dt_at, rate, width_at, width_2_at, width_3_at, u_new_out);
}
