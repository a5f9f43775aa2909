#include "advise/convolution_layout.h"

namespace telltale {
namespace {

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

bool is_layout_conversion(std::string_view kernel) {
  return contains(kernel, "nchwToNhwc") || contains(kernel, "nhwcToNchw");
}

bool is_batch_norm_in_nchw(std::string_view kernel) {
  if (contains(kernel, "bn_fw_tr_1C11") || contains(kernel, "bn_bw_1C11")) return true;
  return contains(kernel, "at::native::batch_norm_") && !contains(kernel, "channels_last");
}

}  // namespace telltale
