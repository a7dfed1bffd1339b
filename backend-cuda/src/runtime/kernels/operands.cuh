// Operands of the operation level. The Rust counterpart of each struct is in executor/arguments.rs,
// field for field.
//
// These kernels are launched with one thread for each element along x, and for each component of a
// Vector along y.

// Numbers: `value` if there are no values, else those at k * stride + component * component_stride.
// One number has strides 0. Those of collections have a stride and the precision of the program;
// all others are double.
struct EqOperand {
  const void* values;
  double value;
  EqEntity stride, component_stride;
};
// Bools, one byte each, or one Bool for all.
struct EqBool {
  const unsigned char* values;
  unsigned int value;
  unsigned int stride;
};
static_assert(sizeof(EqOperand) == 24 && sizeof(EqBool) == 16, "layout of arguments");

// Element k of a component.
EQ_FUNCTION EqReal eq_component(const EqOperand& a, EqEntity k, unsigned int component) {
  if (!a.values) return (EqReal)a.value;
  const size_t at = (size_t)k * a.stride + (size_t)component * a.component_stride;
  return a.stride ? ((const EqReal*)a.values)[at] : (EqReal)((const double*)a.values)[at];
}
EQ_FUNCTION EqReal eq_number(const EqOperand& a, EqEntity k) { return eq_component(a, k, blockIdx.y); }
EQ_FUNCTION bool eq_bool(const EqBool& a, EqEntity k) { return (a.values ? a.values[(size_t)k * a.stride] : a.value) != 0; }
// Address of element k of this thread's component.
EQ_FUNCTION size_t eq_component_index(EqEntity n, EqEntity k) { return (size_t)blockIdx.y * n + k; }
EQ_FUNCTION bool eq_nan(EqReal x) { return x != x; }
