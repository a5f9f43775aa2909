#include "timeline/event_facts.h"

#include <algorithm>
#include <concepts>
#include <functional>
#include <string_view>

#include "base/amounts.h"
#include "base/json_text.h"
#include "trace/row_ids.h"

namespace telltale {
namespace {

constexpr std::size_t kMostFacts = 60;
constexpr std::size_t kMostBytes = 2000;  // of a value

// The value has its unit: "shared_memory_bytes" is "shared memory".
std::string in_words(std::string_view name) {
  for (const std::string_view unit : {"_bytes", "_percent", "_ns"})
    if (name.ends_with(unit)) name.remove_suffix(unit.size());
  std::string words(name);
  std::ranges::replace(words, '_', ' ');
  return words;
}

// Cut between characters.
std::string shortened(std::string_view text) {
  if (text.size() <= kMostBytes) return std::string(text);
  std::size_t end = kMostBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
  return std::string(text.substr(0, end)).append("…");
}

std::string with_unit(double value, Unit unit) {
  switch (unit) {
    case Unit::kBytes:
      return format_bytes(value);
    case Unit::kNanoseconds:
      return format_time(static_cast<Nanoseconds>(value));
    case Unit::kPercent:
      return format_percent(value);
    case Unit::kNone:
      break;
  }
  return format_number(value);
}

bool is_null(auto value, Null null) {
  return (null == Null::kNegative && value < 0) || (null == Null::kZero && value == 0);
}

// Goes through the columns of a row, and writes down what was recorded.
template <typename Row>
struct RowFacts {
  const Trace& trace;
  const Row& row;
  std::vector<EventFact>& facts;

  template <typename Member>
  void number(Member member, const ColumnInfo& info) {
    const auto value = std::invoke(member, row);
    if (is_null(value, info.null)) return;
    // Numbers that only tell things apart have no digits to leave out.
    if constexpr (std::integral<decltype(value)>) {
      if (info.unit == Unit::kNone) return add(info.name, std::to_string(value));
    }
    add(info.name, with_unit(static_cast<double>(value), info.unit));
  }

  // "grid_x", "grid_y", "grid_z" are the grid.
  template <std::size_t kSize>
  void numbers(auto member, const std::string_view (&names)[kSize], const ColumnInfo&) {
    std::string value;
    bool has_any = false;
    for (const auto each : std::invoke(member, row)) {
      value.append(value.empty() ? "" : " × ").append(std::to_string(each));
      has_any |= each != 0;
    }
    if (has_any) add(names[0].substr(0, names[0].rfind('_')), std::move(value));
  }

  void truth(auto member, const ColumnInfo& info) {
    const std::int8_t value = std::invoke(member, row);
    if (value >= 0) add(info.name, value > 0 ? "yes" : "no");
  }
  void choice(auto member, const auto&, const ColumnInfo& info) {
    const auto value = std::invoke(member, row);
    if (!is_null(static_cast<int>(value), info.null)) add(info.name, std::string(name_of(value)));
  }
  void text(auto member, const ColumnInfo& info) {
    const std::string_view value = trace.strings[std::invoke(member, row)];
    if (value.empty() || info.name == "call_stack") return;
    if (info.name == "arguments")
      add_arguments(value);
    else
      add(info.name, shortened(value));
  }
  void event(auto, const ColumnInfo&) {}

  template <typename Shared>
  void index(auto member, RowOf<Shared> shared, const ColumnInfo&) {
    RowFacts<Shared> inside{trace, shared_rows<Shared>(trace)[std::invoke(member, row)], facts};
    describe(inside, shared);
  }
  template <typename Shared>
  void optional_index(auto member, RowOf<Shared> shared, const ColumnInfo& info) {
    if (std::invoke(member, row) != UINT32_MAX) index(member, shared, info);
  }

  void add(std::string_view name, std::string value) {
    if (facts.size() < kMostFacts) facts.push_back({in_words(name), std::move(value)});
  }

  // The members of a compact JSON object, a fact each; texts without their quotation marks.
  void add_arguments(std::string_view object) {
    std::size_t depth = 0, begin = 1, colon = 0;
    bool is_quoted = false;
    for (std::size_t i = 0; i < object.size(); ++i) {
      const char c = object[i];
      if (is_quoted) {
        if (c == '\\') ++i;
        is_quoted = c != '"';
        continue;
      }
      if (c == '"') is_quoted = true;
      if (c == '{' || c == '[') ++depth;
      if (c == ':' && depth == 1 && colon == 0) colon = i;
      const bool ends = depth == 1 && (c == ',' || c == '}');
      if (c == '}' || c == ']') --depth;
      if (!ends || colon == 0) continue;
      add_argument(object.substr(begin, colon - begin), object.substr(colon + 1, i - colon - 1));
      begin = i + 1;
      colon = 0;
    }
  }

  void add_argument(std::string_view key, std::string_view value) {
    if (facts.size() < kMostFacts) facts.push_back({shortened(plain(key)), shortened(plain(value))});
  }

  static std::string plain(std::string_view json) {
    Repairs repairs;
    if (json.size() < 2 || json.front() != '"') return std::string(json);
    return unescaped(json.substr(1, json.size() - 2), repairs);
  }
};

bool is_shown(std::string_view table) { return table != "lanes" && table != "sources"; }

}  // namespace

std::vector<EventFact> event_facts(const Trace& trace, EventId event) {
  std::vector<EventFact> facts;
  for_each_side_table([&]<typename Described>(const TableInfo& info, auto table_of, RowOf<Described> description) {
    const auto* row = table_of(static_cast<const SideTables<SideTable>&>(trace)).find(event);
    if (row == nullptr || !is_shown(info.name)) return;
    RowFacts<std::remove_cvref_t<decltype(*row)>> columns{trace, *row, facts};
    describe(columns, description);
  });
  return facts;
}

}  // namespace telltale
