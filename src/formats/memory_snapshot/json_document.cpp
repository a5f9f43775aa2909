#include "formats/memory_snapshot/json_document.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interned_strings.h"
#include "base/json_text.h"
#include "formats/memory_snapshot/pickle_text.h"

namespace telltale::memory_snapshot {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_of_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
}

class JsonReader {
 public:
  JsonReader(ByteCursor& cursor, const DocumentLimits& limits) : cursor_(cursor), limits_(limits) {}

  Result<Document> run(const std::string& path) {
    if (cursor_.has(3) && std::string_view(cursor_.peek(), 3) == "\xEF\xBB\xBF") cursor_.skip(3);
    do {
      take_token();
      if (auto why =
              beyond_limits(limits_, cursor_.offset(), values().value_count(), values().item_count() + stack_.size()))
        refusal_ = std::move(*why);
      if (!refusal_.empty()) return failure(refusal_, path, cursor_.offset());
    } while (!is_cut_ && !(open_.empty() && expected_ == Expected::kEnd));
    if (cursor_.error()) return std::unexpected(*cursor_.error());
    document_.was_cut = is_cut_;
    if (is_cut_) close_all();
    if (stack_.empty()) return failure("ends before its first value", path);
    document_.top = stack_.front();
    document_.text_bytes = cursor_.offset();
    return std::move(document_);
  }

 private:
  enum class Expected { kValue, kValueOrClose, kKey, kKeyOrClose, kColon, kEnd };  // kEnd: a comma or the end
  struct Open {
    std::size_t mark = 0;  // height of the stack
    bool is_dict = false;
  };

  Values& values() { return document_.values; }
  void refuse() { refusal_ = "is not valid JSON"; }
  bool wants_value() const { return expected_ == Expected::kValue || expected_ == Expected::kValueOrClose; }
  bool wants_key() const { return expected_ == Expected::kKey || expected_ == Expected::kKeyOrClose; }

  void take_token() {
    do {
      if (!cursor_.has(1)) return void(is_cut_ = true);
      if (!is_space(*cursor_.peek())) break;
      cursor_.skip(1);
    } while (true);
    const char c = *cursor_.peek();
    if (c == '"') return take_string();
    if (is_of_word(c)) return take_word();
    cursor_.skip(1);
    switch (c) {
      case '{':
      case '[':
        if (!wants_value()) return refuse();
        if (open_.size() == limits_.depth) return void(refusal_ = too_deep(limits_));
        open_.push_back({stack_.size(), c == '{'});
        expected_ = c == '{' ? Expected::kKeyOrClose : Expected::kValueOrClose;
        return;
      case '}':
      case ']':
        if (open_.empty() || open_.back().is_dict != (c == '}') || !may_close()) return refuse();
        return void(close());
      case ',':
        if (open_.empty() || expected_ != Expected::kEnd) return refuse();
        expected_ = open_.back().is_dict ? Expected::kKey : Expected::kValue;
        return;
      case ':':
        if (expected_ != Expected::kColon) return refuse();
        expected_ = Expected::kValue;
        return;
      default:
        refuse();
    }
  }
  bool may_close() const {
    return expected_ == Expected::kEnd || expected_ == Expected::kKeyOrClose || expected_ == Expected::kValueOrClose;
  }

  void push(ValueId value) {
    stack_.push_back(value);
    expected_ = Expected::kEnd;
  }
  ValueId close() {
    const Open open = open_.back();
    open_.pop_back();
    const ValueId container = open.is_dict ? values().dict() : values().list();
    values().append(container, std::span(stack_).subspan(open.mark));
    stack_.resize(open.mark);
    push(container);
    return container;
  }
  void close_all() {
    while (!open_.empty()) {
      const bool is_dict = open_.back().is_dict;
      if (is_dict && (stack_.size() - open_.back().mark) % 2 != 0) stack_.pop_back();
      const ValueId closed = close();
      if (is_dict) document_.unfinished.insert(closed);
    }
  }

  void take_string() {
    if (!wants_value() && !wants_key()) return refuse();
    const bool is_key = wants_key();
    std::size_t length = 1;  // up to the closing quotation mark
    bool has_escapes = false;
    for (;;) {
      const std::size_t found = cursor_.at_hand().find_first_of("\"\\", length);
      if (found == std::string_view::npos) {
        length = cursor_.at_hand().size();
        if (!cursor_.has(length + 1)) return void(is_cut_ = true);
        continue;
      }
      length = found;
      if (cursor_.peek()[length] == '"') break;
      has_escapes = true;
      length += 2;
      if (!cursor_.has(length)) return void(is_cut_ = true);
    }
    const std::string_view inside(cursor_.peek() + 1, length - 1);
    Repairs repairs;
    const ValueId text = shared_text(has_escapes ? unescaped(inside, repairs) : std::string(inside));
    cursor_.skip(length + 1);
    push(text);
    if (is_key) expected_ = Expected::kColon;
  }
  ValueId shared_text(std::string_view text) {
    const StringId id = texts_.intern(text);
    if (id >= text_values_.size()) text_values_.resize(id + 1, kNoValue);
    if (text_values_[id] == kNoValue) text_values_[id] = values().text(text);
    return text_values_[id];
  }

  void take_word() {
    if (!wants_value()) return refuse();
    std::size_t length = 0;
    while (cursor_.has(length + 1) && is_of_word(cursor_.peek()[length])) ++length;
    // A word at the very end may go on beyond it.
    if (!cursor_.has(length + 1) && !open_.empty()) return void(is_cut_ = true);
    const std::string_view word = cursor_.take_bytes(length);
    if (const auto value = value_of(word)) return push(*value);
    refuse();
  }
  std::optional<ValueId> value_of(std::string_view word) {
    if (word == "null") return kNothing;
    if (word == "true") return kTrue;
    if (word == "false") return kFalse;
    if (word == "NaN") return values().real(std::nan(""));
    if (word == "Infinity") return values().real(std::numeric_limits<double>::infinity());
    if (word == "-Infinity") return values().real(-std::numeric_limits<double>::infinity());
    const bool is_whole = word.find_first_of(".eE") == std::string_view::npos;
    return number_in_line(is_whole ? 'L' : 'F', word, values());
  }

  ByteCursor& cursor_;
  const DocumentLimits& limits_;
  Document document_;
  std::vector<ValueId> stack_;
  std::vector<Open> open_;
  InternedStrings texts_;
  std::vector<ValueId> text_values_;
  std::string refusal_;
  Expected expected_ = Expected::kValue;
  bool is_cut_ = false;
};

}  // namespace

Result<Document> read_json(ByteCursor& cursor, const std::string& path, const DocumentLimits& limits) {
  return JsonReader(cursor, limits).run(path);
}

}  // namespace telltale::memory_snapshot
