// Any bytes as the text of a trace.
#include <cstddef>
#include <cstdint>

#include "read_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  telltale::fuzzing::check_all_readers({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
