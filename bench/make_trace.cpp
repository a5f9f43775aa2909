// Makes a long trace out of a short real one: make_trace --size 1000000000 <short.json >long.json
#include <simdjson.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "repeatable_trace.h"

namespace telltale::bench {
namespace {

std::string text_of(std::FILE* file) {
  std::string text;
  std::string block(std::size_t{1} << 20, '\0');
  while (const std::size_t got = std::fread(block.data(), 1, block.size(), file)) text.append(block, 0, got);
  return text;
}

std::int64_t copies_nearest(std::size_t bytes, const RepeatableTrace& trace) {
  const std::size_t copy_bytes = trace.repeated.text.size() + trace.separator.size();
  return std::max<std::int64_t>(1, static_cast<std::int64_t>((bytes + copy_bytes / 2) / copy_bytes));
}

bool write_trace(const RepeatableTrace& trace, std::int64_t copies, std::FILE* file) {
  std::string block = trace.header;
  const auto flush = [&] {
    const bool written = std::fwrite(block.data(), 1, block.size(), file) == block.size();
    block.clear();
    return written;
  };
  for (std::int64_t copy = 0; copy < copies; ++copy) {
    if (copy > 0) block += trace.separator;
    append_copy(trace.repeated, trace, copy, block);
    if (!flush()) return false;
  }
  if (trace.once_events > 0) {
    block += trace.separator;
    append_copy(trace.once, trace, copies - 1, block);
  }
  block += trace.footer;
  return flush() && std::fflush(file) == 0;
}

int run(int argc, char** argv) {
  CLI::App app{
      "Repeats a real trace, with ids and times moved on, until it has the wished length.\n"
      "Reads the trace's text from standard input and writes to standard output."};
  std::size_t size = 0;
  std::int64_t copies = 0;
  auto* const size_option = app.add_option("--size", size, "Wished bytes; the nearest whole number of copies is made");
  app.add_option("--copies", copies, "Wished copies")->excludes(size_option)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  const RepeatableTrace trace = repeatable_trace(text_of(stdin));
  if (copies == 0) copies = copies_nearest(size, trace);
  if (!write_trace(trace, copies, stdout)) {
    std::cerr << "make_trace: could not write all of the trace\n";
    return 2;
  }
  std::cerr << copies << " copies, "
            << copies * static_cast<std::int64_t>(trace.repeated_events) + static_cast<std::int64_t>(trace.once_events)
            << " events\n";
  return 0;
}

}  // namespace
}  // namespace telltale::bench

int main(int argc, char** argv) {
  try {
    return telltale::bench::run(argc, argv);
  } catch (const simdjson::simdjson_error& error) {
    std::cerr << "make_trace: standard input is not a trace: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "make_trace: " << error.what() << '\n';
    return 2;
  }
}
