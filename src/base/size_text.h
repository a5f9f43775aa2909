// Sizes as people write them: 64G, 1.5M, 4096.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace telltale {

// In bytes; K, M, G and T are powers of 1024, with or without B or iB, in any case. Nothing when it is no size.
std::optional<std::uint64_t> parsed_size(std::string_view text);

}  // namespace telltale
