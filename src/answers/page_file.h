// The file that a page is written to: it appears only when it is complete, and replaces nothing but an older page of
// ours. Pages are made to be shown, so that who may read them is the umask's matter.
#pragma once

#include <string>
#include <string_view>

#include "answers/spelling.h"
#include "base/error.h"

namespace telltale::answers {

// What cannot work is said before the trace is read: a page over the trace itself, or over a file of somebody else's.
Result<void> check_page(const std::string& path, const std::string& trace_path, Spelling spelling);

Result<void> write_page(const std::string& path, std::string_view page);

}  // namespace telltale::answers
