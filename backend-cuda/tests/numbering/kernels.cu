// Ranks of all entities in a set, three ways; EQ_NONE outside.

extern "C" __global__ void ranks_by_table(EqEntity n, const EqRanks ranks, EqEntity* __restrict__ out) {
  const EqEntity entity = eq_index();
  if (entity < n) out[entity] = eq_rank(ranks, entity);
}

extern "C" __global__ void ranks_by_division(EqEntity n, const EqCartesian g, const EqRanks ranks, EqEntity* __restrict__ out) {
  const EqEntity entity = eq_index();
  if (entity < n) out[entity] = eq_rank_cartesian(g, ranks, entity);
}

extern "C" __global__ void ranks_by_position(const EqCartesian g, const EqRanks ranks, EqEntity* __restrict__ out) {
  EqCell cell;
  if (!eq_cell_here(g, cell)) return;
  if (ranks.canonical <= EQ_BOUNDARY_CELLS) {
    out[cell.index] = eq_cell_rank(g, ranks, cell);
    return;
  }
#pragma unroll
  for (int axis = 0; axis < DIM; ++axis)
    for (int high = 0; high < 2; ++high) out[eq_side_face(g, cell, axis, high)] = eq_side_rank(g, ranks, cell, axis, high);
}

// The cells on both sides of every side of a cell, as [cells][axes][low, high]; EQ_NONE beyond the boundary.
extern "C" __global__ void neighbours(const EqCartesian g, EqEntity* __restrict__ out) {
  EqCell cell;
  if (!eq_cell_here(g, cell)) return;
  for (int axis = 0; axis < DIM; ++axis)
    for (int high = 0; high < 2; ++high)
      out[2 * (DIM * cell.index + axis) + high] = eq_side_on_boundary(g, cell, axis, high) ? EQ_NONE : eq_neighbour(g, cell, axis, high);
}
