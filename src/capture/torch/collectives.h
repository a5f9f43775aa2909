// What a collective does: torch puts it into thread-local storage around the operator record_param_comms.
#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>
#include <telltale/telltale.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#if __has_include(<torch/csrc/distributed/c10d/ParamCommsUtils.hpp>)
#include <torch/csrc/distributed/c10d/ParamCommsUtils.hpp>
#define TELLTALE_HAS_COLLECTIVES 1
#else
#define TELLTALE_HAS_COLLECTIVES 0
#endif

#include "inputs.h"

namespace telltale::torch_adapter {

inline bool is_collective(const char* operator_name) {
  return operator_name[0] == 'r' && std::strcmp(operator_name, "record_param_comms") == 0;
}

// In the order of the fields in sites.h.
struct CollectiveTexts {
  std::string name, type, group, description, ranks, in_split, out_split;
  std::int64_t in_elements = 0, out_elements = 0, group_size = 0, rank = 0;
};

#if TELLTALE_HAS_COLLECTIVES
inline std::string list_of(const std::vector<std::int64_t>& numbers) {
  std::string text;
  append_list(text, numbers);
  return text;
}

// Calls the first of two getters that this version has: their names have changed.
#define TELLTALE_GET(info, getter, older)       \
  [](const auto& about) {                       \
    if constexpr (requires { about.getter(); }) \
      return about.getter();                    \
    else                                        \
      return older;                             \
  }(info)

template <typename Info>
CollectiveTexts texts_of(const Info& info) {
  return {TELLTALE_GET(info, getCollectiveName, about.getColumnName()),
          c10::toString(info.getDType()),
          TELLTALE_GET(info, getProcessGroupName, std::string()),
          TELLTALE_GET(info, getProcessGroupDesc, std::string()),
          list_of(TELLTALE_GET(info, getGroupRanks, std::vector<std::int64_t>())),
          list_of(info.getInputSplitSizes()),
          list_of(info.getOutputSplitSizes()),
          TELLTALE_GET(info, getInMessageNelems, about.getInMessageSize()),
          TELLTALE_GET(info, getOutMessageNelems, about.getOutMessageSize()),
          info.getWorldSize(),
          info.getRank()};
}

// False when torch says nothing about a collective that goes on now on this thread.
inline bool describe_collective(CollectiveTexts& texts) {
  const auto* const found = c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PARAM_COMMS_INFO);
  if (found == nullptr) return false;
  texts = texts_of(*static_cast<const torch::ParamCommsDebugInfo*>(found));
  return true;
}
#else
inline bool describe_collective(CollectiveTexts&) { return false; }
#endif

}  // namespace telltale::torch_adapter
