// Kernels of the runtime that work on collections, in the precision of the program.

// The elements of a canonical set of a Cartesian grid, of the `n` entities of its kind.
extern "C" __global__ void equelle_elements(EqEntity n, const EqCartesian g, const EqRanks ranks, EqEntity* __restrict__ out) {
  const EqEntity entity = eq_index();
  if (entity >= n) return;
  const EqEntity rank = eq_rank_cartesian(g, ranks, entity);
  if (rank != EQ_NONE) out[rank] = entity;
}

// Initialises a map of ranks as empty.
extern "C" __global__ void equelle_no_ranks(EqEntity n, EqEntity* __restrict__ map) {
  const EqEntity k = eq_index();
  if (k < n) map[k] = EQ_NONE;
}

// Writes the position of each element of a list to a map over a superset, whose ranks are `around`.
extern "C" __global__ void equelle_note_ranks(EqEntity n, const EqEntity* __restrict__ list, const EqRanks around, EqEntity* __restrict__ map) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  const EqEntity rank = eq_rank(around, list[k]);
  if (rank != EQ_NONE) map[rank] = k;
}

// The same for ranks of Cartesian kernels.
extern "C" __global__ void equelle_note_cartesian_ranks(EqEntity n, const EqEntity* __restrict__ list, const EqCartesian g, const EqRanks around,
                                                        EqEntity* __restrict__ map) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  const EqEntity rank = eq_rank_cartesian(g, around, list[k]);
  if (rank != EQ_NONE) map[rank] = k;
}

// Broadcasts a per-axis collection: 4 bytes of indices and a number read, one written per element;
// only that if the set is all entities.
extern "C" __global__ void equelle_broadcast(const EqCartesian g, const EqSpace space, unsigned int faces, unsigned int components,
                                          const EqReal* __restrict__ per_axis, EqReal* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k >= space.size) return;
  const int slot = faces ? eq_face(g, eq_entity(space, k)).axis : 0;
  const unsigned int slots = faces ? DIM : 1;
  for (unsigned int d = 0; d < components; ++d) out[d * (size_t)space.size + k] = per_axis[d * slots + slot];
}

// Copies a collection.
extern "C" __global__ void equelle_copy(EqEntity n, const EqReal* __restrict__ from, EqReal* __restrict__ to) {
  const EqEntity k = eq_index();
  if (k < n) to[k] = from[k];
}

// Values on interior faces in the order of half-faces; 0 on boundary ones.
extern "C" __global__ void equelle_by_side(const EqGrid grid, const EqReal* __restrict__ values, EqReal* __restrict__ by_side) {
  const EqEntity cell = eq_index();
  if (cell >= grid.n_cells) return;
  const EqSides sides = eq_sides(grid, cell);
  for (EqOffset at = sides.begin; at < sides.end; at += EQ_SLICE) by_side[at] = eq_is_inside(eq_neighbour_at(grid, at)) ? values[grid.side_ranks[at]] : 0;
}

// Leaves of a stored collection, a block each. `order` has the positions in the order of the grid's
// file; null if both orders are equal.
extern "C" __global__ void equelle_leaves(unsigned int operation, EqEntity n, const EqEntity* __restrict__ order, const EqReal* __restrict__ in,
                                          double* __restrict__ leaves) {
  const EqLeaf leaf = eq_leaf_here(n);
  double result = operation == 2u ? 0.0 : 1.0;
  for (EqEntity k = leaf.begin; k < leaf.end; k += EQ_CHAINS) {
    const double value = in[order ? order[k] : k];
    result = operation < 2u && k == leaf.begin ? value : eq_combine(operation, result, value);
  }
  result = eq_chains<0>(result, leaf.chains, EqCombine{operation});
  if (eq_tells_leaf()) leaves[blockIdx.x] = result;
}

// Least and greatest value of a nonempty collection, in one pass; NaN if one is. Blocks process it
// in parallel, each with its two results in `leaves`; the last one to end combines them. `arrived`
// counts finished blocks, 0 between launches.
extern "C" __global__ void equelle_extremes(EqEntity n, const EqReal* __restrict__ in, double* leaves, unsigned int* arrived, double* out) {
  // Neutral: there is a value in the end.
  const double beyond = 1.0 / 0.0;
  double least = beyond, greatest = -beyond;
  const unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
  for (unsigned long long k = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x; k < n; k += stride) {
    const double value = in[k];
    least = eq_min(least, value);
    greatest = eq_max(greatest, value);
  }
  least = eq_chains<0>(least, EQ_CHAINS, EqMin());
  greatest = eq_chains<1>(greatest, EQ_CHAINS, EqMax());
#ifdef EQ_SHIM
  if (!eq_tells_leaf()) return;
  leaves[2 * blockIdx.x] = least;
  leaves[2 * blockIdx.x + 1] = greatest;
  if (blockIdx.x + 1 < gridDim.x) return;
  for (unsigned int block = 0; block < gridDim.x; ++block) {
    least = eq_min(least, leaves[2 * block]);
    greatest = eq_max(greatest, leaves[2 * block + 1]);
  }
#else
  __shared__ bool is_last;
  if (eq_tells_leaf()) {
    leaves[2 * blockIdx.x] = least;
    leaves[2 * blockIdx.x + 1] = greatest;
    __threadfence();
    is_last = atomicAdd(arrived, 1u) == gridDim.x - 1u;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  least = beyond, greatest = -beyond;
  for (unsigned int block = threadIdx.x; block < gridDim.x; block += blockDim.x) {
    least = eq_min(least, __ldcg(leaves + 2 * block));
    greatest = eq_max(greatest, __ldcg(leaves + 2 * block + 1));
  }
  least = eq_chains<2>(least, EQ_CHAINS, EqMin());
  greatest = eq_chains<3>(greatest, EQ_CHAINS, EqMax());
  if (!eq_tells_leaf()) return;
  *arrived = 0u;
#endif
  out[0] = least;
  out[1] = greatest;
}

// The same numbers in double precision.
extern "C" __global__ void equelle_doubles(EqEntity n, const EqReal* __restrict__ in, double* __restrict__ out) {
  const EqEntity k = eq_index();
  if (k < n) out[k] = (double)in[k];
}

// out = a - length * b, element by element, computed in double precision; the correction is one.
extern "C" __global__ void equelle_subtract(EqEntity n, const EqReal* a, double length, const double* b, EqReal* out) {
  const EqEntity k = eq_index();
  if (k < n) out[k] = (EqReal)(a[k] - length * b[k]);
}

// The change of each number since the call before, which left the numbers in `before`.
extern "C" __global__ void equelle_change(EqEntity n, const EqReal* __restrict__ values, EqReal* __restrict__ before, EqReal* __restrict__ change) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  const EqReal difference = values[k] - before[k];
  change[k] = difference < 0 ? -difference : difference;
  before[k] = values[k];
}

// Marks a word if a number is not finite, in `components` stored one after the other: 8 bytes (4 in
// single precision) read per number.
extern "C" __global__ void equelle_mark_not_finite(EqEntity n, unsigned int components, const EqReal* __restrict__ values, unsigned long long* word) {
  const EqEntity k = eq_index();
  if (k >= n) return;
  for (unsigned int d = 0; d < components; ++d) {
    if (!(fabs((double)values[d * (size_t)n + k]) <= 1.7976931348623157e308)) atomicMin(word, 0ull);
  }
}
