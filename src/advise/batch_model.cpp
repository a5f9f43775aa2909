#include "advise/batch_model.h"

#include <algorithm>

#include "advise/batch_growth.h"
#include "advise/operator_texts.h"

namespace telltale {
namespace {

// A call that copies for this long copies the batch.
constexpr Nanoseconds kLongCopy = 100'000;
// Of what the replay promises: 12 programs whose host was the bottleneck gained 48 % on average, not 50.
constexpr double kShareThatHeld = 0.96;
// Of the device's memory, with room for what is not tensors.
constexpr double kUsableMemory = 0.9;

// For more indices than these, torch sorts them to make an embedding's gradient: 29 launches instead of one, and 6.5
// times the host's time.
constexpr double kMostUnsorted = 3072;
constexpr float kHostOfSorting = 6.5F;

bool begins_to_sort(const Trace& trace, EventId op) {
  const std::vector<Shape> shapes = tensor_shapes(texts_of(trace, op).shapes);
  const double indices = shapes.size() < 2 ? 0 : elements_of(shapes[1]);
  return indices <= kMostUnsorted && 2 * indices > kMostUnsorted;
}

}  // namespace

Edit doubled_batch(const Facts& facts) {
  const Trace& trace = facts.trace;
  const BatchGrowth growth(facts);
  Edit edit = facts.unobserved;
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) edit.scale_event(trace, call.event, growth.of(call));
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (is_on_device(trace.events.kind[event])) continue;
    const HostWork work = facts.host_work[event];
    if (work == HostWork::kDataLoading || facts.computes_on_host(event) ||
        (work == HostWork::kCopies && trace.events.duration[event] >= kLongCopy))
      edit.scale_event(trace, event, 2);
  }
  for (const EventId op : events_named(facts, Kind::kOperator,
                                       [](std::string_view name) { return name == "aten::embedding_dense_backward"; }))
    if (begins_to_sort(trace, op)) edit.scale_subtree(trace, facts.launched, op, kHostOfSorting, 1);
  return edit;
}

Nanoseconds saved_by_doubled_batch(const Facts& facts) {
  const Nanoseconds saved = facts.step - facts.graph.replay(doubled_batch(facts)).period / 2;
  return static_cast<Nanoseconds>(kShareThatHeld * static_cast<double>(saved));
}

std::optional<bool> has_memory_for_doubled_batch(const Facts& facts) {
  if (!facts.diagnosis.memory) return {};
  const DeviceId id = facts.diagnosis.memory->device;
  const auto device = std::find_if(facts.trace.devices.begin(), facts.trace.devices.end(),
                                   [id](const Device& candidate) { return candidate.id == id; });
  if (device == facts.trace.devices.end() || !device->memory_bytes) return {};
  return 2 * static_cast<double>(facts.diagnosis.memory->peak_allocated) <=
         kUsableMemory * static_cast<double>(*device->memory_bytes);
}

}  // namespace telltale
