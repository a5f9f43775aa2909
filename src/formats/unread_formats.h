// Formats that Telltale knows by sight and does not read, so that whoever names such a file learns what it is and what
// to do instead.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace telltale {

// What to say of a file that starts like this, in words that go on after its name: "is a zip archive; unpack it …".
// Nothing for a format that is not among them. The more of the file it is shown, the more it knows; 64 KiB are plenty.
// `path` helps with formats that have no mark of their own.
std::optional<std::string> why_not_read(std::string_view first_bytes, std::string_view path);

}  // namespace telltale
