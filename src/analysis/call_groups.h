// Which row of key averages an event counts in: the same name and kind and, when asked for, shapes or stack.
//
// Remembers what it has looked up: one object for one thread. Cheap for events that come in ascending order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/call_stacks.h"
#include "analysis/key_averages.h"
#include "trace/side_table.h"
#include "trace/trace.h"

namespace telltale {

class CallGroups {
 public:
  CallGroups(const Trace& trace, const KeyAveragesOptions& options);

  using Group = std::uint32_t;
  Group of(EventId event);
  std::size_t size() const { return groups_.size(); }

  // Name, kind and, when grouped by them, shapes and stack.
  KeyAverage described(Group group) const;

 private:
  struct Key {
    StringId name = kEmptyString;
    std::uint32_t detail = 0;  // a shape list or a stack; 0 for none
    Kind kind = Kind::kOther;
    bool operator==(const Key&) const = default;
  };
  StringId shown_name(EventId event);
  std::uint32_t detail_of(EventId event);
  std::uint32_t shapes_of(EventId event);
  std::size_t slot_of(const Key& key) const;
  void grow();

  const Trace& trace_;
  Grouping grouping_;
  CallStacks stacks_;
  SideTableWalk<OperatorInfo> operators_;
  std::optional<StringId> step_name_;  // that of the first ProfilerStep, which stands for all

  std::vector<Key> groups_;
  std::vector<Group> slots_;  // open addressing; kFree marks a free one

  std::vector<std::vector<Shape>> shape_lists_;
  std::unordered_map<std::string, std::uint32_t> shape_list_ids_;  // by printed shapes
  std::unordered_map<StringId, std::uint32_t> shape_list_of_text_;
};

}  // namespace telltale
