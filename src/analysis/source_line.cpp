#include "analysis/source_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>

#include "analysis/call_stacks.h"
#include "trace/stack_frame.h"

namespace telltale {
namespace {

// Installed packages that only serve: nobody looks for a fault of a model in them.
constexpr auto kLibraryPackages = std::to_array<std::string_view>(
    {"PIL",        "_pytest",        "absl",        "aiohttp",       "anyio",       "apex",         "attr",
     "attrs",      "click",          "cloudpickle", "cupy",          "cv2",         "dateutil",     "dill",
     "fastapi",    "filelock",       "flash_attn",  "flask",         "fsspec",      "functorch",    "google",
     "grpc",       "gunicorn",       "gymnasium",   "h11",           "h5py",        "httpcore",     "httptools",
     "httpx",      "hydra",          "imageio",     "jinja2",        "joblib",      "librosa",      "loguru",
     "markupsafe", "matplotlib",     "mlflow",      "mpmath",        "msgpack",     "multiprocess", "networkx",
     "numba",      "numpy",          "omegaconf",   "orjson",        "pandas",      "pluggy",       "polars",
     "psutil",     "pyarrow",        "pydantic",    "pydantic_core", "pytest",      "ray",          "redis",
     "regex",      "requests",       "rich",        "s3fs",          "scipy",       "skimage",      "sklearn",
     "soundfile",  "sqlalchemy",     "starlette",   "sympy",         "tensorboard", "tensorboardX", "threadpoolctl",
     "torch",      "torch_tensorrt", "tqdm",        "triton",        "typer",       "urllib3",      "uvicorn",
     "uvloop",     "wandb",          "websockets",  "werkzeug",      "xformers",    "yaml",         "zmq"});

// Installed packages that bring models, or the loops around them.
constexpr auto kModelPackages = std::to_array<std::string_view>({"accelerate",
                                                                 "composer",
                                                                 "deepspeed",
                                                                 "detectron2",
                                                                 "diffusers",
                                                                 "fairseq",
                                                                 "fastai",
                                                                 "huggingface_hub",
                                                                 "ignite",
                                                                 "lightning",
                                                                 "lightning_fabric",
                                                                 "litgpt",
                                                                 "megatron",
                                                                 "mmcv",
                                                                 "mmdet",
                                                                 "mmengine",
                                                                 "monai",
                                                                 "open_clip",
                                                                 "peft",
                                                                 "pytorch_lightning",
                                                                 "safetensors",

                                                                 "sentence_transformers",
                                                                 "timm",
                                                                 "tokenizers",
                                                                 "torch_geometric",
                                                                 "torchaudio",
                                                                 "torchmetrics",
                                                                 "torchtext",
                                                                 "torchtitan",
                                                                 "torchtune",
                                                                 "torchvision",
                                                                 "transformer_engine",
                                                                 "transformers",
                                                                 "trl",
                                                                 "ultralytics",
                                                                 "vllm"});

// Of the standard library, the packages and those modules that stand in stacks; a module whose name is likely to be
// that of a user's script (code, profile, trace) is left out.
constexpr auto kStandardPackages = std::to_array<std::string_view>(
    {"asyncio",   "collections", "concurrent", "ctypes",          "email",   "encodings", "html",    "http",
     "importlib", "json",        "logging",    "multiprocessing", "pathlib", "re",        "sqlite3", "sysconfig",
     "unittest",  "urllib",      "xml",        "zipfile",         "zoneinfo"});
constexpr auto kStandardModules = std::to_array<std::string_view>({"_collections_abc",
                                                                   "_compression",
                                                                   "_pydecimal",
                                                                   "_strptime",
                                                                   "_weakrefset",
                                                                   "abc",
                                                                   "argparse",
                                                                   "ast",
                                                                   "base64",
                                                                   "bdb",
                                                                   "bisect",
                                                                   "bz2",
                                                                   "codecs",
                                                                   "configparser",
                                                                   "contextlib",
                                                                   "contextvars",
                                                                   "copy",
                                                                   "copyreg",
                                                                   "csv",
                                                                   "dataclasses",
                                                                   "datetime",
                                                                   "decimal",
                                                                   "dis",
                                                                   "enum",
                                                                   "fnmatch",
                                                                   "fractions",
                                                                   "functools",
                                                                   "genericpath",
                                                                   "getpass",
                                                                   "gettext",
                                                                   "glob",
                                                                   "gzip",
                                                                   "hashlib",
                                                                   "heapq",
                                                                   "hmac",
                                                                   "inspect",
                                                                   "io",
                                                                   "ipaddress",
                                                                   "linecache",
                                                                   "locale",
                                                                   "lzma",
                                                                   "mimetypes",
                                                                   "numbers",
                                                                   "opcode",
                                                                   "operator",
                                                                   "os",
                                                                   "pathlib",
                                                                   "pdb",
                                                                   "pickle",
                                                                   "pkgutil",
                                                                   "platform",
                                                                   "posixpath",
                                                                   "pprint",
                                                                   "queue",
                                                                   "random",
                                                                   "reprlib",
                                                                   "runpy",
                                                                   "secrets",
                                                                   "selectors",
                                                                   "shlex",
                                                                   "shutil",
                                                                   "signal",
                                                                   "socket",
                                                                   "socketserver",
                                                                   "sre_compile",
                                                                   "sre_parse",
                                                                   "ssl",
                                                                   "stat",
                                                                   "statistics",
                                                                   "string",
                                                                   "struct",
                                                                   "subprocess",
                                                                   "sysconfig",
                                                                   "tarfile",
                                                                   "tempfile",
                                                                   "textwrap",
                                                                   "threading",
                                                                   "timeit",
                                                                   "tokenize",
                                                                   "traceback",
                                                                   "types",
                                                                   "typing",
                                                                   "uuid",
                                                                   "warnings",
                                                                   "weakref",
                                                                   "zipfile",
                                                                   "zipimport"});

static_assert(std::ranges::is_sorted(kLibraryPackages) && std::ranges::is_sorted(kModelPackages));
static_assert(std::ranges::is_sorted(kStandardPackages) && std::ranges::is_sorted(kStandardModules));

bool is_one_of(std::span<const std::string_view> sorted, std::string_view name) {
  return std::ranges::binary_search(sorted, name);
}

constexpr std::string_view kSeparators = "/\\";  // files of Windows have the other one

std::string_view without_suffix(std::string_view text, std::string_view suffix) {
  if (text.ends_with(suffix)) text.remove_suffix(suffix.size());
  return text;
}

// "transformers/trainer.py" → "transformers"; "runpy.py" → "runpy".
std::string_view top_name(std::string_view path) {
  return without_suffix(path.substr(0, path.find_first_of(kSeparators)), ".py");
}

// What follows the folder of installed packages, or nothing.
std::string_view inside_installed(std::string_view path) {
  for (const std::string_view folder : {"site-packages", "dist-packages"}) {
    const std::size_t at = path.rfind(folder);
    if (at != std::string_view::npos) return path.substr(std::min(at + folder.size() + 1, path.size()));
  }
  return {};
}

// TorchInductor names its files after their hash: "…/ob/cobzdol67u26….py", in a folder of the second and third letter.
bool is_inductor_output(std::string_view path) {
  constexpr std::size_t kHashLength = 52;
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || slash < 3 || path[slash - 3] != '/') return false;
  const std::string_view stem = without_suffix(path.substr(slash + 1), ".py");
  return stem.size() == kHashLength && stem.front() == 'c' && stem.substr(1, 2) == path.substr(slash - 2, 2);
}

bool is_standard_library(std::string_view path) {
  if (path.contains("lib/python3") || path.contains("\\Lib\\")) return true;
  const bool is_in_folder = path.find_first_of(kSeparators) != std::string_view::npos;
  return is_in_folder ? is_one_of(kStandardPackages, top_name(path)) : is_one_of(kStandardModules, top_name(path));
}

// "<frozen os>", "<string>"; but what is typed into a notebook of old is the user's own.
bool is_made_up(std::string_view path) { return path.starts_with('<') && !path.starts_with("<ipython-input"); }

// A comprehension is called like a function, but stands in one that has a name.
bool is_comprehension(std::string_view function) { return function == "<genexpr>" || function.ends_with("comp>"); }

// Goes over frames from the innermost outwards, and keeps the first one that is worth naming.
class FrameSearch {
 public:
  void look_at(const StackFrame& frame) {
    if (owner_of(frame.file) != CodeOwner::kLibrary) take(frame);
  }
  void look_at(std::string_view text) {
    if (const std::optional<StackFrame> frame = split_frame(text)) look_at(*frame);
  }

  // Frames joined by ";", innermost first.
  void look_at_stack(std::string_view stack) {
    for (std::size_t start = 0; start < stack.size() && !found_;) {
      const std::size_t end = std::min(stack.find(';', start), stack.size());
      look_at(stack.substr(start, end - start));
      start = end + 1;
    }
  }

  bool is_done() const { return found_.has_value(); }

  std::optional<SourceLine> result() const {
    const std::optional<StackFrame>& frame = found_ ? found_ : comprehension_;
    if (!frame) return std::nullopt;
    return SourceLine{std::string(frame->file), frame->line, std::string(frame->function)};
  }

 private:
  // A comprehension waits for the function that it stands in.
  void take(const StackFrame& frame) {
    const bool is_elsewhere = comprehension_ && comprehension_->file != frame.file;
    if (is_elsewhere)
      found_ = comprehension_;
    else if (is_comprehension(frame.function))
      comprehension_ = frame;
    else
      found_ = frame;
  }

  std::optional<StackFrame> found_, comprehension_;
};

// Where the event itself stands in the program, as a recorder with compiled-in places knows it.
std::optional<StackFrame> recorded_place(const Trace& trace, EventId event) {
  const std::uint32_t* place = trace.sources.empty() ? nullptr : trace.sources.find(event);
  if (place == nullptr) return std::nullopt;
  const SourceLocation& location = trace.source_locations[*place];
  return StackFrame{trace.strings[location.file], trace.strings[location.function], location.line};
}

// Looks at an event and those around it. Returns what caused the innermost of them that has a cause, or kNoEvent.
EventId look_outwards(const Trace& trace, EventId event, FrameSearch& search) {
  EventId cause = kNoEvent;
  // No program calls libraries through more; beyond, the line stays unknown, so that no file makes us look for ever.
  constexpr int kMostCallers = 200, kMostLooks = 2000;
  int callers = 0, looks = kMostLooks;
  for (EventId at = event; at != kNoEvent && !search.is_done(); at = caller_of(trace, at, looks)) {
    if (++callers > kMostCallers) break;
    if (cause == kNoEvent) cause = trace.events.cause[at];
    if (const std::optional<StackFrame> frame = recorded_place(trace, at)) search.look_at(*frame);
    if (search.is_done()) break;
    if (trace.events.kind[at] == Kind::kPython) search.look_at(trace.name(at));
    const OperatorStack* stack = trace.operator_stacks.empty() ? nullptr : trace.operator_stacks.find(at);
    if (stack != nullptr) search.look_at_stack(trace.strings[stack->call_stack]);
  }
  return cause;
}

// A module's call has no line of its own, and the function around it may be at several; operators inside say from where
// the module was called.
void look_around_module(const Trace& trace, EventId module, FrameSearch& search) {
  constexpr EventId kMostLooks = 64;
  if (trace.operator_stacks.empty()) return;
  const Track& track = trace.tracks[trace.events.track[module]];
  const EventId end = std::min(module + kMostLooks, track.first_event + track.event_count);
  const std::string mark = std::string(trace.name(module)) + ';';
  for (EventId event = module + 1; event < end && trace.events.start[event] < trace.events.end(module); ++event) {
    const OperatorStack* const stack = trace.operator_stacks.find(event);
    if (stack == nullptr) continue;
    const std::string_view frames = trace.strings[stack->call_stack];
    const std::size_t at = frames.rfind(mark);
    if (at != std::string_view::npos) search.look_at_stack(frames.substr(at + mark.size()));
    return;
  }
}

// From device work to its launch, to the backward operator's forward one; a double backward pass needs one more.
void look_along_causes(const Trace& trace, EventId event, FrameSearch& search) {
  constexpr int kMostCauses = 5;
  for (int step = 0; step < kMostCauses && event != kNoEvent && !search.is_done(); ++step)
    event = look_outwards(trace, event, search);
}

// Its own place comes first, as compiled kernels have one; the launch of a graph says nothing of what is in it.
void look_at_device_work(const Trace& trace, EventId work, FrameSearch& search) {
  if (const std::optional<StackFrame> frame = recorded_place(trace, work)) search.look_at(*frame);
  const GraphOrigin* const origin = trace.graph_origins.empty() ? nullptr : trace.graph_origins.find(work);
  if (origin == nullptr) return;
  look_along_causes(trace, origin->captured_in, search);
  search.look_at_stack(trace.strings[origin->call_stack]);
}

}  // namespace

std::string short_place(const SourceLine& source) {
  const std::string file = std::filesystem::path(source.file).filename().string();
  return source.line > 0 ? fmt::format("{}:{}", file, source.line) : file;
}

std::optional<SourceLine> parsed_frame(std::string_view frame) {
  const std::optional<StackFrame> parts = split_frame(frame);
  if (!parts) return std::nullopt;
  return SourceLine{std::string(parts->file), parts->line, std::string(parts->function)};
}

CodeOwner owner_of(std::string_view file) {
  if (is_made_up(file) || is_inductor_output(file)) return CodeOwner::kLibrary;
  const std::string_view installed = inside_installed(file);
  if (!installed.empty())
    return is_one_of(kLibraryPackages, top_name(installed)) ? CodeOwner::kLibrary : CodeOwner::kPackage;
  if (is_one_of(kLibraryPackages, top_name(file)) || is_standard_library(file)) return CodeOwner::kLibrary;
  return is_one_of(kModelPackages, top_name(file)) ? CodeOwner::kPackage : CodeOwner::kUser;
}

bool is_library_frame(const SourceLine& frame) { return owner_of(frame.file) != CodeOwner::kUser; }

std::optional<SourceLine> source_line(const Trace& trace, EventId event) {
  FrameSearch search;
  if (event == kNoEvent) return std::nullopt;
  if (trace.events.kind[event] == Kind::kModule) look_around_module(trace, event, search);
  if (is_on_device(trace.events.kind[event])) look_at_device_work(trace, event, search);
  look_along_causes(trace, event, search);
  return search.result();
}

}  // namespace telltale
