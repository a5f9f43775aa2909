// Which kind of event a category stands for, by the words that PyTorch's profiler and recorders of its kind use, on
// every device that they know. A category that a kind stands for needs no keeping: see Trace::categories.
#pragma once

#include <span>
#include <string_view>

#include "trace/kind.h"

namespace telltale {

struct CategoryRule {
  std::string_view category;
  Kind kind;
};

// The categories that have a meaning of their own, old spellings included.
std::span<const CategoryRule> category_rules();

// The kind of a complete event. `is_known` says whether the kind tells all that the category told; where it
// does not, the category is worth keeping beside the event.
//
// A category in no rule that starts with a device backend's name ("privateuse1_dma") is work on that device;
// any other is work on the host. A linear search: a caller with many events remembers the answer for each
// category.
Kind kind_of(std::string_view category, std::string_view name, bool& is_known);

// What an event's name adds to the kind of its category: calls of an nn.Module are written as Python calls, MTIA's
// copies among its kernels, and annotations by some writers as operators (see is_annotation_name).
Kind kind_by_name(Kind kind, std::string_view name);

}  // namespace telltale
