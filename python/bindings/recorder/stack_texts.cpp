#include "stack_texts.h"

#include <telltale/telltale.h>

#include <deque>

namespace telltale::python {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}

template <typename T>
std::uint64_t word_of(T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

}  // namespace

const CodeInfo* StackTexts::info_of(PyCodeObject* code) {
  const CodeInfo*& known = codes_[code];
  if (known == nullptr) known = code_table().find(code);
  return known;
}

std::shared_ptr<const StackText> StackTexts::find(std::span<const Frame> frames) {
  const PyCodeObject* const module_call = code_table().module_call();
  std::uint64_t hash = frames.size();
  for (const Frame& frame : frames) {
    hash = mixed(hash, word_of(frame.code));
    hash = mixed(hash, static_cast<std::uint64_t>(frame.instruction));
    if (frame.code == module_call) hash = mixed(mixed(hash, word_of(frame.first_local)), word_of(frame.module));
  }
  if (const auto found = texts_.find(hash); found != texts_.end()) return found->second;
  constexpr std::size_t kMost = 1 << 16;  // of a program whose stacks are always new
  if (texts_.size() >= kMost) texts_.clear();
  auto text = described(frames, [this](PyCodeObject* code) { return info_of(code); });
  if (text != nullptr) texts_[hash] = text;
  return text;
}

// What is described here is kept by nobody: its code may be gone, and other code have its address, once it has
// returned.
std::shared_ptr<const StackText> StackTexts::find_or_describe(std::span<const Frame> frames) {
  if (auto text = find(frames)) return text;
  std::deque<CodeInfo> infos;
  for (const Frame& frame : frames)
    if (frame.code == code_table().module_call()) code_table().learn_module(frame);
  return described(frames, [&](PyCodeObject* code) {
    const CodeInfo* const known = info_of(code);
    return known != nullptr ? known : &infos.emplace_back(code_table().described(code));
  });
}

std::shared_ptr<const StackText> StackTexts::described(std::span<const Frame> frames, const InfoOf& info_of) {
  auto text = std::make_shared<StackText>();
  std::vector<std::string> shown;  // outermost first
  FrameRole caller = FrameRole::kOwn;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    const CodeInfo* const known = info_of(frame->code);
    if (known == nullptr) return nullptr;
    const CodeInfo& info = *known;
    const bool is_inside_torch = info.role == FrameRole::kTorch && caller != FrameRole::kOwn;
    if (info.role != FrameRole::kHidden) caller = info.role;
    if (info.role == FrameRole::kModule) {
      shown.push_back(code_table().module_named(*frame));
      if (shown.back().empty()) return nullptr;
    } else if (info.role != FrameRole::kHidden && !is_inside_torch) {
      const int line = line_of(*frame);
      shown.push_back(info.file + "(" + std::to_string(line) + "): " + info.function);
      if (!info.is_library) text->user = {info.file, info.function, line};
    }
    text->shown.push_back(static_cast<std::uint16_t>(shown.size()));
  }
  std::string joined;
  for (auto frame = shown.rbegin(); frame != shown.rend(); ++frame) {
    if (!joined.empty()) joined += ';';
    joined += *frame;
  }
  text->name = telltale_intern(joined.c_str());
  return text;
}

}  // namespace telltale::python
