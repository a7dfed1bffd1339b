// Products with sparse matrices that are used many times, and fused steps of smoothers. Entries and
// vectors are of EqReal; coefficients are double.

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

// ---- Products -----------------------------------------------------------------------------------

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

// y = A x; y = y + A x; y = y - A x; y = b - A x: operation 0 to 3.
extern "C" __global__ void equelle_format_product(unsigned int operation, EqEntity n, const EqSparseMatrix a, const EqReal* b, const EqReal* x,
                                                EqReal* y) {
  EQ_START
  const EqRowLane at = eq_row_lane(n, a.lanes);
  const EqReal sum = eq_form_sum(a, at.row, at.is_there, at.lane, [=](EqEntity column) { return x[column]; });
  if (!at.is_there || at.lane != 0) return;
  switch (operation) {
    case 0: y[at.row] = sum; break;
    case 1: y[at.row] = y[at.row] + sum; break;
    case 2: y[at.row] = y[at.row] - sum; break;
    default: y[at.row] = b[at.row] - sum; break;
  }
}

// ---- Steps of smoothers -------------------------------------------------------------------------

// c0 d + c1 D (b - A x) of a row; d is not read where c0 is 0.
EQ_FUNCTION EqReal eq_smoothing(EqReal c0, EqReal d, EqReal c1, EqReal inverse, EqReal residual) {
  const EqReal step = c1 * (inverse * residual);
  return c0 == 0 ? step : c0 * d + step;
}

// Two steps from zero: the first, c0 D b, is recomputed by each row that needs it. The second goes
// to d if `keep`.
extern "C" __global__ void equelle_smooth_from_zero(EqEntity n, const EqSparseMatrix a, double c0, double c1, double c2, const EqReal* inverse,
                                                    const EqReal* b, EqReal* y, EqReal* d, unsigned int keep) {
  EQ_START
  const EqRowLane at = eq_row_lane(n, a.lanes);
  const auto first = [=](EqEntity column) { return (EqReal)c0 * (inverse[column] * b[column]); };
  const EqReal sum = eq_form_sum(a, at.row, at.is_there, at.lane, first);
  if (!at.is_there || at.lane != 0) return;
  const EqReal begin = first(at.row), step = eq_smoothing((EqReal)c1, begin, (EqReal)c2, inverse[at.row], b[at.row] - sum);
  y[at.row] = begin + step;
  if (keep) d[at.row] = step;
}

// d = c0 d + c1 D (b - A x), y = x + d; d is written if `keep`.
extern "C" __global__ void equelle_smooth(EqEntity n, const EqSparseMatrix a, double c0, double c1, const EqReal* inverse, const EqReal* b,
                                          const EqReal* x, EqReal* y, EqReal* d, unsigned int keep) {
  EQ_START
  const EqRowLane at = eq_row_lane(n, a.lanes);
  const EqReal sum = eq_form_sum(a, at.row, at.is_there, at.lane, [=](EqEntity column) { return x[column]; });
  if (!at.is_there || at.lane != 0) return;
  const EqReal step = eq_smoothing((EqReal)c0, c0 == 0.0 ? 0 : d[at.row], (EqReal)c1, inverse[at.row], b[at.row] - sum);
  y[at.row] = x[at.row] + step;
  if (keep) d[at.row] = step;
}

// The same for a matrix in slices, without keeping d, and b . y.
extern "C" __global__ void EQ_SUMS_OF_ROWS equelle_smooth_dot(EqEntity n, const EqSparseMatrix a, double c0, double c1, const EqReal* inverse, const EqReal* b,
                                              const EqReal* x, EqReal* y, const EqReal* d, const EqSums sums,
                                              const EqNumbers numbers) {
  EQ_START
  EQ_SUM_WORKSPACE(1)
  eq_sums<1>(n, sums, numbers, workspace, [=](EqEntity row) {
    const EqReal sum = eq_slice_sum(a, row, [=](EqEntity column) { return x[column]; });
    const EqReal right = b[row];
    const EqReal value = x[row] + eq_smoothing((EqReal)c0, c0 == 0.0 ? 0 : d[row], (EqReal)c1, inverse[row], right - sum);
    y[row] = value;
    return EqValues{eq_product(right, value), 0.0};
  });
}

// x = x + P e, d = c D (r - A P e), x = x + d, where `image` is A P.
extern "C" __global__ void equelle_correct(EqEntity n, const EqSparseMatrix image, const EqRows prolongation, const EqReal* e, const EqReal* r,
                                           const EqReal* inverse, double c, EqReal* x, EqReal* d) {
  EQ_START
  const EqRowLane at = eq_row_lane(n, image.lanes);
  const auto coarse = [=](EqEntity column) { return e[column]; };
  const EqReal lost = eq_form_sum(image, at.row, at.is_there, at.lane, coarse);
  const EqReal gained = eq_row_sum(prolongation, at.row, at.is_there, at.lane, image.lanes, coarse);
  if (!at.is_there || at.lane != 0) return;
  const EqReal step = (EqReal)c * (inverse[at.row] * (r[at.row] - lost));
  x[at.row] = (x[at.row] + gained) + step;
  d[at.row] = step;
}
