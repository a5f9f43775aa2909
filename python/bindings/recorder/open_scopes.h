// The scopes that Python opened on this thread and has not closed yet: functions, modules, whatever it named itself.
#pragma once

#include <telltale/telltale.h>

#include <cstdint>
#include <vector>

namespace telltale::python {

// A kind of scopes that nest among themselves. What began in one recording is not ended in the next.
class OpenScopes {
 public:
  void begin(telltale_site* site, const void* what = nullptr);
  // Ends the innermost one.
  void end();
  // Ends the innermost one if it is of that; else nothing.
  void end_if(const void* what);
  void end_all();
  // Whether none of this recording is open.
  bool is_empty() { return !is_of_this_recording() || open_.empty(); }

 private:
  struct Open {
    telltale_site* site;
    std::uint64_t start;
    const void* what;  // tells calls apart; never looked at
  };
  bool is_of_this_recording();

  std::vector<Open> open_;
  std::uint64_t recording_ = 0;
};

// A number for the recording that goes on: raised by each start.
void count_recording();

// A site of that name and kind, for ever.
telltale_site* site_named(const char* name, telltale_kind kind);

}  // namespace telltale::python
