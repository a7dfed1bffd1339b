// Incomplete factorisation without fill on the device, a group of rows at a time, with the
// operations of equelle_runtime::linalg::precond::ilu in their order.

// Long functions that are not inlined: compilation is slow, and factorisations are bound by memory.
#ifdef EQ_SHIM
#define EQ_CALLED static
#else
#define EQ_CALLED static __device__ __noinline__
#endif

// Storage of the blocks of the factors.
struct EqElimination {
  // Position of each element's row in the schedule.
  const EqEntity* positions;
  double* blocks;
  double* inverse;
  // Set to 1 for a singular block.
  unsigned int* singular;
};

static_assert(sizeof(EqElimination) == 32, "layout of arguments");

// Numbers of blocks from the entries of the matrix, times a sign: source[k] is the number of the
// entry, from 1, or 0 for a zero.
extern "C" __global__ void equelle_gather_blocks(EqEntity n, const EqEntity* __restrict__ source, double sign, const double* __restrict__ entries,
                                                 double* __restrict__ blocks) {
  const EqEntity k = eq_index();
  if (k < n) blocks[k] = source[k] ? sign * entries[source[k] - 1] : 0.0;
}

EQ_FUNCTION bool eq_is_finite(double x) { return fabs(x) <= 1.7976931348623157e308; }

// A pivot below this part of its diagonal entry is replaced by that entry.
#define EQ_MIN_PIVOT 1e-10

EQ_FUNCTION void eq_eliminate_point(const EqFactors& f, const EqElimination& e, EqEntity p) {
  const unsigned long long begin = f.row_ptr[p], diagonal = begin + f.lower[p], end = f.row_ptr[p + 1];
  const double original = e.blocks[diagonal];
  for (unsigned long long at = begin; at < diagonal; ++at) {
    const EqEntity q = e.positions[f.columns[at]];
    const double factor = e.blocks[at] * e.inverse[q];
    if (factor == 0.0) continue;
    const unsigned long long last = f.row_ptr[q + 1];
    for (unsigned long long other = f.row_ptr[q] + f.lower[q] + 1; other < last; ++other) {
      const EqEntity column = f.columns[other];
      for (unsigned long long target = at + 1; target < end; ++target)
        if (f.columns[target] == column) {
          e.blocks[target] = e.blocks[target] - factor * e.blocks[other];
          break;
        }
    }
  }
  const double pivot = e.blocks[diagonal];
  const bool usable = eq_is_finite(pivot) && fabs(pivot) > EQ_MIN_PIVOT * fabs(original) && pivot * original >= 0.0;
  const double inverse = 1.0 / (usable ? pivot : original == 0.0 ? 1.0 : original);
  e.inverse[p] = eq_is_finite(inverse) ? inverse : 1.0;
}

// Solves a x = b by elimination with row pivoting, as equelle_runtime::linalg does.
template <unsigned int K>
EQ_CALLED bool eq_solve_dense(double (&a)[K * K], double (&b)[K]) {
  double largest = 0.0;
  for (unsigned int k = 0; k < K * K; ++k) largest = fabs(a[k]) > largest ? fabs(a[k]) : largest;
#pragma unroll 1
  for (unsigned int step = 0; step < K; ++step) {
    unsigned int row_of_pivot = step;
    for (unsigned int row = step + 1; row < K; ++row)
      if (fabs(a[row * K + step]) > fabs(a[row_of_pivot * K + step])) row_of_pivot = row;
    const double pivot = a[row_of_pivot * K + step];
    if (!(eq_is_finite(pivot) && fabs(pivot) > 16.0 * 2.220446049250313e-16 * largest)) return false;
    if (row_of_pivot != step) {
      for (unsigned int column = 0; column < K; ++column) {
        const double other = a[row_of_pivot * K + column];
        a[row_of_pivot * K + column] = a[step * K + column];
        a[step * K + column] = other;
      }
      const double other = b[row_of_pivot];
      b[row_of_pivot] = b[step];
      b[step] = other;
    }
    for (unsigned int row = step + 1; row < K; ++row) {
      const double factor = a[row * K + step] / pivot;
      if (factor == 0.0) continue;
      for (unsigned int column = step + 1; column < K; ++column) a[row * K + column] = a[row * K + column] - factor * a[step * K + column];
      b[row] = b[row] - factor * b[step];
    }
  }
  bool finite = true;
  for (unsigned int row = K; row-- > 0;) {
    double sum = b[row];
    for (unsigned int column = row + 1; column < K; ++column) sum = sum - a[row * K + column] * b[column];
    b[row] = sum / a[row * K + row];
    finite = finite && eq_is_finite(b[row]);
  }
  return finite;
}

// The inverse of a block; false if it is singular.
template <unsigned int K>
EQ_CALLED bool eq_invert_dense(const double* block, double* inverse) {
#pragma unroll 1
  for (unsigned int j = 0; j < K; ++j) {
    double a[K * K], column[K];
    for (unsigned int k = 0; k < K * K; ++k) a[k] = block[k];
    for (unsigned int k = 0; k < K; ++k) column[k] = k == j ? 1.0 : 0.0;
    if (!eq_solve_dense<K>(a, column)) return false;
    for (unsigned int k = 0; k < K; ++k) inverse[k * K + j] = column[k];
  }
  return true;
}

template <unsigned int K>
EQ_CALLED void eq_eliminate_block(const EqFactors& f, const EqElimination& e, EqEntity p) {
  const size_t size = K * K;
  const unsigned long long begin = f.row_ptr[p], diagonal = begin + f.lower[p], end = f.row_ptr[p + 1];
  double* own = e.blocks + diagonal * size;
  double original = 0.0, left = 0.0;
  for (unsigned int k = 0; k < size; ++k) original = fabs(own[k]) > original ? fabs(own[k]) : original;
  for (unsigned long long at = begin; at < diagonal; ++at) {
    const EqEntity q = e.positions[f.columns[at]];
    const double *block = e.blocks + at * size, *inverse = e.inverse + q * size;
    double factor[K * K];
    for (unsigned int k = 0; k < size; ++k) factor[k] = 0.0;
    for (unsigned int i = 0; i < K; ++i)
      for (unsigned int h = 0; h < K; ++h)
        for (unsigned int j = 0; j < K; ++j) factor[i * K + j] = factor[i * K + j] + block[i * K + h] * inverse[h * K + j];
    const unsigned long long last = f.row_ptr[q + 1];
    for (unsigned long long other = f.row_ptr[q] + f.lower[q] + 1; other < last; ++other) {
      const EqEntity column = f.columns[other];
      for (unsigned long long target = at + 1; target < end; ++target) {
        if (f.columns[target] != column) continue;
        double* to = e.blocks + target * size;
        const double* from = e.blocks + other * size;
        for (unsigned int i = 0; i < K; ++i)
          for (unsigned int h = 0; h < K; ++h)
            for (unsigned int j = 0; j < K; ++j) to[i * K + j] = to[i * K + j] - factor[i * K + h] * from[h * K + j];
        break;
      }
    }
  }
  bool finite = true;
  for (unsigned int k = 0; k < size; ++k) {
    finite = finite && eq_is_finite(own[k]);
    left = fabs(own[k]) > left ? fabs(own[k]) : left;
  }
  // All writers write the same value.
  if (!(finite && left > EQ_MIN_PIVOT * original) || !eq_invert_dense<K>(own, e.inverse + p * size)) *e.singular = 1u;
}

EQ_FUNCTION void eq_eliminate(const EqFactors& f, const EqElimination& e, EqEntity p) {
  switch (f.k) {
    case 1: eq_eliminate_point(f, e, p); break;
    case 2: eq_eliminate_block<2>(f, e, p); break;
    case 3: eq_eliminate_block<3>(f, e, p); break;
    default: eq_eliminate_block<4>(f, e, p); break;
  }
}

extern "C" __global__ void equelle_eliminate(EqEntity from, EqEntity to, unsigned int, const EqSchedule, const EqFactors f, const EqElimination e) {
  const EqEntity p = from + eq_index();
  if (p < to) eq_eliminate(f, e, p);
}

extern "C" __global__ void equelle_eliminate_groups(EqEntity first, EqEntity count, unsigned int back, const EqSchedule schedule,
                                                    const EqFactors f, const EqElimination e) {
  EQ_GROUPS(schedule, first, count, back != 0u, eq_eliminate(f, e, p))
}

// The inverse of each diagonal block of k fields on n elements, of sign times the matrix: out is [k
// n, k], row by row. A singular one sets the flag. 12 bytes an entry and 8 k a row.
template <unsigned int K>
EQ_FUNCTION void eq_invert_diagonal(EqEntity n, EqEntity element, const EqRows& a, double sign, double* out, unsigned int* singular) {
  double block[K * K], inverse[K * K];
  for (unsigned int k = 0; k < K * K; ++k) block[k] = 0.0;
  for (unsigned int i = 0; i < K; ++i) {
    const size_t row = (size_t)i * n + element;
    for (unsigned long long at = a.row_ptr[row]; at < a.row_ptr[row + 1]; ++at)
      if (a.columns[at] % n == element) block[i * K + a.columns[at] / n] = sign * a.entries[at];
  }
  if (!eq_invert_dense<K>(block, inverse)) *singular = 1u;
  for (unsigned int i = 0; i < K; ++i)
    for (unsigned int j = 0; j < K; ++j) out[((size_t)i * n + element) * K + j] = inverse[i * K + j];
}

extern "C" __global__ void equelle_invert_diagonal(EqEntity n, unsigned int k, const EqRows a, double sign, double* out, unsigned int* singular) {
  const EqEntity element = eq_index();
  if (element >= n) return;
  switch (k) {
    case 1: eq_invert_diagonal<1>(n, element, a, sign, out, singular); break;
    case 2: eq_invert_diagonal<2>(n, element, a, sign, out, singular); break;
    case 3: eq_invert_diagonal<3>(n, element, a, sign, out, singular); break;
    default: eq_invert_diagonal<4>(n, element, a, sign, out, singular); break;
  }
}
