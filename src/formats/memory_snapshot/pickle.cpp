#include "formats/memory_snapshot/pickle.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "formats/memory_snapshot/pickle_text.h"

namespace telltale::memory_snapshot {
namespace {

// An operation adds one value at most, and as many references as the stack holds.
constexpr std::uint64_t kOperationsBetweenChecks = 1024;

enum Function : std::int64_t { kOrderedDict, kEncode };

struct KnownFunction {
  std::string_view module, name;
  Function function;
};
constexpr KnownFunction kKnownFunctions[] = {{"collections", "OrderedDict", kOrderedDict},
                                             {"_codecs", "encode", kEncode}};

// The machine that a pickle is a program for: a stack, marks on it, and a memo.
class Machine {
 public:
  Machine(ByteCursor& cursor, const DocumentLimits& limits) : cursor_(cursor), limits_(limits) {}

  Result<Document> run(const std::string& path) {
    for (std::uint64_t operations = 0;; ++operations) {
      take_references();
      at_ = cursor_.offset();
      if (!cursor_.has(1)) {
        is_cut_ = true;
        break;
      }
      const auto operation = cursor_.take<unsigned char>();
      if (operation == '.') break;
      do_operation(operation);
      if (operations % kOperationsBetweenChecks == 0) check_limits();
      if (!refusal_.empty()) return failure(refusal_, path, at_);
      if (is_cut_) break;
    }
    if (cursor_.error()) return std::unexpected(*cursor_.error());
    if (is_cut_) close_all();
    if (stack_.empty()) return failure(is_cut_ ? "ends before its first value" : "is a pickle without a value", path);
    document_.top = is_cut_ ? stack_.front() : stack_.back();
    document_.was_cut = is_cut_;
    document_.text_bytes = cursor_.offset();
    return std::move(document_);
  }

 private:
  void refuse(std::string why) { refusal_ = std::move(why); }
  void refuse_damaged() { refuse("is a damaged pickle"); }
  void refuse_code(std::string_view what) {
    refuse("is a pickle that asks for " + std::string(what) +
           "; Telltale reads pickles as data and runs nothing that a file names");
  }

  void check_limits() {
    if (auto why = beyond_limits(limits_, cursor_.offset(), values().value_count(),
                                 values().item_count() + stack_.size() + memo_.size()))
      refuse(std::move(*why));
  }

  Values& values() { return document_.values; }
  void push(ValueId value) { stack_.push_back(value); }

  // Whether the stack, above its last mark, has so many values.
  bool holds(std::size_t count) {
    const std::size_t bottom = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() >= bottom + count) return true;
    refuse_damaged();
    return false;
  }
  // What lies above the last mark, which is taken away; null where there is none.
  std::optional<std::size_t> take_mark() {
    if (marks_.empty()) {
      refuse_damaged();
      return std::nullopt;
    }
    const std::size_t mark = marks_.back();
    marks_.pop_back();
    return mark;
  }
  std::span<const ValueId> above(std::size_t mark) const { return std::span(stack_).subspan(mark); }

  // A number of bytes and then that many.
  template <typename Length>
  std::optional<std::string_view> take_counted() {
    if (!cursor_.has(sizeof(Length))) return cut();
    const auto length = cursor_.take<Length>();
    if (static_cast<std::int64_t>(length) < 0) {
      refuse_damaged();
      return std::nullopt;
    }
    if (!cursor_.has(length)) return cut();
    return cursor_.take_bytes(length);
  }
  std::optional<std::string_view> take_line() {
    const auto line = cursor_.take_line();
    return line ? line : cut();
  }
  std::optional<std::string_view> cut() {
    is_cut_ = true;
    return std::nullopt;
  }
  template <typename Number>
  std::optional<Number> take_number() {
    if (!cursor_.has(sizeof(Number))) {
      is_cut_ = true;
      return std::nullopt;
    }
    return cursor_.take<Number>();
  }

  void push_text(std::optional<std::string_view> text) {
    if (text) push(values().text(*text));
  }
  void push_bytes(std::optional<std::string_view> bytes) {
    if (bytes) push(values().bytes(*bytes));
  }
  void push_long(std::optional<std::string_view> little_endian) {
    if (!little_endian) return;
    const std::string_view bytes = *little_endian;
    if (bytes.size() > sizeof(std::int64_t)) return push(values().big_integer(bytes));
    std::uint64_t number = !bytes.empty() && static_cast<signed char>(bytes.back()) < 0 ? ~std::uint64_t{0} : 0;
    std::memcpy(&number, bytes.data(), bytes.size());
    push(values().integer(static_cast<std::int64_t>(number)));
  }

  void remember(std::uint64_t number) {
    if (!holds(1)) return;
    // Writers count their values; a number beyond the bytes so far would only cost memory.
    if (number > cursor_.offset()) return refuse("is a pickle that numbers its values beyond their count");
    if (number >= memo_.size()) memo_.resize(number + 1, kNoValue);
    memo_[number] = stack_.back();
  }
  void recall(std::uint64_t number) {
    if (number >= memo_.size() || memo_[number] == kNoValue) return refuse_damaged();
    push(memo_[number]);
  }

  // Most of a snapshot are references to frames: they are taken in a row as far as they are at hand. The first that is
  // not as it should be is left to do_operation().
  void take_references() {
    constexpr std::ptrdiff_t kLongest = 5;
    const char* at = cursor_.at_hand().data();
    const char* const end = at + cursor_.at_hand().size();
    while (end - at >= kLongest && (*at == 'h' || *at == 'j')) {
      std::uint32_t number = static_cast<unsigned char>(at[1]);
      if (*at == 'j') std::memcpy(&number, at + 1, sizeof number);
      if (number >= memo_.size() || memo_[number] == kNoValue) break;
      stack_.push_back(memo_[number]);
      at += *at == 'j' ? kLongest : 2;
    }
    cursor_.skip(static_cast<std::size_t>(at - cursor_.at_hand().data()));
  }

  void push_collected(ValueId container) {
    const auto mark = take_mark();
    if (!mark) return;
    values().append(container, above(*mark));
    stack_.resize(*mark);
    push(container);
  }
  void push_tuple(std::size_t count) {
    if (!holds(count)) return;
    const ValueId tuple = values().list();
    values().append(tuple, above(stack_.size() - count));
    stack_.resize(stack_.size() - count);
    push(tuple);
  }
  void put_into(std::size_t mark, ValueKind kind) {
    const std::size_t bottom = marks_.empty() ? 0 : marks_.back();
    if (mark <= bottom || values().kind(stack_[mark - 1]) != kind) return refuse_damaged();
    if (kind == ValueKind::kDict && (stack_.size() - mark) % 2 != 0) return refuse_damaged();
    values().append(stack_[mark - 1], above(mark));
    stack_.resize(mark);
  }
  void put_collected_into(ValueKind kind) {
    if (const auto mark = take_mark()) put_into(*mark, kind);
  }
  void put_last_into(std::size_t count, ValueKind kind) {
    if (holds(count + 1)) put_into(stack_.size() - count, kind);
  }

  void push_function(std::string_view module, std::string_view name) {
    for (const KnownFunction& known : kKnownFunctions)
      if (known.module == module && known.name == name) return push(values().function(known.function));
    refuse_code(printable(std::string(module) + "." + std::string(name)));
  }
  void call() {
    if (!holds(2)) return;
    const ValueId arguments = stack_.back(), function = stack_[stack_.size() - 2];
    if (values().kind(function) != ValueKind::kFunction || !values().is_list(arguments))
      return refuse_code("a call of something that is no function");
    std::vector<ValueId> given;
    values().each_item(arguments, [&](ValueId item) { return given.push_back(item), given.size() < 3; });
    stack_.resize(stack_.size() - 2);
    if (values().as_function(function) == kOrderedDict && given.empty()) return push(values().dict());
    if (values().as_function(function) == kEncode && given.size() == 2 && values().as_text(given[0]) &&
        values().as_text(given[1]) == "latin1")
      if (const auto bytes = latin1_bytes(*values().as_text(given[0]))) return push(values().bytes(*bytes));
    refuse_code("a call that is not among those that Telltale knows");
  }

  void do_operation(unsigned char operation);
  void do_old_operation(unsigned char operation);
  void close_all();

  ByteCursor& cursor_;
  const DocumentLimits& limits_;
  Document document_;
  std::vector<ValueId> stack_;
  std::vector<std::size_t> marks_;  // heights of the stack
  std::vector<ValueId> memo_;
  std::string refusal_;
  std::uint64_t at_ = 0;
  bool is_cut_ = false;
};

// By what occurs most often in snapshots.
void Machine::do_operation(unsigned char operation) {
  switch (operation) {
    case 'h':  // BINGET
      if (const auto number = take_number<std::uint8_t>()) recall(*number);
      return;
    case 'j':  // LONG_BINGET
      if (const auto number = take_number<std::uint32_t>()) recall(*number);
      return;
    case 'K':
      if (const auto number = take_number<std::uint8_t>()) push(values().integer(*number));
      return;
    case 'M':
      if (const auto number = take_number<std::uint16_t>()) push(values().integer(*number));
      return;
    case 'J':
      if (const auto number = take_number<std::int32_t>()) push(values().integer(*number));
      return;
    case 0x8a:
      return push_long(take_counted<std::uint8_t>());
    case 0x8b:
      return push_long(take_counted<std::int32_t>());
    case '(':
      if (marks_.size() == limits_.depth) return refuse(too_deep(limits_));
      return marks_.push_back(stack_.size());
    case '}':
      return push(values().dict());
    case ']':
    case 0x8f:  // an empty set
      return push(values().list());
    case 'u':
      return put_collected_into(ValueKind::kDict);
    case 's':
      return put_last_into(2, ValueKind::kDict);
    case 'e':
    case 0x90:  // into a set
      return put_collected_into(ValueKind::kList);
    case 'a':
      return put_last_into(1, ValueKind::kList);
    case 0x94:  // MEMOIZE
      return remember(memo_.size());
    case 'q':
      if (const auto number = take_number<std::uint8_t>()) remember(*number);
      return;
    case 'r':
      if (const auto number = take_number<std::uint32_t>()) remember(*number);
      return;
    case 0x8c:
      return push_text(take_counted<std::uint8_t>());
    case 'X':
      return push_text(take_counted<std::uint32_t>());
    case 0x8d:
      return push_text(take_counted<std::uint64_t>());
    case 'N':
      return push(kNothing);
    case 0x88:
      return push(kTrue);
    case 0x89:
      return push(kFalse);
    case 'G':
      if (const auto bits = take_number<std::uint64_t>())
        push(values().real(std::bit_cast<double>(__builtin_bswap64(*bits))));
      return;
    case ')':
      return push(values().list());
    case 0x85:
      return push_tuple(1);
    case 0x86:
      return push_tuple(2);
    case 0x87:
      return push_tuple(3);
    case 't':
    case 'l':
    case 0x91:  // a frozen set
      return push_collected(values().list());
    case 0x95:  // FRAME: how many bytes follow, which we need not know
      (void)take_number<std::uint64_t>();
      return;
    case 0x80:
      if (const auto protocol = take_number<std::uint8_t>(); protocol && *protocol > 5)
        refuse("is a pickle of protocol " + std::to_string(*protocol) + "; Telltale reads those up to 5");
      return;
    case 'C':
      return push_bytes(take_counted<std::uint8_t>());
    case 'B':
      return push_bytes(take_counted<std::uint32_t>());
    case 0x8e:
    case 0x96:
      return push_bytes(take_counted<std::uint64_t>());
    case '0':
      if (!marks_.empty() && marks_.back() == stack_.size()) return marks_.pop_back();
      if (holds(1)) stack_.pop_back();
      return;
    case '1':
      if (const auto mark = take_mark()) stack_.resize(*mark);
      return;
    case '2':
      if (holds(1)) push(stack_.back());
      return;
    case 'R':
      return call();
    case 0x93: {  // STACK_GLOBAL
      if (!holds(2)) return;
      const auto name = values().as_text(stack_.back()), module = values().as_text(stack_[stack_.size() - 2]);
      if (!name || !module) return refuse_damaged();
      stack_.resize(stack_.size() - 2);
      return push_function(*module, *name);
    }
    default:
      return do_old_operation(operation);
  }
}

// What protocol 0 writes as lines of text, and what has no place in data.
void Machine::do_old_operation(unsigned char operation) {
  switch (operation) {
    case 'I':
    case 'L':
    case 'F':
      if (const auto line = take_line()) {
        const auto number = number_in_line(static_cast<char>(operation), *line, values());
        if (!number) return refuse_damaged();
        push(*number);
      }
      return;
    case 'V':
      if (const auto line = take_line()) push(values().text(raw_unicode(*line)));
      return;
    case 'S':
      if (const auto line = take_line()) {
        const auto text = quoted_text(*line);
        if (!text) return refuse_damaged();
        push(values().text(*text));
      }
      return;
    case 'T':
      return push_text(take_counted<std::int32_t>());
    case 'U':
      return push_text(take_counted<std::uint8_t>());
    case 'g':
    case 'p':
      if (const auto line = take_line()) {
        std::uint64_t number = 0;
        const auto parsed = std::from_chars(line->data(), line->data() + line->size(), number);
        if (parsed.ec != std::errc() || parsed.ptr != line->data() + line->size()) return refuse_damaged();
        if (operation == 'g') return recall(number);
        remember(number);
      }
      return;
    case 'd': {
      const auto mark = take_mark();
      if (!mark) return;
      if ((stack_.size() - *mark) % 2 != 0) return refuse_damaged();
      marks_.push_back(*mark);
      return push_collected(values().dict());
    }
    case 'c':
    case 'i': {
      const auto module_line = take_line();
      if (!module_line) return;
      const std::string module(*module_line);
      const auto name = take_line();
      if (!name) return;
      if (operation == 'i') return refuse_code(printable("an object of " + module + "." + std::string(*name)));
      return push_function(module, *name);
    }
    case 'o':
    case 0x81:
    case 0x92:
      return refuse_code("an object of a class");
    case 'b':
      return refuse_code("the state of an object to be set");
    case 'P':
    case 'Q':
      return refuse_code("an object that is kept elsewhere (a persistent id)");
    case 0x82:
    case 0x83:
    case 0x84:
      return refuse_code("an object of the extension registry");
    case 0x97:
    case 0x98:
      return refuse_code("a buffer that is kept elsewhere");
    default:
      return refuse_damaged();
  }
}

// The pickle ends in the middle: what is on the stack goes where its writer would have put it. Writers put single items
// of lists and dicts there without a mark, so what does not fit behind keys belongs into the last value.
void Machine::close_all() {
  while (stack_.size() > 1) {
    const std::size_t mark = marks_.empty() ? 1 : std::max<std::size_t>(marks_.back(), 1);
    if (!marks_.empty()) marks_.pop_back();
    std::size_t from = mark;
    ValueId container = stack_[mark - 1];
    while (from < stack_.size()) {
      if (values().is_dict(container)) {
        document_.unfinished.insert(container);
        std::size_t end = from;
        while (end + 1 < stack_.size() && values().kind(stack_[end]) == ValueKind::kText) end += 2;
        values().append(container, std::span(stack_).subspan(from, end - from));
        if (end == from || end >= stack_.size()) break;
        container = stack_[end - 1];
        from = end;
      } else {
        if (values().is_list(container)) values().append(container, above(from));
        break;
      }
    }
    stack_.resize(mark);
  }
}

}  // namespace

bool is_pickle(std::string_view first_bytes) {
  return first_bytes.size() > 1 && first_bytes[0] == '\x80' && first_bytes[1] >= 2 && first_bytes[1] <= 5;
}

Result<Document> read_pickle(ByteCursor& cursor, const std::string& path, const DocumentLimits& limits) {
  return Machine(cursor, limits).run(path);
}

}  // namespace telltale::memory_snapshot
