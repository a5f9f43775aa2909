// What a program's memory would be with another device, batch or settings of PyTorch's allocator, or with fixes made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/source.h"
#include "answers/spelling.h"
#include "base/error.h"
#include "memory/memory_what_if.h"
#include "report/palette.h"

namespace telltale::answers {

struct MemoryWhatIfRequest {
  Source source;
  Spelling spelling = Spelling::kFlags;
  std::optional<std::int64_t> fits;     // bytes of memory that the device has
  std::optional<std::string> batch;     // "2x", "0.5"
  std::optional<std::string> settings;  // as in PYTORCH_CUDA_ALLOC_CONF
  std::vector<std::string> without;     // rules whose first finding is taken as fixed
  std::optional<std::string> other;     // a recording of the same program with another batch size
  std::optional<DeviceId> device;       // without it the one with most memory reserved

  bool asks() const { return fits || batch || settings || !without.empty(); }
};

// "24GB" in bytes. A sentence where that is no size, or has no unit.
Result<std::int64_t> parsed_capacity(std::string_view text, Spelling spelling);

struct MemoryWhatIfAnswer {
  MemoryWhatIf what_if;

  std::string json() const;  // telltale.memory_whatif/1
  std::string terminal(const TextStyle& style) const;
};

// Requires request.asks().
Result<MemoryWhatIfAnswer> memory_what_if(const MemoryWhatIfRequest& request);

}  // namespace telltale::answers
