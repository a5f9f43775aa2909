#include "read_text.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "compare_traces.h"
#include "formats/input/text_input.h"
#include "formats/kineto/read.h"
#include "require.h"
#include "slow_reader.h"

namespace telltale::fuzzing {
namespace {

class MemoryText : public TextInput {
 public:
  explicit MemoryText(std::string_view text) : rest_(text), size_(text.size()) {}

  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t count = std::min(into.size(), rest_.size());
    std::memcpy(into.data(), rest_.data(), count);
    rest_.remove_prefix(count);
    return count;
  }
  std::uint64_t file_bytes_read() const override { return size_ - rest_.size(); }
  std::uint64_t file_bytes() const override { return size_; }

 private:
  std::string_view rest_;
  std::uint64_t size_;
};

Result<Trace> read(std::string_view text, unsigned threads, std::size_t block_bytes) {
  MemoryText input(text);
  ReadOptions options;
  options.threads = threads;
  options.block_bytes = block_bytes;
  return kineto::read(input, "input", options);
}

void require_same(const Trace& a, const Trace& b, const std::string& left, const std::string& right) {
  const std::string found = oracle::difference(a, b, left, right);
  require(found.empty(), "the readers agree\n" + found);
}

void require_same_examples(const Trace& a, const Trace& b) {
  const auto in_a = a.anomalies.list(), in_b = b.anomalies.list();
  for (std::size_t i = 0; i < in_a.size(); ++i)
    require(in_a[i].example.byte_offset == in_b[i].example.byte_offset && in_a[i].example.text == in_b[i].example.text,
            "the first example of an anomaly does not depend on blocks: " + std::string(name_of(in_a[i].anomaly)));
}

void require_sound(const Trace& trace) {
  const Events& events = trace.events;
  for (EventId event = 0; event < events.size(); ++event) {
    require(events.duration[event] >= 0, "no event ends before it starts");
    require(events.start[event] >= 0, "no event starts before time 0");
    const EventId parent = events.parent[event];
    require(parent == kNoEvent || (parent < event && events.track[parent] == events.track[event]),
            "a parent stands before its children, on their track");
    require(events.cause[event] == kNoEvent || events.cause[event] < events.size(), "a cause is an event");
    trace.step_of(event);
    trace.operator_of(event);
  }
}

}  // namespace

void check_all_readers(std::string_view text) {
  const auto whole = read(text, 1, text.size() + 1);
  const auto pieces = read(text, 3, 1 + text.size() % 200);
  require(whole.has_value() == pieces.has_value(), "whether a text is a trace does not depend on blocks");
  if (whole) {
    require_sound(*whole);
    require_same(*whole, *pieces, "one block", "many blocks");
    require_same_examples(*whole, *pieces);
  }
  const auto slow = oracle::slow_read(text);
  if (!slow) return;
  require(whole.has_value(), "what the slow reader takes is a trace");
  require_same(slow->trace, *whole, "slow", "fast");
  for (EventId event = 0; event < whole->events.size(); ++event) {
    require(whole->step_of(event) == slow->step_of[event], "the step of " + oracle::describe(*whole, event));
    require(whole->launch_of(event) == slow->launch_of[event], "the launch of " + oracle::describe(*whole, event));
    require(whole->operator_of(event) == slow->operator_of[event],
            "the operator of " + oracle::describe(*whole, event));
  }
}

}  // namespace telltale::fuzzing
