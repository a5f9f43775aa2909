// Where the nodes of CUDA graphs come from. A kernel that a graph replays tells its node and nothing of the program;
// who made the node is seen once, at capture.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "telltale/devices.h"

namespace telltale::capture {

class GraphNodes {
 public:
  void set_stacks(telltale_stack_source stacks) { stacks_.store(stacks, std::memory_order_relaxed); }

  // Nodes that were told of in a recording before must be told again.
  void begin_recording();

  // On the thread that makes the node. `tells_now`: it stands in the recording where it was made, inside what is open
  // on the thread.
  void created(std::uint32_t graph, std::uint64_t node, bool tells_now);
  void cloned(std::uint32_t graph, std::uint64_t node, std::uint64_t original);
  // It is kept for a while: records of what it did are still to come, and what was cloned from it lives on.
  void destroyed(std::uint64_t node);

  // Device work of that node is in the recording: tells of it and of what it was cloned from, where that has not been
  // done.
  void used(std::uint64_t node);

  // Whether the process has had any node that was seen.
  bool have_been_used() const { return have_been_used_.load(std::memory_order_relaxed); }

  // How many there was no room for: nobody will know where they come from.
  std::uint64_t left_out() const { return left_out_.load(std::memory_order_relaxed); }

 private:
  // A graph of a large model has some ten thousand; with all that is known of so many, 24 MiB.
  static constexpr std::size_t kMost = std::size_t{1} << 18;
  static constexpr std::size_t kMostDestroyed = std::size_t{1} << 14;
  struct Node {
    std::uint32_t graph = 0;
    std::uint32_t stack = 0;  // the number of its text
    std::uint64_t original = 0;
    std::uint32_t told_in = 0;
    std::uint32_t clones = 0;  // that are still known
    bool is_destroyed = false;
  };

  Node* note(std::uint64_t number, const Node& node);  // null, and counted, when there is no room
  void forget_destroyed(std::size_t most_left);
  void forget(std::uint64_t number);
  void tell(std::uint64_t number, Node& node);

  std::mutex mutex_;
  std::unordered_map<std::uint64_t, Node> nodes_;
  std::deque<std::uint64_t> destroyed_;  // the oldest first
  std::atomic<std::uint64_t> left_out_ = 0;
  std::atomic<bool> have_been_used_ = false;
  std::uint32_t recording_ = 1;
  std::atomic<telltale_stack_source> stacks_ = nullptr;
};

}  // namespace telltale::capture
