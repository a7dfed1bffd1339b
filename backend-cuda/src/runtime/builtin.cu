// The runtime's own kernels.

// State of a loop over a sequence: how many elements have been taken.
extern "C" __global__ void equelle_loop_begin(unsigned long long* taken) { *taken = 0; }

// Takes the next element. The arguments are the same at every step, so that steps can be replayed as a graph.
extern "C" __global__ void equelle_loop_next(const double* sequence, unsigned long long* taken, double* element) {
  *element = sequence[*taken];
  *taken = *taken + 1;
}

// The elements of a set that is all entities: 0, 1, 2, ...
extern "C" __global__ void equelle_iota(EqEntity n, EqEntity* out) {
  const EqEntity k = eq_index();
  if (k < n) out[k] = k;
}

// Full collection of a per-axis one: 12 bytes read and 8 written per element, or 8 written where the set is all entities.
extern "C" __global__ void equelle_spread(const EqCartesian g, const EqSpace space, unsigned int faces, unsigned int components,
                                          const double* __restrict__ per_axis, double* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= space.size) return;
  const int slot = faces ? eq_face(g, eq_entity(space, k)).axis : 0;
  const unsigned int slots = faces ? DIM : 1;
  for (unsigned int d = 0; d < components; ++d) out[d * (size_t)space.size + k] = per_axis[d * slots + slot];
}

// The same for truth values.
extern "C" __global__ void equelle_spread_bools(const EqCartesian g, const EqSpace space, unsigned int faces,
                                                const unsigned char* __restrict__ per_axis, unsigned char* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= space.size) return;
  out[k] = per_axis[faces ? eq_face(g, eq_entity(space, k)).axis : 0];
}

EQ_FUNCTION double equelle_combine(unsigned int operation, double left, double right) {
  return operation == 0 ? eq_max(left, right) : operation == 1 ? eq_min(left, right) : operation == 2 ? eq_sum(left, right) : eq_prod(left, right);
}

// Eight levels of the binary tree over partial results: each thread combines 256 neighbours. Groups of 2, 4, 8, ... neighbours are kept
// on a stack, largest first; an odd last one passes on unchanged.
extern "C" __global__ void equelle_tree(unsigned int operation, EqEntity n, const double* __restrict__ in, double* __restrict__ out) {
  const EqEntity group = eq_index();
  const unsigned long long from = (unsigned long long)group * 256u;
  if (from >= n) return;
  const unsigned int count = n - from < 256u ? (unsigned int)(n - from) : 256u;
  double stack[9];
  int height = 0;
  for (unsigned int k = 0; k < count; ++k) {
    double value = in[from + k];
    for (unsigned int sizes = k; sizes & 1u; sizes >>= 1) value = equelle_combine(operation, stack[--height], value);
    stack[height++] = value;
  }
  double value = stack[--height];
  while (height > 0) value = equelle_combine(operation, stack[--height], value);
  out[group] = value;
}

// The same for truth values: 0 any, 1 all. Their order does not matter.
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

// One leaf per thread of a stored collection.
extern "C" __global__ void equelle_leaves(unsigned int operation, EqEntity n, const double* __restrict__ in, double* __restrict__ leaves) {
  EqEntity leaf, begin, end;
  if (!eq_leaf_here(n, leaf, begin, end)) return;
  double result = operation < 2u ? in[begin++] : operation == 2u ? 0.0 : 1.0;
  for (EqEntity k = begin; k < end; ++k) result = equelle_combine(operation, result, in[k]);
  leaves[leaf] = result;
}
