// Kernels by how much they compute for each byte and how fast, below what the device can do at best.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/analyze.h"
#include "answers/view.h"
#include "answers/view_colors.h"
#include "answers/view_kept.h"
#include "base/error.h"

namespace telltale::answers {

struct RooflineRequest {
  StepsText steps;
};

struct RooflineAnswer {
  std::shared_ptr<const AnalyzeAnswer> analyzed;
  std::string device;
  std::vector<std::size_t> shown;  // rows of its kernels whose bytes are known
  Nanoseconds left_out_ns = 0;     // a step, of the others

  std::string json() const;
};

Result<RooflineAnswer> roofline(const View& view, const RooflineRequest& request);

}  // namespace telltale::answers
