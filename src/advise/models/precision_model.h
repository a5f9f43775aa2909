// What products, convolutions and attention would take in another precision, and what torch.autocast would do to a
// program that computes in 32 bits.
#pragma once

#include <array>

#include "advise/facts.h"

namespace telltale {

// Whether the device has tensor cores for bfloat16: NVIDIA's since compute capability 8, and AMD's that we know.
bool has_tensor_cores_for_bf16(const Facts& facts);
// NVIDIA's have TF32 since then; AMD's MI300 has it too, but torch multiplies fp32 in full there.
bool has_tf32(const Facts& facts);

class PrecisionModel {
 public:
  // The facts must outlive the model.
  explicit PrecisionModel(const Facts& facts);

  // Whether a call multiplies in plain fp32 although TF32 would put it on tensor cores: none of a library that uses
  // TF32 elsewhere in the trace, and so chose not to, nor a product with a vector, which waits for memory.
  bool lacks_tf32(const DeviceCall& call) const;

  // The share of its time that a call would keep in `precision`, TF32 or a 16-bit one, were it in fp32 or TF32 so far:
  // by the roofline where shapes and the device's peaks are known, else by how such kernels compared elsewhere. 1 for
  // what does not multiply.
  float time_left_in(const DeviceCall& call, Precision precision) const;

 private:
  float product_left(const DeviceCall& call, Precision precision) const;
  float convolution_left(const DeviceCall& call, Precision precision) const;
  std::optional<double> seconds_in(const DeviceCall& call, Precision precision) const;

  const Facts& facts_;
  std::array<bool, 2> uses_tf32_{};  // of cuBLAS and cuDNN, which have a switch each
};

// A product, a convolution or attention.
bool multiplies(const DeviceCall& call);
// Whether a call multiplies in fp32 or TF32, so that autocast would change it.
bool multiplies_in_32_bits(const DeviceCall& call);

// The step under torch.autocast in bfloat16. Products, convolutions and attention get shorter, and so does what moves
// memory: by half in convolutional networks, where tensors stay in 16 bits from one convolution to the next, by less
// elsewhere. Norms, softmaxes and losses stay in fp32; batch norms with the channels first lose cuDNN's kernels and
// take longer. Each product brings casts of its inputs and weights, and of their gradients: on the device they move
// memory, on the host each is one more launch.
Edit under_autocast(const Facts& facts);

}  // namespace telltale
