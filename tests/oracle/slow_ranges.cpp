#include "slow_ranges.h"

#include <limits>
#include <string_view>
#include <utility>

#include "slow_arguments.h"

namespace telltale::oracle {
namespace {

constexpr std::int64_t k64Bits = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t k32Bits = std::numeric_limits<std::int32_t>::max();

class RangeCheck {
 public:
  RangeCheck(const SlowEvent& event, Anomalies& anomalies) : event_(event), anomalies_(anomalies) {}

  bool has(std::string_view key) const { return find(event_.arguments, key).has_value(); }

  void check(std::int64_t largest, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
      const auto raw = find(event_.arguments, key);
      if (!raw) continue;
      const ExactInteger number = number_in(*raw);
      const bool is_too_large = number.outcome == ExactInteger::Outcome::kTooLarge ||
                                (number.outcome == ExactInteger::Outcome::kFits &&
                                 (number.value > largest || (largest < k64Bits && number.value < -largest - 1)));
      if (is_too_large) anomalies_.add(Anomaly::kNumberOutOfRange, event_.byte_offset);
    }
  }

 private:
  const SlowEvent& event_;
  Anomalies& anomalies_;
};

void check_row(const SlowRow& row, Anomalies& anomalies) {
  const auto& arguments = row.event->arguments;
  RangeCheck range(*row.event, anomalies);
  range.check(k64Bits, {find(arguments, "External id") ? "External id" : "external id", "correlation",
                        "Sequence number", "graph id", "graph node id"});
  const bool has_inputs = range.has("Input Dims") || range.has("Input dims") || range.has("Input Strides") ||
                          range.has("Input type") || range.has("Concrete Inputs");
  if (has_inputs || integer_in(arguments, "Sequence number").value_or(-1) >= 0) range.check(k32Bits, {"Fwd thread id"});
  if (row.track.kind == TrackKind::kStream) range.check(k32Bits, {"device"});
  if (range.has("grid") || range.has("block"))
    range.check(k32Bits, {"registers per thread", "shared memory", "est. achieved occupancy %"});
  if (row.kind == Kind::kMemcpy || row.kind == Kind::kMemset) range.check(k64Bits, {"bytes"});
  if (row.kind == Kind::kSync) range.check(k64Bits, {"wait_on_stream", "wait_on_cuda_event_id"});
  if (range.has("Source path")) range.check(k32Bits, {"Source line"});
  if (range.has("Collective name"))
    range.check(k64Bits, {"In msg nelems", "Out msg nelems", "Group size", "Rank", "Src Rank", "Dst Rank", "Seq"});
}

}  // namespace

void count_numbers_out_of_range(const std::vector<SlowRow>& rows, const std::vector<const SlowEvent*>& memory,
                                Anomalies& anomalies) {
  for (const SlowRow& row : rows) check_row(row, anomalies);
  for (const SlowEvent* event : memory) {
    RangeCheck range(*event, anomalies);
    range.check(k64Bits, {"Device Type", "Total Allocated", "Total Reserved"});
    if (integer_in(event->arguments, "Device Type").value_or(0) != 0) range.check(k32Bits, {"Device Id"});
  }
}

}  // namespace telltale::oracle
