#include "bindings/core/arrow_columns.h"

#include <cassert>
#include <limits>

#include "base/text_encoding.h"

namespace telltale::python {
namespace {

template <typename Offset>
ArrowColumn texts_with_offsets(std::string name, const char* format, std::span<const std::string> values) {
  std::vector<Offset> offsets = {0};
  std::vector<char> letters;
  for (const std::string& value : values) {
    letters.insert(letters.end(), value.begin(), value.end());
    offsets.push_back(static_cast<Offset>(letters.size()));
  }
  const auto length = static_cast<std::int64_t>(values.size());
  return {std::move(name), format,
          length,          0,
          false,           {nullptr, buffer_of(std::move(offsets)), buffer_of(std::move(letters))}};
}

}  // namespace

ArrowColumn texts(std::string name, std::span<const std::string_view> values) {
  std::vector<std::string> repaired;
  std::size_t letters = 0;
  for (const std::string_view value : values) letters += repaired.emplace_back(repaired_utf8(value)).size();
  const bool is_large = letters > std::numeric_limits<std::int32_t>::max();
  return is_large ? texts_with_offsets<std::int64_t>(std::move(name), "U", repaired)
                  : texts_with_offsets<std::int32_t>(std::move(name), "u", repaired);
}

ArrowColumn dictionary_of(ArrowColumn indices, std::span<const std::string_view> words) {
  indices.dictionary = std::make_shared<const ArrowColumn>(texts("", words));
  return indices;
}

ArrowColumn interned(std::string name, const Trace& trace, const std::vector<StringId>& ids, EmptyText empty) {
  constexpr std::int32_t kUnseen = -1;
  const auto is_null = [&](std::size_t i) { return empty == EmptyText::kIsNull && ids[i] == kEmptyString; };
  std::vector<std::int32_t> index_of(trace.strings.size(), kUnseen);
  std::vector<std::int32_t> indices(ids.size());
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (is_null(i)) continue;
    std::int32_t& index = index_of[ids[i]];
    if (index == kUnseen) {
      index = static_cast<std::int32_t>(words.size());
      words.push_back(trace.strings[ids[i]]);
    }
    indices[i] = index;
  }
  ArrowColumn column = dictionary_of(column_of(std::move(name), std::move(indices)), words);
  return empty == EmptyText::kIsNull ? with_nulls(std::move(column), is_null) : column;
}

ArrowColumn number_lists(std::string name, std::vector<std::int64_t> offsets, std::vector<std::int64_t> values) {
  ArrowColumn lists{std::move(name),
                    "+L",
                    static_cast<std::int64_t>(offsets.size()) - 1,
                    0,
                    false,
                    {nullptr, buffer_of(std::move(offsets))}};
  lists.children.push_back(column_of("item", std::move(values)));
  return lists;
}

ArrowTable table_of(std::string name, std::size_t rows, std::vector<ArrowColumn> columns) {
  for ([[maybe_unused]] const ArrowColumn& column : columns) assert(column.length == static_cast<std::int64_t>(rows));
  return {std::move(name), static_cast<std::int64_t>(rows), std::move(columns)};
}

}  // namespace telltale::python
