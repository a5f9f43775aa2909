// What computing in bfloat16 under torch.autocast would do to a program that computes in 32 bits.
//
// Products, convolutions and attention get shorter. What moves memory does so only in convolutional networks, where
// tensors stay in 16 bits from one convolution to the next; batch norms with the channels first lose cuDNN's kernels
// and take longer. Each product brings casts of its inputs and weights, and of their gradients: on the device they
// move memory, on the host each is one more launch.
#pragma once

#include "advise/facts.h"

namespace telltale {

Edit under_autocast(const Facts& facts);

// A product, a convolution or attention.
bool multiplies(const DeviceCall& call);
// Whether a call multiplies in fp32 or TF32, so that autocast would change it.
bool multiplies_in_32_bits(const DeviceCall& call);

}  // namespace telltale
