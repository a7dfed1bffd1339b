// What the kernels of the operation level read. The Rust side of each struct is in args.rs, field for field.
//
// These kernels are launched with one thread for each element along x, and for each component of a Vector along y.

// Numbers: `value` where there are no values, else those at k * stride + component * component_stride. One number has strides 0.
struct EqOperand {
  const double* values;
  double value;
  EqEntity stride, component_stride;
};
// Truth values, a byte each, or one of them.
struct EqTruth {
  const unsigned char* values;
  unsigned int value;
  unsigned int stride;
};
static_assert(sizeof(EqOperand) == 24 && sizeof(EqTruth) == 16, "layout of arguments");

EQ_FUNCTION double eq_number(const EqOperand& a, EqEntity k) {
  return a.values ? a.values[(size_t)k * a.stride + (size_t)blockIdx.y * a.component_stride] : a.value;
}
EQ_FUNCTION bool eq_truth(const EqTruth& a, EqEntity k) { return (a.values ? a.values[(size_t)k * a.stride] : a.value) != 0; }
// Where element k of the component of this thread is.
EQ_FUNCTION size_t eq_place(EqEntity n, EqEntity k) { return (size_t)blockIdx.y * n + k; }
EQ_FUNCTION bool eq_nan(double x) { return x != x; }
