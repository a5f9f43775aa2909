// The script of a diagnosis's page, as it is built from web/src/report: part of the program.
#pragma once

#include <string_view>

namespace telltale {

extern const std::string_view kReportScript;
extern const std::string_view kReportScriptHash;  // "sha256-…": what a Content-Security-Policy calls it

}  // namespace telltale
