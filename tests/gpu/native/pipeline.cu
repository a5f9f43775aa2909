// A CUDA program that knows nothing of recordings of the GPU: two kernels in a loop, copies, waits, NVTX ranges, and scopes of
// telltale.hpp. What it does is counted by tests/gpu/check_native.py.
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <telltale/telltale.hpp>
#include <vector>

__global__ void scale(float* values, float factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= factor;
}

__global__ void shift(float* values, float amount, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += amount;
}

namespace {

constexpr int kBatches = 20;
constexpr int kRounds = 10;  // of both kernels, in each batch
constexpr int kValues = 1 << 16;

void must(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

void compute(float* values, cudaStream_t stream) {
  TELLTALE_SCOPE("compute");
  for (int round = 0; round < kRounds; ++round) {
    scale<<<kValues / 256, 256, 0, stream>>>(values, 1.01F, kValues);
    shift<<<kValues / 256, 256, 0, stream>>>(values, 0.5F, kValues);
  }
  must(cudaGetLastError());
}

}  // namespace

int main() {
  std::vector<float> host(kValues, 1.0F);
  float* values = nullptr;
  cudaStream_t stream;
  must(cudaStreamCreate(&stream));
  must(cudaMalloc(&values, kValues * sizeof(float)));
  for (int batch = 0; batch < kBatches; ++batch) {
    nvtxRangePushA("batch");
    must(cudaMemcpyAsync(values, host.data(), kValues * sizeof(float), cudaMemcpyHostToDevice, stream));
    compute(values, stream);
    must(cudaMemcpyAsync(host.data(), values, kValues * sizeof(float), cudaMemcpyDeviceToHost, stream));
    must(cudaStreamSynchronize(stream));
    nvtxRangePop();
  }
  must(cudaFree(values));
  must(cudaDeviceReset());  // with which goes what CUPTI has not handed over
  std::printf("done\n");
}
