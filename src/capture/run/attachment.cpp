#include "capture/run/attachment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

namespace telltale::capture {
namespace {

namespace fs = std::filesystem;

std::string_view name_of(Mark mark) {
  switch (mark) {
    case Mark::kTorch:
      return "torch";
    case Mark::kSteps:
      return "steps";
    case Mark::kCuda:
      return "cuda";
    case Mark::kKineto:
      return "kineto";
    case Mark::kTold:
      return "told";
    case Mark::kRecording:
      return "recording";
  }
  return {};
}

nlohmann::json schedule_json(const Schedule& schedule) {
  return {{"skip_first", schedule.skip_first},
          {"wait", schedule.wait},
          {"warmup", schedule.warmup},
          {"active", schedule.active},
          {"repeat", schedule.repeat}};
}

template <typename T>
nlohmann::json value_or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

constexpr std::string_view kWorkPrefix = "telltale-run-";
// A folder is locked as soon as it is made; one that is older and not locked has nobody any more.
constexpr std::chrono::minutes kTimeToLock{1};

// What recordings that were killed have left, of this user's.
void remove_left_folders(const fs::path& where) {
  std::error_code error;
  for (fs::directory_iterator entry(where, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->path().filename().string().starts_with(kWorkPrefix)) continue;
    const int folder = open(entry->path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    struct stat status{};
    const auto oldest = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() - kTimeToLock);
    std::error_code unremovable;
    if (folder >= 0 && fstat(folder, &status) == 0 && status.st_uid == geteuid() && status.st_mtime < oldest &&
        flock(folder, LOCK_EX | LOCK_NB) == 0)
      fs::remove_all(entry->path(), unremovable);
    if (folder >= 0) close(folder);
  }
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace

std::string attachment_text(const Attachment& attachment) {
  const nlohmann::json json = {
      {"engine", attachment.engine},
      {"path", attachment.path},
      {"package", attachment.package},
      {"marks", attachment.marks},
      {"schedule", attachment.schedule ? schedule_json(*attachment.schedule) : nlohmann::json()},
      {"seconds", value_or_null(attachment.seconds)},
      {"shapes", attachment.shapes},
      {"stacks", attachment.stacks},
      {"memory", attachment.memory},
      {"referrers", attachment.referrers},
      {"api", attachment.api},
      {"memory_limit", value_or_null(attachment.memory_limit)},
      {"pauses", attachment.pauses},
      {"native", attachment.native},
      {"warmup", attachment.warmup},
  };
  return json.dump();
}

std::vector<std::string> attachment_variables(const Attachment& attachment) {
  if (attachment.package.empty()) return {"TELLTALE_ATTACH=" + attachment_text(attachment)};
  const char* others = secure_getenv("PYTHONPATH");
  const bool has_others = others != nullptr && *others != '\0';
  return {"TELLTALE_ATTACH=" + attachment_text(attachment),
          "PYTHONPATH=" + injection_folder(attachment.package).string() + (has_others ? ":" : "") +
              (has_others ? others : "")};
}

fs::path injection_folder(const fs::path& package) { return package / "telltale/_inject"; }

WorkFolder::WorkFolder() {
  // Not TMPDIR, which may be long: see kMaxFolderLength.
  for (const char* where : {"/tmp", "/dev/shm", "/var/tmp"}) {
    remove_left_folders(where);
    std::string name = fmt::format("{}/{}XXXXXX", where, kWorkPrefix);
    if (mkdtemp(name.data()) == nullptr) continue;
    path_ = name;
    lock_ = open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock_ >= 0) flock(lock_, LOCK_EX | LOCK_NB);
    return;
  }
}

WorkFolder::~WorkFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
  if (lock_ >= 0) close(lock_);
}

fs::path WorkFolder::path_of(Mark mark, int pid) const { return path_ / fmt::format("{}_{}", name_of(mark), pid); }

bool WorkFolder::has_mark(Mark mark, int pid) const { return is_there(path_of(mark, pid)); }

bool WorkFolder::has_mark_of_any_process(Mark mark) const {
  const std::string prefix = fmt::format("{}_", name_of(mark));
  std::error_code error;
  for (fs::directory_iterator entry(path_, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with(prefix)) return true;
  return false;
}

void WorkFolder::set_mark(Mark mark, int pid, bool is_set) const {
  const fs::path path = path_of(mark, pid);
  if (is_set == is_there(path)) return;
  std::error_code error;
  if (is_set)
    std::ofstream{path};
  else
    fs::remove(path, error);
}

std::string WorkFolder::text_of_mark(Mark mark, int pid) const {
  std::ifstream file(path_of(mark, pid));
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace telltale::capture
