// The runtime's own kernels.

// Copies the current value of a word for an asynchronous copy.
extern "C" __global__ void equelle_word(const unsigned long long* word, unsigned long long* copy) { *copy = *word; }

// State of a loop over a sequence: number of used elements.
extern "C" __global__ void equelle_loop_begin(unsigned long long* taken) { *taken = 0; }

// The elements of the next rounds, after `used` of the last ones. Arguments repeat with the rounds,
// so that launches can be replayed as a graph.
extern "C" __global__ void equelle_loop_window(const double* sequence, unsigned long long n, unsigned long long* taken, unsigned int used,
                                               unsigned int count, double* window) {
  const unsigned long long first = *taken + used;
  *taken = first;
  for (unsigned int k = 0; k < count; ++k)
    if (first + k < n) window[k] = sequence[first + k];
}

// The elements of a set of consecutive entities.
extern "C" __global__ void equelle_iota(EqEntity n, EqEntity first, EqEntity* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k < n) out[k] = first + k;
}

// Eight levels of the binary tree over partial results: each thread combines 256 neighbours. Groups
// of 2, 4, 8, ... neighbours are kept on a stack, largest first; an odd last one passes on
// unchanged.
extern "C" __global__ void equelle_tree(unsigned int operation, EqEntity n, const double* __restrict__ in, double* __restrict__ out) {
  const EqEntity group = eq_index();
  const unsigned long long from = (unsigned long long)group * 256u;
  if (from >= n) return;
  const unsigned int count = n - from < 256u ? (unsigned int)(n - from) : 256u;
  double stack[9];
  int height = 0;
  for (unsigned int k = 0; k < count; ++k) {
    double value = in[from + k];
    for (unsigned int sizes = k; sizes & 1u; sizes >>= 1) value = eq_combine(operation, stack[--height], value);
    stack[height++] = value;
  }
  double value = stack[--height];
  while (height > 0) value = eq_combine(operation, stack[--height], value);
  out[group] = value;
}

// The tree for Bools: 0 any, 1 all. The order does not matter.
extern "C" __global__ void equelle_tree_bools(unsigned int operation, EqEntity n, const unsigned char* __restrict__ in,
                                              unsigned char* __restrict__ out) {
  const EqEntity group = eq_index();
  const unsigned long long from = (unsigned long long)group * 256u;
  if (from >= n) return;
  const unsigned int count = n - from < 256u ? (unsigned int)(n - from) : 256u;
  bool value = in[from] != 0;
  for (unsigned int k = 1; k < count; ++k) value = operation == 0 ? eq_any(value, in[from + k] != 0) : eq_all(value, in[from + k] != 0);
  out[group] = value;
}

// Marks the regular components of the columns from `begin` to `end`: where the entries of some row
// do not cancel up to `round_off`. `parts` has the component of each column.
extern "C" __global__ void equelle_fixed_parts(EqEntity n, const EqRows rows, EqEntity begin, EqEntity end, const EqEntity* __restrict__ parts,
                                               double round_off, unsigned char* fixed) {
  const EqEntity row = eq_index();
  if (row >= n) return;
  double sum = 0.0, size = 0.0;
  EqEntity part = EQ_NONE;
  for (unsigned long long k = rows.row_ptr[row]; k < rows.row_ptr[row + 1]; ++k) {
    const EqEntity column = rows.columns[k];
    if (column < begin || column >= end) continue;
    sum = sum + rows.entries[k];
    size = size + fabs(rows.entries[k]);
    part = parts[column - begin];
  }
  // All writers write the same value.
  if (part != EQ_NONE && !(fabs(sum) <= round_off * size)) fixed[part] = 1;
}
