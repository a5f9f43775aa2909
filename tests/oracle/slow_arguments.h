// Arguments of an event by name, and the side tables that they fill.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json_pieces.h"
#include "slow_document.h"
#include "trace/trace.h"

namespace telltale::oracle {

struct SlowRow;

// A number or text that holds one; nothing for anything else and for what 64 bits do not hold.
std::optional<std::int64_t> integer_in(const std::vector<JsonMember>& arguments, std::string_view key);
std::optional<std::int32_t> small_integer_in(const std::vector<JsonMember>& arguments, std::string_view key);
std::optional<std::uint64_t> address_in(const std::vector<JsonMember>& arguments, std::string_view key);
// A finite number or text that holds one.
std::optional<double> real_in(std::string_view raw);

// Fills the side tables of `trace` for rows that stand in the order of its events.
void fill_side_tables(const std::vector<SlowRow>& rows, Trace& trace);

}  // namespace telltale::oracle
