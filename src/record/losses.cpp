#include "record/losses.h"

#include <cstdio>
#include <cstring>

namespace telltale::record {

bool loss_sentence(const Loss& loss, char* sentence, std::size_t size) {
  if (loss.events == 0) return false;
  const auto events = static_cast<unsigned long long>(loss.events);
  const char* const noun = loss.events == 1 ? "event" : "events";
  const char* const verb = loss.events == 1 ? "is" : "are";
  switch (loss.reason) {
    case tell::LossReason::kWriteFailed:
      snprintf(sentence, size, "%llu %s could not be written to %s: %s", events, noun, loss.path, strerror(loss.error));
      return true;
    case tell::LossReason::kNewestDropped:
    case tell::LossReason::kOldestDropped:
      snprintf(sentence, size, "%llu %s %s not in %s: the memory limit of %llu KiB was reached", events, noun, verb,
               loss.path, static_cast<unsigned long long>(loss.memory_limit >> 10));
      return true;
    case tell::LossReason::kInSignal:
      snprintf(sentence, size, "%llu %s %s not in %s: emitted by a signal handler that interrupted the recorder",
               events, noun, verb, loss.path);
      return true;
    case tell::LossReason::kTooLarge:
      snprintf(sentence, size, "%llu %s %s not in %s: values too large for a buffer", events, noun, verb, loss.path);
      return true;
    case tell::LossReason::kAgedOut:
      break;  // as the flight recorder was asked to
  }
  return false;
}

}  // namespace telltale::record
