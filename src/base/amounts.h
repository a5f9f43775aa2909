// Amounts, counts and lists as people read them. Whatever shows a number goes through here: three significant digits,
// a unit on every number, and nouns that agree with their counts.
//
// Columns of numbers align by their units: see report/text_table.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"

namespace telltale {

std::string format_time(Nanoseconds time);          // "6.94 ms", "83.6 µs", "512 ns", "1.50 s", "2.00 min"
std::string format_bytes(double bytes);             // "478 MiB", "-1.00 KiB", "12 B"; rounded to whole bytes
std::string format_flops(std::int64_t operations);  // "102 GFLOP"
std::string format_count(std::int64_t count);       // "12,345"
std::string format_share(double share);             // of 1, in tables: "29.8 %"
std::string percent_digits(double percent);         // of 100, without its sign: "3.0", "30", "0"
std::string format_percent(double percent);         // of 100, in sentences: "3.0 %", "30 %"
std::string format_number(double number);           // without a unit: "1.83", "12", "12,345", "0.00125"

std::string format_bytes(std::integral auto bytes) { return format_bytes(static_cast<double>(bytes)); }

// A count and its noun: "1 kernel", "0 kernels", "12.5 kernels", "1,500 kernels". The plural is the noun with an "s"
// unless it is given: counted(2, "copy", "copies").
std::string counted(double count, std::string_view noun, std::string_view plural = {});

// "once", "twice", "3 times", "2.5 times", "0 times"
std::string how_often(double count);

// "a", "a and b", "a, b and c"; empty for an empty list.
std::string listed(std::span<const std::string> words, std::string_view last_joined_by = "and");

}  // namespace telltale
