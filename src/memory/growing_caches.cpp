#include "memory/growing_caches.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/memory_summary.h"
#include "memory/memory_peak.h"

namespace telltale {
namespace {

// Growth by the same in so many calls one after the other is no accident.
constexpr std::size_t kLeastCalls = 3;

struct Call {
  std::int64_t bytes = 0;
  std::vector<std::size_t> blocks;
};
// In the order of calls of the outermost module.
using Calls = std::map<Nanoseconds, Call>;

EventId outermost_module(const Trace& trace, EventId event) {
  constexpr int kMostLooks = 1000;
  EventId module = kNoEvent;
  for (int looks = 0; event != kNoEvent && looks < kMostLooks; ++looks, event = trace.events.parent[event])
    if (trace.events.kind[event] == Kind::kModule) module = event;
  return module;
}

// The blocks of calls in a row that each have as much more as the one before.
void add_those_that_grow(const Calls& calls, std::vector<std::size_t>& found) {
  std::vector<const Call*> row;
  std::int64_t growth = 0;
  const auto end_row = [&] {
    if (row.size() > kLeastCalls)
      for (const Call* const call : row) found.insert(found.end(), call->blocks.begin(), call->blocks.end());
  };
  for (const auto& [start, call] : calls) {
    const std::int64_t more = row.empty() ? 0 : call.bytes - row.back()->bytes;
    if (more <= 0 || (row.size() > 1 && more != growth)) {
      end_row();
      row.clear();
    }
    growth = more;
    row.push_back(&call);
  }
  end_row();
}

}  // namespace

std::vector<std::size_t> growing_caches(const Trace& trace, std::span<const MadeBlock> blocks) {
  std::map<std::tuple<std::string, int>, Calls> lines;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const UsedBlock& block = blocks[i].block;
    if (block.event == kNoEvent || block.is_noted) continue;
    const EventId maker = maker_of(trace, block.event);
    if (maker == kNoEvent || trace.name(maker) != "aten::cat") continue;
    const EventId module = outermost_module(trace, maker);
    if (module == kNoEvent || block.freed <= trace.events.end(module)) continue;
    const std::optional<SourceLine> source = line_of(trace, block);
    const auto line = source ? std::tuple(source->file, source->line) : std::tuple(std::string(), -1);
    Call& call = lines[line][trace.events.start[module]];
    call.bytes += block.bytes;
    call.blocks.push_back(i);
  }
  std::vector<std::size_t> found;
  for (const auto& [line, calls] : lines) add_those_that_grow(calls, found);
  return found;
}

}  // namespace telltale
