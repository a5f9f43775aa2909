// What an operator that computes on a CPU costs whatever its tensors hold (dispatch, autograd, starting threads), and
// what grows with them.
//
// By the shapes of its arguments: bytes and operations at a rate that any CPU reaches. An operator that takes much
// longer than that is slow for its data, not for its overhead: the part that does not grow has a limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "advise/facts.h"
#include "analysis/operator_work.h"

namespace telltale {

// The type of an operator's floating-point numbers.
enum class NumberType : std::uint8_t { kNone, kMixed, kFloat, kDouble, kHalf, kBfloat16 };

// What the arguments of an operator say of it; nothing where they were not recorded.
struct HostOperator {
  OperatorWork work;
  Elements largest = 0;  // tensor among its arguments
  NumberType type = NumberType::kNone;
};

// What work on float32 takes threads that have a processor each, in nanoseconds.
struct HostTimes {
  // Products of 32 to 1,024 rows reached 72 to 160 billion operations per second and thread on an EPYC 9004 and a
  // Xeon of 2023, those of few columns 14 to 24; operators that move memory 6 (tanh) to 50 (add) billion bytes.
  static constexpr double kTypicalFlops = 60e9, kTypicalBytes = 10e9, kMostFlops = 160e9, kMostBytes = 50e9;

  double typical = 0, least = 0;
};

HostTimes host_times(double flops, double bytes, double threads);

// Made once for a trace (Facts::host_cost()), in linear time but for texts of arguments, each of which is read once.
// Immutable and thread-safe.
class HostCost {
 public:
  // On one thread, of an EPYC 9004 at 2.6 GHz: products of 32 to 512 rows reach 28 to 100 billion operations a second;
  // operators that move memory 10 (exp) to 100 (add) billion bytes, and softmax, norms and dropout less.
  static constexpr double kFlopsPerSecond = 20e9, kBytesPerSecond = 5e9;
  // Operators on tensors of a few elements take 1 to 6 µs there, a convolution's backward pass 30, recorded a few more.
  static constexpr Nanoseconds kMostFixed = 20'000, kMostFixedOfConvolution = 50'000;

  explicit HostCost(const Facts& facts);

  // Whether an operator calls no other one, and so computes itself.
  bool is_leaf(EventId op) const { return is_leaf_[op]; }
  // Whether an event contains anything but operators: calls into a device's API, Python.
  bool contains_others(EventId event) const { return contains_others_[event]; }
  // Of an operator's own time, what grows with its tensors; 0 to 1. 0 of all other events.
  float growing_share(EventId event) const { return share_[event]; }
  // Operators of the steps that compute themselves, by event.
  const std::vector<EventId>& leaves() const { return leaves_; }
  // All operators of the steps, by event: those that call others may compute as well.
  const std::vector<EventId>& operators() const { return operators_; }
  // Of any event, without what it contains.
  Nanoseconds own_time(EventId event) const { return own_[event]; }
  // Of an operator of the steps.
  const HostOperator& known(EventId op) const { return known_[call_of_[op]]; }
  // How many threads torch computes with, as far as the recording says; else 1.
  double threads() const { return threads_; }

 private:
  // A call with certain arguments, by number; 0 where they were not recorded.
  using CallId = std::uint32_t;

  // Returns the innermost operator around each event.
  std::vector<EventId> find_structure(const Facts& facts);
  void find_calls(const Facts& facts);
  void find_shares(const Facts& facts, const std::vector<bool>& computes);
  std::vector<std::optional<Nanoseconds>> usual_times() const;
  std::vector<bool> computing(const std::vector<EventId>& around) const;

  double threads_ = 1;
  std::vector<bool> is_leaf_, contains_others_;
  std::vector<float> share_;
  std::vector<Nanoseconds> own_;
  std::vector<EventId> leaves_, operators_;
  std::vector<CallId> call_of_;       // by event
  std::vector<HostOperator> known_;   // by call
  std::vector<std::uint32_t> equal_;  // by call: those of one name, with the same shapes and types, have one number
};

// Forward or backward, whichever library computes it.
bool is_convolution(std::string_view op);

}  // namespace telltale
