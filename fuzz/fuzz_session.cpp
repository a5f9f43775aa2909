// Random calls of the recorder's API, against a model of a session.
#include <cstddef>
#include <cstdint>

#include "session_calls.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  telltale::fuzzing::run_session_calls({bytes, size});
  return 0;
}
