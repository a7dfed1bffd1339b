// ---- Adjacent cells of a row --------------------------------------------------------------------
// A thread may take ROW adjacent cells of a row, where the length of rows is a multiple of ROW:
// values of such cells are aligned, and one instruction loads or stores them.

template <class T, int ROW>
struct alignas(sizeof(T) * ROW) EqRowValues {
  T at[ROW];
};

// The first of the cells of this thread; whether they are inside the grid along the axes after x.
// By `eq_cell_of_step` a step of heat on 256^3 singles takes 0.058 ms on an H100, so 0.057.
template <int ROW>
EQ_FUNCTION bool eq_inside_row_here(const EqCartesian& g, unsigned int step, EqCell& row) {
  row.ijk[0] = ROW * (blockIdx.x * blockDim.x + threadIdx.x);
  row.ijk[1] = (DIM == 3 ? blockIdx.y : blockIdx.y * g.cells_per_thread + step) * blockDim.y + threadIdx.y;
  row.ijk[2] = DIM == 3 ? blockIdx.z * g.cells_per_thread + step : 0;
  row.index = row.ijk[0] + g.n[0] * (row.ijk[1] + g.n[1] * row.ijk[2]);
  bool inside = row.ijk[0] < g.n[0];
#pragma unroll
  for (int axis = 1; axis < DIM; ++axis) inside = inside && row.ijk[axis] != 0 && row.ijk[axis] + 1 < g.n[axis];
  return inside;
}

// The first of the cells of this thread, wherever they are in the grid.
template <int ROW>
EQ_FUNCTION bool eq_row_here(const EqCartesian& g, EqCell& row) {
  row.ijk[0] = ROW * (blockIdx.x * blockDim.x + threadIdx.x);
  row.ijk[1] = blockIdx.y * blockDim.y + threadIdx.y;
  row.ijk[2] = blockIdx.z;
  row.index = row.ijk[0] + g.n[0] * (row.ijk[1] + g.n[1] * row.ijk[2]);
  return row.ijk[0] < g.n[0] && row.ijk[1] < g.n[1];
}

// One of the cells.
EQ_FUNCTION EqCell eq_cell_of_row(const EqCell& row, unsigned int at) {
  EqCell cell = row;
  cell.index += at;
  cell.ijk[0] += at;
  return cell;
}

// Loads adjacent values, the first of them at a multiple of ROW.
template <int ROW, class T, class Stored>
EQ_FUNCTION void eq_load_row(T (&row)[ROW], const Stored* values, EqEntity first) {
  const EqRowValues<Stored, ROW> loaded = *reinterpret_cast<const EqRowValues<Stored, ROW>*>(values + first);
#pragma unroll
  for (int at = 0; at < ROW; ++at) row[at] = T(loaded.at[at]);
}

// Loads the values of the neighbours on one side of the cells, whose own values are `here`. Where
// the grid ends along x, any value stands for that of the neighbour: others take that cell.
template <int ROW, class T, class Stored>
EQ_FUNCTION void eq_load_neighbour_row(T (&row)[ROW], const T (&here)[ROW], const EqCartesian& g, const Stored* values, const EqCell& cell,
                                       int axis, int high) {
  if (axis != 0) {
    eq_load_row(row, values, eq_neighbour(g, cell, axis, high));
    return;
  }
  const bool beyond = high ? cell.ijk[0] + ROW < g.n[0] : cell.ijk[0] != 0;
  const T last = beyond ? T(values[high ? cell.index + ROW : cell.index - 1]) : here[high ? ROW - 1 : 0];
#pragma unroll
  for (int at = 0; at < ROW; ++at) row[at] = high ? (at + 1 < ROW ? here[at + 1 < ROW ? at + 1 : 0] : last) : (at > 0 ? here[at > 0 ? at - 1 : 0] : last);
}

// Stores the results of all cells.
template <int ROW, class Stored>
EQ_FUNCTION void eq_store_row(Stored* values, EqEntity first, const Stored (&results)[ROW]) {
  EqRowValues<Stored, ROW> all;
#pragma unroll
  for (int at = 0; at < ROW; ++at) all.at[at] = results[at];
  *reinterpret_cast<EqRowValues<Stored, ROW>*>(values + first) = all;
}

// Stores the results of those cells that are inside along x.
template <int ROW, class Stored>
EQ_FUNCTION void eq_store_inside_row(const EqCartesian& g, Stored* values, const EqCell& row, const Stored (&results)[ROW]) {
  const bool first = row.ijk[0] == 0, last = row.ijk[0] + ROW == g.n[0];
  if (!first && !last) {
    eq_store_row(values, row.index, results);
    return;
  }
#pragma unroll
  for (int at = 0; at < ROW; ++at)
    if (!(at == 0 && first) && !(at + 1 == ROW && last)) values[row.index + at] = results[at];
}

// A boundary cell of this thread. A block over the interior takes the ends of its rows, so that
// they are near in time to what is beside them; blocks after those take the layers and the rows at
// the ends of the other axes.
EQ_FUNCTION bool eq_boundary_cell_beside_rows(const EqCartesian& g, EqCell& cell) {
  const unsigned int thread = threadIdx.y * blockDim.x + threadIdx.x;
  if (!eq_is_inside_block(g)) {
    const EqEntity block = ((blockIdx.z - eq_inside_layers(g)) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const EqEntity k = block * (blockDim.x * blockDim.y) + thread;
    const unsigned int layers = DIM < 3 ? 0 : g.n[2] < 2 ? g.n[2] : 2, rows = g.n[1] < 2 ? g.n[1] : 2;
    const EqEntity ends = g.n[0] * (layers * g.n[1] + rows * (DIM < 3 ? 1 : g.n[2] - layers));
    return k < ends && eq_boundary_cell(g, k, cell);
  }
  // Along y first, then along the steps, then the other end.
  const unsigned int y = thread % blockDim.y, step = thread / blockDim.y % g.cells_per_thread, end = thread / blockDim.y / g.cells_per_thread;
  cell = eq_cell_of_step(g, end == 0 ? 0 : g.n[0] - 1, y, step);
  return (end == 0 ? blockIdx.x == 0 : end == 1 && blockIdx.x + 1 == gridDim.x) && eq_is_inside_from(g, cell, 1);
}
