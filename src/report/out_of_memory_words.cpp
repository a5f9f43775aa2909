#include "report/out_of_memory_words.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/amounts.h"

namespace telltale {
namespace {

std::string place_of(DeviceId device) { return device == kHost ? "on the host" : fmt::format("on GPU {}", device); }

}  // namespace

std::string out_of_memory_text(const Trace& trace) {
  const AllocatorEvent* last = nullptr;
  std::uint64_t times = 0;
  for (const AllocatorEvent& entry : trace.allocator_events) {
    if (entry.action != AllocatorAction::kOutOfMemory) continue;
    last = &entry;
    ++times;
  }
  if (last != nullptr) {
    std::string text = fmt::format("memory ran out {}", place_of(last->device));
    if (times > 1) text += fmt::format(" for the last of {} times", times);
    text += fmt::format(": {} were asked for", format_bytes(last->bytes));
    if (last->device != kHost) text += fmt::format(", and the device had {} free", format_bytes(last->address));
    return text;
  }
  const std::string* const error = trace.metadata_named("out_of_memory");
  if (error == nullptr) return {};
  const bool is_on_device = error->find(R"("where":"device")") != std::string::npos;
  return is_on_device ? "memory ran out on the GPU" : "memory ran out on the host";
}

}  // namespace telltale
