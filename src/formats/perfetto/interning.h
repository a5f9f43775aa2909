// Strings that a trace's packets name by number. Each is defined in the packet that first uses it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/interned_strings.h"
#include "formats/perfetto/proto_message.h"

namespace telltale::perfetto {

// Which of Perfetto's tables of strings; the values are the fields of InternedData.
enum class Table : unsigned { kCategories = 1, kEventNames = 2, kAnnotationNames = 3, kAnnotationStrings = 29 };

// Definitions collect in `pending` until a packet takes them along.
class Interning {
 public:
  explicit Interning(const InternedStrings& strings) : strings_(strings) {}

  // The number of one of the trace's own strings in a table; never 0, which Perfetto reserves.
  std::uint64_t id(Table table, StringId string) {
    std::vector<bool>& known = known_[table];
    if (known.empty()) known.resize(strings_.size());
    const std::uint64_t number = std::uint64_t{string} + 1;
    if (!known[string]) {
      known[string] = true;
      define(table, number, strings_[string]);
    }
    return number;
  }

  // The same for any other text.
  std::uint64_t id(Table table, std::string_view text) {
    auto& numbers = other_[table];
    const auto at = numbers.find(text);
    if (at != numbers.end()) return at->second;
    const std::uint64_t number = strings_.size() + 1 + numbers.size();
    numbers.emplace(text, number);
    define(table, number, text);
    return number;
  }

  ProtoMessage& pending() { return pending_; }

 private:
  void define(Table table, std::uint64_t number, std::string_view text) {
    constexpr unsigned kNumber = 1, kText = 2;
    entry_.clear();
    entry_.add_unsigned(kNumber, number);
    entry_.add_string(kText, text);
    pending_.add_message(static_cast<unsigned>(table), entry_);
  }

  const InternedStrings& strings_;
  std::map<Table, std::vector<bool>> known_;
  std::map<Table, std::map<std::string, std::uint64_t, std::less<>>> other_;
  ProtoMessage pending_, entry_;
};

}  // namespace telltale::perfetto
