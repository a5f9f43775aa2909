// The list of colors that all pictures of the page point into: kinds of events, then classes of device work, then what
// the host does where its kind does not tell, then why a device idles, then what memory is for. The colors are the
// palette's, as in every view.
//
// Pure and thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/host_work.h"
#include "analysis/work_class.h"
#include "memory/memory_uses.h"
#include "report/palette.h"
#include "trace/kind.h"

namespace telltale::answers {

struct ViewColor {
  std::string word;         // "operator", "matmul", "launching", "idle: data loading", "memory: gradients"
  std::string light, dark;  // "#1f5fae": on a light and on a dark ground
};

using ColorIndex = std::uint8_t;  // of view_colors()

const std::vector<ViewColor>& view_colors();

ColorIndex color_index(Kind kind);
ColorIndex color_index(WorkClass work);
ColorIndex color_index(HostDoing doing);
ColorIndex color_index(Kind kind, HostWork work);  // of a call on the host
ColorIndex color_index(HostWork cause);
ColorIndex color_index(const BreakdownPart& part);
ColorIndex color_index(MemoryUse use);

template <typename Fields>
void describe(Fields& fields, const ViewColor& color) {
  fields.object("Color", "One color of the page");
  fields.member("word", color.word, "what has it");
  fields.member("light", color.light, "on a light ground");
  fields.member("dark", color.dark, "on a dark ground");
}

}  // namespace telltale::answers
