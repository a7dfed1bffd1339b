// The bits of a number, which order nonnegative numbers.
EQ_FUNCTION unsigned long long eq_bits(double value) {
#ifdef EQ_SHIM
  unsigned long long bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
#else
  return (unsigned long long)__double_as_longlong(value);
#endif
}

