// The sections of the page of a diagnosis. Each is empty where there is nothing to show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "advise/diagnosis.h"
#include "trace/trace.h"

namespace telltale::html {

std::string style_sheet();  // with the palette's colors as classes, see style_class() there

std::string breakdown_section(const Diagnosis& diagnosis);  // with idle causes and phases
std::string latencies_section(const Diagnosis& diagnosis);
std::string threads_section(const Diagnosis& diagnosis);
std::string counters_section(const Diagnosis& diagnosis);
std::string energy_section(const Diagnosis& diagnosis);
std::string findings_section(const Diagnosis& diagnosis, const Trace& trace);
std::string strip_section(const Diagnosis& diagnosis, const Trace& trace);
// What the page's script draws in place of the strip: see web/src/report.
std::string timeline_data(const Diagnosis& diagnosis, const Trace& trace);
std::string modules_section(const Diagnosis& diagnosis);
std::string kernels_section(const Diagnosis& diagnosis);
std::string memory_section(const Diagnosis& diagnosis);
std::string syncs_section(const Diagnosis& diagnosis);
std::string waits_section(const Diagnosis& diagnosis);
std::string copies_section(const Diagnosis& diagnosis);
std::string communication_section(const Diagnosis& diagnosis);

// A heading, a sentence about what is seen, and the body. `id` names the section within the page.
std::string section(std::string_view id, std::string_view title, std::string_view caption, std::string_view body);

// A table of its own style; rows are <tr> elements.
struct Heading {
  std::string_view text;
  bool is_number = true;
};
std::string table_of(std::initializer_list<Heading> headings, const std::string& rows, std::string_view style);
std::string number_cell(std::string_view text);

// A colored square that stands before the label it belongs to.
std::string key_mark(std::string_view style_class);

// How much launched work waits for the device at most, in each of equal parts of the window.
std::vector<std::int32_t> deepest_by_column(const LaunchQueue& queue, Interval window, std::size_t columns);

// A horizontal bar of `percent` of the room, with its color; nothing for nothing.
std::string meter(double percent, std::string_view style_class);

}  // namespace telltale::html
