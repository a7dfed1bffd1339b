// Derivatives of the operation level: sparse matrices in compressed rows, columns ascending.
// Kernels over rows have one thread for each.

// The contribution of an entry d of an operand's row to the result's row: the rules in the order of
// Rule in rules.rs. a and b are the operands, v the result. Adding +0 makes zeros positive.
EQ_FUNCTION EqReal eq_derivative(unsigned int rule, EqReal a, EqReal b, EqReal v, EqReal d) {
  const EqReal zero = 0, one = 1, half = EqReal(0.5);
  switch (rule) {
    case 0: return d + zero;
    case 1: return -d + zero;
    case 2: return a * d + zero;
    case 3: return b * d + zero;
    case 4: return d / b + zero;
    case 5: return -(v * d) / b + zero;
    // The sign: +1 at both zeros, NaN at NaN.
    case 6: return (a < zero ? -d : a >= zero ? d : v * d) + zero;
    case 7: return half / v * d + zero;
    // Min and Max: 1 for the chosen number.
    case 8: return (a <= b || eq_nan(a) ? one : zero) * d + zero;
    case 9: return (a <= b || eq_nan(a) ? zero : one) * d + zero;
    case 10: return (a >= b || eq_nan(a) ? one : zero) * d + zero;
    case 11: return (a >= b || eq_nan(a) ? zero : one) * d + zero;
    // Powers: constant for the exponent 0; the derivative by the exponent is the limit from above
    // if the value is 0.
    case 12: return (b == zero ? zero : b * eq_pow(a, b - one)) * d + zero;
    case 13: return (v == zero ? zero : v * eq_log(a)) * d + zero;
    case 14: return b / (a * a + b * b) * d + zero;
    case 15: return -a / (a * a + b * b) * d + zero;
    // Elementary functions, by their numbers.
    default: return eq_elementary_derivative(rule - 16, a, v) * d + zero;
  }
}

// Begin and end of a row; empty if there is no matrix.
EQ_FUNCTION unsigned long long eq_row_begin(const EqRows& rows, EqEntity k) { return rows.row_ptr ? rows.row_ptr[k] : 0; }
EQ_FUNCTION unsigned long long eq_row_end(const EqRows& rows, EqEntity k) { return rows.row_ptr ? rows.row_ptr[k + 1] : 0; }

// Derivatives of unknowns with respect to themselves: the columns from `first` on.
extern "C" __global__ void equelle_identity(EqEntity n, EqEntity first, unsigned long long* row_ptr, EqEntity* columns, EqReal* entries) {
  const EqEntity k = eq_index();
  if (k == 0) row_ptr[0] = 0;
  if (k >= n) return;
  row_ptr[k + 1] = k + 1ull;
  columns[k] = first + k;
  entries[k] = 1;
}

// Entries of a function of one operand with derivatives; the pattern is that of `in`. 16 bytes an
// entry.
extern "C" __global__ void equelle_scale_rows(unsigned int rule, EqEntity n, const EqRows in, const EqOperand a, const EqOperand b, const EqOperand v,
                                              EqReal* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  const EqReal x = eq_number(a, k), y = eq_number(b, k), value = eq_number(v, k);
  for (unsigned long long i = in.row_ptr[k]; i < in.row_ptr[k + 1]; ++i) out[i] = eq_derivative(rule, x, y, value, in.entries[i]);
}

// Entries of a table at an operand with derivatives: the slope there times each.
extern "C" __global__ void equelle_rows_by_slope(EqEntity n, const double* __restrict__ table, const EqRows in, const EqOperand a,
                                                 EqReal* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  const EqReal zero = 0, slope = EqReal(eq_slope(table, eq_number(a, k)));
  for (unsigned long long i = in.row_ptr[k]; i < in.row_ptr[k + 1]; ++i) out[i] = slope * in.entries[i] + zero;
}

// Lengths of the union of rows, stored where their prefix sums will be the row pointers.
extern "C" __global__ void equelle_union_lengths(EqEntity n, const EqRows a, const EqRows b, unsigned long long* row_ptr) {
  const EqEntity k = eq_index();
  if (k == 0) row_ptr[0] = 0;
  if (k >= n) return;
  unsigned long long i = a.row_ptr[k], j = b.row_ptr[k], length = 0;
  const unsigned long long i_end = a.row_ptr[k + 1], j_end = b.row_ptr[k + 1];
  for (; i < i_end || j < j_end; ++length) {
    const EqEntity left = i < i_end ? a.columns[i] : EQ_NONE, right = j < j_end ? b.columns[j] : EQ_NONE;
    i += left <= right;
    j += right <= left;
  }
  row_ptr[k + 1] = length;
}

// Entries of a function of two operands that both have derivatives. 24 bytes an entry and 8 of
// columns.
extern "C" __global__ void equelle_union_rows(unsigned int first, unsigned int second, EqEntity n, const EqRows a, const EqRows b, const EqOperand x,
                                              const EqOperand y, const EqOperand v, const unsigned long long* row_ptr, EqEntity* columns,
                                              EqReal* entries) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  const EqReal left_value = eq_number(x, k), right_value = eq_number(y, k), value = eq_number(v, k);
  unsigned long long i = a.row_ptr[k], j = b.row_ptr[k], at = row_ptr[k];
  const unsigned long long i_end = a.row_ptr[k + 1], j_end = b.row_ptr[k + 1];
  for (; i < i_end || j < j_end; ++at) {
    const EqEntity left = i < i_end ? a.columns[i] : EQ_NONE, right = j < j_end ? b.columns[j] : EQ_NONE;
    EqReal entry = 0;
    if (left <= right) entry = eq_derivative(first, left_value, right_value, value, a.entries[i++]);
    if (right <= left) {
      const EqReal term = eq_derivative(second, left_value, right_value, value, b.entries[j++]);
      entry = left == right ? entry + term : term;
    }
    columns[at] = left <= right ? left : right;
    entries[at] = entry;
  }
}

// Row k of the result is that of a where the condition holds, else that of b: row `sources[k]`, or
// k without sources; none for EQ_NONE.

// Lengths of the selected rows.
extern "C" __global__ void equelle_pick_lengths(EqEntity n, const EqBool condition, const EqEntity* sources, const EqRows a, const EqRows b,
                                                unsigned long long* row_ptr) {
  const EqEntity k = eq_index();
  if (k == 0) row_ptr[0] = 0;
  if (k >= n) return;
  const EqRows& from = eq_bool(condition, k) ? a : b;
  const EqEntity row = sources ? sources[k] : k;
  row_ptr[k + 1] = row == EQ_NONE ? 0 : eq_row_end(from, row) - eq_row_begin(from, row);
}

// Entries of the selected rows. 12 bytes read and written an entry.
extern "C" __global__ void equelle_pick_rows(EqEntity n, const EqBool condition, const EqEntity* sources, const EqRows a, const EqRows b,
                                             const unsigned long long* row_ptr, EqEntity* columns, EqReal* entries) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  const EqRows& from = eq_bool(condition, k) ? a : b;
  const EqEntity row = sources ? sources[k] : k;
  if (row == EQ_NONE) return;
  unsigned long long at = row_ptr[k];
  for (unsigned long long i = eq_row_begin(from, row); i < eq_row_end(from, row); ++i, ++at) {
    columns[at] = from.columns[i];
    entries[at] = from.entries[i];
  }
}

// Rows that On selects: positions of the target's entities in the data's domain. The gather of the
// values has reported missing ones.
extern "C" __global__ void equelle_sources_on(EqEntity n, const EqEntity* target, const EqRanks ranks, EqEntity* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k < n) out[k] = eq_try_rank(ranks, target[k]);
}

// Rows that Extend selects.
extern "C" __global__ void equelle_sources_extended(const EqSpace space, const EqRanks ranks, EqEntity* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k < space.size) out[k] = eq_rank(ranks, eq_entity(space, k));
}

// Conversion of offsets to 32 bits for products, and back.
extern "C" __global__ void equelle_narrow(EqEntity n, const unsigned long long* in, int* out) {
  const EqEntity k = eq_index();
  if (k < n) out[k] = (int)in[k];
}
extern "C" __global__ void equelle_widen(EqEntity n, const int* in, unsigned long long* out) {
  const EqEntity k = eq_index();
  if (k < n) out[k] = (unsigned long long)in[k];
}

// Compares two patterns with as many rows and entries: clears `same` if they differ.
extern "C" __global__ void equelle_compare_patterns(EqEntity n, const EqRows a, const EqRows b, unsigned char* same) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  bool equal = a.row_ptr[k] == b.row_ptr[k] && a.row_ptr[k + 1] == b.row_ptr[k + 1];
  for (unsigned long long i = a.row_ptr[k]; equal && i < a.row_ptr[k + 1]; ++i) equal = a.columns[i] == b.columns[i];
  // All writers write the same value.
  if (!equal) *same = 0;
}
