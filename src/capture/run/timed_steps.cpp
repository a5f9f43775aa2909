#include "capture/run/timed_steps.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "trace/unrecorded_steps.h"

namespace telltale::capture {

namespace fs = std::filesystem;

void add_timed_steps(const fs::path& trace, const std::string& steps) {
  if (!nlohmann::json::accept(steps)) return;
  std::ifstream from(trace, std::ios::binary);
  char brace = 0, next = 0;
  if (!(from >> brace >> next) || brace != '{' || next != '"') return;
  const fs::path longer = trace.string() + ".steps";
  std::ofstream to(longer, std::ios::binary);
  to << fmt::format("{{\n  \"{}\": {},\n  {}", kTimedSteps, steps, next) << from.rdbuf();
  to.close();
  std::error_code error;
  if (to)
    fs::rename(longer, trace, error);
  else
    fs::remove(longer, error);
}

}  // namespace telltale::capture
