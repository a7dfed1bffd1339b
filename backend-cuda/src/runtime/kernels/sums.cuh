// Sums over vectors, and operations on scalars that follow them.

// ---- Scalars ------------------------------------------------------------------------------------

// One operation on scalars: a; a + b; a - b; a * b; a / b or 0 if b is 0; a or 0 if it is round-off
// compared with b; square root; minimum; a or 0 if it is round-off of single precision compared
// with b.
struct EqNumberStep {
  unsigned long long operation;
  const double* a;
  const double* b;
  double* out;
};

// Operations one after the other.
#define EQ_NUMBERS 8
struct EqNumbers {
  unsigned long long count;
  EqNumberStep steps[EQ_NUMBERS];
};

EQ_FUNCTION double eq_number(unsigned long long operation, double a, double b) {
  switch (operation) {
    case 0: return a;
    case 1: return a + b;
    case 2: return a - b;
    case 3: return a * b;
    case 4: return b == 0.0 ? 0.0 : a / b;
    case 5: return fabs(a) <= 64.0 * 2.220446049250313e-16 * fabs(b) ? 0.0 : a;
    case 6: return sqrt(a);
    case 7: return eq_min(a, b);
    default: return fabs(a) <= 64.0 * 1.1920928955078125e-07 * fabs(b) ? 0.0 : a;
  }
}

#ifdef EQ_SHIM
// Emulator: threads run one after another.
EQ_FUNCTION void eq_numbers(const EqNumbers& numbers) {
  for (unsigned int k = 0; k < numbers.count; ++k) {
    const EqNumberStep& step = numbers.steps[k];
    *step.out = eq_number(step.operation, *step.a, *step.b);
  }
}
#else
// Operands of the operation of each lane of the first warp: independent reads.
struct EqOperands {
  double a, b;
};

// A scalar as it was before the launch; 0 if the launch computes it, as a sum or by an operation
// before that of this lane.
EQ_FUNCTION double eq_operand(const EqNumbers& numbers, const double* at, const double* first, const double* second) {
  bool is_made = at == first || at == second;
  for (unsigned int k = 0; k < threadIdx.x; ++k) is_made = is_made || numbers.steps[k].out == at;
  return is_made ? 0.0 : *at;
}

EQ_FUNCTION EqOperands eq_operands(const EqNumbers& numbers, const double* first, const double* second) {
  if (threadIdx.x >= numbers.count) return EqOperands{0.0, 0.0};
  const EqNumberStep& step = numbers.steps[threadIdx.x];
  return EqOperands{eq_operand(numbers, step.a, first, second), eq_operand(numbers, step.b, first, second)};
}

// Passes a computed scalar to the operations that use it.
EQ_FUNCTION void eq_number_made(const EqNumbers& numbers, EqOperands& operands, const double* at, double value) {
  if (threadIdx.x >= numbers.count) return;
  const EqNumberStep& step = numbers.steps[threadIdx.x];
  if (step.a == at) operands.a = value;
  if (step.b == at) operands.b = value;
}

// By all lanes of the first warp.
EQ_FUNCTION void eq_numbers(const EqNumbers& numbers, EqOperands operands) {
  for (unsigned int k = 0; k < numbers.count; ++k) {
    const EqNumberStep& step = numbers.steps[k];
    double value = 0.0;
    if (threadIdx.x == k) value = eq_number(step.operation, operands.a, operands.b);
    value = __shfl_sync(0xffffffffu, value, k);
    // By one thread, in this order, since two may have the same destination.
    if (threadIdx.x == 0) *step.out = value;
    if (threadIdx.x > k) eq_number_made(numbers, operands, step.out, value);
  }
}
#endif

// ---- Sums ---------------------------------------------------------------------------------------

// Destination of sums; second only for kernels with two sums.
struct EqSums {
  // One result for each leaf, those of the second sum after those of the first.
  double* leaves;
  // Counter of finished blocks, 0 between launches; null if another kernel adds the leaves.
  unsigned int* arrived;
  double* first;
  double* second;
};

static_assert(sizeof(EqNumbers) == 8 + 32 * EQ_NUMBERS && sizeof(EqSums) == 32, "layout of arguments");

// Values of one element for two sums.
struct EqValues {
  double first;
  double second;
};

// A product of elements of vectors, which is exact for single precision.
EQ_FUNCTION double eq_product(EqReal a, EqReal b) { return (double)a * (double)b; }

// Number of leaves that a warp adds at once, and the largest number that one block adds.
#define EQ_WARP_LEAVES 256u
#define EQ_MAX_LEAVES (EQ_WARP_LEAVES * EQ_LEAF)

#ifdef EQ_SHIM
#define EQ_SUM_WORKSPACE(N) double (*const workspace)[EQ_LEAF] = 0;

EQ_FUNCTION double eq_add_leaves(double* leaves, unsigned int count) {
  for (; count > 1; count = (count + 1) / 2) {
    for (unsigned int k = 0; k < count / 2; ++k) leaves[k] = leaves[2 * k] + leaves[2 * k + 1];
    if (count % 2 == 1) leaves[count / 2] = leaves[count - 1];
  }
  return leaves[0];
}
#else
#define EQ_SUM_WORKSPACE(N) __shared__ double workspace[N][EQ_LEAF];

// The binary tree over leaves that other blocks have written, by all threads of a block; `shared`
// has memory for EQ_LEAF numbers.
EQ_FUNCTION double eq_add_leaves(const double* leaves, unsigned int count, double* shared) {
  const unsigned int lane = threadIdx.x % 32u;
  for (unsigned int chunk = threadIdx.x / 32u; chunk * EQ_WARP_LEAVES < count; chunk += blockDim.x / 32u) {
    // Three levels in registers, five between the lanes. Beyond the end the left operand passes on.
    const unsigned int begin = chunk * EQ_WARP_LEAVES + lane * 8u;
    double v[8];
#pragma unroll
    for (unsigned int k = 0; k < 8u; ++k) v[k] = begin + k < count ? __ldcg(leaves + begin + k) : 0.0;
#pragma unroll
    for (unsigned int step = 1; step < 8u; step *= 2u)
#pragma unroll
      for (unsigned int k = 0; k + step < 8u; k += 2u * step)
        if (begin + k + step < count) v[k] = v[k] + v[k + step];
    double value = v[0];
#pragma unroll
    for (unsigned int step = 1; step < 32u; step *= 2u) {
      const double right = __shfl_down_sync(0xffffffffu, value, step);
      if (lane % (2u * step) == 0 && begin + 8u * step < count) value = value + right;
    }
    if (lane == 0) shared[chunk] = value;
  }
  const unsigned int chunks = (count + EQ_WARP_LEAVES - 1u) / EQ_WARP_LEAVES;
  for (unsigned int step = 1; step < chunks; step *= 2u) {
    __syncthreads();
    for (unsigned int k = threadIdx.x * 2u * step; k + step < chunks; k += blockDim.x * 2u * step) shared[k] = shared[k] + shared[k + step];
  }
  __syncthreads();
  return shared[0];
}
#endif

// One leaf for each block: `element` updates an element and returns its values, which are added by
// chains, one thread each. The last block to end adds the leaves, and then executes the operations
// on scalars. `workspace` is shared memory for N leaves.
template <unsigned int N, class Element>
EQ_FUNCTION void eq_sums(EqEntity n, const EqSums& sums, const EqNumbers& numbers, double (*workspace)[EQ_LEAF], Element element) {
  const unsigned long long begin = (unsigned long long)blockIdx.x * EQ_LEAF;
  const unsigned int size = n - begin < EQ_LEAF ? (unsigned int)(n - begin) : EQ_LEAF;
#ifdef EQ_SHIM
  // Emulator: threads and blocks run one after another.
  if (threadIdx.x != 0) return;
  EqValues chains[EQ_CHAINS] = {};
  for (unsigned int k = 0; k < size; ++k) {
    const EqValues values = element((EqEntity)(begin + k));
    chains[k % EQ_CHAINS].first = chains[k % EQ_CHAINS].first + values.first;
    chains[k % EQ_CHAINS].second = chains[k % EQ_CHAINS].second + values.second;
  }
  for (unsigned int half = EQ_CHAINS / 2u; half > 0; half /= 2u)
    for (unsigned int k = 0; k < half; ++k) {
      chains[k].first = chains[k].first + chains[k + half].first;
      chains[k].second = chains[k].second + chains[k + half].second;
    }
  sums.leaves[blockIdx.x] = chains[0].first;
  if (N == 2) sums.leaves[gridDim.x + blockIdx.x] = chains[0].second;
  if (!sums.arrived || blockIdx.x + 1 < gridDim.x) return;
  *sums.first = eq_add_leaves(sums.leaves, gridDim.x);
  if (N == 2) *sums.second = eq_add_leaves(sums.leaves + gridDim.x, gridDim.x);
  eq_numbers(numbers);
#else
  __shared__ bool is_last;
  const unsigned int chain = threadIdx.x;
  double first = 0.0, second = 0.0;
  for (unsigned int k = chain; k < size; k += EQ_CHAINS) {
    const EqValues of = element((EqEntity)(begin + k));
    first = first + of.first;
    if (N == 2) second = second + of.second;
  }
  for (unsigned int half = EQ_CHAINS / 2u; half >= 32u; half /= 2u) {
    if (chain >= half && chain < 2u * half) {
      workspace[0][chain] = first;
      if (N == 2) workspace[N - 1][chain] = second;
    }
    __syncthreads();
    if (chain < half) {
      first = first + workspace[0][chain + half];
      if (N == 2) second = second + workspace[N - 1][chain + half];
    }
  }
  if (chain < 32u) {
#pragma unroll
    for (unsigned int half = 16u; half > 0; half /= 2u) {
      first = first + __shfl_down_sync(0xffffffffu, first, half);
      if (N == 2) second = second + __shfl_down_sync(0xffffffffu, second, half);
    }
  }
  if (chain == 0) {
    sums.leaves[blockIdx.x] = first;
    if (N == 2) sums.leaves[gridDim.x + blockIdx.x] = second;
    if (sums.arrived) {
      __threadfence();
      is_last = atomicAdd(sums.arrived, 1u) == gridDim.x - 1u;
    }
  }
  if (!sums.arrived) return;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  EqOperands operands = eq_operands(numbers, sums.first, sums.second);
  first = eq_add_leaves(sums.leaves, gridDim.x, workspace[0]);
  if (N == 2) second = eq_add_leaves(sums.leaves + gridDim.x, gridDim.x, workspace[N - 1]);
  if (chain >= 32u) return;
  eq_number_made(numbers, operands, sums.first, first);
  if (N == 2) eq_number_made(numbers, operands, sums.second, second);
  if (chain == 0) {
    *sums.arrived = 0u;
    *sums.first = first;
    if (N == 2) *sums.second = second;
  }
  eq_numbers(numbers, operands);
#endif
}
