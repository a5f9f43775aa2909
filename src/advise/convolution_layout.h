// Kernels that tell in which layout a convolutional network keeps its images.
//
// Tensor cores want the channels last; torch's default has them first (NCHW). cuDNN then converts before and after
// each convolution.
#pragma once

#include <string_view>

namespace telltale {

// cuDNN's conversions between the layouts.
bool is_layout_conversion(std::string_view kernel);

// A batch norm over images with the channels first, by cuDNN or by torch itself.
bool is_batch_norm_in_nchw(std::string_view kernel);

}  // namespace telltale
