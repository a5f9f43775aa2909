#include "record/losses.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace telltale::record {

const char* why_not_written(int error) {
  if (error == ESTALE) return "the file has been deleted";
  if (error == EBADF) return "the program has closed it";
  if (error == ELOOP) return "it is a symbolic link, and a recording is not written through one";
  return strerror(error);
}

bool loss_sentence(const Loss& loss, char* sentence, std::size_t size) {
  if (loss.events == 0) return false;
  const auto events = static_cast<unsigned long long>(loss.events);
  const char* const noun = loss.events == 1 ? "event" : "events";
  const char* const verb = loss.events == 1 ? "is" : "are";
  switch (loss.reason) {
    case tell::LossReason::kWriteFailed:
      snprintf(sentence, size, "%llu %s could not be written to %s: %s", events, noun, loss.path,
               why_not_written(loss.error));
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
      snprintf(sentence, size, "%llu %s %s not in %s: more values than a buffer holds", events, noun, verb, loss.path);
      return true;
    case tell::LossReason::kValueCut:
      snprintf(sentence, size, "%llu %s of events %s cut in %s: longer than a buffer of the recorder", events,
               loss.events == 1 ? "value" : "values", verb, loss.path);
      return true;
    case tell::LossReason::kGivenUp:
      snprintf(sentence, size, "%llu %s %s not in %s: something held %s thread%s up inside the recorder for a second",
               events, noun, verb, loss.path, loss.events == 1 ? "its" : "their", loss.events == 1 ? "" : "s");
      return true;
    case tell::LossReason::kNameNotKept:
      snprintf(sentence, size, "%llu %s not in %s: the memory limit of %llu KiB was reached", events,
               loss.events == 1 ? "name is" : "names are", loss.path,
               static_cast<unsigned long long>(loss.memory_limit >> 10));
      return true;
    case tell::LossReason::kOpenNotKept:
      break;  // it is in the file once it has ended
    case tell::LossReason::kAgedOut:
      break;  // as the flight recorder was asked to
  }
  return false;
}

}  // namespace telltale::record
