// Kernels of diffusion. Helpers beginning with eq_ or Eq are the runtime's.

// diffusion.equelle:10: u = u + dt * rate * (second_4(w, i) + second_4(w, j) + second_4(w, k))
// equelle:derivatives:19: second_4(f, a) = { -> (16 * (f(a+1) + f(a-1)) - (f(a+2) + f(a-2)) - 30 * f) / (12 * Width(a)^2) }
extern "C" __global__ void EQ_LIGHT compute_u_cartesian(
    const EqCartesian g,
    const float* __restrict__ u,
    const double* __restrict__ dt_at,
    const float* __restrict__ rate,
    const double* __restrict__ width_at,
    const double* __restrict__ width_2_at,
    const double* __restrict__ width_3_at,
    float* __restrict__ u_new_out) {
  const float dt = float(*dt_at);
  const float width = float(*width_at);
  const float width_2 = float(*width_2_at);
  const float width_3 = float(*width_3_at);
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
  const float u_here = u[cell.index];
  const float rate_here = rate[cell.index];
  const float u_2 = 30.0f * u_here;
  u_new_out[cell.index] = u_here + ((dt * rate_here) * ((eq_divide(((16.0f * (u[row_2 + at_xp1] + u[row_2 + at_xm1])) - (u[row_2 + at_xp2] + u[row_2 + at_xm2])) - u_2, 12.0f * (width * width)) + eq_divide(((16.0f * (u[row_yp1 + cell.ijk[0]] + u[row_ym1 + cell.ijk[0]])) - (u[row_yp2 + cell.ijk[0]] + u[row_ym2 + cell.ijk[0]])) - u_2, 12.0f * (width_2 * width_2))) + eq_divide(((16.0f * (u[row_zp1 + cell.ijk[0]] + u[row_zm1 + cell.ijk[0]])) - (u[row_zp2 + cell.ijk[0]] + u[row_zm2 + cell.ijk[0]])) - u_2, 12.0f * (width_3 * width_3))));
}

// diffusion.equelle:10: u = u + dt * rate * (second_4(w, i) + second_4(w, j) + second_4(w, k))
// equelle:derivatives:19: second_4(f, a) = { -> (16 * (f(a+1) + f(a-1)) - (f(a+2) + f(a-2)) - 30 * f) / (12 * Width(a)^2) }
template <int ROW>
EQ_FUNCTION void compute_u_cartesian_rows(
    const EqCartesian g,
    const float* __restrict__ u,
    const double* __restrict__ dt_at,
    const float* __restrict__ rate,
    const double* __restrict__ width_at,
    const double* __restrict__ width_2_at,
    const double* __restrict__ width_3_at,
    float* __restrict__ u_new_out) {
  const float dt = float(*dt_at);
  const float width = float(*width_at);
  const float width_2 = float(*width_2_at);
  const float width_3 = float(*width_3_at);
  EqCell cell;
  if (!eq_row_here<ROW>(g, cell)) return;
  const EqEntity row_2 = g.n[0] * (cell.ijk[1] + g.n[1] * cell.ijk[2]);
  float u_3[ROW];
  eq_load_row(u_3, u, row_2 + cell.ijk[0]);
  float rate_2[ROW];
  eq_load_row(rate_2, rate, row_2 + cell.ijk[0]);
  const unsigned int at_yp1 = eq_near_place(cell.ijk[1], 1, g.n[1], EQ_CLAMP, EQ_WRAP);
  const EqEntity row_yp1 = g.n[0] * (at_yp1 + g.n[1] * cell.ijk[2]);
  float u_yp1[ROW];
  eq_load_row(u_yp1, u, row_yp1 + cell.ijk[0]);
  const unsigned int at_ym1 = eq_near_place(cell.ijk[1], -1, g.n[1], EQ_WRAP, EQ_CLAMP);
  const EqEntity row_ym1 = g.n[0] * (at_ym1 + g.n[1] * cell.ijk[2]);
  float u_ym1[ROW];
  eq_load_row(u_ym1, u, row_ym1 + cell.ijk[0]);
  const unsigned int at_yp2 = eq_near_place(cell.ijk[1], 2, g.n[1], EQ_CLAMP, EQ_WRAP);
  const EqEntity row_yp2 = g.n[0] * (at_yp2 + g.n[1] * cell.ijk[2]);
  float u_yp2[ROW];
  eq_load_row(u_yp2, u, row_yp2 + cell.ijk[0]);
  const unsigned int at_ym2 = eq_near_place(cell.ijk[1], -2, g.n[1], EQ_WRAP, EQ_CLAMP);
  const EqEntity row_ym2 = g.n[0] * (at_ym2 + g.n[1] * cell.ijk[2]);
  float u_ym2[ROW];
  eq_load_row(u_ym2, u, row_ym2 + cell.ijk[0]);
  const unsigned int at_zp1 = eq_near_place(cell.ijk[2], 1, g.n[2], EQ_CLAMP, EQ_CLAMP);
  const EqEntity row_zp1 = g.n[0] * (cell.ijk[1] + g.n[1] * at_zp1);
  float u_zp1[ROW];
  eq_load_row(u_zp1, u, row_zp1 + cell.ijk[0]);
  const unsigned int at_zm1 = eq_near_place(cell.ijk[2], -1, g.n[2], EQ_CLAMP, EQ_CLAMP);
  const EqEntity row_zm1 = g.n[0] * (cell.ijk[1] + g.n[1] * at_zm1);
  float u_zm1[ROW];
  eq_load_row(u_zm1, u, row_zm1 + cell.ijk[0]);
  const unsigned int at_zp2 = eq_place(cell.ijk[2], 2, g.n[2], EQ_CLAMP, EQ_CLAMP);
  const EqEntity row_zp2 = g.n[0] * (cell.ijk[1] + g.n[1] * at_zp2);
  float u_zp2[ROW];
  eq_load_row(u_zp2, u, row_zp2 + cell.ijk[0]);
  const unsigned int at_zm2 = eq_place(cell.ijk[2], -2, g.n[2], EQ_CLAMP, EQ_CLAMP);
  const EqEntity row_zm2 = g.n[0] * (cell.ijk[1] + g.n[1] * at_zm2);
  float u_zm2[ROW];
  eq_load_row(u_zm2, u, row_zm2 + cell.ijk[0]);
  float u_new_out_row[ROW];
  const EqCell row = cell;
  #pragma unroll
  for (int at = 0; at < ROW; ++at) {
    const EqCell cell = eq_cell_of_row(row, at);
    const unsigned int at_xp1 = eq_near_place(cell.ijk[0], 1, g.n[0], EQ_CLAMP, EQ_MIRROR);
    const unsigned int at_xm1 = eq_near_place(cell.ijk[0], -1, g.n[0], EQ_MIRROR, EQ_CLAMP);
    const unsigned int at_xp2 = eq_near_place(cell.ijk[0], 2, g.n[0], EQ_CLAMP, EQ_MIRROR);
    const unsigned int at_xm2 = eq_near_place(cell.ijk[0], -2, g.n[0], EQ_MIRROR, EQ_CLAMP);
    const float u_2 = 30.0f * u_3[at];
    u_new_out_row[at] = u_3[at] + ((dt * rate_2[at]) * ((eq_divide(((16.0f * (u[row_2 + at_xp1] + u[row_2 + at_xm1])) - (u[row_2 + at_xp2] + u[row_2 + at_xm2])) - u_2, 12.0f * (width * width)) + eq_divide(((16.0f * (u_yp1[at] + u_ym1[at])) - (u_yp2[at] + u_ym2[at])) - u_2, 12.0f * (width_2 * width_2))) + eq_divide(((16.0f * (u_zp1[at] + u_zm1[at])) - (u_zp2[at] + u_zm2[at])) - u_2, 12.0f * (width_3 * width_3))));
  }
  eq_store_row(u_new_out, row.index, u_new_out_row);
}
extern "C" __global__ void EQ_ROW_CELLS compute_u_cartesian_rows_x2(
    const EqCartesian g,
    const float* __restrict__ u,
    const double* __restrict__ dt_at,
    const float* __restrict__ rate,
    const double* __restrict__ width_at,
    const double* __restrict__ width_2_at,
    const double* __restrict__ width_3_at,
    float* __restrict__ u_new_out) {
  compute_u_cartesian_rows<2>(g, u, dt_at, rate, width_at, width_2_at, width_3_at, u_new_out);
}
extern "C" __global__ void EQ_ROW_CELLS compute_u_cartesian_rows_x4(
    const EqCartesian g,
    const float* __restrict__ u,
    const double* __restrict__ dt_at,
    const float* __restrict__ rate,
    const double* __restrict__ width_at,
    const double* __restrict__ width_2_at,
    const double* __restrict__ width_3_at,
    float* __restrict__ u_new_out) {
  compute_u_cartesian_rows<4>(g, u, dt_at, rate, width_at, width_2_at, width_3_at, u_new_out);
}
