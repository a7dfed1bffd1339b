// Lets kernel text run on the host, one thread after another: for tests without a GPU. Kernels that make threads wait for each other
// cannot run so.
#include <cmath>
#include <cstddef>
#include <type_traits>

#define __global__
#define __device__
#define __forceinline__ inline
#define __align__(n) alignas(n)
#define __launch_bounds__(...)
// Threads cannot wait for each other.
#define EQ_SHIM

struct EqDim3 {
  unsigned int x, y, z;
};
static thread_local EqDim3 threadIdx, blockIdx, blockDim, gridDim;

// One thread writes what one thread reads.
static inline void __threadfence_system() {}

using std::fabs;
using std::sqrt;

template <class Number>
static inline Number atomicMin(Number* at, Number value) {
  const Number old = *at;
  if (value < old) *at = value;
  return old;
}
template <class Number>
static inline Number atomicMax(Number* at, Number value) {
  const Number old = *at;
  if (value > old) *at = value;
  return old;
}
template <class Number>
static inline Number atomicCAS(Number* at, Number expected, Number value) {
  const Number old = *at;
  if (old == expected) *at = value;
  return old;
}
template <class Number>
static inline Number atomicAdd(Number* at, Number value) {
  const Number old = *at;
  *at = old + value;
  return old;
}

// Calls a kernel with its arguments, given as words, for every thread.
template <class... Parameters>
struct EqUnpack {
  template <class Function, class... Done>
  static void call(Function function, const unsigned long long*, const unsigned int*, const Done&... done) {
    function(done...);
  }
};
template <class First, class... Rest>
struct EqUnpack<First, Rest...> {
  template <class Function, class... Done>
  static void call(Function function, const unsigned long long* words, const unsigned int* offsets, const Done&... done) {
    EqUnpack<Rest...>::call(function, words, offsets + 1, done..., *reinterpret_cast<const First*>(words + *offsets));
  }
};
template <class... Parameters>
static void eq_run(void (*kernel)(Parameters...), const unsigned int* shape, const unsigned long long* words, const unsigned int* offsets) {
  gridDim = {shape[0], shape[1], shape[2]};
  blockDim = {shape[3], shape[4], shape[5]};
  for (blockIdx.z = 0; blockIdx.z < gridDim.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < gridDim.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x)
        for (threadIdx.z = 0; threadIdx.z < blockDim.z; ++threadIdx.z)
          for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y)
            for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) EqUnpack<std::remove_const_t<Parameters>...>::call(kernel, words, offsets);
}
