// ---- Numbers ------------------------------------------------------------------------------------

// a / b, bit for bit. A division leaves its fast path if the dividend is 0, as discharges of water
// at rest are, and takes several times as long for the whole warp; a times another quotient by b is
// the same zero, and NaN where 0 / b is.
EQ_FUNCTION double eq_divide(double a, double b) {
  const bool zero = a == 0.0;
  const double quotient = (zero ? 0x1p-900 : a) / b;
  return zero ? a * quotient : quotient;
}
EQ_FUNCTION float eq_divide(float a, float b) {
  const bool zero = a == 0.0f;
  const float quotient = (zero ? 0x1p-100f : a) / b;
  return zero ? a * quotient : quotient;
}

// ---- Vectors ------------------------------------------------------------------------------------

template <class T>
struct EqVectorOf {
  T c[DIM];
};
typedef EqVectorOf<double> EqVector;

// The k-th vector of a collection of n.
template <class T>
EQ_FUNCTION EqVectorOf<T> eq_load(const T* components, size_t n, size_t k) {
  EqVectorOf<T> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = components[d * n + k];
  return v;
}
template <class S, class T>
EQ_FUNCTION void eq_store(S* components, size_t n, size_t k, const EqVectorOf<T>& v) {
#pragma unroll
  for (int d = 0; d < DIM; ++d) components[d * n + k] = (S)v.c[d];
}
// Conversion of numbers.
template <class S, class T>
EQ_FUNCTION EqVectorOf<S> eq_converted(const EqVectorOf<T>& a) {
  EqVectorOf<S> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = (S)a.c[d];
  return v;
}
// The vector of these components; missing ones are 0. The host has checked their number.
template <class T>
EQ_FUNCTION EqVectorOf<T> eq_vector(T x, T y = T(0), T z = T(0)) {
  EqVectorOf<T> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = d == 0 ? x : d == 1 ? y : z;
  return v;
}
template <class T = double>
EQ_FUNCTION EqVectorOf<T> eq_zero_vector() {
  return eq_vector(T(0));
}
template <class T>
EQ_FUNCTION EqVectorOf<T> operator+(const EqVectorOf<T>& a, const EqVectorOf<T>& b) {
  EqVectorOf<T> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = a.c[d] + b.c[d];
  return v;
}
template <class T>
EQ_FUNCTION EqVectorOf<T> operator-(const EqVectorOf<T>& a, const EqVectorOf<T>& b) {
  EqVectorOf<T> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = a.c[d] - b.c[d];
  return v;
}
template <class T>
EQ_FUNCTION EqVectorOf<T> operator-(const EqVectorOf<T>& a) {
  EqVectorOf<T> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = -a.c[d];
  return v;
}
template <class T>
EQ_FUNCTION EqVectorOf<T> operator*(const EqVectorOf<T>& a, T s) {
  EqVectorOf<T> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = a.c[d] * s;
  return v;
}
template <class T>
EQ_FUNCTION EqVectorOf<T> operator*(T s, const EqVectorOf<T>& a) {
  EqVectorOf<T> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = s * a.c[d];
  return v;
}
template <class T>
EQ_FUNCTION EqVectorOf<T> operator/(const EqVectorOf<T>& a, T s) {
  EqVectorOf<T> v;
#pragma unroll
  for (int d = 0; d < DIM; ++d) v.c[d] = a.c[d] / s;
  return v;
}
// Components in order, starting with the first product.
template <class T>
EQ_FUNCTION T eq_dot(const EqVectorOf<T>& a, const EqVectorOf<T>& b) {
  T sum = a.c[0] * b.c[0];
#pragma unroll
  for (int d = 1; d < DIM; ++d) sum = sum + a.c[d] * b.c[d];
  return sum;
}
template <class T>
EQ_FUNCTION T eq_length(const EqVectorOf<T>& a) {
  return sqrt(eq_dot(a, a));
}

