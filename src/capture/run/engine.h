// Which engine records, and what a command's environment must have for it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "capture/kineto/client_list.h"
#include "capture/run/attachment.h"
#include "capture/run/options.h"

namespace telltale::capture {

// The folder that holds the Python package `telltale`: what TELLTALE_PYTHON names, or where it stands beside this
// program in a wheel, a build tree or an installation. Absent when there is none.
std::optional<std::filesystem::path> python_folder();

struct EngineChoice {
  Engine engine = Engine::kKineto;  // never kAuto
  std::filesystem::path python;     // of the package; may be empty
  std::string why_not_telltale;     // a sentence where that would have been chosen and cannot be; else empty
};
// `can_inject`: the library is there that comes into native CUDA programs. Who asks for our engine by its name has
// those recorded without the package, too.
EngineChoice chosen_engine(Engine wanted, const std::optional<std::filesystem::path>& python, bool can_inject);

// What our adapter is told. `file` is where processes write, with their pids put behind its stem.
Attachment attachment_for(const RecordOptions& options, const std::filesystem::path& file, const EngineChoice& choice,
                          const std::filesystem::path& marks);

// Where PyTorch's profiler is told to write: to such a file where it takes its path, else into the work folder.
std::string kineto_log_file(const std::filesystem::path& file, const std::filesystem::path& work);
CapturePlan capture_plan(const RecordOptions& options, const std::string& log_file);

// Variables for PyTorch's profiler, as NAME=VALUE. `configuration` is the file for KINETO_CONFIG.
std::vector<std::string> kineto_variables(const std::filesystem::path& work, const std::string& log_file,
                                          const std::filesystem::path& configuration);

// Writes the file for KINETO_CONFIG: with what the user's own, or the machine's, says.
void write_client_configuration(const std::filesystem::path& path);

// A variable that a process was started with; absent when it was not, or is not ours to look into.
std::optional<std::string> variable_of(int pid, const std::string& name);

}  // namespace telltale::capture
