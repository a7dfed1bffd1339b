// Updates of vectors, and sums with updates of vectors before, in one pass. Vectors are of EqReal;
// scalars on the device, coefficients and sums are double.

// y = x; y = y + a x; y = y - a x; y = x + a y; y = a y: operation 0 to 4. 16 to 24 bytes an
// element.
extern "C" __global__ void equelle_vector(unsigned int operation, EqEntity n, EqReal* y, const double* a, const EqReal* x) {
  EQ_START
  const EqEntity k = eq_index();
  if (k >= n) return;
  switch (operation) {
    case 0: y[k] = x[k]; break;
    case 1: y[k] = y[k] + (EqReal)*a * x[k]; break;
    case 2: y[k] = y[k] - (EqReal)*a * x[k]; break;
    case 3: y[k] = x[k] + (EqReal)*a * y[k]; break;
    default: y[k] = (EqReal)*a * y[k]; break;
  }
}

extern "C" __global__ void equelle_fill(EqEntity n, double value, EqReal* out) {
  const EqEntity k = eq_index();
  if (k < n) out[k] = (EqReal)value;
}

// z = a z + b D r with a diagonal matrix; z is not read where a is 0. 32 to 40 bytes an element.
extern "C" __global__ void equelle_add_diagonal(EqEntity n, double a, double b, const EqReal* d, const EqReal* r, EqReal* z) {
  EQ_START
  const EqEntity k = eq_index();
  if (k >= n) return;
  const EqReal product = (EqReal)b * (d[k] * r[k]);
  z[k] = a == 0.0 ? product : (EqReal)a * z[k] + product;
}

// Launch bounds of sums over vectors: all blocks of 10^6 elements shall run at once, 8 on each
// multiprocessor; 7.6 instead of 9.6 us on an H200.
#define EQ_SUMS_OF_VECTORS __launch_bounds__(256, 8)

// w . y, 16 bytes an element; the same after y = y - a x, 32, and without w 24; y . D y after that
// with the diagonal w, 32, or at once, 16: operation 0 to 3.
extern "C" __global__ void EQ_SUMS_OF_VECTORS equelle_dot(unsigned int operation, EqEntity n, EqReal* y, const double* a, const EqReal* x, const EqReal* w,
                                       const EqSums sums, const EqNumbers numbers) {
  EQ_START
  EQ_SUM_WORKSPACE(1)
  switch (operation) {
    case 0: eq_sums<1>(n, sums, numbers, workspace, [=](EqEntity k) { return EqValues{eq_product(w[k], y[k]), 0.0}; }); break;
    case 1: {
      const EqReal factor = (EqReal)*a;
      eq_sums<1>(n, sums, numbers, workspace, [=](EqEntity k) {
        const EqReal value = y[k] - factor * x[k];
        y[k] = value;
        return EqValues{eq_product(w ? w[k] : value, value), 0.0};
      });
      break;
    }
    case 2: {
      const EqReal factor = (EqReal)*a;
      eq_sums<1>(n, sums, numbers, workspace, [=](EqEntity k) {
        const EqReal value = y[k] - factor * x[k];
        y[k] = value;
        return EqValues{eq_product(value, w[k] * value), 0.0};
      });
      break;
    }
    default: eq_sums<1>(n, sums, numbers, workspace, [=](EqEntity k) { return EqValues{eq_product(y[k], w[k] * y[k]), 0.0}; }); break;
  }
}
