// Products with sparse matrices that are multiplied with again and again, and steps of smoothers in the same pass.

// ---- Matrices arranged for products ----------------------------------------------------------------------------------------------------

// Rows of a slice: as many as there are threads that run in step.
#define EQ_SLICE_ROWS 32u
// Most diagonals of a slice that are told by their distance from the main one.
#define EQ_MOST_SHIFTS 48u
// Entries whose numbers are loaded before the first is used.
#define EQ_ENTRIES_AHEAD 8u

// A number that is not read again before much else is: the vectors of an iteration, not its matrix, shall stay in the second cache. A V cycle on 100^3 unknowns takes a tenth less time so.
#ifdef EQ_SHIM
#define EQ_ONCE(address) (*(address))
#else
#define EQ_ONCE(address) __ldcs(address)
#endif

// Of products with sums: most threads of a block, and blocks that there should be room for. On an H200 a product with its sum takes 23.5 us on 100^3 unknowns and 172 us on 200^3 with 48 registers, 26.8 and 196
// with 54, 38 and 251 with 40, when too few reads are on their way.
#define EQ_SUMS_OF_ROWS __launch_bounds__(256, 5)

// A sparse matrix: by compressed rows, and where `starts` is not null also by slices of 32 rows. A slice lists the first entries of all its rows, then the second ones and so on, so that threads
// next to each other read what is side by side. Where its entries lie on few diagonals, as on a grid whose cells are in order, entries of one diagonal are listed together,
// 0 where a row has none, and the diagonals by their distance from the main one; else each entry has its column.
struct EqForm {
  EqRows rows;
  const unsigned long long* starts;  // of the values of each slice, in units of 32: [slices + 1]
  const unsigned long long* lists;   // of the columns of each slice, in units of 32; nothing between two for one by diagonals: [slices + 1]
  const int* shifts;                 // column less row of each diagonal, one for 32 values
  const EqEntity* columns;
  const double* values;
  unsigned int lanes;                // without slices: threads that add a row, a power of two; else 1
  EqEntity n_cols;
};

static_assert(sizeof(EqForm) == 72, "layout of arguments");

// Calls `found` for each diagonal of the slice of `row`, ascending, with its number and its distance; how many there are, or more than EQ_MOST_SHIFTS. By all threads of a slice; of the results that
// of its first row counts. `longest` becomes the length of the longest row.
template <class Found>
EQ_FUNCTION unsigned int eq_diagonals(EqEntity n, const EqRows& a, EqEntity row, unsigned int& longest, Found found) {
  const int none = 0x7fffffff;
  unsigned int count = 0;
#ifdef EQ_SHIM
  if (row % EQ_SLICE_ROWS != 0) return 0;
  unsigned long long at[EQ_SLICE_ROWS], end[EQ_SLICE_ROWS];
  longest = 0;
  for (unsigned int k = 0; k < EQ_SLICE_ROWS; ++k) {
    at[k] = row + k < n ? a.row_ptr[row + k] : 0;
    end[k] = row + k < n ? a.row_ptr[row + k + 1] : 0;
    if (end[k] - at[k] > longest) longest = (unsigned int)(end[k] - at[k]);
  }
  for (;; ++count) {
    int least = none;
    for (unsigned int k = 0; k < EQ_SLICE_ROWS; ++k)
      if (at[k] < end[k] && (int)(a.columns[at[k]] - (row + k)) < least) least = (int)(a.columns[at[k]] - (row + k));
    if (least == none) return count;
    if (count == EQ_MOST_SHIFTS) return count + 1;
    found(count, least);
    for (unsigned int k = 0; k < EQ_SLICE_ROWS; ++k)
      if (at[k] < end[k] && (int)(a.columns[at[k]] - (row + k)) == least) ++at[k];
  }
#else
  unsigned long long at = row < n ? a.row_ptr[row] : 0;
  const unsigned long long end = row < n ? a.row_ptr[row + 1] : 0;
  longest = (unsigned int)(end - at);
#pragma unroll
  for (unsigned int step = 16; step > 0; step /= 2) {
    const unsigned int other = __shfl_xor_sync(0xffffffffu, longest, step);
    longest = longest < other ? other : longest;
  }
  for (;; ++count) {
    const int mine = at < end ? (int)(a.columns[at] - row) : none;
    int least = mine;
#pragma unroll
    for (unsigned int step = 16; step > 0; step /= 2) {
      const int other = __shfl_xor_sync(0xffffffffu, least, step);
      least = other < least ? other : least;
    }
    if (least == none) return count;
    if (count == EQ_MOST_SHIFTS) return count + 1;
    if (row % EQ_SLICE_ROWS == 0) found(count, least);
    if (mine == least) ++at;
  }
#endif
}

// Behind the first numbers of `starts` and `lists`: how many values, and columns, the rows of each slice have room for. A diagonal takes 8 bytes a row, an entry with its column 12.
extern "C" __global__ void equelle_slice_widths(EqEntity n, const EqRows a, unsigned long long* starts, unsigned long long* lists) {
  const EqEntity row = eq_index();
  unsigned int longest = 0;
  const unsigned int count = eq_diagonals(n, a, row, longest, [](unsigned int, int) {});
  if (row >= n || row % EQ_SLICE_ROWS != 0) return;
  const bool by_diagonals = count <= EQ_MOST_SHIFTS && 2u * count <= 3u * longest;
  const EqEntity slice = row / EQ_SLICE_ROWS;
  if (row == 0) starts[0] = lists[0] = 0;
  starts[slice + 1] = by_diagonals ? count : longest;
  lists[slice + 1] = by_diagonals ? 0 : longest;
}

// Diagonals and columns of slices.
extern "C" __global__ void equelle_slice_columns(EqEntity n, const EqRows a, const unsigned long long* starts, const unsigned long long* lists, int* shifts,
                                                 EqEntity* columns) {
  const EqEntity row = eq_index();
  const EqEntity slice = row / EQ_SLICE_ROWS;
  // Threads of a slice stay together.
  if (slice * EQ_SLICE_ROWS >= n) return;
  const unsigned long long list = lists[slice], width = lists[slice + 1] - list;
  if (width == 0) {
    unsigned int longest = 0;
    const unsigned long long start = starts[slice];
    eq_diagonals(n, a, row, longest, [=](unsigned int number, int shift) { shifts[start + number] = shift; });
    return;
  }
  const unsigned long long begin = row < n ? a.row_ptr[row] : 0, length = row < n ? a.row_ptr[row + 1] - begin : 0;
  for (unsigned long long k = 0; k < width; ++k) columns[(list + k) * EQ_SLICE_ROWS + row % EQ_SLICE_ROWS] = k < length ? a.columns[begin + k] : 0;
}

// Values of slices; 0 where a row has no entry.
extern "C" __global__ void equelle_slice_values(EqEntity n, const EqRows a, const unsigned long long* starts, const unsigned long long* lists,
                                                const int* shifts, double* values) {
  const EqEntity row = eq_index();
  const EqEntity slice = row / EQ_SLICE_ROWS;
  if (slice * EQ_SLICE_ROWS >= n) return;
  const unsigned long long start = starts[slice], width = starts[slice + 1] - start;
  const bool is_listed = lists[slice + 1] != lists[slice];
  unsigned long long at = row < n ? a.row_ptr[row] : 0;
  const unsigned long long end = row < n ? a.row_ptr[row + 1] : 0;
  for (unsigned long long k = 0; k < width; ++k) {
    const bool is_here = at < end && (is_listed || (int)(a.columns[at] - row) == shifts[start + k]);
    values[(start + k) * EQ_SLICE_ROWS + row % EQ_SLICE_ROWS] = is_here ? a.entries[at] : 0.0;
    if (is_here) ++at;
  }
}

// ---- Sums over rows --------------------------------------------------------------------------------------------------------------------

// The sum of entries times `x` of their columns, from first to last; entries that are not there add 0, which changes no bit.
template <class X>
EQ_FUNCTION double eq_slice_sum(const EqForm& a, EqEntity row, X x) {
  const EqEntity slice = row / EQ_SLICE_ROWS, lane = row % EQ_SLICE_ROWS;
  const unsigned long long start = a.starts[slice];
  const unsigned int width = (unsigned int)(a.starts[slice + 1] - start);
  const unsigned long long list = a.lists[slice];
  const bool is_listed = a.lists[slice + 1] != list;
  const double* values = a.values + (start * EQ_SLICE_ROWS + lane);
  const EqEntity* columns = a.columns + (list * EQ_SLICE_ROWS + lane);
  const int* shifts = a.shifts + start;
  double sum = 0.0;
  for (unsigned int k = 0; k < width; k += EQ_ENTRIES_AHEAD) {
    EqEntity column[EQ_ENTRIES_AHEAD];
    double value[EQ_ENTRIES_AHEAD], other[EQ_ENTRIES_AHEAD];
    if (is_listed) {
#pragma unroll
      for (unsigned int u = 0; u < EQ_ENTRIES_AHEAD; ++u) column[u] = k + u < width ? columns[(k + u) * EQ_SLICE_ROWS] : EQ_NONE;
    } else {
#pragma unroll
      for (unsigned int u = 0; u < EQ_ENTRIES_AHEAD; ++u) column[u] = k + u < width ? row + (EqEntity)shifts[k + u] : EQ_NONE;
    }
#pragma unroll
    for (unsigned int u = 0; u < EQ_ENTRIES_AHEAD; ++u) value[u] = k + u < width ? EQ_ONCE(values + (k + u) * EQ_SLICE_ROWS) : 0.0;
#pragma unroll
    for (unsigned int u = 0; u < EQ_ENTRIES_AHEAD; ++u) other[u] = column[u] < a.n_cols ? x(column[u]) : 0.0;
#pragma unroll
    for (unsigned int u = 0; u < EQ_ENTRIES_AHEAD; ++u) sum = sum + value[u] * other[u];
  }
  return sum;
}

// The same of a matrix by rows, by `lanes` threads: each adds every `lanes`-th entry, then halves of them are added to each other. All threads of a warp take part; the result is that of lane 0.
template <class X>
EQ_FUNCTION double eq_row_sum(const EqRows& a, EqEntity row, bool is_there, unsigned int lane, unsigned int lanes, X x) {
#ifdef EQ_SHIM
  // Threads cannot wait for each other: the first one stands for all.
  double parts[32];
  if (!is_there || lane != 0) return 0.0;
  for (unsigned int part = 0; part < lanes; ++part) {
    parts[part] = 0.0;
    for (unsigned long long k = a.row_ptr[row] + part; k < a.row_ptr[row + 1]; k += lanes) parts[part] = parts[part] + a.entries[k] * x(a.columns[k]);
  }
  for (unsigned int step = lanes / 2; step > 0; step /= 2)
    for (unsigned int part = 0; part < step; ++part) parts[part] = parts[part] + parts[part + step];
  return parts[0];
#else
  double sum = 0.0;
  const unsigned long long end = is_there ? a.row_ptr[row + 1] : 0;
  for (unsigned long long k = is_there ? a.row_ptr[row] + lane : 0; k < end; k += 4u * lanes) {
    double value[4], other[4];
#pragma unroll
    for (unsigned int u = 0; u < 4; ++u) {
      value[u] = other[u] = 0.0;
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
EQ_FUNCTION double eq_form_sum(const EqForm& a, EqEntity row, bool is_there, unsigned int lane, X x) {
  if (a.starts) return is_there ? eq_slice_sum(a, row, x) : 0.0;
  return eq_row_sum(a.rows, row, is_there, lane, a.lanes, x);
}

// ---- Products --------------------------------------------------------------------------------------------------------------------------

// The row of this thread, and which of the threads of that row it is.
struct EqPlace {
  EqEntity row;
  unsigned int lane;
  bool is_there;
};
EQ_FUNCTION EqPlace eq_place(EqEntity n, unsigned int lanes) {
  const unsigned long long thread = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
  // A power of two: a division of 64 bits takes longer than reading the row.
  unsigned int shift = 0;
  while (lanes >> (shift + 1u)) ++shift;
  const unsigned long long row = thread >> shift;
  return EqPlace{(EqEntity)row, (unsigned int)thread & (lanes - 1u), row < n};
}

// y = A x; y = y + A x; y = y - A x; y = b - A x: operation 0 to 3.
extern "C" __global__ void equelle_form_product(unsigned int operation, EqEntity n, const EqForm a, const double* b, const double* x,
                                                double* y) {
  EQ_START
  const EqPlace at = eq_place(n, a.lanes);
  const double sum = eq_form_sum(a, at.row, at.is_there, at.lane, [=](EqEntity column) { return x[column]; });
  if (!at.is_there || at.lane != 0) return;
  switch (operation) {
    case 0: y[at.row] = sum; break;
    case 1: y[at.row] = y[at.row] + sum; break;
    case 2: y[at.row] = y[at.row] - sum; break;
    default: y[at.row] = b[at.row] - sum; break;
  }
}

// y = A x, and w . y, of a matrix by slices.
extern "C" __global__ void EQ_SUMS_OF_ROWS equelle_form_dot(EqEntity n, const EqForm a, double* y, const double* x, const double* w, const EqSums sums,
                                            const EqNumbers numbers) {
  EQ_START
  EQ_SUM_ROOM(1)
  eq_sums<1>(n, sums, numbers, room, [=](EqEntity row) {
    const double value = eq_slice_sum(a, row, [=](EqEntity column) { return x[column]; });
    y[row] = value;
    return EqValues{w[row] * value, 0.0};
  });
}

// y = A x, w . y and y . y, of a matrix by slices.
extern "C" __global__ void EQ_SUMS_OF_ROWS equelle_form_dots(EqEntity n, const EqForm a, double* y, const double* x, const double* w, const EqSums sums,
                                             const EqNumbers numbers) {
  EQ_START
  EQ_SUM_ROOM(2)
  eq_sums<2>(n, sums, numbers, room, [=](EqEntity row) {
    const double value = eq_slice_sum(a, row, [=](EqEntity column) { return x[column]; });
    y[row] = value;
    return EqValues{w[row] * value, value * value};
  });
}

// ---- Steps of smoothers ----------------------------------------------------------------------------------------------------------------

// c0 d + c1 D (b - A x) of a row; d is not read where c0 is 0.
EQ_FUNCTION double eq_smoothing(double c0, double d, double c1, double inverse, double residual) {
  const double step = c1 * (inverse * residual);
  return c0 == 0.0 ? step : c0 * d + step;
}

// Two steps from zero: the first, c0 D b, is made wherever a row asks for it. The second goes to d if `keep`.
extern "C" __global__ void equelle_smooth_from_zero(EqEntity n, const EqForm a, double c0, double c1, double c2, const double* inverse,
                                                    const double* b, double* y, double* d, unsigned int keep) {
  EQ_START
  const EqPlace at = eq_place(n, a.lanes);
  const auto first = [=](EqEntity column) { return c0 * (inverse[column] * b[column]); };
  const double sum = eq_form_sum(a, at.row, at.is_there, at.lane, first);
  if (!at.is_there || at.lane != 0) return;
  const double begin = first(at.row), step = eq_smoothing(c1, begin, c2, inverse[at.row], b[at.row] - sum);
  y[at.row] = begin + step;
  if (keep) d[at.row] = step;
}

// d = c0 d + c1 D (b - A x), y = x + d; d is written if `keep`.
extern "C" __global__ void equelle_smooth(EqEntity n, const EqForm a, double c0, double c1, const double* inverse, const double* b,
                                          const double* x, double* y, double* d, unsigned int keep) {
  EQ_START
  const EqPlace at = eq_place(n, a.lanes);
  const double sum = eq_form_sum(a, at.row, at.is_there, at.lane, [=](EqEntity column) { return x[column]; });
  if (!at.is_there || at.lane != 0) return;
  const double step = eq_smoothing(c0, c0 == 0.0 ? 0.0 : d[at.row], c1, inverse[at.row], b[at.row] - sum);
  y[at.row] = x[at.row] + step;
  if (keep) d[at.row] = step;
}

// The same of a matrix by slices, without keeping d, and b . y.
extern "C" __global__ void EQ_SUMS_OF_ROWS equelle_smooth_dot(EqEntity n, const EqForm a, double c0, double c1, const double* inverse, const double* b,
                                              const double* x, double* y, const double* d, const EqSums sums,
                                              const EqNumbers numbers) {
  EQ_START
  EQ_SUM_ROOM(1)
  eq_sums<1>(n, sums, numbers, room, [=](EqEntity row) {
    const double sum = eq_slice_sum(a, row, [=](EqEntity column) { return x[column]; });
    const double right = b[row];
    const double value = x[row] + eq_smoothing(c0, c0 == 0.0 ? 0.0 : d[row], c1, inverse[row], right - sum);
    y[row] = value;
    return EqValues{right * value, 0.0};
  });
}

// x = x + P e, d = c D (r - A P e), x = x + d, where `image` is A P.
extern "C" __global__ void equelle_correct(EqEntity n, const EqForm image, const EqRows prolongation, const double* e, const double* r,
                                           const double* inverse, double c, double* x, double* d) {
  EQ_START
  const EqPlace at = eq_place(n, image.lanes);
  const auto coarse = [=](EqEntity column) { return e[column]; };
  const double lost = eq_form_sum(image, at.row, at.is_there, at.lane, coarse);
  const double gained = eq_row_sum(prolongation, at.row, at.is_there, at.lane, image.lanes, coarse);
  if (!at.is_there || at.lane != 0) return;
  const double step = c * (inverse[at.row] * (r[at.row] - lost));
  x[at.row] = (x[at.row] + gained) + step;
  d[at.row] = step;
}
