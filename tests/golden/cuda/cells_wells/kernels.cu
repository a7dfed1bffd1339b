// Kernels of cells_wells. Helpers beginning with eq_ or Eq are the runtime's.

extern "C" __global__ void EQ_LIGHT residual_of_cells(
    const EqSpace space,
    const EqGrid grid,
    const EqRanks wells_ranks,
    const double* __restrict__ p,
    const double* __restrict__ p0,
    const double* __restrict__ bhp,
    const double* __restrict__ index,
    const double* __restrict__ itrans,
    const double* __restrict__ compressibility_at,
    const double* __restrict__ dt_at,
    double* __restrict__ residual_out) {
  const double compressibility = *compressibility_at;
  const double dt = *dt_at;
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  double outflow = 0.0;
  const EqSides f_sides = eq_sides(grid, here);
  const double p_here = p[element];
  for (EqOffset f_from = f_sides.begin; f_from < f_sides.end; f_from += EQ_PREFETCH * EQ_SLICE) {
    EqEntity f_prefetched[EQ_PREFETCH];
    double p_neighbour[EQ_PREFETCH] = {};
    double itrans_side[EQ_PREFETCH] = {};
    #pragma unroll
    for (unsigned int ahead = 0; ahead < EQ_PREFETCH; ++ahead) {
      f_prefetched[ahead] = eq_side_neighbour(grid, f_sides, f_from + ahead * EQ_SLICE);
    }
    #pragma unroll
    for (unsigned int ahead = 0; ahead < EQ_PREFETCH; ++ahead) {
      if (!eq_is_inside(f_prefetched[ahead])) continue;
      p_neighbour[ahead] = p[eq_neighbour_cell(f_prefetched[ahead])];
      itrans_side[ahead] = itrans[grid.side_ranks[f_from + ahead * EQ_SLICE]];
    }
    #pragma unroll
    for (unsigned int ahead = 0; ahead < EQ_PREFETCH; ++ahead) {
      const EqOffset f_at = f_from + ahead * EQ_SLICE;
      const EqEntity f_neighbour = f_prefetched[ahead];
      if (f_neighbour == EQ_NO_SIDE) break;
      if (!eq_is_inside(f_neighbour)) continue;
      outflow = outflow + ((-itrans_side[ahead]) * (p_neighbour[ahead] - p_here));
    }
  }
  const double taken = (eq_rank(wells_ranks, here) != EQ_NONE) ? (index[eq_rank(wells_ranks, here)] * (p[element] - bhp[eq_rank(wells_ranks, here)])) : 0.0;
  residual_out[element] = (((eq_divide(eq_cell_volume(grid, here), dt) * compressibility) * (p[element] - p0[element])) + outflow) + taken;
}

extern "C" __global__ void EQ_LIGHT residual_of_cells_cartesian(
    const EqCartesian g,
    const EqRanks wells_ranks,
    const double* __restrict__ p,
    const double* __restrict__ p0,
    const double* __restrict__ bhp,
    const double* __restrict__ index,
    const double* __restrict__ itrans,
    const double* __restrict__ compressibility_at,
    const double* __restrict__ dt_at,
    double* __restrict__ residual_out) {
  const double compressibility = *compressibility_at;
  const double dt = *dt_at;
  if (eq_is_inside_block(g)) {
    EqInsideCell cell;
    #pragma unroll 1
    for (unsigned int step = 0; step < g.cells_per_thread; ++step) {
      if (!eq_inside_cell_here(g, step, cell)) continue;
      const double p_here = p[cell.index];
      const double p0_here = p0[cell.index];
      double itrans_axis[DIM];
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) itrans_axis[axis] = itrans[axis];
      double outflow = 0.0;
      double p_low[DIM];
      double p_high[DIM];
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        p_low[axis] = p[eq_neighbour(g, cell, axis, 0)];
        p_high[axis] = p[eq_neighbour(g, cell, axis, 1)];
      }
      #pragma unroll
      for (int axis = 0; axis < DIM; ++axis) {
        outflow = outflow - ((-itrans_axis[axis]) * (p_here - p_low[axis]));
        outflow = outflow + ((-itrans_axis[axis]) * (p_high[axis] - p_here));
      }
      const double taken = (eq_cell_rank(g, wells_ranks, cell) != EQ_NONE) ? (index[eq_cell_rank(g, wells_ranks, cell)] * (p_here - bhp[eq_cell_rank(g, wells_ranks, cell)])) : 0.0;
      residual_out[cell.index] = (((eq_divide(g.volume, dt) * compressibility) * (p_here - p0_here)) + outflow) + taken;
    }
    return;
  }
  EqCell cell;
  if (!eq_boundary_cell_here(g, cell)) return;
  const double p_here = p[cell.index];
  const double p0_here = p0[cell.index];
  double itrans_axis[DIM];
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) itrans_axis[axis] = itrans[axis];
  double outflow = 0.0;
  double p_low[DIM] = {};
  double p_high[DIM] = {};
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (!eq_side_on_boundary(g, cell, axis, 0)) {
      p_low[axis] = p[eq_neighbour(g, cell, axis, 0)];
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      p_high[axis] = p[eq_neighbour(g, cell, axis, 1)];
    }
  }
  #pragma unroll
  for (int axis = 0; axis < DIM; ++axis) {
    if (!eq_side_on_boundary(g, cell, axis, 0)) {
      outflow = outflow - ((-itrans_axis[axis]) * (p_here - p_low[axis]));
    }
    if (!eq_side_on_boundary(g, cell, axis, 1)) {
      outflow = outflow + ((-itrans_axis[axis]) * (p_high[axis] - p_here));
    }
  }
  const double taken = (eq_cell_rank(g, wells_ranks, cell) != EQ_NONE) ? (index[eq_cell_rank(g, wells_ranks, cell)] * (p_here - bhp[eq_cell_rank(g, wells_ranks, cell)])) : 0.0;
  residual_out[cell.index] = (((eq_divide(g.volume, dt) * compressibility) * (p_here - p0_here)) + outflow) + taken;
}

extern "C" __global__ void EQ_LIGHT residual_of_wells(
    const EqSpace space,
    const double* __restrict__ p,
    const double* __restrict__ bhp,
    const double* __restrict__ index,
    const double* __restrict__ rate,
    double* __restrict__ residual_out) {
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  residual_out[element] = (index[element] * (p[here] - bhp[element])) - rate[element];
}

extern "C" __global__ void EQ_LIGHT compute_itrans(
    const EqSpace space,
    const EqGrid grid,
    const double* __restrict__ mobility_at,
    double* __restrict__ itrans_out) {
  const double mobility = *mobility_at;
  const EqEntity element = eq_index();
  if (element >= space.size) return;
  const EqEntity here = eq_entity(space, element);
  itrans_out[element] = mobility * eq_divide(eq_face_area(grid, here), eq_length((eq_cell_centroid(grid, eq_cells(grid, here).first) - eq_cell_centroid(grid, eq_cells(grid, here).second))));
}

extern "C" __global__ void EQ_LIGHT compute_itrans_per_axis(
    const EqCartesian g,
    const double* __restrict__ mobility_at,
    double* __restrict__ itrans_out) {
  const double mobility = *mobility_at;
  const int axis = (int)eq_index();
  if (axis >= DIM) return;
  itrans_out[axis] = mobility * eq_divide(eq_at(g.area, axis), eq_length(eq_along(axis, -eq_at(g.spacing, axis))));
}
