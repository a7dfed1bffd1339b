// Sparse matrices in compressed rows, and the vectors that they multiply.

// Number of products that a block stages in shared memory at a time.
#define EQ_STAGED_PRODUCTS 2048u

// y = A x; y = y + A x; y = y - A x; y = b - A x: operation 0 to 3. 12 bytes an entry, 32 to 40 a
// row. Each row is summed in the order of its entries: all threads compute the products of a
// block's rows, in the order of memory, and the thread of the row adds them.
extern "C" __global__ void equelle_product(unsigned int operation, EqEntity n, const EqRows a, const double* b, const double* x,
                                           double* y) {
  EQ_START
  const EqEntity row = eq_index();
  double sum = 0.0;
#ifdef EQ_SHIM
  if (row >= n) return;
  for (unsigned long long k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) sum = sum + a.entries[k] * x[a.columns[k]];
#else
  __shared__ double products[EQ_STAGED_PRODUCTS];
  const EqEntity first = blockIdx.x * blockDim.x, last = n - first < blockDim.x ? n : first + blockDim.x;
  const unsigned long long begin = a.row_ptr[first], end = a.row_ptr[last];
  const unsigned long long own_begin = row < n ? a.row_ptr[row] : end, own_end = row < n ? a.row_ptr[row + 1] : end;
  for (unsigned long long from = begin; from < end; from += EQ_STAGED_PRODUCTS) {
    const unsigned long long to = end - from < EQ_STAGED_PRODUCTS ? end : from + EQ_STAGED_PRODUCTS;
    if (from != begin) __syncthreads();
    for (unsigned long long k = from + threadIdx.x; k < to; k += blockDim.x) products[k - from] = a.entries[k] * x[a.columns[k]];
    __syncthreads();
    const unsigned long long stop = own_end < to ? own_end : to;
    for (unsigned long long k = own_begin > from ? own_begin : from; k < stop; ++k) sum = sum + products[k - from];
  }
  if (row >= n) return;
#endif
  switch (operation) {
    case 0: y[row] = sum; break;
    case 1: y[row] = y[row] + sum; break;
    case 2: y[row] = y[row] - sum; break;
    default: y[row] = b[row] - sum; break;
  }
}

// Inverse of the diagonal of `sign` times a square matrix; `instead` where it is zero or its
// inverse overflows.
extern "C" __global__ void equelle_inverse_diagonal(EqEntity n, const EqRows rows, double sign, double instead, double* __restrict__ out) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  double diagonal = 0.0;
  for (unsigned long long k = rows.row_ptr[row]; k < rows.row_ptr[row + 1]; ++k)
    if (rows.columns[k] == row) diagonal = rows.entries[k];
  const double inverse = 1.0 / (sign * diagonal);
  out[row] = fabs(inverse) <= 1.7976931348623157e308 ? inverse : instead;
}

// Sums of the magnitudes of the terms of A x by rows.
extern "C" __global__ void equelle_row_terms(EqEntity n, const EqRows a, const double* __restrict__ x, double* __restrict__ out) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  double sum = 0.0;
  for (unsigned long long k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) sum = sum + fabs(a.entries[k] * x[a.columns[k]]);
  out[row] = sum;
}

// The larger magnitude; NaN if either is.
EQ_FUNCTION double eq_larger(double left, double right) { return left != left || left > fabs(right) ? left : fabs(right); }

// Largest magnitudes of groups of 1024 elements, or of the inverses of nonzero ones, one block
// each; NaN if one is.
extern "C" __global__ void equelle_largest(EqEntity n, unsigned int of_inverses, const double* __restrict__ x, double* __restrict__ out) {
  const unsigned long long begin = (unsigned long long)blockIdx.x * EQ_LEAF;
  const unsigned int size = n - begin < EQ_LEAF ? (unsigned int)(n - begin) : EQ_LEAF;
  double most = 0.0;
  const auto value = [=](unsigned int k) { return of_inverses && x[begin + k] != 0.0 ? 1.0 / x[begin + k] : x[begin + k]; };
#ifdef EQ_SHIM
  // Emulator: threads run one after another.
  if (threadIdx.x != 0) return;
  for (unsigned int k = 0; k < size; ++k) most = eq_larger(most, value(k));
  out[blockIdx.x] = most;
#else
  __shared__ double found[128];
  for (unsigned int k = threadIdx.x; k < size; k += blockDim.x) most = eq_larger(most, value(k));
  found[threadIdx.x] = most;
  for (unsigned int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) found[threadIdx.x] = eq_larger(found[threadIdx.x], found[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) out[blockIdx.x] = found[0];
#endif
}

// Atomic minimum.
EQ_FUNCTION void eq_lower(unsigned long long* at, unsigned long long value) {
  // Most threads change nothing; an outdated read only costs the attempt.
  if (value < *(volatile unsigned long long*)at) atomicMin(at, value);
}

// Properties of a square matrix: positions (row in the upper, column in the lower half) of the
// first entry that is not finite, that has no mirrored entry, whose mirrored entry differs by more
// than `tolerance` of the largest magnitude in both rows; the first nonzero row whose diagonal is
// not positive, and not negative; the bits of the least |a_ii| over the sum of the other magnitudes
// of a row; the complement of the bits of the largest magnitude; the bits of the least of the
// largest magnitudes of nonzero rows.
struct EqInspection {
  unsigned long long not_finite, structural, numerical, not_positive, not_negative, dominance, largest, least_row;
};
extern "C" __global__ void equelle_inspect(EqEntity n, const EqRows a, double tolerance, EqInspection* out) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  const unsigned long long begin = a.row_ptr[row], end = a.row_ptr[row + 1];
  double diagonal = 0.0, others = 0.0, largest = 0.0;
  for (unsigned long long k = begin; k < end; ++k) {
    const double value = a.entries[k], size = fabs(value);
    if (a.columns[k] == row) diagonal = value;
    else others = others + size;
    largest = largest < size ? size : largest;
    if (!(size <= 1.7976931348623157e308)) eq_lower(&out->not_finite, (unsigned long long)row << 32 | a.columns[k]);
  }
  eq_lower(&out->largest, ~eq_bits(largest));
  if (diagonal != 0.0 || others != 0.0) {
    eq_lower(&out->least_row, eq_bits(largest));
    if (!(diagonal > 0.0)) eq_lower(&out->not_positive, row);
    if (!(diagonal < 0.0)) eq_lower(&out->not_negative, row);
    if (others > 0.0) eq_lower(&out->dominance, eq_bits(fabs(diagonal) / others));
  }
  for (unsigned long long k = begin; k < end; ++k) {
    const EqEntity column = a.columns[k];
    if (column == row) continue;
    double mirror = 0.0, mirror_largest = 0.0;
    bool found = false;
    for (unsigned long long j = a.row_ptr[column]; j < a.row_ptr[column + 1]; ++j) {
      const double value = a.entries[j];
      mirror_largest = mirror_largest < fabs(value) ? fabs(value) : mirror_largest;
      if (a.columns[j] == row) {
        mirror = value;
        found = true;
      }
    }
    const double most = largest < mirror_largest ? mirror_largest : largest;
    const unsigned long long place = (unsigned long long)row << 32 | column;
    if (!found && a.entries[k] != 0.0) eq_lower(&out->structural, place);
    if (found && !(fabs(a.entries[k] - mirror) <= tolerance * most)) eq_lower(&out->numerical, place);
  }
}

// Powers of two that bring the largest magnitude of each row to between 1 and 2, within 2^-500 and
// 2^500, and 1 for a row of zeros.
extern "C" __global__ void equelle_row_scales(EqEntity n, const EqRows a, double* __restrict__ scales) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  double largest = 0.0;
  for (unsigned long long k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
    const double size = fabs(a.entries[k]);
    largest = largest < size ? size : largest;
  }
  // Subnormal numbers count as the smallest normal one.
  const int biased = (int)(eq_bits(largest) >> 52);
  const int exponent = (biased < 1 ? 1 : biased) - 1023;
  const int clamped = exponent < -500 ? -500 : exponent > 500 ? 500 : exponent;
  scales[row] = largest == 0.0 ? 1.0 : eq_of_bits((unsigned long long)(1023 - clamped) << 52);
}

// Entries of each row times the scale of the row.
extern "C" __global__ void equelle_scale_rows(EqEntity n, const EqRows a, const double* __restrict__ scales, double* __restrict__ out) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  for (unsigned long long k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) out[k] = a.entries[k] * scales[row];
}

// An entry of a matrix; 0 where none is stored.
EQ_FUNCTION double eq_entry(const EqRows& a, EqEntity row, EqEntity column) {
  for (unsigned long long k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k)
    if (a.columns[k] == column) return a.entries[k];
  return 0.0;
}

// Sets `differ` to 1 if an entry in the rows and columns from `begin` to `end` is more than
// `factor` times as large as both its mirrored entry and the diagonal of its column.
extern "C" __global__ void equelle_rows_agree(EqEntity n, const EqRows a, EqEntity begin, EqEntity end, double factor, unsigned int* differ) {
  const EqEntity row = begin + eq_index();
  if (row >= end || row >= n) return;
  for (unsigned long long k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
    const EqEntity column = a.columns[k];
    if (column < begin || column >= end) continue;
    const double size = fabs(a.entries[k]);
    if (size <= factor * fabs(eq_entry(a, column, column))) continue;
    if (!(size <= factor * fabs(eq_entry(a, column, row)))) *differ = 1;
  }
}

// Rows of the pressure in the inverses of the diagonal blocks of k fields, divided by their largest
// magnitudes: entries of row i of the inverse from k i on, field by field.
extern "C" __global__ void equelle_pressure_equation(EqEntity n, unsigned int k, unsigned int pressure, const double* __restrict__ inverse,
                                                     unsigned long long* row_ptr, EqEntity* columns, double* entries) {
  const EqEntity element = eq_index();
  if (element >= n) return;
  const double* from = inverse + ((unsigned long long)pressure * n + element) * k;
  const unsigned long long begin = (unsigned long long)element * k;
  double largest = 0.0;
  for (unsigned int field = 0; field < k; ++field) largest = eq_larger(largest, from[field]);
  if (element == 0) row_ptr[0] = 0;
  row_ptr[element + 1] = begin + k;
  for (unsigned int field = 0; field < k; ++field) {
    columns[begin + field] = field * n + element;
    entries[begin + field] = from[field] / largest;
  }
}

// A matrix with one row for each unknown of k fields, and 1 in the rows of the pressure.
extern "C" __global__ void equelle_pressure_among_all(EqEntity n, unsigned int k, unsigned int pressure, unsigned long long* row_ptr, EqEntity* columns,
                                                      double* entries) {
  const unsigned long long row = eq_index(), begin = (unsigned long long)pressure * n, end = begin + n;
  if (row >= (unsigned long long)k * n) return;
  if (row == 0) row_ptr[0] = 0;
  row_ptr[row + 1] = row < begin ? 0 : row < end ? row + 1 - begin : n;
  if (row < begin || row >= end) return;
  columns[row - begin] = (EqEntity)(row - begin);
  entries[row - begin] = 1.0;
}

// Checks that every row sums to zero over the columns of a component, where `ones` is not 0, up to
// `round_off` of the magnitudes, and has no zero entry there off the diagonal, which could split
// the component. Else sets `changed` to 1.
extern "C" __global__ void equelle_still_open(EqEntity n, const EqRows a, const double* __restrict__ ones, double round_off, unsigned int* changed) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  double sum = 0.0, size = 0.0;
  bool is_coupled = true;
  for (unsigned long long k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
    if (ones[a.columns[k]] == 0.0) continue;
    const double value = a.entries[k];
    sum = sum + value;
    size = size + fabs(value);
    is_coupled = is_coupled && (value != 0.0 || a.columns[k] == row);
  }
  // All writers write the same value.
  if (!is_coupled || !(fabs(sum) <= round_off * size)) *changed = 1;
}

// Checks that a vector is still a left null vector, by the transpose of the matrix; else sets
// `changed` to 1.
extern "C" __global__ void equelle_still_null(EqEntity n, const EqRows transposed, const double* __restrict__ weights, double tolerance,
                                              unsigned int* changed) {
  const EqEntity column = eq_index();
  if (column >= n) return;
  double sum = 0.0, size = 0.0;
  for (unsigned long long k = transposed.row_ptr[column]; k < transposed.row_ptr[column + 1]; ++k) {
    const double value = weights[transposed.columns[k]] * transposed.entries[k];
    sum = sum + value;
    size = size + fabs(value);
  }
  if (!(fabs(sum) <= tolerance * size)) *changed = 1;
}

// Appends the rows of an equation to those of others in one matrix; `entries_before` is their
// number of entries.
extern "C" __global__ void equelle_append_rows(EqEntity n, unsigned long long entries_before, const EqRows from, unsigned long long* row_ptr,
                                               EqEntity* columns) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  if (row == 0 && entries_before == 0) row_ptr[0] = 0;
  row_ptr[row + 1] = entries_before + from.row_ptr[row + 1];
  for (unsigned long long k = from.row_ptr[row]; k < from.row_ptr[row + 1]; ++k) columns[entries_before + k] = from.columns[k];
}
