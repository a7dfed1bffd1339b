// Yardstick: explicit heat on N^3 cells in single precision, by hand: one cell a thread, and four
// cells of a row a thread with 16-byte loads. Uniform coefficient, no heat through the boundary.
// Build and run: nvcc -O3 -arch=sm_90 heat_f32.cu -o heat_f32 && ./heat_f32 256
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define CHECK(call)                                                                                  \
  do {                                                                                               \
    cudaError_t error = (call);                                                                      \
    if (error != cudaSuccess) {                                                                      \
      printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(error));                           \
      exit(1);                                                                                       \
    }                                                                                                \
  } while (0)

__global__ void copy(float4* __restrict__ out, const float4* __restrict__ u, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = u[i];
}

__global__ void __launch_bounds__(256) one_cell(float* __restrict__ out, const float* __restrict__ u, int nx, int ny, int nz, float c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
  if (i >= nx || j >= ny) return;
  const int layer = nx * ny, id = i + nx * j + layer * k;
  const float x = u[id];
  float a = 0;
  a += i > 0 ? u[id - 1] - x : 0;
  a += i < nx - 1 ? u[id + 1] - x : 0;
  a += j > 0 ? u[id - nx] - x : 0;
  a += j < ny - 1 ? u[id + nx] - x : 0;
  a += k > 0 ? u[id - layer] - x : 0;
  a += k < nz - 1 ? u[id + layer] - x : 0;
  out[id] = x + c * a;
}

// The layers below and above stay in registers while a thread goes up `steps` layers.
__global__ void __launch_bounds__(256) four_cells(float* __restrict__ out, const float* __restrict__ u, int nx, int ny, int nz, int steps, float c) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x), j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny) return;
  const int layer = nx * ny, first = blockIdx.z * steps;
  int id = i + nx * j + layer * first;
  const auto at = [&](int where) { return *reinterpret_cast<const float4*>(u + where); };
  float4 here = at(id), below = first > 0 ? at(id - layer) : here;
  for (int k = first; k < first + steps && k < nz; ++k, id += layer) {
    const float4 above = k < nz - 1 ? at(id + layer) : here;
    const float4 front = j > 0 ? at(id - nx) : here, back = j < ny - 1 ? at(id + nx) : here;
    const float row[6] = {i > 0 ? u[id - 1] : here.x, here.x, here.y, here.z, here.w, i + 4 < nx ? u[id + 4] : here.w};
    const float ys[2][4] = {{front.x, front.y, front.z, front.w}, {back.x, back.y, back.z, back.w}};
    const float zs[2][4] = {{below.x, below.y, below.z, below.w}, {above.x, above.y, above.z, above.w}};
    float next[4];
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      const float x = row[m + 1];
      float a = row[m] - x;
      a += row[m + 2] - x;
      a += ys[0][m] - x;
      a += ys[1][m] - x;
      a += zs[0][m] - x;
      a += zs[1][m] - x;
      next[m] = x + c * a;
    }
    *reinterpret_cast<float4*>(out + id) = make_float4(next[0], next[1], next[2], next[3]);
    below = here;
    here = above;
  }
}

template <class F>
static float milliseconds(F step) {
  for (int k = 0; k < 5; ++k) step();
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  float least = 1e30f;
  for (int turn = 0; turn < 5; ++turn) {
    CHECK(cudaEventRecord(begin));
    for (int k = 0; k < 50; ++k) step();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float took;
    CHECK(cudaEventElapsedTime(&took, begin, end));
    if (took / 50 < least) least = took / 50;
  }
  CHECK(cudaGetLastError());
  return least;
}

int main(int count, char** words) {
  const int n = count > 1 ? atoi(words[1]) : 256;
  if (n < 4 || n % 4 != 0) {
    printf("the number of cells along an axis must be a multiple of 4\n");
    return 1;
  }
  const int cells = n * n * n;
  std::vector<float> start(cells), plain(cells), vector(cells);
  for (float& x : start) x = float(drand48());
  float *u, *out;
  CHECK(cudaMalloc(&u, cells * sizeof(float)));
  CHECK(cudaMalloc(&out, cells * sizeof(float)));
  CHECK(cudaMemcpy(u, start.data(), cells * sizeof(float), cudaMemcpyHostToDevice));
  printf("copy %d^3 %.4f ms\n", n, milliseconds([&] { copy<<<(cells / 4 + 255) / 256, 256>>>((float4*)out, (const float4*)u, cells / 4); }));
  const dim3 block(32, 8), over((n + 31) / 32, (n + 7) / 8, n);
  printf("one cell a thread %.4f ms\n", milliseconds([&] { one_cell<<<over, block>>>(out, u, n, n, n, 0.1f); }));
  CHECK(cudaMemcpy(plain.data(), out, cells * sizeof(float), cudaMemcpyDeviceToHost));
  for (int steps : {1, 2, 4, 8, 16}) {
    for (const dim3 shape : {dim3(16, 8), dim3(32, 4), dim3(64, 4), dim3(32, 8)}) {
      const dim3 grid((n / 4 + shape.x - 1) / shape.x, (n + shape.y - 1) / shape.y, (n + steps - 1) / steps);
      const float ms = milliseconds([&] { four_cells<<<grid, shape>>>(out, u, n, n, n, steps, 0.1f); });
      CHECK(cudaMemcpy(vector.data(), out, cells * sizeof(float), cudaMemcpyDeviceToHost));
      int wrong = 0;
      for (int k = 0; k < cells; ++k) wrong += plain[k] != vector[k];
      printf("four cells a thread, blocks of %dx%d, %d layers: %.4f ms, %d differ\n", shape.x, shape.y, steps, ms, wrong);
    }
  }
  return 0;
}
