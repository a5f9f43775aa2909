#include "memory/stack_words.h"

#include <algorithm>
#include <ranges>

namespace telltale {
namespace {

struct Mark {
  std::string_view file, function;  // what a frame contains; empty: anything
  StackPart part;
};

constexpr Mark kMarks[] = {
    {"", "CUDABlasLtWorkspace", StackPart::kWorkspace},
    {"", "getNewWorkspace", StackPart::kWorkspace},
    {"", "cublasSetWorkspace", StackPart::kWorkspace},
    {"", "ProcessGroup", StackPart::kCommunication},
    {"", "c10d::", StackPart::kCommunication},
    {"torch/distributed/", "", StackPart::kCommunication},
    {"torch/nn/parallel/distributed.py", "__init__", StackPart::kCommunication},
    {"torch/optim/", "", StackPart::kOptimizer},
    {"torch/autograd/graph.py", "_engine_run_backward", StackPart::kBackward},
    {"torch/autograd/__init__.py", "backward", StackPart::kBackward},
    {"torch/autograd/__init__.py", "grad", StackPart::kBackward},
    {"", "torch::autograd::Engine", StackPart::kBackward},
    {"cache_utils.py", "update", StackPart::kKvCache},
    {"torch/utils/data/", "", StackPart::kData},
    {"torch/nn/modules/", "_apply", StackPart::kConstruction},
    {"torch/nn/modules/", "__init__", StackPart::kConstruction},
    {"torch/nn/modules/", "reset_parameters", StackPart::kConstruction},
    {"torch/nn/modules/module.py", "_call_impl", StackPart::kForward},
    {"torch/nn/modules/", "forward", StackPart::kForward},
};

// "folder/model.py(12): forward" in two.
struct Frame {
  std::string_view file, function;
};
Frame frame_of(std::string_view text) {
  const std::size_t colon = text.rfind("): ");
  if (colon == std::string_view::npos) return {text, text};
  return {text.substr(0, colon), text.substr(colon + 3)};
}

bool matches(const Mark& mark, const Frame& frame) {
  return frame.file.contains(mark.file) && frame.function.contains(mark.function);
}

// Whether a frame is of compiled code: with torch's stacks of all languages, those of PyTorch itself and of the
// interpreter stand between those of the program.
bool is_native(std::string_view file) {
  constexpr std::string_view kEndings[] = {".c",  ".cc",  ".cpp", ".cxx", ".cu", ".h",
                                           ".hh", ".hpp", ".hxx", ".cuh", ".inc"};
  return file == "??" || std::ranges::any_of(kEndings, [&](std::string_view ending) { return file.ends_with(ending); });
}

// What starts programs and threads, of the C and C++ libraries.
bool is_start_of_thread(std::string_view file) {
  return file.ends_with("c++11/thread.cc") || file.contains("nptl/") || file.contains("csu/libc-start");
}

auto frames_of(std::string_view stack) {
  return std::views::split(stack, ';') |
         std::views::transform([](auto part) { return std::string_view(part.begin(), part.end()); });
}

}  // namespace

StackPart part_of_frame(std::string_view text) {
  const Frame frame = frame_of(text);
  StackPart part = StackPart::kUnknown;
  for (const Mark& mark : kMarks)
    if (matches(mark, frame)) part = std::min(part, mark.part);
  return part;
}

StackPart part_of_stack(std::string_view call_stack) {
  if (call_stack.empty()) return StackPart::kNothing;
  StackPart part = StackPart::kUnknown;
  for (const std::string_view frame : frames_of(call_stack)) part = std::min(part, part_of_frame(frame));
  return part;
}

std::optional<SourceLine> line_of_stack(std::string_view call_stack) {
  std::optional<SourceLine> library, native;
  for (const std::string_view text : frames_of(call_stack)) {
    std::optional<SourceLine> frame = parsed_frame(text);
    if (!frame || frame->line == 0 || is_start_of_thread(frame->file)) continue;
    if (!is_native(frame->file) && owner_of(frame->file) != CodeOwner::kLibrary) return frame;
    std::optional<SourceLine>& kept = is_native(frame->file) ? native : library;
    if (!kept) kept = std::move(frame);
  }
  return library ? library : native;
}

}  // namespace telltale
