// The files of a recording: how they are called while processes write them and in the end, and which are kept.
//
// Each process writes a file with its pid in the name; when there was one process, its file gets the name that was
// asked for. Nothing here writes; the last two functions delete.
#pragma once

#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace telltale::capture {

// "telltale_train_20261115-130837" for `python train.py`.
std::string default_stem(const std::vector<std::string>& command, const std::tm& now);

// What -o names, taken apart: "/runs", "night" and ".json.gz".
struct OutputName {
  std::filesystem::path folder;  // absolute
  std::string stem, extension;

  std::filesystem::path path() const { return folder / (stem + extension); }
  // Of one process among several, and of one of its cycles: "night_4711.1.json.gz".
  std::filesystem::path path_of(int pid, std::string_view cycle, bool is_only_process) const;
};

// `output` as it was given, perhaps empty or a folder; `engine_extension` is what the engine writes by itself.
Result<OutputName> output_name(const std::string& output, const std::string& stem, std::string_view engine_extension);

// A file that a process wrote, or is writing.
struct RecordedFile {
  std::filesystem::path path;
  int pid = 0;
  std::string cycle;         // "" or ".1", ".2", … where a schedule repeats
  bool is_cut_off = false;   // not complete; in the end: its writer died
  bool is_stand_in = false;  // by time, since there were no steps
  bool is_empty = false;     // nothing is in it, or only how a trace begins
  std::optional<int> rank;   // as its environment said

  bool operator==(const RecordedFile&) const = default;
};

// What a file in the recording's folder is, by its name; nothing when it is none of this recording's.
std::optional<RecordedFile> recognized(const std::filesystem::path& path, const std::string& stem);

// All files of a recording in a folder that only it writes to, in the order of their processes.
std::vector<RecordedFile> gathered(const std::filesystem::path& folder, const std::string& stem);

// Whether a recording of our adapter's has been closed.
bool is_complete(const std::filesystem::path& recording);

// Whether there is such a trace of PyTorch's profiler, with something in it. One of a time when the program had not
// begun its work is deleted, so that another one takes its place.
bool is_worth_having(const std::string& trace_file);

// Those that are worth keeping once nobody writes any more: what is empty, cut off or a stand-in gives way to a better
// one of the same process. The others are deleted.
std::vector<RecordedFile> kept_files(const std::vector<RecordedFile>& files);

}  // namespace telltale::capture
