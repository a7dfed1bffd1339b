
// The bits of a number, which order nonnegative numbers, and the number of bits.
#ifdef EQ_SHIM
EQ_FUNCTION unsigned long long eq_bits(double value) {
  unsigned long long bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
EQ_FUNCTION double eq_of_bits(unsigned long long bits) {
  double value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
#else
EQ_FUNCTION unsigned long long eq_bits(double value) { return (unsigned long long)__double_as_longlong(value); }
EQ_FUNCTION double eq_of_bits(unsigned long long bits) { return __longlong_as_double((long long)bits); }
#endif
