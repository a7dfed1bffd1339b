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
// the first element of a chain. NaN propagates through Max and Min; of two numbers that are equal
// eq_max and eq_min keep the left one.
EQ_FUNCTION double eq_sum(double left, double right) { return left + right; }
EQ_FUNCTION double eq_prod(double left, double right) { return left * right; }
EQ_FUNCTION double eq_max(double left, double right) { return left >= right || left != left ? left : right; }
EQ_FUNCTION double eq_min(double left, double right) { return left <= right || left != left ? left : right; }
EQ_FUNCTION float eq_max(float left, float right) { return left >= right || left != left ? left : right; }
EQ_FUNCTION float eq_min(float left, float right) { return left <= right || left != left ? left : right; }
// Those of reductions, whose result must not depend on an order: -0 is less than +0.
EQ_FUNCTION double eq_greatest(double left, double right) {
  return left > right || left != left || (left == right && copysign(1.0, left) > 0.0) ? left : right;
}
EQ_FUNCTION double eq_least(double left, double right) {
  return left < right || left != left || (left == right && copysign(1.0, left) < 0.0) ? left : right;
}
EQ_FUNCTION bool eq_any(bool left, bool right) { return left || right; }
EQ_FUNCTION bool eq_all(bool left, bool right) { return left && right; }
// Vectors, component by component.
EQ_FUNCTION EqVector eq_sum(const EqVector& left, const EqVector& right) { return left + right; }
EQ_FUNCTION EqVector eq_greatest(const EqVector& left, const EqVector& right) {
  EqVector v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = eq_greatest(left.c[d], right.c[d]);
  return v;
}
EQ_FUNCTION EqVector eq_least(const EqVector& left, const EqVector& right) {
  EqVector v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = eq_least(left.c[d], right.c[d]);
  return v;
}
// Reductions by number: Max, Min, Sum, Prod.
EQ_FUNCTION double eq_combine(unsigned int operation, double left, double right) {
  return operation == 0 ? eq_greatest(left, right) : operation == 1 ? eq_least(left, right) : operation == 2 ? eq_sum(left, right) : eq_prod(left, right);
}

// Reductions as function objects.
struct EqSum { template <class T> EQ_OPERATOR T operator()(const T& left, const T& right) const { return eq_sum(left, right); } };
struct EqProd { template <class T> EQ_OPERATOR T operator()(const T& left, const T& right) const { return eq_prod(left, right); } };
struct EqMax { template <class T> EQ_OPERATOR T operator()(const T& left, const T& right) const { return eq_greatest(left, right); } };
struct EqMin { template <class T> EQ_OPERATOR T operator()(const T& left, const T& right) const { return eq_least(left, right); } };
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

// ---- Extremes that threads take on the way ------------------------------------------------------

// The key of a number: numbers ascend with their keys, or descend for the largest one, so that the
// least key is that of the extreme. NaN has the least key of all. No number has the key of
// EQ_NO_EXTREME.
#define EQ_NO_EXTREME 0xffffffffffffffffull
// An extreme has several keys, in cache lines of their own: warps of one multiprocessor share one.
#define EQ_EXTREME_KEYS 64u
#define EQ_KEY_WORDS 16u
template <bool LARGEST>
EQ_FUNCTION unsigned long long eq_extreme_key(double value) {
  const unsigned long long bits = eq_bits(value);
  const unsigned long long sign = 1ull << 63, key = bits & sign ? ~bits : bits | sign;
  return value != value ? 0ull : LARGEST ? ~key : key;
}
EQ_FUNCTION double eq_extreme_of_key(unsigned long long key, bool largest) {
  const unsigned long long sign = 1ull << 63, ascending = largest ? ~key : key;
  return eq_of_bits(key == 0 ? 0x7ff8ull << 48 : ascending & sign ? ascending & ~sign : ~ascending);
}

// Takes in a value of this thread; any threads may, at any time.
template <bool LARGEST>
EQ_FUNCTION void eq_take_extreme(double* at, double value) {
  unsigned long long* least = (unsigned long long*)at;
  unsigned long long key = eq_extreme_key<LARGEST>(value);
#ifdef EQ_SHIM
  if (key < *least) *least = key;
#else
#if __CUDA_ARCH__ >= 800
  // The threads of a warp that are here together send one key.
  const unsigned int together = __activemask(), high = (unsigned int)(key >> 32);
  const unsigned int least_high = __reduce_min_sync(together, high);
  const unsigned int least_low = __reduce_min_sync(together, high == least_high ? (unsigned int)key : 0xffffffffu);
  unsigned int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  if (lane + 1u != (unsigned int)__ffs((int)together)) return;
  key = (unsigned long long)least_high << 32 | least_low;
#endif
  unsigned int multiprocessor;
  asm("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  least += EQ_KEY_WORDS * (multiprocessor % EQ_EXTREME_KEYS);
  // Most keys are not below the one that is there.
  if (key < *(volatile unsigned long long*)least) atomicMin(least, key);
#endif
}
