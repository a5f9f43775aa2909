// A trace that is valid JSON and odd in every other way, made from the bytes that a fuzzer found.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace telltale::fuzzing {

// The same bytes give the same text. Names, ids and times come from small sets, so that events meet: they nest,
// overlap, share correlations, open and close one another.
std::string trace_from_bytes(std::span<const std::uint8_t> bytes);

}  // namespace telltale::fuzzing
