// Sparse matrices that are used many times, and sums over their rows. Entries and vectors are of
// EqReal; coefficients are double.

// ---- Matrix formats -----------------------------------------------------------------------------

// Rows of a slice: the threads of a warp.
#define EQ_SLICE_ROWS 32u
// Number of entries that are loaded before the first is used.
#define EQ_ENTRIES_AHEAD 8u

// A streaming load: the vectors of an iteration, rather than its matrix, shall stay in the L2
// cache. A V-cycle on 100^3 unknowns then takes a tenth less time.
#ifdef EQ_SHIM
#define EQ_ONCE(address) (*(address))
#else
#define EQ_ONCE(address) __ldcs(address)
#endif

// Launch bounds of products with sums: threads per block, and blocks per multiprocessor. On an H200
// a product with its sum takes 23.5 us on 100^3 unknowns and 172 us on 200^3 with 48 registers,
// 26.8 and 196 with 54, 38 and 251 with 40, where too few reads are in flight.
#define EQ_SUMS_OF_ROWS __launch_bounds__(256, 5)

// A sparse matrix in compressed rows and, if `starts` is not null, also in slices of 32 rows. A
// slice has the first entries of all its rows, then the second ones and so on, so that a warp reads
// consecutive values. If its entries lie on few diagonals, as on a grid with ordered cells, it has
// the entries of one diagonal after the other, 0 where a row has none, and the offsets of the
// diagonals; else each entry has its column.
struct EqSparseMatrix {
  EqRows rows;
  const unsigned long long* starts;  // of the values of each slice, in units of 32: [slices + 1]
  const unsigned long long* lists;   // of the columns of each slice, in units of 32; nothing between two for one by diagonals: [slices + 1]
  const int* shifts;                 // column less row of each diagonal, one for 32 values
  const EqEntity* columns;
  const EqReal* values;
  unsigned int lanes;                // without slices: threads that add a row, a power of two; else 1
  EqEntity n_cols;
};

static_assert(sizeof(EqSparseMatrix) == 72, "layout of arguments");

// ---- Sums over rows -----------------------------------------------------------------------------

// The sum of entries times `x` of their columns, from first to last; padding adds 0, which changes
// no bit.
template <class X>
EQ_FUNCTION EqReal eq_slice_sum(const EqSparseMatrix& a, EqEntity row, X x) {
  const EqEntity slice = row / EQ_SLICE_ROWS, lane = row % EQ_SLICE_ROWS;
  const unsigned long long start = a.starts[slice];
  const unsigned int width = (unsigned int)(a.starts[slice + 1] - start);
  const unsigned long long list = a.lists[slice];
  const bool is_listed = a.lists[slice + 1] != list;
  const EqReal* values = a.values + (start * EQ_SLICE_ROWS + lane);
  const EqEntity* columns = a.columns + (list * EQ_SLICE_ROWS + lane);
  const int* shifts = a.shifts + start;
  EqReal sum = 0;
  for (unsigned int k = 0; k < width; k += EQ_ENTRIES_AHEAD) {
    EqEntity column[EQ_ENTRIES_AHEAD];
    EqReal value[EQ_ENTRIES_AHEAD], other[EQ_ENTRIES_AHEAD];
    if (is_listed) {
#pragma unroll
      for (unsigned int u = 0; u < EQ_ENTRIES_AHEAD; ++u) column[u] = k + u < width ? columns[(k + u) * EQ_SLICE_ROWS] : EQ_NONE;
    } else {
#pragma unroll
      for (unsigned int u = 0; u < EQ_ENTRIES_AHEAD; ++u) column[u] = k + u < width ? row + (EqEntity)shifts[k + u] : EQ_NONE;
    }
#pragma unroll
    for (unsigned int u = 0; u < EQ_ENTRIES_AHEAD; ++u) value[u] = k + u < width ? EQ_ONCE(values + (k + u) * EQ_SLICE_ROWS) : 0;
#pragma unroll
    for (unsigned int u = 0; u < EQ_ENTRIES_AHEAD; ++u) other[u] = column[u] < a.n_cols ? x(column[u]) : 0;
#pragma unroll
    for (unsigned int u = 0; u < EQ_ENTRIES_AHEAD; ++u) sum = sum + value[u] * other[u];
  }
  return sum;
}

// The sum for a matrix in rows, by `lanes` threads: each adds every `lanes`-th entry, then halves
// of them are added to each other. All threads of a warp take part; lane 0 has the result.
template <class X>
EQ_FUNCTION EqReal eq_row_sum(const EqRows& a, EqEntity row, bool is_there, unsigned int lane, unsigned int lanes, X x) {
#ifdef EQ_SHIM
  // Emulator: threads cannot wait for each other, so the first one does the work of all.
  EqReal parts[32];
  if (!is_there || lane != 0) return 0;
  for (unsigned int part = 0; part < lanes; ++part) {
    parts[part] = 0;
    for (unsigned long long k = a.row_ptr[row] + part; k < a.row_ptr[row + 1]; k += lanes) parts[part] = parts[part] + a.entries[k] * x(a.columns[k]);
  }
  for (unsigned int step = lanes / 2; step > 0; step /= 2)
    for (unsigned int part = 0; part < step; ++part) parts[part] = parts[part] + parts[part + step];
  return parts[0];
#else
  EqReal sum = 0;
  const unsigned long long end = is_there ? a.row_ptr[row + 1] : 0;
  for (unsigned long long k = is_there ? a.row_ptr[row] + lane : 0; k < end; k += 4u * lanes) {
    EqReal value[4], other[4];
#pragma unroll
    for (unsigned int u = 0; u < 4; ++u) {
      value[u] = other[u] = 0;
      if (k + u * lanes < end) {
        value[u] = a.entries[k + u * lanes];
        other[u] = x(a.columns[k + u * lanes]);
      }
    }
#pragma unroll
    for (unsigned int u = 0; u < 4; ++u) sum = sum + value[u] * other[u];
  }
  for (unsigned int step = lanes / 2; step > 0; step /= 2) sum = sum + __shfl_down_sync(0xffffffffu, sum, step, lanes);
  return sum;
#endif
}

template <class X>
EQ_FUNCTION EqReal eq_form_sum(const EqSparseMatrix& a, EqEntity row, bool is_there, unsigned int lane, X x) {
  if (a.starts) return is_there ? eq_slice_sum(a, row, x) : 0;
  return eq_row_sum(a.rows, row, is_there, lane, a.lanes, x);
}

// The row of this thread, and its lane in the row.
struct EqRowLane {
  EqEntity row;
  unsigned int lane;
  bool is_there;
};
EQ_FUNCTION EqRowLane eq_row_lane(EqEntity n, unsigned int lanes) {
  const unsigned long long thread = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
  // A power of two: a 64-bit division takes longer than reading the row.
  unsigned int shift = 0;
  while (lanes >> (shift + 1u)) ++shift;
  const unsigned long long row = thread >> shift;
  return EqRowLane{(EqEntity)row, (unsigned int)thread & (lanes - 1u), row < n};
}
