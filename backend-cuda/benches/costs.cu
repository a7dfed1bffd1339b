// Kernels for what operations cost. Elements are those of a cube with EDGE cells an edge.

#define EDGE 256u
#define CELLS (EDGE * EDGE * EDGE)
#define REPEATS 64

extern "C" __global__ void EQ_LIGHT store(const double* __restrict__ a, const EqEntity* __restrict__ faces, double* __restrict__ out) {
  out[eq_index()] = 1.0;
}

extern "C" __global__ void EQ_LIGHT one_load(const double* __restrict__ a, const EqEntity* __restrict__ faces, double* __restrict__ out) {
  out[eq_index()] = a[eq_index()];
}

// Eight arrays of CELLS / 4 elements, which no cache holds.
extern "C" __global__ void EQ_LIGHT loads(const double* __restrict__ a, const EqEntity* __restrict__ faces, double* __restrict__ out) {
  const EqEntity at = eq_index();
  double sum = 0.0;
  #pragma unroll
  for (int array = 0; array < 8; ++array) sum = sum + a[at + array * (CELLS / 4)];
  out[at] = sum;
}

// The values of the six neighbours, which other threads load as well.
extern "C" __global__ void EQ_LIGHT neighbours(const double* __restrict__ a, const EqEntity* __restrict__ faces, double* __restrict__ out) {
  const EqEntity at = eq_index();
  const EqEntity by[6] = {1u, CELLS - 1u, EDGE, CELLS - EDGE, EDGE * EDGE, CELLS - EDGE * EDGE};
  double sum = a[at];
  #pragma unroll
  for (int side = 0; side < 6; ++side) sum = sum + a[(at + by[side]) % CELLS];
  out[at] = sum;
}

// Faces are numbered axis by axis. A value by face takes its number first.
extern "C" __global__ void EQ_LIGHT by_face(const double* __restrict__ a, const EqEntity* __restrict__ faces, double* __restrict__ out) {
  const EqEntity at = eq_index();
  double sum = 0.0;
  #pragma unroll
  for (int side = 0; side < 6; ++side) sum = sum + a[faces[at + side * CELLS]];
  out[at] = sum;
}

// REPEATS operations on each of four numbers, which do not wait for one another.
#define EQ_CHAIN(NAME, OPERATION)                                                                                                     \
  extern "C" __global__ void EQ_HEAVY NAME(const double* __restrict__ a, const EqEntity* __restrict__ faces, double* __restrict__ out) { \
    const double c = a[0];                                                                                                            \
    double x[4];                                                                                                                      \
    for (int k = 0; k < 4; ++k) x[k] = a[eq_index()] + k;                                                                             \
    _Pragma("unroll 4") for (int repeat = 0; repeat < REPEATS; ++repeat) {                                                            \
      _Pragma("unroll") for (int k = 0; k < 4; ++k) x[k] = OPERATION;                                                                 \
    }                                                                                                                                 \
    out[eq_index()] = ((x[0] + x[1]) + x[2]) + x[3];                                                                                  \
  }
EQ_CHAIN(additions, x[k] + c)
EQ_CHAIN(products, x[k] * c)
EQ_CHAIN(quotients, eq_divide(c, x[k]))
EQ_CHAIN(roots, sqrt(x[k]))
EQ_CHAIN(exponentials, eq_exp(c - x[k]))
EQ_CHAIN(powers, eq_pow(x[k], c - 1.0))
// A table, where other kernels have faces: its values are numbers of its range.
EQ_CHAIN(look_ups, eq_interpolate((const double*)faces, x[k]))
