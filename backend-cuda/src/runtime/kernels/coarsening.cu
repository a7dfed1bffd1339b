// Set-up of multigrid by smoothed aggregation, one thread per row; steps and summation orders are
// those of equelle_runtime::linalg::precond::amg.

// No unknown, no group.
#define EQ_NO_GROUP EQ_NONE

// Strength of entry number k of a row: its magnitude, or for an unsymmetric matrix the mean of it
// and its mirrored entry.
EQ_FUNCTION double eq_measure(const EqRows& a, bool symmetric, EqEntity row, unsigned long long k) {
  const double size = fabs(a.entries[k]);
  if (symmetric) return size;
  // Bisection: columns ascend.
  unsigned long long low = a.row_ptr[a.columns[k]], high = a.row_ptr[a.columns[k] + 1];
  const unsigned long long end = high;
  while (low < high) {
    const unsigned long long middle = low + (high - low) / 2;
    if (a.columns[middle] < row) low = middle + 1;
    else high = middle;
  }
  return 0.5 * (size + (low < end && a.columns[low] == row ? fabs(a.entries[low]) : 0.0));
}

// Fields of unknowns; null for one field.
EQ_FUNCTION bool eq_same_field(const unsigned char* field, EqEntity i, EqEntity j) { return !field || field[i] == field[j]; }

// Field number `value` of the unknowns from `begin` to `end`.
extern "C" __global__ void equelle_field(EqEntity begin, EqEntity end, unsigned int value, unsigned char* __restrict__ field) {
  const EqEntity k = begin + eq_index();
  if (k < end) field[k] = (unsigned char)value;
}

// The largest coupling of each row within its own field, and whether its diagonal dominates them
// all, so that it needs no coarse grid.
extern "C" __global__ void equelle_couplings(EqEntity n, const EqRows a, unsigned int symmetric, const unsigned char* __restrict__ field,
                                             double* __restrict__ largest, unsigned char* __restrict__ dominant) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  double diagonal = 0.0, sum = 0.0, most = 0.0;
  for (unsigned long long k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
    const EqEntity column = a.columns[k];
    if (column != row && !eq_same_field(field, row, column)) continue;
    const double value = eq_measure(a, symmetric != 0, row, k);
    if (column == row) diagonal = value;
    else {
      most = most < value ? value : most;
      sum = sum + value;
    }
  }
  largest[row] = most;
  dominant[row] = diagonal > 3.0 * sum;
}

// Couplings above a part of the largest ones are strong.
struct EqStrength {
  const unsigned char* field;
  const double* largest;
  const unsigned char* dominant;
  // Square of that part.
  double square;
  unsigned int symmetric;
};

EQ_FUNCTION bool eq_is_strong(const EqRows& a, const EqStrength& s, EqEntity row, unsigned long long k) {
  const EqEntity column = a.columns[k];
  if (!eq_same_field(s.field, row, column) || s.dominant[row] || s.dominant[column]) return false;
  const double measured = eq_measure(a, s.symmetric != 0, row, k);
  return measured * measured > s.square * s.largest[row] * s.largest[column];
}

// Lengths of the rows without weak couplings, after the first number of `row_ptr`: strong couplings
// and the diagonal.
extern "C" __global__ void equelle_strong_lengths(EqEntity n, const EqRows a, const EqStrength s, unsigned long long* __restrict__ row_ptr) {
  const EqEntity row = eq_index();
  if (row == 0) row_ptr[0] = 0;
  if (row >= n) return;
  unsigned long long length = 1;
  for (unsigned long long k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
    if (a.columns[k] != row) length += eq_is_strong(a, s, row, k);
  row_ptr[row + 1] = length;
}

// The rows without weak couplings, which are added to the diagonal if of the row's field.
extern "C" __global__ void equelle_strong_rows(EqEntity n, const EqRows a, const EqStrength s, const EqRows out, EqEntity* columns) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  unsigned long long at = out.row_ptr[row], own = EQ_NONE;
  bool met = false;
  double diagonal = 0.0;
  for (unsigned long long k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
    const EqEntity column = a.columns[k];
    if (column >= row && !met) {
      met = true;
      own = at++;
    }
    if (column == row) diagonal = diagonal + a.entries[k];
    else if (eq_same_field(s.field, row, column)) {
      if (eq_is_strong(a, s, row, k)) {
        columns[at] = column;
        out.entries[at++] = a.entries[k];
      } else diagonal = diagonal + a.entries[k];
    }
  }
  if (!met) own = at;
  columns[own] = row;
  out.entries[own] = diagonal;
}

// ---- Aggregates ---------------------------------------------------------------------------------

// The order in which rows become roots of aggregates.
EQ_FUNCTION unsigned int eq_scattered(unsigned int row) {
  unsigned int mixed = row;
  mixed = (mixed ^ mixed >> 16) * 0x85ebca6bu;
  mixed = (mixed ^ mixed >> 13) * 0xc2b2ae35u;
  return mixed ^ mixed >> 16;
}

// State of an undecided row, which may become a root.
#define EQ_UNDECIDED 1

// Initially rows with neighbours are undecided, and no row is in an aggregate.
extern "C" __global__ void equelle_grouping_begin(EqEntity n, const EqRows strong, unsigned char* __restrict__ state, EqEntity* __restrict__ root,
                                                  unsigned int* __restrict__ best) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  state[row] = strong.row_ptr[row + 1] - strong.row_ptr[row] > 1 ? EQ_UNDECIDED : 0;
  root[row] = EQ_NO_GROUP;
  best[row] = 0xffffffffu;
}

// Undecided rows claim their neighbourhoods: `best` keeps the first one in the order.
extern "C" __global__ void equelle_grouping_claim(EqEntity n, const EqRows strong, const unsigned char* __restrict__ state, unsigned int* best) {
  const EqEntity row = eq_index();
  if (row >= n || state[row] != EQ_UNDECIDED) return;
  const unsigned int own = eq_scattered(row);
  for (unsigned long long k = strong.row_ptr[row]; k < strong.row_ptr[row + 1]; ++k) atomicMin(best + strong.columns[k], own);
}

// The first row in its whole neighbourhood becomes a root and takes it: such neighbourhoods are
// disjoint.
extern "C" __global__ void equelle_grouping_take(EqEntity n, const EqRows strong, unsigned char* __restrict__ state, EqEntity* __restrict__ root,
                                                 const unsigned int* __restrict__ best) {
  const EqEntity row = eq_index();
  if (row >= n || state[row] != EQ_UNDECIDED) return;
  const unsigned int own = eq_scattered(row);
  for (unsigned long long k = strong.row_ptr[row]; k < strong.row_ptr[row + 1]; ++k)
    if (best[strong.columns[k]] != own) return;
  for (unsigned long long k = strong.row_ptr[row]; k < strong.row_ptr[row + 1]; ++k) root[strong.columns[k]] = row;
  state[row] = 0;
}

// Rows with taken neighbours are no roots, the others stay undecided; `left` reports whether there
// are any.
extern "C" __global__ void equelle_grouping_retire(EqEntity n, const EqRows strong, unsigned char* __restrict__ state,
                                                   const EqEntity* __restrict__ root, unsigned int* __restrict__ best, unsigned int* left) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  best[row] = 0xffffffffu;
  if (state[row] != EQ_UNDECIDED) return;
  for (unsigned long long k = strong.row_ptr[row]; k < strong.row_ptr[row + 1]; ++k)
    if (root[strong.columns[k]] != EQ_NO_GROUP) {
      state[row] = 0;
      return;
    }
  // All writers write the same value.
  *left = 1;
}

// The rest joins its strongest neighbour, the first of several. A row without one becomes an
// aggregate, unless its diagonal dominates.
extern "C" __global__ void equelle_grouping_join(EqEntity n, const EqRows strong, const unsigned char* __restrict__ dominant,
                                                 const EqEntity* __restrict__ root, EqEntity* __restrict__ joined) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  EqEntity own = root[row];
  if (own == EQ_NO_GROUP) {
    double most = 0.0;
    for (unsigned long long k = strong.row_ptr[row]; k < strong.row_ptr[row + 1]; ++k) {
      const EqEntity column = strong.columns[k];
      if (column == row || root[column] == EQ_NO_GROUP || !(fabs(strong.entries[k]) > most)) continue;
      most = fabs(strong.entries[k]);
      own = root[column];
    }
    if (own == EQ_NO_GROUP && !dominant[row]) own = row;
  }
  joined[row] = own;
}

// Marks the roots of aggregates, after the first number of `marks`: of neighbourhoods, or of single
// unknowns.
extern "C" __global__ void equelle_grouping_mark(EqEntity n, unsigned int single, const EqEntity* __restrict__ root,
                                                 const EqEntity* __restrict__ joined, unsigned long long* __restrict__ marks) {
  const EqEntity row = eq_index();
  if (row == 0) marks[0] = 0;
  if (row >= n) return;
  marks[row + 1] = joined[row] == row && (root[row] == row) == (single == 0u);
}

// Numbers of aggregates: neighbourhoods come first, by the prefix sums of the `whole` marks.
extern "C" __global__ void equelle_grouping_number(EqEntity n, EqEntity whole, const EqEntity* __restrict__ root, const EqEntity* __restrict__ joined,
                                                   const unsigned long long* __restrict__ marks, const unsigned long long* __restrict__ singles,
                                                   const unsigned char* __restrict__ field, EqEntity* __restrict__ group,
                                                   unsigned char* __restrict__ coarse_field) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  const EqEntity own = joined[row];
  if (own == EQ_NO_GROUP) {
    group[row] = EQ_NO_GROUP;
    return;
  }
  const EqEntity number = root[own] == own ? (EqEntity)marks[own] : whole + (EqEntity)singles[own];
  group[row] = number;
  // All members have the same field.
  if (field) coarse_field[number] = field[row];
}

// ---- Prolongation -------------------------------------------------------------------------------

// Lengths of the rows of the prolongation: the aggregates in a row, or only its own.
extern "C" __global__ void equelle_prolongation_lengths(EqEntity n, unsigned int smoothed, const EqRows strong, const EqEntity* __restrict__ group,
                                                        unsigned long long* __restrict__ row_ptr) {
  const EqEntity row = eq_index();
  if (row == 0) row_ptr[0] = 0;
  if (row >= n) return;
  if (!smoothed) {
    row_ptr[row + 1] = group[row] != EQ_NO_GROUP;
    return;
  }
  unsigned long long length = 0;
  const unsigned long long begin = strong.row_ptr[row], end = strong.row_ptr[row + 1];
  for (unsigned long long k = begin; k < end; ++k) {
    const EqEntity own = group[strong.columns[k]];
    bool known = own == EQ_NO_GROUP;
    for (unsigned long long j = begin; j < k && !known; ++j) known = group[strong.columns[j]] == own;
    length += !known;
  }
  row_ptr[row + 1] = length;
}

// Sorts few entries by their columns.
EQ_FUNCTION void eq_sort_entries(unsigned long long begin, unsigned long long end, EqEntity* columns, double* entries) {
  for (unsigned long long k = begin + 1; k < end; ++k) {
    const EqEntity column = columns[k];
    const double entry = entries[k];
    unsigned long long at = k;
    for (; at > begin && columns[at - 1] > column; --at) {
      columns[at] = columns[at - 1];
      entries[at] = entries[at - 1];
    }
    columns[at] = column;
    entries[at] = entry;
  }
}

// The rows of (1 - omega D^-1 A) T for the tentative prolongation T, 1 on each group; with
// `smoothed` 0 those of T.
extern "C" __global__ void equelle_prolongation_rows(EqEntity n, unsigned int smoothed, const EqRows strong, double omega,
                                                     const double* __restrict__ inverse, const EqEntity* __restrict__ group, const EqRows out,
                                                     EqEntity* columns) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  const unsigned long long begin = out.row_ptr[row];
  if (!smoothed) {
    if (group[row] == EQ_NO_GROUP) return;
    columns[begin] = group[row];
    out.entries[begin] = 1.0;
    return;
  }
  unsigned long long end = begin;
  for (unsigned long long k = strong.row_ptr[row]; k < strong.row_ptr[row + 1]; ++k) {
    const EqEntity column = strong.columns[k], own = group[column];
    if (own == EQ_NO_GROUP) continue;
    const double entry = (column == row ? 1.0 : 0.0) - omega * inverse[row] * strong.entries[k];
    unsigned long long at = begin;
    while (at < end && columns[at] != own) ++at;
    if (at < end) out.entries[at] = out.entries[at] + entry;
    else {
      columns[end] = own;
      out.entries[end++] = entry;
    }
  }
  eq_sort_entries(begin, end, columns, out.entries);
}

// ---- Transposes ---------------------------------------------------------------------------------

// Number of entries of each column, after the first number of `row_ptr`, which is all zero before.
extern "C" __global__ void equelle_transposed_lengths(EqEntity n, const EqRows a, unsigned long long* row_ptr) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  for (unsigned long long k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) atomicAdd(row_ptr + a.columns[k] + 1, 1ull);
}

// Writes entries to the rows of the transpose, in any order; `taken` is all zero before.
extern "C" __global__ void equelle_transposed_rows(EqEntity n, const EqRows a, unsigned long long* taken, const EqRows out, EqEntity* columns) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  for (unsigned long long k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
    const EqEntity column = a.columns[k];
    const unsigned long long at = out.row_ptr[column] + atomicAdd(taken + column, 1ull);
    columns[at] = row;
    out.entries[at] = a.entries[k];
  }
}

// Sorts the entries of each row, by `lanes` threads, a power of two: an entry goes after all those
// of smaller columns. Columns of a row are distinct.
extern "C" __global__ void equelle_ordered_rows(EqEntity n, unsigned int lanes, const EqRows a, const EqRows out, EqEntity* columns) {
  const EqRowLane at = eq_row_lane(n, lanes);
  if (!at.is_there) return;
  const unsigned long long begin = a.row_ptr[at.row], end = a.row_ptr[at.row + 1];
  for (unsigned long long k = begin + at.lane; k < end; k += lanes) {
    const EqEntity column = a.columns[k];
    unsigned long long to = begin;
    for (unsigned long long j = begin; j < end; ++j) to += a.columns[j] < column;
    columns[to] = column;
    out.entries[to] = a.entries[k];
  }
}

// ---- Spectral radius ----------------------------------------------------------------------------

// Sums of the magnitudes of D A by rows; marks whether D has a negative element.
extern "C" __global__ void equelle_row_sums(EqEntity n, const EqRows a, const double* __restrict__ d, double* __restrict__ out, unsigned int* negative) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  double sum = 0.0;
  for (unsigned long long k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) sum = sum + fabs(a.entries[k] * d[row]);
  out[row] = sum;
  // All writers write the same value.
  if (d[row] < 0.0) *negative = 1;
}

extern "C" __global__ void equelle_roots(EqEntity n, const double* __restrict__ x, double* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k < n) out[k] = sqrt(x[k]);
}

// Reciprocal roots of elements times a power of two; 0 where the result is not finite.
extern "C" __global__ void equelle_reciprocal_roots(EqEntity n, double factor, const double* __restrict__ x, double* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  const double root = 1.0 / sqrt(factor * x[k]);
  out[k] = fabs(root) <= 1.7976931348623157e308 ? root : 0.0;
}

// Pseudo-random numbers in [-1, 1): state k + 1 of a linear congruential sequence, by powers of its
// step.
extern "C" __global__ void equelle_noise(EqEntity n, unsigned long long multiplier, unsigned long long increment, unsigned long long seed,
                                         double* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  unsigned long long a = 1, c = 0;
  for (unsigned long long steps = k + 1ull; steps > 0; steps >>= 1) {
    if (steps & 1) {
      a = a * multiplier;
      c = c * multiplier + increment;
    }
    increment = increment * (multiplier + 1);
    multiplier = multiplier * multiplier;
  }
  out[k] = (double)((a * seed + c) >> 11) / 4503599627370496.0 - 1.0;
}
