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

// A number and a Bool, or one of them, for the host, which waits for the first word. The work
// behind this launch goes on meanwhile.
extern "C" __global__ void equelle_tell_host(const double* number, const unsigned char* condition, volatile unsigned long long* words) {
  if (number) words[1] = eq_bits(*number);
  if (condition) words[2] = *condition;
  __threadfence_system();
  words[0] = 1;
}

// The elements of a set of consecutive entities.
extern "C" __global__ void equelle_iota(EqEntity n, EqEntity first, EqEntity* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k < n) out[k] = first + k;
}

// Prefix sums of 256 neighbours in place, and their total.
extern "C" __global__ void equelle_running_sums(unsigned long long n, unsigned long long* values, unsigned long long* totals) {
  const EqEntity group = eq_index();
  const unsigned long long from = group * 256ull, to = from + 256u < n ? from + 256u : n;
  if (from >= n) return;
  unsigned long long sum = 0;
  for (unsigned long long k = from; k < to; ++k) values[k] = sum = sum + values[k];
  totals[group] = sum;
}

// Adds the totals of the groups before.
extern "C" __global__ void equelle_add_totals(unsigned long long n, unsigned long long* values, const unsigned long long* totals) {
  const EqEntity k = eq_index();
  if (k < n && k >= 256u) values[k] += totals[k / 256u - 1u];
}

// The binary tree over the `count` first threads of a block: 0 with 1, 2 with 3, and so on, level
// by level; an odd last one passes on unchanged. Only the thread of eq_tells_leaf has the result.
#ifdef EQ_SHIM
EQ_FUNCTION double eq_tree(double value, unsigned int count, EqCombine combine) {
  static thread_local double values[EQ_CHAINS];
  values[threadIdx.x] = value;
  if (!eq_tells_leaf()) return value;
  for (unsigned int distance = 1; distance < EQ_CHAINS; distance *= 2)
    for (unsigned int k = 0; k + distance < count; k += 2 * distance) values[k] = combine(values[k], values[k + distance]);
  return values[0];
}
#else
EQ_FUNCTION double eq_tree(double value, unsigned int count, EqCombine combine) {
  __shared__ double of_warps[EQ_CHAINS / 32u];
  const unsigned int lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
#pragma unroll
  for (unsigned int distance = 1; distance < 32u; distance *= 2) {
    const double right = eq_from_lane(value, distance);
    if (lane % (2 * distance) == 0 && threadIdx.x + distance < count) value = combine(value, right);
  }
  if (lane == 0) of_warps[warp] = value;
  __syncthreads();
  if (warp > 0) return value;
  value = of_warps[lane % (EQ_CHAINS / 32u)];
#pragma unroll
  for (unsigned int distance = 1; distance < EQ_CHAINS / 32u; distance *= 2) {
    const double right = eq_from_lane(value, distance);
    if (lane % (2 * distance) == 0 && 32u * (lane + distance) < count) value = combine(value, right);
  }
  return value;
}
#endif

// Twelve levels of the binary tree over partial results: each thread combines EQ_TREE neighbours,
// each block those of its threads.
#define EQ_TREE 16u
extern "C" __global__ void equelle_tree(unsigned int operation, EqEntity n, const double* __restrict__ in, double* __restrict__ out) {
  const EqCombine combine{operation};
  const unsigned long long begin = (unsigned long long)blockIdx.x * (EQ_CHAINS * EQ_TREE), from = begin + threadIdx.x * EQ_TREE;
  double values[EQ_TREE];
#pragma unroll
  for (unsigned int k = 0; k < EQ_TREE; ++k) values[k] = from + k < n ? in[from + k] : 0.0;
#pragma unroll
  for (unsigned int distance = 1; distance < EQ_TREE; distance *= 2)
#pragma unroll
    for (unsigned int k = 0; k + distance < EQ_TREE; k += 2 * distance)
      if (from + k + distance < n) values[k] = combine(values[k], values[k + distance]);
  const unsigned long long threads = (n - begin + EQ_TREE - 1u) / EQ_TREE;
  const double value = eq_tree(values[0], threads < EQ_CHAINS ? (unsigned int)threads : EQ_CHAINS, combine);
  if (eq_tells_leaf()) out[blockIdx.x] = value;
}

// The number that is the extreme of keys, which begin anew. One warp.
extern "C" __global__ void equelle_extreme(unsigned int largest, unsigned long long* keys, double* out) {
  unsigned long long least = EQ_NO_EXTREME;
#ifdef EQ_SHIM
  const unsigned int together = 1u;
#else
  const unsigned int together = blockDim.x;
#endif
  if (threadIdx.x >= together) return;
  for (unsigned int k = threadIdx.x; k < EQ_EXTREME_KEYS; k += together) {
    unsigned long long* const key = keys + EQ_KEY_WORDS * k;
    if (*key < least) least = *key;
    *key = EQ_NO_EXTREME;
  }
#ifndef EQ_SHIM
#pragma unroll
  for (unsigned int half = 16u; half > 0; half /= 2u) {
    const unsigned long long other = __shfl_down_sync(0xffffffffu, least, half);
    if (other < least) least = other;
  }
#endif
  if (threadIdx.x == 0) *out = eq_extreme_of_key(least, largest != 0u);
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
