// Which engine records, and what a command's environment must have for it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "capture/kineto/client_list.h"
#include "cli/record_options.h"
#include "cli/record_output.h"

namespace telltale::cli {

// The folder that holds the Python package `telltale`: what TELLTALE_PYTHON names, or where it stands beside this
// program in a wheel, a build tree or an installation. Absent when there is none.
std::optional<std::filesystem::path> python_folder();

// A GPU of NVIDIA's that CUDA_VISIBLE_DEVICES does not hide.
bool has_visible_gpu();

struct EngineChoice {
  Engine engine = Engine::kKineto;  // never kAuto
  std::filesystem::path python;     // of the package; may be empty for kKineto
  std::string reason;               // a sentence where it is not what one would expect; else empty
};
EngineChoice chosen_engine(Engine wanted, bool has_gpu, const std::optional<std::filesystem::path>& python);

// A folder of this recording's own, with a short name: sockets, marks, configuration. Gone with all that is in it when
// the recording ends.
class WorkFolder {
 public:
  WorkFolder();
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }  // empty when none could be made

 private:
  std::filesystem::path path_;
};

// What our adapter reads from TELLTALE_ATTACH, as JSON: where to write ("%p" stands for the pid), how much, and where
// to leave marks that say which process did what.
std::string attachment_text(const RecordOptions& options, const OutputName& name, const EngineChoice& choice,
                            const std::filesystem::path& marks);

// Where PyTorch's profiler is told to write: beside the output where it takes such a path, else into the work folder.
std::string kineto_log_file(const OutputName& name, const std::filesystem::path& work);
capture::CapturePlan capture_plan(const RecordOptions& options, const std::string& log_file);

// Variables for the command, as NAME=VALUE. `configuration` is the file for KINETO_CONFIG.
std::vector<std::string> kineto_variables(const std::filesystem::path& work, const std::string& log_file,
                                          const std::filesystem::path& configuration);
std::vector<std::string> adapter_variables(const EngineChoice& choice, const std::string& attachment);

// A variable that a process was started with; absent when it was not, or is not ours to look into.
std::optional<std::string> variable_of(int pid, const std::string& name);

// Writes the file for KINETO_CONFIG: with what the user's own, or the machine's, says.
void write_client_configuration(const std::filesystem::path& path);

}  // namespace telltale::cli
