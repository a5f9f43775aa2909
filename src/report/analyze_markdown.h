// A diagnosis as Markdown, as a comment on a pull request wants it.
#pragma once

#include <string>
#include <string_view>

#include "advise/diagnosis.h"
#include "trace/trace.h"

namespace telltale {

// `trace` is the one that was diagnosed.
std::string analyze_markdown(const Diagnosis& diagnosis, const Trace& trace);

// Text that Markdown shows as it is, on one line: names come from files and mean no markup.
std::string markdown_escaped(std::string_view text);

}  // namespace telltale
