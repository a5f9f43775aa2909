#include "advise/convolution_layout.h"

namespace telltale {
namespace {}  // namespace

bool is_layout_conversion(std::string_view kernel) {
  return kernel.contains("nchwToNhwc") || kernel.contains("nhwcToNchw");
}

bool is_batch_norm_in_nchw(std::string_view kernel) {
  if (kernel.contains("bn_fw_tr_1C11") || kernel.contains("bn_bw_1C11")) return true;
  return kernel.contains("at::native::batch_norm_") && !kernel.contains("channels_last");
}

}  // namespace telltale
