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

// Tells of every side of a cell, as [cells][axes][low, high], in a launch that goes over the inside
// and the ends of the grid apart.
template <class Tell>
EQ_FUNCTION void at_sides(const EqCartesian& g, EqEntity* out, Tell tell) {
  if (eq_is_inside_block(g)) {
    EqInsideCell cell;
    for (unsigned int step = 0; step < g.cells_per_thread; ++step)
      if (eq_inside_cell_here(g, step, cell))
        for (int axis = 0; axis < DIM; ++axis)
          for (int high = 0; high < 2; ++high) out[2 * (DIM * cell.index + axis) + high] = tell(cell, axis, high);
    return;
  }
  EqCell cell;
  if (!eq_boundary_cell_here(g, cell)) return;
  for (int axis = 0; axis < DIM; ++axis)
    for (int high = 0; high < 2; ++high) out[2 * (DIM * cell.index + axis) + high] = tell(cell, axis, high);
}

// The cell beyond; EQ_NONE beyond the boundary.
struct Neighbours {
  const EqCartesian& g;
  template <class Cell>
  EQ_OPERATOR EqEntity operator()(const Cell& cell, int axis, int high) const {
    return eq_side_on_boundary(g, cell, axis, high) ? EQ_NONE : eq_neighbour(g, cell, axis, high);
  }
};
extern "C" __global__ void neighbours(const EqCartesian g, EqEntity* __restrict__ out) { at_sides(g, out, Neighbours{g}); }

// The face.
struct SideFaces {
  const EqCartesian& g;
  template <class Cell>
  EQ_OPERATOR EqEntity operator()(const Cell& cell, int axis, int high) const { return eq_side_face(g, cell, axis, high); }
};
extern "C" __global__ void side_faces(const EqCartesian g, EqEntity* __restrict__ out) { at_sides(g, out, SideFaces{g}); }

// How often each cell is met inside, in the low 8 bits, and as one on the boundary, in the next 8,
// by a launch that goes over both apart.
extern "C" __global__ void visits(const EqCartesian g, EqEntity* __restrict__ out) {
  if (eq_is_inside_block(g)) {
    EqInsideCell cell;
    for (unsigned int step = 0; step < g.cells_per_thread; ++step)
      if (eq_inside_cell_here(g, step, cell)) out[cell.index] += eq_cell_on_boundary(g, cell) ? 100u : 1u;
    return;
  }
  EqCell cell;
  if (!eq_boundary_cell_here(g, cell)) return;
  const EqCell same = eq_cell(g, cell.index);
  const bool right = same.ijk[0] == cell.ijk[0] && same.ijk[1] == cell.ijk[1] && same.ijk[2] == cell.ijk[2];
  out[cell.index] += right ? 256u : 25600u;
}

// Data that kernels of programs read of cells, [cells][volume, centroid], and of faces,
// [faces][first cell, second cell, area, centroid, normal] with -1 for no cell.
extern "C" __global__ void cells_of_any_grid(const EqGrid grid, double* __restrict__ out) {
  const EqEntity cell = eq_index();
  if (cell >= grid.n_cells) return;
  double* at = out + (size_t)cell * (1 + DIM);
  *at++ = eq_cell_volume(grid, cell);
  for (int d = 0; d < DIM; ++d) *at++ = eq_cell_centroid(grid, cell).c[d];
}

extern "C" __global__ void faces_of_any_grid(const EqGrid grid, double* __restrict__ out) {
  const EqEntity face = eq_index();
  if (face >= grid.n_faces) return;
  double* at = out + (size_t)face * (3 + 2 * DIM);
  const EqPair cells = eq_cells(grid, face);
  *at++ = cells.first == EQ_NONE ? -1.0 : cells.first;
  *at++ = cells.second == EQ_NONE ? -1.0 : cells.second;
  *at++ = eq_face_area(grid, face);
  for (int d = 0; d < DIM; ++d) *at++ = eq_face_centroid(grid, face).c[d];
  for (int d = 0; d < DIM; ++d) *at++ = eq_face_normal(grid, face).c[d];
}
