#include "capture/cuda/graph_nodes.h"

namespace telltale::capture {
namespace {

constexpr telltale_field kFields[] = {{"graph id", TELLTALE_FIELD_TYPE_INTEGER, 0},
                                      {"graph node id", TELLTALE_FIELD_TYPE_INTEGER, 0},
                                      {"original node id", TELLTALE_FIELD_TYPE_INTEGER, 0},
                                      {"Call stack", TELLTALE_FIELD_TYPE_NAME, 0}};
telltale_site node_site = {"CUDA graph node", "", "", "", kFields, 4, 0, TELLTALE_KIND_OTHER, 0};

}  // namespace

void GraphNodes::begin_recording() {
  const std::lock_guard held(mutex_);
  ++recording_;
}

void GraphNodes::created(std::uint32_t graph, std::uint64_t node, bool tells_now) {
  // Outside the lock: it looks into Python.
  std::uint32_t stack = 0, kept = 0;
  if (stacks_ != nullptr && stacks_(1, &stack, &kept) == 0) stack = 0;
  const std::lock_guard held(mutex_);
  if (nodes_.size() >= kMost && !nodes_.contains(node)) return;
  Node& noted = nodes_[node] = {.graph = graph, .stack = stack};
  if (tells_now) tell(node, noted);
}

void GraphNodes::cloned(std::uint32_t graph, std::uint64_t node, std::uint64_t original) {
  const std::lock_guard held(mutex_);
  if (nodes_.size() >= kMost && !nodes_.contains(node)) return;
  nodes_[node] = {.graph = graph, .original = original};
}

void GraphNodes::used(std::uint64_t node) {
  const std::lock_guard held(mutex_);
  // What it was cloned from may be a clone as well; more than a few in a row are a loop in broken numbers.
  for (int generation = 0; generation < 8 && node != 0; ++generation) {
    const auto found = nodes_.find(node);
    if (found == nodes_.end()) return;
    if (found->second.told_in != recording_) tell(node, found->second);
    node = found->second.original;
  }
}

void GraphNodes::tell(std::uint64_t number, Node& node) {
  if (!telltale_is_recording()) return;
  telltale_value values[4];
  values[0].integer = node.graph;
  values[1].integer = static_cast<std::int64_t>(number);
  values[2].integer = static_cast<std::int64_t>(node.original);
  values[3].integer = node.stack;
  telltale_instant(&node_site, values);
  node.told_in = recording_;
}

}  // namespace telltale::capture
