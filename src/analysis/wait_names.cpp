#include "analysis/wait_names.h"

#include <algorithm>
#include <array>
#include <optional>

#include "analysis/source_line.h"

namespace telltale {
namespace {

constexpr std::array<std::string_view, kWaitForCount> kNames = {"nothing", "sleep",   "lock", "socket", "pipe",
                                                                "file",    "process", "poll", "other"};

// A built-in: a method of the types whose names begin so, or a function where that is empty.
struct WaitingBuiltIn {
  std::string_view name, type;
  WaitFor what;
};

constexpr auto kBuiltIns = std::to_array<WaitingBuiltIn>({
    {"sleep", "", WaitFor::kSleep},
    {"acquire", "_thread.", WaitFor::kLock},
    {"__enter__", "_thread.", WaitFor::kLock},
    {"join", "_thread.", WaitFor::kLock},
    {"get", "_queue.SimpleQueue", WaitFor::kLock},
    {"acquire", "_multiprocessing.SemLock", WaitFor::kProcess},
    {"__enter__", "_multiprocessing.SemLock", WaitFor::kProcess},
    {"accept", "socket", WaitFor::kSocket},
    {"_accept", "socket", WaitFor::kSocket},
    {"connect", "socket", WaitFor::kSocket},
    {"recv", "socket", WaitFor::kSocket},
    {"recv_into", "socket", WaitFor::kSocket},
    {"recvfrom", "socket", WaitFor::kSocket},
    {"recvmsg", "socket", WaitFor::kSocket},
    {"send", "socket", WaitFor::kSocket},
    {"sendall", "socket", WaitFor::kSocket},
    {"sendmsg", "socket", WaitFor::kSocket},
    {"getaddrinfo", "", WaitFor::kSocket},
    {"gethostbyname", "", WaitFor::kSocket},
    {"do_handshake", "_ssl.", WaitFor::kSocket},
    {"read", "_ssl.", WaitFor::kSocket},
    {"write", "_ssl.", WaitFor::kSocket},
    {"waitpid", "", WaitFor::kProcess},
    {"waitid", "", WaitFor::kProcess},
    {"wait3", "", WaitFor::kProcess},
    {"wait4", "", WaitFor::kProcess},
    {"system", "", WaitFor::kProcess},
    {"fork_exec", "", WaitFor::kProcess},
    {"posix_spawn", "", WaitFor::kProcess},
    {"posix_spawnp", "", WaitFor::kProcess},
    {"select", "", WaitFor::kPoll},
    {"poll", "select.", WaitFor::kPoll},
    {"control", "select.kqueue", WaitFor::kPoll},
    {"read", "", WaitFor::kFile},
    {"write", "", WaitFor::kFile},
    {"pread", "", WaitFor::kFile},
    {"pwrite", "", WaitFor::kFile},
    {"preadv", "", WaitFor::kFile},
    {"fsync", "", WaitFor::kFile},
    {"fdatasync", "", WaitFor::kFile},
    {"fromfile", "", WaitFor::kFile},
    {"tofile", "numpy.", WaitFor::kFile},
    {"read", "_io.", WaitFor::kFile},
    {"read1", "_io.", WaitFor::kFile},
    {"readall", "_io.", WaitFor::kFile},
    {"readinto", "_io.", WaitFor::kFile},
    {"readline", "_io.", WaitFor::kFile},
    {"readlines", "_io.", WaitFor::kFile},
    {"write", "_io.", WaitFor::kFile},
    {"writelines", "_io.", WaitFor::kFile},
    {"flush", "_io.", WaitFor::kFile},
    {"close", "_io.", WaitFor::kFile},
});
// In memory: no file is behind them.
constexpr auto kMemoryFiles = std::to_array<std::string_view>({"_io.BytesIO", "_io.StringIO"});

// Library code whose waits, however made, are all for one thing. The outermost around a wait says what for.
struct WaitingLibrary {
  std::string_view file;
  WaitFor what;
};
constexpr auto kLibraries = std::to_array<WaitingLibrary>({
    {"queue.py", WaitFor::kLock},
    {"threading.py", WaitFor::kLock},
    {"concurrent/futures/", WaitFor::kLock},
    {"socket.py", WaitFor::kSocket},
    {"ssl.py", WaitFor::kSocket},
    {"http/", WaitFor::kSocket},
    {"urllib/", WaitFor::kSocket},
    {"urllib3/", WaitFor::kSocket},
    {"requests/", WaitFor::kSocket},
    {"httpx/", WaitFor::kSocket},
    {"httpcore/", WaitFor::kSocket},
    {"subprocess.py", WaitFor::kProcess},
    {"multiprocessing/", WaitFor::kProcess},
    {"asyncio/", WaitFor::kPoll},
});

struct BuiltIn {
  std::string_view name, type;
};

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// "<built-in function sleep>", "<built-in method acquire of _thread.lock object at 0x7f…>", "<built-in method
// time.sleep>" and "<method 'acquire' of '_thread.lock' objects>".
std::optional<BuiltIn> parsed_built_in(std::string_view call) {
  if (!call.ends_with('>')) return std::nullopt;
  call.remove_suffix(1);
  if (take_prefix(call, "<built-in function ")) return BuiltIn{call, {}};
  if (take_prefix(call, "<method '")) {
    const std::size_t end = call.find("' of '");
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view type = call.substr(end + 6);
    return BuiltIn{call.substr(0, end), type.substr(0, type.find('\''))};
  }
  if (!take_prefix(call, "<built-in method ")) return std::nullopt;
  const std::size_t of = call.find(" of ");
  if (of == std::string_view::npos) return BuiltIn{call.substr(call.rfind('.') + 1), {}};
  const std::string_view type = call.substr(of + 4);
  return BuiltIn{call.substr(0, of), type.substr(0, type.find(" object"))};
}

bool is_one(const BuiltIn& called, const WaitingBuiltIn& known) {
  if (called.name != known.name) return false;
  if (known.type.empty()) return called.type.empty();
  // "socket.socket" and "_socket.socket" are the same.
  const bool is_socket = known.type == "socket" && called.type.ends_with("socket");
  return is_socket || called.type.starts_with(known.type);
}

bool is_in_library(std::string_view file, std::string_view library) {
  const std::size_t at = file.find(library);
  if (at == std::string_view::npos) return false;
  const bool begins_name = at == 0 || file[at - 1] == '/';
  return begins_name && (library.ends_with('/') || at + library.size() == file.size());
}

}  // namespace

std::string_view name_of(WaitFor what) { return kNames[static_cast<std::size_t>(what)]; }

std::string_view phrase_of(WaitFor what) {
  constexpr std::array<std::string_view, kWaitForCount> kPhrases = {
      "nothing",         "a sleep", "a lock",
      "the network",     "a pipe",  "files",
      "another process", "events",  "something in the operating system",
  };
  return kPhrases[static_cast<std::size_t>(what)];
}

WaitFor wait_of_call(std::string_view call) {
  std::string_view text = call;
  if (take_prefix(text, "<waits for ") && text.ends_with('>')) {
    text.remove_suffix(1);
    const auto name = std::ranges::find(kNames, text);
    return name == kNames.end() ? WaitFor::kOther : static_cast<WaitFor>(name - kNames.begin());
  }
  const std::optional<BuiltIn> called = parsed_built_in(call);
  if (!called || std::ranges::find(kMemoryFiles, called->type) != kMemoryFiles.end()) return WaitFor::kNothing;
  const auto known = std::ranges::find_if(kBuiltIns, [&](const WaitingBuiltIn& each) { return is_one(*called, each); });
  return known == kBuiltIns.end() ? WaitFor::kNothing : known->what;
}

WaitFor waited_for(const Trace& trace, EventId call) {
  WaitFor what = wait_of_call(trace.name(call));
  if (what == WaitFor::kNothing || what == WaitFor::kSleep) return what;
  constexpr int kMostCallers = 200;  // no library has more of its own around a wait
  EventId at = trace.events.parent[call];
  for (int looks = 0; at != kNoEvent && looks < kMostCallers; ++looks, at = trace.events.parent[at]) {
    if (trace.events.kind[at] != Kind::kPython) continue;
    const std::optional<SourceLine> frame = parsed_frame(trace.name(at));
    if (!frame) continue;
    if (owner_of(frame->file) != CodeOwner::kLibrary) break;
    const auto library = std::ranges::find_if(
        kLibraries, [&](const WaitingLibrary& each) { return is_in_library(frame->file, each.file); });
    if (library != kLibraries.end()) what = library->what;
  }
  return what;
}

}  // namespace telltale
