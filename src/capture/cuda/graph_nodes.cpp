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
  have_been_used_.store(true, std::memory_order_relaxed);
  // Outside the lock: it looks into Python.
  std::uint32_t stack = 0, kept = 0;
  const telltale_stack_source stacks = stacks_.load(std::memory_order_relaxed);
  if (stacks != nullptr && stacks(1, &stack, &kept) == 0) stack = 0;
  const std::lock_guard held(mutex_);
  Node* const noted = note(node, {.graph = graph, .stack = stack});
  if (noted != nullptr && tells_now) tell(node, *noted);
}

void GraphNodes::cloned(std::uint32_t graph, std::uint64_t node, std::uint64_t original) {
  have_been_used_.store(true, std::memory_order_relaxed);
  const std::lock_guard held(mutex_);
  if (note(node, {.graph = graph, .original = original}) == nullptr) return;
  if (const auto found = nodes_.find(original); found != nodes_.end()) ++found->second.clones;
}

GraphNodes::Node* GraphNodes::note(std::uint64_t number, const Node& node) {
  if (nodes_.size() >= kMost) forget_destroyed(0);
  auto found = nodes_.find(number);
  if (found == nodes_.end()) {
    if (nodes_.size() >= kMost) {
      left_out_.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }
    found = nodes_.try_emplace(number).first;
  }
  const std::uint32_t clones = found->second.clones;
  found->second = node;
  found->second.clones = clones;
  return &found->second;
}

void GraphNodes::destroyed(std::uint64_t node) {
  const std::lock_guard held(mutex_);
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || found->second.is_destroyed) return;
  destroyed_.push_back(node);
  found->second.is_destroyed = true;
  forget_destroyed(kMostDestroyed);
}

void GraphNodes::forget_destroyed(std::size_t most_left) {
  for (; destroyed_.size() > most_left; destroyed_.pop_front()) {
    const auto found = nodes_.find(destroyed_.front());
    if (found != nodes_.end() && found->second.is_destroyed && found->second.clones == 0) forget(destroyed_.front());
  }
}

void GraphNodes::forget(std::uint64_t number) {
  for (auto found = nodes_.find(number); found != nodes_.end();) {
    const std::uint64_t original = found->second.original;
    nodes_.erase(found);
    found = nodes_.find(original);
    // What was destroyed before its clones goes with the last of them.
    if (found == nodes_.end() || --found->second.clones > 0 || !found->second.is_destroyed) return;
  }
}

void GraphNodes::used(std::uint64_t node) {
  have_been_used_.store(true, std::memory_order_relaxed);
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
