// Stacks as texts that many records share: "file(line): function" for each call, joined by ";", innermost first.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "code_table.h"
#include "frames.h"

namespace telltale::python {

struct SourcePlace {
  std::string file, function;
  int line = 0;  // 0: there is none
};

struct StackText {
  std::uint32_t name = 0;            // as the recorder numbers texts
  std::vector<std::uint16_t> shown;  // how many of the outermost 1, 2, … frames are in the text
  SourcePlace user;                  // the innermost call outside of libraries
};

// The texts of one thread that reads stacks.
class StackTexts {
 public:
  // Null when some of the code is not known yet: see CodeTable::learn().
  std::shared_ptr<const StackText> find(std::span<const Frame> frames);
  // Of frames of the calling thread, also where some of their code is not known. Does not need the GIL.
  std::shared_ptr<const StackText> find_or_describe(std::span<const Frame> frames);
  // Of code in a stack that was found; else null where it is not known.
  const CodeInfo* info_of(PyCodeObject* code);

 private:
  using InfoOf = std::function<const CodeInfo*(PyCodeObject*)>;
  static std::shared_ptr<const StackText> described(std::span<const Frame> frames, const InfoOf& info_of);

  std::unordered_map<PyCodeObject*, const CodeInfo*> codes_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const StackText>> texts_;  // by what the frames hash to
};

}  // namespace telltale::python
