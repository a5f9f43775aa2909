// The ids in rows: which other rows they name, and how they change when a row goes from one trace to another.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/interned_values.h"
#include "trace/details.h"

namespace telltale {

template <typename Row>
constexpr bool is_shared_row() {
  bool found = false;
  for_each_shared_list(
      [&]<typename Listed>(const TableInfo&, auto, RowOf<Listed>) { found |= std::same_as<Row, Listed>; });
  return found;
}
template <typename Row>
concept SharedRow = is_shared_row<Row>();

// The list of these rows.
template <SharedRow Row, template <typename> typename List>
constexpr List<Row>& shared_rows(SharedRows<List>& shared) {
  List<Row>* found = nullptr;
  for_each_shared_list([&]<typename Listed>(const TableInfo&, auto rows_in, RowOf<Listed>) {
    if constexpr (std::same_as<Row, Listed>) found = &rows_in(shared);
  });
  return *found;
}
template <SharedRow Row, template <typename> typename List>
constexpr const List<Row>& shared_rows(const SharedRows<List>& shared) {
  return shared_rows<Row>(const_cast<SharedRows<List>&>(shared));
}

// Changes the ids in a row: `ids.string(id)`, `ids.event(id)` and `ids.shared_row(id, RowOf<Shared>{})` say what
// becomes of them.
template <typename Row, typename Ids>
struct IdChange {
  Row& row;
  Ids& ids;

  void number(auto, const ColumnInfo&) {}
  template <std::size_t kSize>
  void numbers(auto, const std::string_view (&)[kSize], const ColumnInfo&) {}
  void truth(auto, const ColumnInfo&) {}
  void choice(auto, const auto&, const ColumnInfo&) {}
  void text(auto member, const ColumnInfo&) {
    change(member, [&](StringId id) { return ids.string(id); });
  }
  void event(auto member, const ColumnInfo&) {
    change(member, [&](EventId id) { return ids.event(id); });
  }
  template <SharedRow Shared>
  void index(auto member, RowOf<Shared> shared, const ColumnInfo&) {
    change(member, [&](std::uint32_t id) { return ids.shared_row(id, shared); });
  }
  template <SharedRow Shared>
  void optional_index(auto member, RowOf<Shared> shared, const ColumnInfo&) {
    change(member, [&](std::uint32_t id) { return id == UINT32_MAX ? id : ids.shared_row(id, shared); });
  }

 private:
  void change(auto member, auto changed) {
    auto& id = std::invoke(member, row);
    id = changed(id);
  }
};

// What a row is described as may be another type than what it is: `Described` is LaneRow, Row a number.
template <typename Row, typename Described, typename Ids>
void change_ids(Row& row, RowOf<Described> description, Ids& ids) {
  IdChange<Row, Ids> change{row, ids};
  describe(change, description);
}

// Of the texts and whole numbers in a row.
template <typename Row>
struct RowHash {
  const Row& row;
  std::uint64_t hash = 0;

  template <typename Number>
  void number(Number Row::* member, const ColumnInfo&) {
    if constexpr (std::integral<Number>) hash = hash_with(hash, static_cast<std::uint64_t>(row.*member));
  }
  template <typename Number, std::size_t kSize>
  void numbers(std::array<Number, kSize> Row::* member, const std::string_view (&)[kSize], const ColumnInfo&) {
    for (const Number number : row.*member) hash = hash_with(hash, static_cast<std::uint64_t>(number));
  }
  void text(StringId Row::* member, const ColumnInfo&) { hash = hash_with(hash, row.*member); }
};

template <SharedRow Row>
std::uint64_t hash_value(const Row& row) {
  RowHash<Row> hash{row};
  describe(hash, RowOf<Row>{});
  return hash.hash;
}

}  // namespace telltale
