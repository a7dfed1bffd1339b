// Kernels of heat_dirichlet. Helpers beginning with eq_ or Eq are the runtime's.

extern "C" __global__ void EQ_LIGHT compute_itrans(
    const EqSpace space,
    const EqGrid grid,
    const double* __restrict__ k_at,
    double* __restrict__ itrans_out) {
  const double k = *k_at;
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  itrans_out[element] = k * eq_divide(eq_face_area(grid, here), eq_length((eq_cell_centroid(grid, eq_cells(grid, here).first) - eq_cell_centroid(grid, eq_cells(grid, here).second))));
}

extern "C" __global__ void EQ_LIGHT compute_itrans_per_axis(
    const EqCartesian g,
    const double* __restrict__ k_at,
    double* __restrict__ itrans_out) {
  const double k = *k_at;
  const int axis = (int)eq_index();
  if (axis >= DIM) return;
  itrans_out[axis] = k * eq_divide(eq_at(g.area, axis), eq_length(eq_along(axis, -eq_at(g.spacing, axis))));
}

extern "C" __global__ void EQ_LIGHT compute_btrans(
    const EqSpace space,
    const EqGrid grid,
    const double* __restrict__ k_at,
    double* __restrict__ btrans_out) {
  const double k = *k_at;
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  const EqEntity inside = ((eq_cells(grid, here).first == EQ_NONE) ? eq_cells(grid, here).second : eq_cells(grid, here).first);
  btrans_out[element] = k * eq_divide(eq_face_area(grid, here), eq_length((eq_face_centroid(grid, here) - eq_cell_centroid(grid, inside))));
}

extern "C" __global__ void EQ_LIGHT compute_u(
    const EqSpace space,
    const EqGrid grid,
    const EqRanks dirichlet_boundary_ranks,
    const double* __restrict__ u,
    const double* __restrict__ itrans_by_side,
    const double* __restrict__ btrans,
    const double* __restrict__ dirichlet_val,
    const double* __restrict__ dt_at,
    double* __restrict__ u_out) {
  const double dt = *dt_at;
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  double outflow = 0.0;
  const EqSides f_sides = eq_sides(grid, here);
  const double u_here = u[element];
  for (EqOffset f_from = f_sides.begin; f_from < f_sides.end; f_from += EQ_PREFETCH * EQ_SLICE) {
    EqEntity f_prefetched[EQ_PREFETCH];
    double u_neighbour[EQ_PREFETCH] = {};
    double itrans_side[EQ_PREFETCH] = {};
    #pragma unroll
    for (unsigned int ahead = 0; ahead < EQ_PREFETCH; ++ahead) {
      f_prefetched[ahead] = eq_side_neighbour(grid, f_sides, f_from + ahead * EQ_SLICE);
    }
    #pragma unroll
    for (unsigned int ahead = 0; ahead < EQ_PREFETCH; ++ahead) {
      if (!eq_is_inside(f_prefetched[ahead])) continue;
      u_neighbour[ahead] = u[eq_neighbour_cell(f_prefetched[ahead])];
      itrans_side[ahead] = itrans_by_side[f_from + ahead * EQ_SLICE];
    }
    #pragma unroll
    for (unsigned int ahead = 0; ahead < EQ_PREFETCH; ++ahead) {
      const EqOffset f_at = f_from + ahead * EQ_SLICE;
      const EqEntity f_neighbour = f_prefetched[ahead];
      if (f_neighbour == EQ_NO_SIDE) break;
      const EqPair f_cells = eq_side_cells(here, f_neighbour);
      if (eq_is_inside(f_neighbour)) {
        outflow = outflow + ((-itrans_side[ahead]) * (u_neighbour[ahead] - u_here));
      } else {
        double boundary_flux;
        if (eq_rank_of_side(grid, dirichlet_boundary_ranks, f_at, f_neighbour) != EQ_NONE) {
          const EqEntity inside = ((f_cells.first == EQ_NONE) ? f_cells.second : f_cells.first);
          const double sign = (f_cells.first == EQ_NONE) ? (-1.0) : 1.0;
          boundary_flux = btrans[eq_rank_of_side(grid, dirichlet_boundary_ranks, f_at, f_neighbour)] * (sign * (u[inside] - dirichlet_val[eq_rank_of_side(grid, dirichlet_boundary_ranks, f_at, f_neighbour)]));
        } else {
          boundary_flux = 0.0;
        }
        const double flux = boundary_flux;
        outflow = eq_is_outward(f_neighbour) ? outflow + flux : outflow - flux;
      }
    }
  }
  u_out[element] = u[element] - ((dt / eq_cell_volume(grid, here)) * outflow);
}

extern "C" __global__ void EQ_LIGHT compute_u_cartesian(
    const EqCartesian g,
    const EqRanks dirichlet_boundary_ranks,
    const double* __restrict__ u,
    const double* __restrict__ itrans,
    const double* __restrict__ btrans,
    const double* __restrict__ dirichlet_val,
    const double* __restrict__ dt_at,
    double* __restrict__ u_out) {
  const double dt = *dt_at;
  if (eq_is_inside_block(g)) {
    EqInsideCell cell;
    #pragma unroll 1
    for (unsigned int step = 0; step < g.cells_per_thread; ++step) {
      if (!eq_inside_cell_here(g, step, cell)) continue;
      const double u_here = u[cell.index];
      double itrans_axis[DIM];
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) itrans_axis[axis] = itrans[axis];
      double outflow = 0.0;
      double u_low[DIM];
      double u_high[DIM];
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        u_low[axis] = u[eq_neighbour(g, cell, axis, 0)];
        u_high[axis] = u[eq_neighbour(g, cell, axis, 1)];
      }
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        outflow = outflow - ((-itrans_axis[axis]) * (u_here - u_low[axis]));
        outflow = outflow + ((-itrans_axis[axis]) * (u_high[axis] - u_here));
      }
      u_out[cell.index] = u_here - ((dt / g.volume) * outflow);
    }
    return;
  }
  EqCell cell;
  if (!eq_boundary_cell_here(g, cell)) return;
  const double u_here = u[cell.index];
  double itrans_axis[DIM];
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) itrans_axis[axis] = itrans[axis];
  double outflow = 0.0;
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
      outflow = outflow - ((-itrans_axis[axis]) * (u_here - u_low[axis]));
    } else {
      outflow = outflow - ((eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 0) != EQ_NONE) ? (btrans[eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 0)] * ((-1.0) * (u_here - dirichlet_val[eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 0)]))) : 0.0);
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      outflow = outflow + ((-itrans_axis[axis]) * (u_high[axis] - u_here));
    } else {
      outflow = outflow + ((eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 1) != EQ_NONE) ? (btrans[eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 1)] * (1.0 * (u_here - dirichlet_val[eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 1)]))) : 0.0);
    }
  }
  u_out[cell.index] = u_here - ((dt / g.volume) * outflow);
}

template <int ROW>
EQ_FUNCTION void compute_u_cartesian_rows(
    const EqCartesian g,
    const EqRanks dirichlet_boundary_ranks,
    const double* __restrict__ u,
    const double* __restrict__ itrans,
    const double* __restrict__ btrans,
    const double* __restrict__ dirichlet_val,
    const double* __restrict__ dt_at,
    double* __restrict__ u_out) {
  const double dt = *dt_at;
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
      double itrans_axis[DIM];
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) itrans_axis[axis] = itrans[axis];
      double u_out_row[ROW];
      #pragma unroll
      for (int at = 0; at < ROW; ++at) {
        const EqCell cell = eq_cell_of_row(row, at);
        double outflow = 0.0;
        #pragma unroll
        for (int axis = 0; axis < DIM; ++axis) {
          outflow = outflow - ((-itrans_axis[axis]) * (u_here[at] - u_low[axis][at]));
          outflow = outflow + ((-itrans_axis[axis]) * (u_high[axis][at] - u_here[at]));
        }
        u_out_row[at] = u_here[at] - ((dt / g.volume) * outflow);
      }
      eq_store_inside_row(g, u_out, row, u_out_row);
    }
  }
  EqCell cell;
  if (!eq_boundary_cell_beside_rows(g, cell)) return;
  const double u_here = u[cell.index];
  double itrans_axis[DIM];
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) itrans_axis[axis] = itrans[axis];
  double outflow = 0.0;
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
      outflow = outflow - ((-itrans_axis[axis]) * (u_here - u_low[axis]));
    } else {
      outflow = outflow - ((eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 0) != EQ_NONE) ? (btrans[eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 0)] * ((-1.0) * (u_here - dirichlet_val[eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 0)]))) : 0.0);
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      outflow = outflow + ((-itrans_axis[axis]) * (u_high[axis] - u_here));
    } else {
      outflow = outflow + ((eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 1) != EQ_NONE) ? (btrans[eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 1)] * (1.0 * (u_here - dirichlet_val[eq_side_rank(g, dirichlet_boundary_ranks, cell, axis, 1)]))) : 0.0);
    }
  }
  u_out[cell.index] = u_here - ((dt / g.volume) * outflow);
}
extern "C" __global__ void EQ_ROW_CELLS compute_u_cartesian_rows_x2(
    const EqCartesian g,
    const EqRanks dirichlet_boundary_ranks,
    const double* __restrict__ u,
    const double* __restrict__ itrans,
    const double* __restrict__ btrans,
    const double* __restrict__ dirichlet_val,
    const double* __restrict__ dt_at,
    double* __restrict__ u_out) {
  compute_u_cartesian_rows<2>(g, dirichlet_boundary_ranks, u, itrans, btrans, dirichlet_val, dt_at, u_out);
}
