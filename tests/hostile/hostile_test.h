// What tests of hostile hosts share: a test that hangs ends, and is named by what runs it.
#pragma once

#include <unistd.h>

#include "recorded_file.h"

namespace telltale {

class HostileTest : public RecordingTest {
 protected:
  HostileTest() { alarm(kWatchdogSeconds); }
  ~HostileTest() override {
    telltale_stop();
    alarm(0);
  }

 private:
  // Much more than any test takes on a machine that is busy with something else.
  static constexpr unsigned kWatchdogSeconds = 120;
};

}  // namespace telltale
