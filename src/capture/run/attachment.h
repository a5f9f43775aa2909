// How `telltale record` and the Python processes that it records talk to each other: the command's side. The other side
// has the same names, in python/telltale/_inject/telltale_attachment.py.
//
// 1. The command puts the folder telltale/_inject first into PYTHONPATH, so that every Python which starts imports the
//    `sitecustomize` in it, and what the process is to do into TELLTALE_ATTACH, as JSON: see `Attachment`.
// 2. The two leave each other marks: files called <mark>_<pid> in the folder `marks`, which goes when the command ends.
//      torch      by the process: it is about to import torch. Holds the value of RANK, if that is set.
//      steps      by the process, beside PyTorch's profiler: what its steps took, the value `timed_steps` of the trace
//                 as JSON (src/trace/unrecorded_steps.h).
//      worker     by a worker of a data loader: what it spends its time on, as JSON; only its parent process reads it.
//      cuda       by a CUDA program without PyTorch: it is about to be recorded.
//      kineto     by the process: our adapter does not work in it, so that PyTorch's profiler will ask what to record.
//      told       by the command: PyTorch's profiler was asked for a trace, which is not there yet.
//      recording  by the command: PyTorch's profiler is busy with it.
//    A process that ends waits while its profiler has something to write, which it learns from the last two.
// 3. A recording of our adapter's appears at `path`, in a folder of this recording's own (live_folder.h); it is
// complete when it ends with the trailer of a .tell file.
// 4. PyTorch's profiler speaks a protocol of its own: see capture/kineto/protocol.h. Its socket is in the same folder.
//
// 5. A CUDA program without PyTorch is recorded by libtelltale_devices.so, which reads the same variable: see
//    native_injection.h.
//
// docs/record.md lists the members for those who embed it. Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "capture/run/options.h"

namespace telltale::capture {

// What a process is told. Members are written as they are called here; what is absent as null.
struct Attachment {
  // "telltale"; "auto": the same, unless there is a GPU that only PyTorch's profiler can record; or "kineto": only wait
  // at the end while PyTorch's profiler writes
  std::string engine;
  std::string path;     // of the file to write; %p stands for the pid
  std::string package;  // the folder with the Python package, for a Python that has none of its own
  std::string marks;    // the folder for marks
  std::optional<Schedule> schedule;
  std::optional<double> seconds;
  bool shapes = false, stacks = false, memory = false, referrers = false;
  bool api = false;  // every call of CUDA's API, not only those that matter
  std::optional<std::uint64_t> memory_limit;
  bool pauses = false;  // steps may be left unrecorded
  bool native = false;  // CUDA programs without PyTorch are recorded, too
  int warmup = 0;       // steps in which PyTorch's profiler is at work before it records
};

std::string attachment_text(const Attachment& attachment);

// The variables that bring an attachment into processes, as NAME=VALUE.
std::vector<std::string> attachment_variables(const Attachment& attachment);

// Where, below the folder of the Python package, what processes import stands.
std::filesystem::path injection_folder(const std::filesystem::path& package);

enum class Mark { kTorch, kSteps, kCuda, kKineto, kTold, kRecording };

// A folder of this recording's own, with a short name: sockets, marks, configuration. Gone with all that is in it when
// the recording ends or, where that was killed, when the next one begins.
class WorkFolder {
 public:
  WorkFolder();
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }  // empty when none could be made

  bool has_mark(Mark mark, int pid) const;
  bool has_mark_of_any_process(Mark mark) const;
  void set_mark(Mark mark, int pid, bool is_set) const;
  std::string text_of_mark(Mark mark, int pid) const;  // empty where there is none

 private:
  std::filesystem::path path_of(Mark mark, int pid) const;

  std::filesystem::path path_;
  int lock_ = -1;  // on the folder, for as long as we live
};

}  // namespace telltale::capture
