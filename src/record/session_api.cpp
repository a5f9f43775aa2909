// What telltale.h has for sessions.
#include <cstring>

#include "record/process_hooks.h"
#include "record/recorder_state.h"
#include "record/session_pairs.h"

using telltale::record::current_thread;
using telltale::record::session_here;

extern "C" {

telltale_status telltale_start(const telltale_options* options) {
  if (options != nullptr) return session_here().start(*options);
  telltale_options defaults;
  telltale_default_options(&defaults, sizeof defaults);
  return session_here().start(defaults);
}
telltale_status telltale_stop(void) { return session_here().stop(telltale::tell::EndReason::kStopped); }
telltale_status telltale_step(void) { return session_here().step(); }
telltale_fork telltale_set_fork_mode(telltale_fork mode) { return session_here().set_fork_mode(mode); }
telltale_status telltale_flush(void) { return session_here().flush(); }
telltale_status telltale_dump(const char* path) { return session_here().dump(path); }

void telltale_get_statistics(telltale_statistics* statistics, std::size_t size) {
  telltale_statistics all{};
  session_here().get_statistics(all);
  std::memcpy(statistics, &all, size < sizeof all ? size : sizeof all);
}

const char* telltale_error_text(void) { return current_thread != nullptr ? current_thread->error : ""; }

#define TELLTALE_TEXT_OF(number) #number
#define TELLTALE_DOTTED(major, minor, patch) \
  TELLTALE_TEXT_OF(major) "." TELLTALE_TEXT_OF(minor) "." TELLTALE_TEXT_OF(patch)
const char* telltale_version(void) {
  return TELLTALE_DOTTED(TELLTALE_VERSION_MAJOR, TELLTALE_VERSION_MINOR, TELLTALE_VERSION_PATCH);
}

void telltale_metadata(const char* key, const char* value) {
  using namespace telltale::record;
  if (!set_metadata(key, value, names)) losses.add(telltale::tell::LossReason::kNameNotKept, 1);
}
void telltale_name_process(const char* name) { telltale::record::set_process_name(name, telltale::record::names); }

}  // extern "C"
