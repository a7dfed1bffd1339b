// ---- Reductions ---------------------------------------------------------------------------------

// Number of elements of a leaf, which a block combines with one thread for each chain: element k of
// a leaf belongs to chain k % EQ_CHAINS, from left to right; then the second half of the chains is
// combined with the first half, until one is left. A binary tree combines the leaves (runtime
// module).
#define EQ_LEAF 1024u
#define EQ_CHAINS 256u

// A chain of a leaf.
struct EqLeaf {
  EqEntity begin, end;  // its elements: every EQ_CHAINS-th from `begin` on, before `end`
  EqEntity chains;      // of the leaf that have elements, the first ones
};

// The chain of this thread, of `size` elements in total.
EQ_FUNCTION EqLeaf eq_leaf_here(EqEntity size) {
  const unsigned long long from = (unsigned long long)blockIdx.x * EQ_LEAF, to = from + EQ_LEAF;
  EqLeaf leaf;
  leaf.end = (EqEntity)(to < size ? to : size);
  leaf.chains = leaf.end - (EqEntity)from < EQ_CHAINS ? leaf.end - (EqEntity)from : EQ_CHAINS;
  leaf.begin = (EqEntity)from + threadIdx.x;
  return leaf;
}

// Number of leaves of `size` elements.
EQ_FUNCTION EqEntity eq_leaf_count(EqEntity size) { return size / EQ_LEAF + (size % EQ_LEAF != 0); }

// Combine two partial results, the left one first. Sum starts from 0, Prod from 1, Max and Min from
// the first element of a chain. NaN propagates through Max and Min; of equal operands the left one
// is kept.
EQ_FUNCTION double eq_sum(double left, double right) { return left + right; }
EQ_FUNCTION double eq_prod(double left, double right) { return left * right; }
EQ_FUNCTION double eq_max(double left, double right) { return left >= right || left != left ? left : right; }
EQ_FUNCTION double eq_min(double left, double right) { return left <= right || left != left ? left : right; }
EQ_FUNCTION float eq_max(float left, float right) { return left >= right || left != left ? left : right; }
EQ_FUNCTION float eq_min(float left, float right) { return left <= right || left != left ? left : right; }
EQ_FUNCTION bool eq_any(bool left, bool right) { return left || right; }
EQ_FUNCTION bool eq_all(bool left, bool right) { return left && right; }
// Vectors, component by component.
EQ_FUNCTION EqVector eq_sum(const EqVector& left, const EqVector& right) { return left + right; }
EQ_FUNCTION EqVector eq_max(const EqVector& left, const EqVector& right) {
  EqVector v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = eq_max(left.c[d], right.c[d]);
  return v;
}
EQ_FUNCTION EqVector eq_min(const EqVector& left, const EqVector& right) {
  EqVector v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = eq_min(left.c[d], right.c[d]);
  return v;
}
// Reductions by number: Max, Min, Sum, Prod.
EQ_FUNCTION double eq_combine(unsigned int operation, double left, double right) {
  return operation == 0 ? eq_max(left, right) : operation == 1 ? eq_min(left, right) : operation == 2 ? eq_sum(left, right) : eq_prod(left, right);
}

// Reductions as function objects.
struct EqSum { template <class T> EQ_OPERATOR T operator()(const T& left, const T& right) const { return eq_sum(left, right); } };
struct EqProd { template <class T> EQ_OPERATOR T operator()(const T& left, const T& right) const { return eq_prod(left, right); } };
struct EqMax { template <class T> EQ_OPERATOR T operator()(const T& left, const T& right) const { return eq_max(left, right); } };
struct EqMin { template <class T> EQ_OPERATOR T operator()(const T& left, const T& right) const { return eq_min(left, right); } };
struct EqAny { EQ_OPERATOR bool operator()(bool left, bool right) const { return left || right; } };
struct EqAll { EQ_OPERATOR bool operator()(bool left, bool right) const { return left && right; } };
struct EqCombine {
  unsigned int operation;
  EQ_OPERATOR double operator()(double left, double right) const { return eq_combine(operation, left, right); }
};

// Combines the chains of a leaf; only the thread of eq_tells_leaf has the result. NUMBER
// distinguishes the reductions of a kernel.
#ifdef EQ_SHIM
// Emulator: threads run one after another.
template <int NUMBER, class T, class Combine>
EQ_FUNCTION T eq_chains(T partial, EqEntity count, Combine combine) {
  static thread_local T chains[EQ_CHAINS];
  chains[threadIdx.x] = partial;
  if (threadIdx.x + 1 < EQ_CHAINS) return partial;
  for (EqEntity half = EQ_CHAINS / 2; half > 0; half /= 2)
    for (EqEntity k = 0; k < half && k + half < count; ++k) chains[k] = combine(chains[k], chains[k + half]);
  return chains[0];
}
EQ_FUNCTION bool eq_tells_leaf() { return threadIdx.x + 1 == EQ_CHAINS; }
#else
EQ_FUNCTION double eq_from_lane(double value, unsigned int lanes) { return __shfl_down_sync(0xffffffffu, value, lanes); }
EQ_FUNCTION bool eq_from_lane(bool value, unsigned int lanes) { return __shfl_down_sync(0xffffffffu, (int)value, lanes) != 0; }
EQ_FUNCTION EqVector eq_from_lane(const EqVector& value, unsigned int lanes) {
  EqVector v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = eq_from_lane(value.c[d], lanes);
  return v;
}
template <int NUMBER, class T, class Combine>
EQ_FUNCTION T eq_chains(T partial, EqEntity count, Combine combine) {
  __shared__ T workspace[EQ_CHAINS];
  const unsigned int chain = threadIdx.x;
  for (unsigned int half = EQ_CHAINS / 2; half >= 32u; half /= 2) {
    // Each half has its own memory, so that nothing is overwritten before it is read.
    if (chain >= half && chain < 2 * half) workspace[chain] = partial;
    __syncthreads();
    if (chain < half && chain + half < count) partial = combine(partial, workspace[chain + half]);
  }
  if (chain < 32u) {
#pragma unroll
    for (unsigned int half = 16; half > 0; half /= 2) {
      const T right = eq_from_lane(partial, half);
      if (chain < half && chain + half < count) partial = combine(partial, right);
    }
  }
  return partial;
}
EQ_FUNCTION bool eq_tells_leaf() { return threadIdx.x == 0; }
#endif
