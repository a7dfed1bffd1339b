// ---- Cartesian grids ----------------------------------------------------------------------------

// Bit a is set where the sides of axis a are joined. A constant of the compiler, so that on open
// axes nothing is asked.
#ifndef EQ_JOINED
#define EQ_JOINED 0
#endif
EQ_FUNCTION bool eq_is_joined(int axis) { return EQ_JOINED >> axis & 1; }

// One value per axis, without indexing the parameter space at run time.
template <class T>
EQ_FUNCTION T eq_at(const T* values, int axis) { return axis == 0 ? values[0] : axis == 1 ? values[1] : values[2]; }

// A cell and its position.
struct EqCell {
  EqEntity index;
  unsigned int ijk[3];
};

// A cell at no end of the grid along any axis: where sides are joined, a type of its own tells that
// its neighbours are at distances that are the same for all.
#if EQ_JOINED
struct EqInsideCell : EqCell {};
#else
typedef EqCell EqInsideCell;
#endif

// The same cell, of which the compiler knows nothing.
EQ_FUNCTION void eq_forget(EqCell& cell) {
#ifndef EQ_SHIM
  asm volatile("" : "+r"(cell.index), "+r"(cell.ijk[0]), "+r"(cell.ijk[1]), "+r"(cell.ijk[2]));
#endif
}

// Position of a cell, by division.
EQ_FUNCTION EqCell eq_cell(const EqCartesian& g, EqEntity index) {
  EqCell cell;
  const unsigned int row = index / g.n[0];
  cell.index = index;
  cell.ijk[0] = index - row * g.n[0];
  cell.ijk[2] = row / g.n[1];
  cell.ijk[1] = row - cell.ijk[2] * g.n[1];
  return cell;
}

// The cell of this thread in a launch over the cells of a Cartesian grid; false outside the grid.
EQ_FUNCTION bool eq_cell_here(const EqCartesian& g, EqCell& cell) {
  if (g.flat) {
    const EqEntity index = eq_index();
    if (index >= g.n[0] * g.n[1] * g.n[2]) return false;
    cell = eq_cell(g, index);
    return true;
  }
  cell.ijk[0] = blockIdx.x * blockDim.x + threadIdx.x;
  cell.ijk[1] = blockIdx.y * blockDim.y + threadIdx.y;
  cell.ijk[2] = blockIdx.z;
  cell.index = cell.ijk[0] + g.n[0] * (cell.ijk[1] + g.n[1] * cell.ijk[2]);
  return cell.ijk[0] < g.n[0] && cell.ijk[1] < g.n[1];
}

// Number of layers of blocks over the interior of a grid, before those over the boundary cells.
EQ_FUNCTION unsigned int eq_inside_layers(const EqCartesian& g) { return g.flat ? 0 : DIM == 3 ? (g.n[2] + g.cells_per_thread - 1) / g.cells_per_thread : 1; }
EQ_FUNCTION bool eq_is_inside_block(const EqCartesian& g) { return blockIdx.z < eq_inside_layers(g); }

// The cell of a row of a block over the interior, in a step of its threads.
EQ_FUNCTION EqCell eq_cell_of_step(const EqCartesian& g, unsigned int i, unsigned int y, unsigned int step) {
  EqCell cell;
  cell.ijk[0] = i;
  cell.ijk[1] = (DIM == 3 ? blockIdx.y : blockIdx.y * g.cells_per_thread + step) * blockDim.y + y;
  cell.ijk[2] = DIM == 3 ? blockIdx.z * g.cells_per_thread + step : 0;
  cell.index = cell.ijk[0] + g.n[0] * (cell.ijk[1] + g.n[1] * cell.ijk[2]);
  return cell;
}

// True if a cell is at no end of the grid, open or joined, along an axis and those after it. Cells
// at joined ends are gone through apart too: elsewhere the distance to neighbours is fixed.
EQ_FUNCTION bool eq_is_inside_from(const EqCartesian& g, const EqCell& cell, int first) {
  bool inside = true;
#pragma unroll
  for (int axis = 0; axis < DIM; ++axis) inside = inside && (axis < first || (cell.ijk[axis] != 0 && cell.ijk[axis] + 1 < g.n[axis]));
  return inside;
}

// The cell of this thread, if it is at no end of the grid.
EQ_FUNCTION bool eq_inside_cell_here(const EqCartesian& g, unsigned int step, EqInsideCell& cell) {
  static_cast<EqCell&>(cell) = eq_cell_of_step(g, blockIdx.x * blockDim.x + threadIdx.x, threadIdx.y, step);
  return eq_is_inside_from(g, cell, 0);
}

// The k-th cell at an end of the grid: layers at both ends of z, then rows at both ends of y, then
// columns at both ends of x. False beyond the last one.
EQ_FUNCTION bool eq_boundary_cell(const EqCartesian& g, EqEntity k, EqCell& cell) {
  const unsigned int nx = g.n[0], ny = g.n[1], nz = g.n[2];
  unsigned int i, j, l;
  const unsigned int layers = DIM < 3 ? 0 : nz < 2 ? nz : 2, rows = DIM < 2 ? 0 : ny < 2 ? ny : 2, ends = nx < 2 ? nx : 2;
  const unsigned int inside_z = DIM < 3 ? 1 : nz - layers, inside_y = DIM < 2 ? 1 : ny - rows;
  const EqEntity in_layers = layers * nx * ny, in_rows = rows * nx * inside_z, in_ends = ends * inside_y * inside_z;
  if (k < in_layers) {
    const unsigned int row = k / nx;
    i = k - row * nx;
    j = row < ny ? row : row - ny;
    l = row < ny ? 0 : nz - 1;
  } else if (k - in_layers < in_rows) {
    const unsigned int row = (k - in_layers) / nx;
    i = k - in_layers - row * nx;
    j = row < inside_z ? 0 : ny - 1;
    l = (layers != 0) + (row < inside_z ? row : row - inside_z);
  } else if (k - in_layers - in_rows < in_ends) {
    const unsigned int at = k - in_layers - in_rows, high = at >= inside_y * inside_z, column = high ? at - inside_y * inside_z : at;
    i = high ? nx - 1 : 0;
    const unsigned int layer = column / inside_y;
    j = (rows != 0) + column - layer * inside_y;
    l = (layers != 0) + layer;
  } else {
    return false;
  }
  cell.ijk[0] = i;
  cell.ijk[1] = j;
  cell.ijk[2] = l;
  cell.index = i + nx * (j + ny * l);
  return true;
}

// The boundary cell of this thread, in a block after those of the interior; any cell if there are
// none.
EQ_FUNCTION bool eq_boundary_cell_here(const EqCartesian& g, EqCell& cell) {
  if (g.flat) return eq_cell_here(g, cell);
  const EqEntity block = ((blockIdx.z - eq_inside_layers(g)) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  return eq_boundary_cell(g, (block * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, cell);
}

// The cell at an offset, which is in the grid.
EQ_FUNCTION EqCell eq_cell_at(const EqCartesian& g, const EqCell& cell, int i, int j, int k) {
  EqCell other;
  other.ijk[0] = cell.ijk[0] + i;
  other.ijk[1] = cell.ijk[1] + j;
  other.ijk[2] = cell.ijk[2] + k;
  other.index = other.ijk[0] + g.n[0] * (other.ijk[1] + g.n[1] * other.ijk[2]);
  return other;
}

// True if a cell is at least this far from the low and the high side of each axis.
EQ_FUNCTION bool eq_is_far(const EqCartesian& g, const EqCell& cell, unsigned int low_x, unsigned int high_x, unsigned int low_y,
                           unsigned int high_y, unsigned int low_z, unsigned int high_z) {
  return cell.ijk[0] >= low_x && cell.ijk[0] + high_x < g.n[0] && cell.ijk[1] >= low_y && cell.ijk[1] + high_y < g.n[1] &&
         cell.ijk[2] >= low_z && cell.ijk[2] + high_z < g.n[2];
}

// Distance in the cell numbering between neighbours along an axis.
EQ_FUNCTION EqEntity eq_stride(const EqCartesian& g, int axis) { return axis == 0 ? 1u : axis == 1 ? g.n[0] : g.n[0] * g.n[1]; }

// The neighbour beyond a side of a cell of an open grid, with its mark, as `eq_neighbour_at` gives
// it. Sides are numbered by ascending face: the low and the high one of each axis.
EQ_FUNCTION EqEntity eq_neighbour_beyond(const EqCartesian& g, const EqCell& cell, unsigned int side) {
  const unsigned int axis = side / 2, high = side % 2;
  const EqEntity mark = high << 31;
  if (eq_at(cell.ijk, axis) == (high ? eq_at(g.n, axis) - 1 : 0)) return mark | (EQ_NONE >> 1);
  return mark | (high ? cell.index + eq_stride(g, axis) : cell.index - eq_stride(g, axis));
}

// The axis that a face is across.
EQ_FUNCTION int eq_face_axis(const EqCartesian& g, EqEntity face) {
  return DIM > 2 && face >= g.face_start[2] ? 2 : DIM > 1 && face >= g.face_start[1] ? 1 : 0;
}

// The vector of length |s| along an axis.
template <class T>
EQ_FUNCTION EqVectorOf<T> eq_along(int axis, T s) {
  EqVectorOf<T> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = d == axis ? s : T(0);
  return v;
}

// True if a side of a cell (high: 0 or 1) is where the grid ends along an axis, open or joined. In
// the words of `eq_inside_row_here`, so that the compiler drops the question for its cells.
EQ_FUNCTION bool eq_side_at_end(const EqCartesian& g, const EqCell& cell, int axis, int high) {
  return high ? !(cell.ijk[axis] + 1 < g.n[axis]) : !(cell.ijk[axis] != 0);
}
#if EQ_JOINED
EQ_FUNCTION bool eq_side_at_end(const EqCartesian&, const EqInsideCell&, int, int) { return false; }
#endif

// True if a side of a cell (high: 0 or 1) is on the boundary of the grid.
EQ_FUNCTION bool eq_side_on_boundary(const EqCartesian& g, const EqCell& cell, int axis, int high) {
  if (eq_is_joined(axis)) return false;
  return high ? cell.ijk[axis] + 1 == g.n[axis] : cell.ijk[axis] == 0;
}

// The neighbour across an interior side.
template <class Cell>
EQ_FUNCTION EqEntity eq_neighbour(const EqCartesian& g, const Cell& cell, int axis, int high) {
  if (eq_is_joined(axis) && eq_side_at_end(g, cell, axis, high)) {
    const EqEntity across = (g.n[axis] - 1) * eq_stride(g, axis);
    return high ? cell.index - across : cell.index + across;
  }
  return high ? cell.index + eq_stride(g, axis) : cell.index - eq_stride(g, axis);
}

// From the layer of a cell to that of the face on its side, modulo 2^32: layers of faces across an
// axis are nodes, or, if it is joined, cells whose high sides they are.
template <class Cell>
EQ_FUNCTION unsigned int eq_layer_step(const EqCartesian& g, const Cell& cell, int axis, int high) {
  if (!eq_is_joined(axis)) return high;
  return high ? 0u : eq_side_at_end(g, cell, axis, 0) ? g.n[axis] - 1u : ~0u;
}

// Index of the face on a side.
template <class Cell>
EQ_FUNCTION EqEntity eq_side_face(const EqCartesian& g, const Cell& cell, int axis, int high) {
  const unsigned int open = !eq_is_joined(axis), step = eq_layer_step(g, cell, axis, high);
  const unsigned int nx = g.n[0] + (axis == 0 ? open : 0u), ny = g.n[1] + (axis == 1 ? open : 0u);
  const unsigned int i = cell.ijk[0] + (axis == 0 ? step : 0u), j = cell.ijk[1] + (axis == 1 ? step : 0u), k = cell.ijk[2] + (axis == 2 ? step : 0u);
  return eq_at(g.face_start, axis) + i + nx * (j + ny * k);
}

// A face and its position; along its axis `ijk` counts nodes, 0 to n inclusive, and layers of cells
// whose high sides they are if the axis is joined.
struct EqFace {
  EqEntity index;
  int axis;
  unsigned int ijk[3];
};

// Position of a face, by division.
EQ_FUNCTION EqFace eq_face(const EqCartesian& g, EqEntity index) {
  EqFace face;
  face.index = index;
  face.axis = 0;
#pragma unroll
  for (int axis = 1; axis < DIM; ++axis)
    if (index >= g.face_start[axis]) face.axis = axis;
  const unsigned int nx = g.n[0] + (face.axis == 0 && !eq_is_joined(0)), ny = g.n[1] + (face.axis == 1 && !eq_is_joined(1));
  const unsigned int within = index - eq_at(g.face_start, face.axis);
  const unsigned int row = within / nx;
  face.ijk[0] = within - row * nx;
  face.ijk[2] = row / ny;
  face.ijk[1] = row - face.ijk[2] * ny;
  return face;
}

// Rank in a canonical set of faces of the face in layer `along` of an axis; `low` and `outer` are
// its indices below and above the axis.
EQ_FUNCTION EqEntity eq_canonical_face_rank(const EqCartesian& g, unsigned int canonical, EqEntity face, int axis, unsigned int along,
                                            unsigned int low, unsigned int outer) {
  const unsigned int n = eq_at(g.n, axis), open = !eq_is_joined(axis);
  const EqEntity stride = eq_stride(g, axis);
  const bool boundary = open && (along == 0 || along == n);
  if (canonical == EQ_ALL_FACES) return face;
  if (canonical == EQ_BOUNDARY_FACES) {
    if (!boundary) return EQ_NONE;
    const EqEntity start = eq_at(g.boundary_start, axis);
    return start + low + stride * ((along == 0 ? 0u : 1u) + 2u * outer);
  }
  if (boundary) return EQ_NONE;
  const EqEntity start = eq_at(g.interior_start, axis);
  return start + low + stride * ((along - open) + (n - open) * outer);
}

// Rank in the set of the face on a side of a cell; EQ_NONE outside. For ranks of Cartesian kernels;
// no division.
template <class Cell>
EQ_FUNCTION EqEntity eq_side_rank(const EqCartesian& g, const EqRanks& ranks, const Cell& cell, int axis, int high) {
  const unsigned int low = axis == 0 ? 0u : axis == 1 ? cell.ijk[0] : cell.ijk[0] + g.n[0] * cell.ijk[1];
  const unsigned int outer = axis == 0 ? cell.ijk[1] + g.n[1] * cell.ijk[2] : axis == 1 ? cell.ijk[2] : 0u;
  const EqEntity face = eq_side_face(g, cell, axis, high);
  const EqEntity rank = eq_canonical_face_rank(g, ranks.canonical, face, axis, cell.ijk[axis] + eq_layer_step(g, cell, axis, high), low, outer);
  if (!ranks.inner || rank == EQ_NONE) return rank;
  return ranks.inner[rank];
}

// True if a cell touches the boundary of the grid.
EQ_FUNCTION bool eq_cell_on_boundary(const EqCartesian& g, const EqCell& cell) {
  bool boundary = false;
#pragma unroll
  for (int axis = 0; axis < DIM; ++axis) boundary = boundary || (!eq_is_joined(axis) && (cell.ijk[axis] == 0 || cell.ijk[axis] + 1 == g.n[axis]));
  return boundary;
}

// Number of layers of interior cells along an axis.
EQ_FUNCTION unsigned int eq_interior_layers(const EqCartesian& g, int axis) {
  if (axis >= DIM) return 1;
  return eq_is_joined(axis) ? g.n[axis] : g.n[axis] > 2u ? g.n[axis] - 2u : 0u;
}

// Number of interior cells with a smaller index than a cell.
EQ_FUNCTION EqEntity eq_interior_cells_before(const EqCartesian& g, const EqCell& cell) {
  EqEntity count = 0;
  bool open = true;
#pragma unroll
  for (int axis = 2; axis >= 0; --axis) {
    const unsigned int low = axis < DIM && !eq_is_joined(axis) ? 1u : 0u;
    EqEntity layer = 1;
#pragma unroll
    for (int a = 0; a < axis; ++a) layer *= eq_interior_layers(g, a);
    const unsigned int size = eq_interior_layers(g, axis);
    const unsigned int beyond = cell.ijk[axis] > low ? cell.ijk[axis] - low : 0u;
    const unsigned int at = beyond < size ? beyond : size;
    if (open) {
      count += at * layer;
      open = !(cell.ijk[axis] < low || at == size);
    }
  }
  return count;
}

// Rank in the set of a cell at a known position; EQ_NONE outside. For ranks of Cartesian kernels.
EQ_FUNCTION EqEntity eq_cell_rank(const EqCartesian& g, const EqRanks& ranks, const EqCell& cell) {
  EqEntity rank = cell.index;
  if (ranks.canonical != EQ_ALL_CELLS) {
    const bool boundary = eq_cell_on_boundary(g, cell);
    if (boundary != (ranks.canonical == EQ_BOUNDARY_CELLS)) return EQ_NONE;
    const EqEntity interior = eq_interior_cells_before(g, cell);
    rank = boundary ? cell.index - interior : interior;
  }
  return ranks.inner ? ranks.inner[rank] : rank;
}

// Rank of an entity (not Empty) of a Cartesian grid, or EQ_NONE outside the set. For ranks of
// Cartesian kernels; divides.
EQ_FUNCTION EqEntity eq_rank_cartesian(const EqCartesian& g, const EqRanks& ranks, EqEntity entity) {
  if (ranks.canonical <= EQ_BOUNDARY_CELLS) return eq_cell_rank(g, ranks, eq_cell(g, entity));
  const EqFace face = eq_face(g, entity);
  const unsigned int along = eq_at(face.ijk, face.axis);
  const unsigned int low = face.axis == 0 ? 0u : face.axis == 1 ? face.ijk[0] : face.ijk[0] + g.n[0] * face.ijk[1];
  const unsigned int outer = face.axis == 0 ? face.ijk[1] + g.n[1] * face.ijk[2] : face.axis == 1 ? face.ijk[2] : 0u;
  const EqEntity rank = eq_canonical_face_rank(g, ranks.canonical, entity, face.axis, along, low, outer);
  if (!ranks.inner || rank == EQ_NONE) return rank;
  return ranks.inner[rank];
}

