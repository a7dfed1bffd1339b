// Conversion of matrices to slices of rows (SELL) for products: see EqSparseMatrix.

// Largest number of diagonals of a slice that is stored by diagonals.
#define EQ_MAX_SHIFTS 48u

// Calls `visit` for each diagonal of the slice of `row`, ascending, with its number and its offset;
// returns their number, or more than EQ_MAX_SHIFTS. Called by all threads of a slice; the result
// of its first row counts. `longest` becomes the length of the longest row.
template <class Visit>
EQ_FUNCTION unsigned int eq_diagonals(EqEntity n, const EqRows& a, EqEntity row, unsigned int& longest, Visit visit) {
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
    if (count == EQ_MAX_SHIFTS) return count + 1;
    visit(count, least);
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
    if (count == EQ_MAX_SHIFTS) return count + 1;
    if (row % EQ_SLICE_ROWS == 0) visit(count, least);
    if (mine == least) ++at;
  }
#endif
}

// Writes, after the first numbers of `starts` and `lists`, the sizes of the values and of the
// columns of each slice. A diagonal takes 8 bytes a row, an entry with its column 12.
extern "C" __global__ void equelle_slice_widths(EqEntity n, const EqRows a, unsigned long long* starts, unsigned long long* lists) {
  const EqEntity row = eq_index();
  unsigned int longest = 0;
  const unsigned int count = eq_diagonals(n, a, row, longest, [](unsigned int, int) {});
  if (row >= n || row % EQ_SLICE_ROWS != 0) return;
  const bool by_diagonals = count <= EQ_MAX_SHIFTS && 2u * count <= 3u * longest;
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

// Values of slices, `scale` times the entries; 0 where a row has no entry.
template <class Number>
EQ_FUNCTION void eq_slice_values(EqEntity n, const EqRows& a, const unsigned long long* starts, const unsigned long long* lists, const int* shifts, double scale,
                                 Number* values) {
  const EqEntity row = eq_index();
  const EqEntity slice = row / EQ_SLICE_ROWS;
  if (slice * EQ_SLICE_ROWS >= n) return;
  const unsigned long long start = starts[slice], width = starts[slice + 1] - start;
  const bool is_listed = lists[slice + 1] != lists[slice];
  unsigned long long at = row < n ? a.row_ptr[row] : 0;
  const unsigned long long end = row < n ? a.row_ptr[row + 1] : 0;
  for (unsigned long long k = 0; k < width; ++k) {
    const bool is_here = at < end && (is_listed || (int)(a.columns[at] - row) == shifts[start + k]);
    values[(start + k) * EQ_SLICE_ROWS + row % EQ_SLICE_ROWS] = is_here ? (Number)(a.entries[at] * scale) : (Number)0;
    if (is_here) ++at;
  }
}
extern "C" __global__ void equelle_slice_values(EqEntity n, const EqRows a, const unsigned long long* starts, const unsigned long long* lists,
                                                const int* shifts, double* values) {
  eq_slice_values(n, a, starts, lists, shifts, 1.0, values);
}
extern "C" __global__ void equelle_slice_f32_values(EqEntity n, const EqRows a, const unsigned long long* starts, const unsigned long long* lists,
                                                 const int* shifts, double scale, float* values) {
  eq_slice_values(n, a, starts, lists, shifts, scale, values);
}
