// Valid JSON with odd events: what the fast and the slow reader must see alike.
#include <cstddef>
#include <cstdint>

#include "read_text.h"
#include "trace_from_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  telltale::fuzzing::check_all_readers(telltale::fuzzing::trace_from_bytes({bytes, size}));
  return 0;
}
