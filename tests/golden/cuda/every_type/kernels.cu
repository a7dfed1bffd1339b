// Kernels of every_type. Helpers beginning with eq_ or Eq are the runtime's.

extern "C" __global__ void EQ_LIGHT direction(
    const double* __restrict__ k_at,
    double* __restrict__ along_out,
    unsigned char* __restrict__ big_out,
    double* __restrict__ growth_out) {
  const double k = *k_at;
  if (eq_index() != 0) return;
  eq_store(along_out, 1, 0, eq_vector((2.0 * k), (eq_exp(k) - eq_sin(0.5))));
  big_out[0] = k > 0.125;
  growth_out[0] = eq_pow(eq_max(k, 0.5), 1.5) * eq_pow(2.0, k);
}

extern "C" __global__ void EQ_LIGHT inside(
    const EqSpace space,
    const EqGrid grid,
    EqEntity* __restrict__ cell_out) {
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  cell_out[element] = (eq_cells(grid, here).first == EQ_NONE) ? eq_cells(grid, here).second : eq_cells(grid, here).first;
}

extern "C" __global__ void EQ_LIGHT lively(
    const EqSpace space,
    const double* __restrict__ u,
    const unsigned char* __restrict__ big_at,
    EqEntity* __restrict__ self_out) {
  const bool big = *big_at != 0;
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  self_out[element] = ((u[element] > 0.0) && big) ? here : EQ_NONE;
}

extern "C" __global__ void EQ_LIGHT lively_cartesian(
    const EqCartesian g,
    const double* __restrict__ u,
    const unsigned char* __restrict__ big_at,
    EqEntity* __restrict__ self_out) {
  const bool big = *big_at != 0;
  EqCell cell;
  if (!eq_cell_here(g, cell)) return;
  const double u_here = u[cell.index];
  self_out[cell.index] = ((u_here > 0.0) && big) ? cell.index : EQ_NONE;
}

extern "C" __global__ void EQ_LIGHT fields(
    const EqSpace space,
    const EqGrid grid,
    const double* __restrict__ u,
    const double* __restrict__ along_at,
    const unsigned char* __restrict__ big_at,
    const double* __restrict__ growth_at,
    double* __restrict__ v_out,
    double* __restrict__ s_out,
    unsigned char* __restrict__ b_out) {
  const EqVector along = eq_load(along_at, 1, 0);
  const bool big = *big_at != 0;
  const double growth = *growth_at;
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  const EqVector scaled = big ? (along * u[element]) : eq_zero_vector();
  double across = 0.0;
  const EqSides f_sides = eq_sides(grid, here);
  const double u_here = u[element];
  for (EqOffset f_from = f_sides.begin; f_from < f_sides.end; f_from += EQ_PREFETCH * EQ_SLICE) {
    EqEntity f_prefetched[EQ_PREFETCH];
    double u_neighbour[EQ_PREFETCH] = {};
    #pragma unroll
    for (unsigned int ahead = 0; ahead < EQ_PREFETCH; ++ahead) {
      f_prefetched[ahead] = eq_side_neighbour(grid, f_sides, f_from + ahead * EQ_SLICE);
    }
    #pragma unroll
    for (unsigned int ahead = 0; ahead < EQ_PREFETCH; ++ahead) {
      if (!eq_is_inside(f_prefetched[ahead])) continue;
      u_neighbour[ahead] = u[eq_neighbour_cell(f_prefetched[ahead])];
    }
    #pragma unroll
    for (unsigned int ahead = 0; ahead < EQ_PREFETCH; ++ahead) {
      const EqOffset f_at = f_from + ahead * EQ_SLICE;
      const EqEntity f_neighbour = f_prefetched[ahead];
      if (f_neighbour == EQ_NO_SIDE) break;
      if (!eq_is_inside(f_neighbour)) continue;
      const EqEntity f = grid.side_faces[f_at];
      const double jump = (eq_is_outward(f_neighbour) ? u_neighbour[ahead] : u_here) - (eq_is_outward(f_neighbour) ? u_here : u_neighbour[ahead]);
      const double across_term = big ? eq_min(jump, eq_dot(along, eq_face_normal(grid, f))) : eq_max(growth, jump);
      across = eq_is_outward(f_neighbour) ? across + across_term : across - across_term;
    }
  }
  const double waves = (eq_sin(u[element]) + eq_cos(u[element])) + eq_tan(u[element]);
  const double logs = eq_log((fabs(u[element]) + growth));
  eq_store(v_out, space.size, element, scaled + eq_vector(u[element], waves));
  s_out[element] = (across + waves) + eq_pow(logs, 2.0);
  b_out[element] = eq_min(u[element], 0.25) == u[element];
}

extern "C" __global__ void EQ_LIGHT fields_cartesian(
    const EqCartesian g,
    const double* __restrict__ u,
    const double* __restrict__ along_at,
    const unsigned char* __restrict__ big_at,
    const double* __restrict__ growth_at,
    double* __restrict__ v_out,
    double* __restrict__ s_out,
    unsigned char* __restrict__ b_out) {
  const EqVector along = eq_load(along_at, 1, 0);
  const bool big = *big_at != 0;
  const double growth = *growth_at;
  if (eq_is_inside_block(g)) {
    EqInsideCell cell;
    #pragma unroll 1
    for (unsigned int step = 0; step < g.cells_per_thread; ++step) {
      if (!eq_inside_cell_here(g, step, cell)) continue;
      const double u_here = u[cell.index];
      const EqVector scaled_c = big ? (along * u_here) : eq_zero_vector();
      double across_c = 0.0;
      double u_low[DIM];
      double u_high[DIM];
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        u_low[axis] = u[eq_neighbour(g, cell, axis, 0)];
        u_high[axis] = u[eq_neighbour(g, cell, axis, 1)];
      }
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        const double jump_low = u_here - u_low[axis];
        across_c = across_c - (big ? eq_min(jump_low, eq_dot(along, eq_along(axis, 1.0))) : eq_max(growth, jump_low));
        const double jump_high = u_high[axis] - u_here;
        across_c = across_c + (big ? eq_min(jump_high, eq_dot(along, eq_along(axis, 1.0))) : eq_max(growth, jump_high));
      }
      const double waves_c = (eq_sin(u_here) + eq_cos(u_here)) + eq_tan(u_here);
      const double logs_c = eq_log((fabs(u_here) + growth));
      eq_store(v_out, (size_t)g.n[0] * g.n[1] * g.n[2], cell.index, scaled_c + eq_vector(u_here, waves_c));
      s_out[cell.index] = (across_c + waves_c) + eq_pow(logs_c, 2.0);
      b_out[cell.index] = eq_min(u_here, 0.25) == u_here;
    }
    return;
  }
  EqCell cell;
  if (!eq_boundary_cell_here(g, cell)) return;
  const double u_here = u[cell.index];
  const EqVector scaled_c = big ? (along * u_here) : eq_zero_vector();
  double across_c = 0.0;
  double u_low[DIM] = {};
  double u_high[DIM] = {};
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (!eq_side_on_boundary(g, cell, axis, 0)) {
      u_low[axis] = u[eq_neighbour(g, cell, axis, 0)];
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      u_high[axis] = u[eq_neighbour(g, cell, axis, 1)];
    }
  }
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (!eq_side_on_boundary(g, cell, axis, 0)) {
      const double jump_low = u_here - u_low[axis];
      across_c = across_c - (big ? eq_min(jump_low, eq_dot(along, eq_along(axis, 1.0))) : eq_max(growth, jump_low));
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      const double jump_high = u_high[axis] - u_here;
      across_c = across_c + (big ? eq_min(jump_high, eq_dot(along, eq_along(axis, 1.0))) : eq_max(growth, jump_high));
    }
  }
  const double waves_c = (eq_sin(u_here) + eq_cos(u_here)) + eq_tan(u_here);
  const double logs_c = eq_log((fabs(u_here) + growth));
  eq_store(v_out, (size_t)g.n[0] * g.n[1] * g.n[2], cell.index, scaled_c + eq_vector(u_here, waves_c));
  s_out[cell.index] = (across_c + waves_c) + eq_pow(logs_c, 2.0);
  b_out[cell.index] = eq_min(u_here, 0.25) == u_here;
}

extern "C" __global__ void EQ_LIGHT smoothed(
    const EqSpace space,
    const EqGrid grid,
    const double* __restrict__ u,
    const double* __restrict__ along_at,
    const unsigned char* __restrict__ big_at,
    double* __restrict__ w_out) {
  const EqVector along = eq_load(along_at, 1, 0);
  const bool big = *big_at != 0;
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  double flow = 0.0;
  const EqSides f_sides = eq_sides(grid, here);
  const double u_here = u[element];
  for (EqOffset f_from = f_sides.begin; f_from < f_sides.end; f_from += EQ_PREFETCH * EQ_SLICE) {
    EqEntity f_prefetched[EQ_PREFETCH];
    double u_neighbour[EQ_PREFETCH] = {};
    #pragma unroll
    for (unsigned int ahead = 0; ahead < EQ_PREFETCH; ++ahead) {
      f_prefetched[ahead] = eq_side_neighbour(grid, f_sides, f_from + ahead * EQ_SLICE);
    }
    #pragma unroll
    for (unsigned int ahead = 0; ahead < EQ_PREFETCH; ++ahead) {
      if (!eq_is_inside(f_prefetched[ahead])) continue;
      u_neighbour[ahead] = u[eq_neighbour_cell(f_prefetched[ahead])];
    }
    #pragma unroll
    for (unsigned int ahead = 0; ahead < EQ_PREFETCH; ++ahead) {
      const EqOffset f_at = f_from + ahead * EQ_SLICE;
      const EqEntity f_neighbour = f_prefetched[ahead];
      if (f_neighbour == EQ_NO_SIDE) break;
      if (!eq_is_inside(f_neighbour)) continue;
      const EqEntity f = grid.side_faces[f_at];
      const double push = eq_dot(along, eq_face_normal(grid, f));
      const double flow_term = big ? (push * ((eq_is_outward(f_neighbour) ? u_neighbour[ahead] : u_here) - (eq_is_outward(f_neighbour) ? u_here : u_neighbour[ahead]))) : eq_max(push, (eq_is_outward(f_neighbour) ? u_here : u_neighbour[ahead]));
      flow = eq_is_outward(f_neighbour) ? flow + flow_term : flow - flow_term;
    }
  }
  w_out[element] = (big != (u[element] < 0.0)) ? (u[element] + flow) : eq_min(flow, along.c[1]);
}

extern "C" __global__ void EQ_LIGHT smoothed_cartesian(
    const EqCartesian g,
    const double* __restrict__ u,
    const double* __restrict__ along_at,
    const unsigned char* __restrict__ big_at,
    double* __restrict__ w_out) {
  const EqVector along = eq_load(along_at, 1, 0);
  const bool big = *big_at != 0;
  if (eq_is_inside_block(g)) {
    EqInsideCell cell;
    #pragma unroll 1
    for (unsigned int step = 0; step < g.cells_per_thread; ++step) {
      if (!eq_inside_cell_here(g, step, cell)) continue;
      const double u_here = u[cell.index];
      double flow_c = 0.0;
      double u_low[DIM];
      double u_high[DIM];
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        u_low[axis] = u[eq_neighbour(g, cell, axis, 0)];
        u_high[axis] = u[eq_neighbour(g, cell, axis, 1)];
      }
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        const double push_low = eq_dot(along, eq_along(axis, 1.0));
        flow_c = flow_c - (big ? (push_low * (u_here - u_low[axis])) : eq_max(push_low, u_low[axis]));
        const double push_high = eq_dot(along, eq_along(axis, 1.0));
        flow_c = flow_c + (big ? (push_high * (u_high[axis] - u_here)) : eq_max(push_high, u_here));
      }
      w_out[cell.index] = (big != (u_here < 0.0)) ? (u_here + flow_c) : eq_min(flow_c, along.c[1]);
    }
    return;
  }
  EqCell cell;
  if (!eq_boundary_cell_here(g, cell)) return;
  const double u_here = u[cell.index];
  double flow_c = 0.0;
  double u_low[DIM] = {};
  double u_high[DIM] = {};
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (!eq_side_on_boundary(g, cell, axis, 0)) {
      u_low[axis] = u[eq_neighbour(g, cell, axis, 0)];
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      u_high[axis] = u[eq_neighbour(g, cell, axis, 1)];
    }
  }
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (!eq_side_on_boundary(g, cell, axis, 0)) {
      const double push_low = eq_dot(along, eq_along(axis, 1.0));
      flow_c = flow_c - (big ? (push_low * (u_here - u_low[axis])) : eq_max(push_low, u_low[axis]));
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      const double push_high = eq_dot(along, eq_along(axis, 1.0));
      flow_c = flow_c + (big ? (push_high * (u_high[axis] - u_here)) : eq_max(push_high, u_here));
    }
  }
  w_out[cell.index] = (big != (u_here < 0.0)) ? (u_here + flow_c) : eq_min(flow_c, along.c[1]);
}

template <int ROW>
EQ_FUNCTION void smoothed_cartesian_rows(
    const EqCartesian g,
    const double* __restrict__ u,
    const double* __restrict__ along_at,
    const unsigned char* __restrict__ big_at,
    double* __restrict__ w_out) {
  const EqVector along = eq_load(along_at, 1, 0);
  const bool big = *big_at != 0;
  if (eq_is_inside_block(g)) {
    EqCell row;
    #pragma unroll 1
    for (unsigned int step = 0; step < g.cells_per_thread; ++step) {
      if (!eq_inside_row_here<ROW>(g, step, row)) continue;
      double u_here[ROW];
      eq_load_row(u_here, u, row.index);
      double u_low[DIM][ROW];
      double u_high[DIM][ROW];
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        eq_load_neighbour_row(u_low[axis], u_here, g, u, row, axis, 0);
        eq_load_neighbour_row(u_high[axis], u_here, g, u, row, axis, 1);
      }
      double w_out_row[ROW];
      #pragma unroll
      for (int at = 0; at < ROW; ++at) {
        const EqCell cell = eq_cell_of_row(row, at);
        double flow_c = 0.0;
        #pragma unroll
        for (int axis = 0; axis < DIM; ++axis) {
          const double push_low = eq_dot(along, eq_along(axis, 1.0));
          flow_c = flow_c - (big ? (push_low * (u_here[at] - u_low[axis][at])) : eq_max(push_low, u_low[axis][at]));
          const double push_high = eq_dot(along, eq_along(axis, 1.0));
          flow_c = flow_c + (big ? (push_high * (u_high[axis][at] - u_here[at])) : eq_max(push_high, u_here[at]));
        }
        w_out_row[at] = (big != (u_here[at] < 0.0)) ? (u_here[at] + flow_c) : eq_min(flow_c, along.c[1]);
      }
      eq_store_inside_row(g, w_out, row, w_out_row);
    }
  }
  EqCell cell;
  if (!eq_boundary_cell_beside_rows(g, cell)) return;
  const double u_here = u[cell.index];
  double flow_c = 0.0;
  double u_low[DIM] = {};
  double u_high[DIM] = {};
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (!eq_side_on_boundary(g, cell, axis, 0)) {
      u_low[axis] = u[eq_neighbour(g, cell, axis, 0)];
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      u_high[axis] = u[eq_neighbour(g, cell, axis, 1)];
    }
  }
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (!eq_side_on_boundary(g, cell, axis, 0)) {
      const double push_low = eq_dot(along, eq_along(axis, 1.0));
      flow_c = flow_c - (big ? (push_low * (u_here - u_low[axis])) : eq_max(push_low, u_low[axis]));
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      const double push_high = eq_dot(along, eq_along(axis, 1.0));
      flow_c = flow_c + (big ? (push_high * (u_high[axis] - u_here)) : eq_max(push_high, u_here));
    }
  }
  w_out[cell.index] = (big != (u_here < 0.0)) ? (u_here + flow_c) : eq_min(flow_c, along.c[1]);
}
extern "C" __global__ void EQ_ROW_CELLS smoothed_cartesian_rows_x2(
    const EqCartesian g,
    const double* __restrict__ u,
    const double* __restrict__ along_at,
    const unsigned char* __restrict__ big_at,
    double* __restrict__ w_out) {
  smoothed_cartesian_rows<2>(g, u, along_at, big_at, w_out);
}

extern "C" __global__ void EQ_LIGHT fluxes(
    const EqSpace space,
    const EqGrid grid,
    const double* __restrict__ u,
    double* __restrict__ flux_out) {
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  double q = 0.0;
  const EqSides f_sides = eq_sides(grid, here);
  const double u_here = u[element];
  for (EqOffset f_from = f_sides.begin; f_from < f_sides.end; f_from += EQ_PREFETCH * EQ_SLICE) {
    EqEntity f_prefetched[EQ_PREFETCH];
    double u_neighbour[EQ_PREFETCH] = {};
    #pragma unroll
    for (unsigned int ahead = 0; ahead < EQ_PREFETCH; ++ahead) {
      f_prefetched[ahead] = eq_side_neighbour(grid, f_sides, f_from + ahead * EQ_SLICE);
    }
    #pragma unroll
    for (unsigned int ahead = 0; ahead < EQ_PREFETCH; ++ahead) {
      if (!eq_is_inside(f_prefetched[ahead])) continue;
      u_neighbour[ahead] = u[eq_neighbour_cell(f_prefetched[ahead])];
    }
    #pragma unroll
    for (unsigned int ahead = 0; ahead < EQ_PREFETCH; ++ahead) {
      const EqOffset f_at = f_from + ahead * EQ_SLICE;
      const EqEntity f_neighbour = f_prefetched[ahead];
      if (f_neighbour == EQ_NO_SIDE) break;
      if (!eq_is_inside(f_neighbour)) continue;
      const EqEntity f = grid.side_faces[f_at];
      const EqPair f_cells = eq_side_cells(here, f_neighbour);
      const double jump = (eq_is_outward(f_neighbour) ? u_neighbour[ahead] : u_here) - (eq_is_outward(f_neighbour) ? u_here : u_neighbour[ahead]);
      const double rise = (eq_cell_centroid(grid, f_cells.second) - eq_cell_centroid(grid, f_cells.first)).c[1];
      const double q_term = (fabs(eq_face_normal(grid, f).c[0]) > 0.5) ? sqrt(fabs(jump)) : (jump * eq_log(rise));
      q = eq_is_outward(f_neighbour) ? q + q_term : q - q_term;
    }
  }
  flux_out[element] = q;
}

extern "C" __global__ void EQ_LIGHT fluxes_cartesian(
    const EqCartesian g,
    const double* __restrict__ u,
    double* __restrict__ flux_out) {
  if (eq_is_inside_block(g)) {
    EqInsideCell cell;
    #pragma unroll 1
    for (unsigned int step = 0; step < g.cells_per_thread; ++step) {
      if (!eq_inside_cell_here(g, step, cell)) continue;
      const double u_here = u[cell.index];
      double q_c = 0.0;
      double u_low[DIM];
      double u_high[DIM];
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        u_low[axis] = u[eq_neighbour(g, cell, axis, 0)];
        u_high[axis] = u[eq_neighbour(g, cell, axis, 1)];
      }
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        const double jump_low = u_here - u_low[axis];
        const double rise_low = eq_along(axis, eq_at(g.spacing, axis)).c[1];
        q_c = q_c - ((axis == 0) ? (sqrt(fabs(eq_along(axis, 1.0).c[0])) * sqrt(fabs(jump_low))) : ((jump_low * eq_log(rise_low)) * eq_along(axis, 1.0).c[1]));
        const double jump_high = u_high[axis] - u_here;
        const double rise_high = eq_along(axis, eq_at(g.spacing, axis)).c[1];
        q_c = q_c + ((axis == 0) ? sqrt(fabs(jump_high)) : (jump_high * eq_log(rise_high)));
      }
      flux_out[cell.index] = q_c;
    }
    return;
  }
  EqCell cell;
  if (!eq_boundary_cell_here(g, cell)) return;
  const double u_here = u[cell.index];
  double q_c = 0.0;
  double u_low[DIM] = {};
  double u_high[DIM] = {};
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (!eq_side_on_boundary(g, cell, axis, 0)) {
      u_low[axis] = u[eq_neighbour(g, cell, axis, 0)];
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      u_high[axis] = u[eq_neighbour(g, cell, axis, 1)];
    }
  }
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (!eq_side_on_boundary(g, cell, axis, 0)) {
      const double jump_low = u_here - u_low[axis];
      const double rise_low = eq_along(axis, eq_at(g.spacing, axis)).c[1];
      q_c = q_c - ((axis == 0) ? (sqrt(fabs(eq_along(axis, 1.0).c[0])) * sqrt(fabs(jump_low))) : ((jump_low * eq_log(rise_low)) * eq_along(axis, 1.0).c[1]));
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      const double jump_high = u_high[axis] - u_here;
      const double rise_high = eq_along(axis, eq_at(g.spacing, axis)).c[1];
      q_c = q_c + ((axis == 0) ? sqrt(fabs(jump_high)) : (jump_high * eq_log(rise_high)));
    }
  }
  flux_out[cell.index] = q_c;
}

template <int ROW>
EQ_FUNCTION void fluxes_cartesian_rows(
    const EqCartesian g,
    const double* __restrict__ u,
    double* __restrict__ flux_out) {
  if (eq_is_inside_block(g)) {
    EqCell row;
    #pragma unroll 1
    for (unsigned int step = 0; step < g.cells_per_thread; ++step) {
      if (!eq_inside_row_here<ROW>(g, step, row)) continue;
      double u_here[ROW];
      eq_load_row(u_here, u, row.index);
      double u_low[DIM][ROW];
      double u_high[DIM][ROW];
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        eq_load_neighbour_row(u_low[axis], u_here, g, u, row, axis, 0);
        eq_load_neighbour_row(u_high[axis], u_here, g, u, row, axis, 1);
      }
      double flux_out_row[ROW];
      #pragma unroll
      for (int at = 0; at < ROW; ++at) {
        const EqCell cell = eq_cell_of_row(row, at);
        double q_c = 0.0;
        #pragma unroll
        for (int axis = 0; axis < DIM; ++axis) {
          const double jump_low = u_here[at] - u_low[axis][at];
          const double rise_low = eq_along(axis, eq_at(g.spacing, axis)).c[1];
          q_c = q_c - ((axis == 0) ? (sqrt(fabs(eq_along(axis, 1.0).c[0])) * sqrt(fabs(jump_low))) : ((jump_low * eq_log(rise_low)) * eq_along(axis, 1.0).c[1]));
          const double jump_high = u_high[axis][at] - u_here[at];
          const double rise_high = eq_along(axis, eq_at(g.spacing, axis)).c[1];
          q_c = q_c + ((axis == 0) ? sqrt(fabs(jump_high)) : (jump_high * eq_log(rise_high)));
        }
        flux_out_row[at] = q_c;
      }
      eq_store_inside_row(g, flux_out, row, flux_out_row);
    }
  }
  EqCell cell;
  if (!eq_boundary_cell_beside_rows(g, cell)) return;
  const double u_here = u[cell.index];
  double q_c = 0.0;
  double u_low[DIM] = {};
  double u_high[DIM] = {};
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (!eq_side_on_boundary(g, cell, axis, 0)) {
      u_low[axis] = u[eq_neighbour(g, cell, axis, 0)];
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      u_high[axis] = u[eq_neighbour(g, cell, axis, 1)];
    }
  }
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (!eq_side_on_boundary(g, cell, axis, 0)) {
      const double jump_low = u_here - u_low[axis];
      const double rise_low = eq_along(axis, eq_at(g.spacing, axis)).c[1];
      q_c = q_c - ((axis == 0) ? (sqrt(fabs(eq_along(axis, 1.0).c[0])) * sqrt(fabs(jump_low))) : ((jump_low * eq_log(rise_low)) * eq_along(axis, 1.0).c[1]));
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      const double jump_high = u_high[axis] - u_here;
      const double rise_high = eq_along(axis, eq_at(g.spacing, axis)).c[1];
      q_c = q_c + ((axis == 0) ? sqrt(fabs(jump_high)) : (jump_high * eq_log(rise_high)));
    }
  }
  flux_out[cell.index] = q_c;
}
extern "C" __global__ void EQ_ROW_CELLS fluxes_cartesian_rows_x2(
    const EqCartesian g,
    const double* __restrict__ u,
    double* __restrict__ flux_out) {
  fluxes_cartesian_rows<2>(g, u, flux_out);
}

extern "C" __global__ void EQ_LIGHT extremes(
    const EqSpace space,
    const double* __restrict__ v,
    const EqEntity v_size,
    const unsigned char* __restrict__ b,
    double* __restrict__ total_out,
    double* __restrict__ most_out,
    double* __restrict__ least_out,
    unsigned char* __restrict__ some_out,
    unsigned char* __restrict__ every_out,
    double* __restrict__ product_out,
    double* __restrict__ doubled_out) {
  const EqLeaf leaf = eq_leaf_here(space.size);
  EqVector partial_0 = eq_zero_vector();
  EqVector partial_1 = eq_zero_vector();
  EqVector partial_2 = eq_zero_vector();
  bool partial_3 = false;
  bool partial_4 = true;
  double partial_5 = 1.0;
  for (EqEntity at = leaf.begin; at < leaf.end; at += EQ_CHAINS) {
    const EqEntity element = eq_in_file(space, at);
    const EqEntity here = eq_entity(space, element);
    partial_0 = eq_sum(partial_0, eq_load(v, v_size, element));
    partial_1 = at == leaf.begin ? eq_load(v, v_size, element) : eq_greatest(partial_1, eq_load(v, v_size, element));
    partial_2 = at == leaf.begin ? ((-1.0) * eq_load(v, v_size, element)) : eq_least(partial_2, ((-1.0) * eq_load(v, v_size, element)));
    partial_3 = eq_any(partial_3, b[element]);
    partial_4 = eq_all(partial_4, (b[element] || true));
    partial_5 = eq_prod(partial_5, (1.0 + (0.125 * eq_load(v, v_size, element).c[0])));
    eq_store(doubled_out, space.size, element, eq_load(v, v_size, element) / 0.5);
  }
  partial_0 = eq_chains<0>(partial_0, leaf.chains, EqSum());
  partial_1 = eq_chains<1>(partial_1, leaf.chains, EqMax());
  partial_2 = eq_chains<2>(partial_2, leaf.chains, EqMin());
  partial_3 = eq_chains<3>(partial_3, leaf.chains, EqAny());
  partial_4 = eq_chains<4>(partial_4, leaf.chains, EqAll());
  partial_5 = eq_chains<5>(partial_5, leaf.chains, EqProd());
  if (!eq_tells_leaf()) return;
  eq_store(total_out, eq_leaf_count(space.size), blockIdx.x, partial_0);
  eq_store(most_out, eq_leaf_count(space.size), blockIdx.x, partial_1);
  eq_store(least_out, eq_leaf_count(space.size), blockIdx.x, partial_2);
  some_out[blockIdx.x] = partial_3;
  every_out[blockIdx.x] = partial_4;
  product_out[blockIdx.x] = partial_5;
}

extern "C" __global__ void EQ_LIGHT nothing(
    const EqSpace space,
    const EqGrid grid,
    double* __restrict__ total_out,
    unsigned char* __restrict__ some_out,
    unsigned char* __restrict__ every_out,
    double* __restrict__ number_out) {
  const EqLeaf leaf = eq_leaf_here(space.size);
  EqVector partial_0 = eq_zero_vector();
  bool partial_1 = false;
  bool partial_2 = true;
  double partial_3 = 0.0;
  for (EqEntity at = leaf.begin; at < leaf.end; at += EQ_CHAINS) {
    const EqEntity element = eq_in_file(space, at);
    const EqEntity here = eq_entity(space, element);
    partial_0 = eq_sum(partial_0, eq_cell_centroid(grid, here));
    partial_1 = eq_any(partial_1, true);
    partial_2 = eq_all(partial_2, false);
    partial_3 = eq_sum(partial_3, 1.0);
  }
  partial_0 = eq_chains<0>(partial_0, leaf.chains, EqSum());
  partial_1 = eq_chains<1>(partial_1, leaf.chains, EqAny());
  partial_2 = eq_chains<2>(partial_2, leaf.chains, EqAll());
  partial_3 = eq_chains<3>(partial_3, leaf.chains, EqSum());
  if (!eq_tells_leaf()) return;
  eq_store(total_out, eq_leaf_count(space.size), blockIdx.x, partial_0);
  some_out[blockIdx.x] = partial_1;
  every_out[blockIdx.x] = partial_2;
  number_out[blockIdx.x] = partial_3;
}

extern "C" __global__ void EQ_LIGHT lookup(
    const EqSpace space,
    const EqRanks wells_ranks,
    const EqEntity* __restrict__ cell_2,
    const EqEntity* __restrict__ self,
    const double* __restrict__ v,
    const EqEntity v_size,
    const double* __restrict__ rate,
    const EqEntity rate_size,
    double* __restrict__ at_cell_out,
    EqEntity* __restrict__ alive_out,
    double* __restrict__ padded_out,
    unsigned char* __restrict__ same_cell_out) {
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  eq_store(at_cell_out, space.size, element, eq_load(v, v_size, cell_2[element]));
  alive_out[element] = self[cell_2[element]];
  eq_store(padded_out, space.size, element, (eq_rank(wells_ranks, cell_2[element]) != EQ_NONE) ? eq_load(rate, rate_size, eq_rank(wells_ranks, cell_2[element])) : eq_zero_vector());
  same_cell_out[element] = self[cell_2[element]] == cell_2[element];
}

extern "C" __global__ void EQ_LIGHT rates(
    const EqSpace space,
    const double* __restrict__ v,
    const EqEntity v_size,
    double* __restrict__ rate_out) {
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  eq_store(rate_out, space.size, element, -eq_load(v, v_size, here));
}

extern "C" __global__ void EQ_LIGHT witness(
    const EqSpace space,
    const double* __restrict__ total_at,
    const double* __restrict__ most_at,
    const double* __restrict__ least_at,
    const double* __restrict__ none_at,
    const unsigned char* __restrict__ some_at,
    const unsigned char* __restrict__ every_at,
    const unsigned char* __restrict__ never_at,
    const unsigned char* __restrict__ always_at,
    const double* __restrict__ product_at,
    const double* __restrict__ number_at,
    double* __restrict__ seen_out,
    unsigned char* __restrict__ told_out) {
  const EqVector total = eq_load(total_at, 1, 0);
  const EqVector most = eq_load(most_at, 1, 0);
  const EqVector least = eq_load(least_at, 1, 0);
  const EqVector none = eq_load(none_at, 1, 0);
  const bool some = *some_at != 0;
  const bool every = *every_at != 0;
  const bool never = *never_at != 0;
  const bool always = *always_at != 0;
  const double product = *product_at;
  const double number = *number_at;
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  eq_store(seen_out, space.size, element, ((total + most) - (least * product)) + (none / (number + 1.0)));
  told_out[element] = (some && every) && (always && (!never));
}
