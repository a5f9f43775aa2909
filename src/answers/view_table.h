// A page of one of the tables: operators, kernels, annotations, Python calls, modules, lines.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "answers/full_table.h"
#include "answers/view.h"
#include "answers/view_kept.h"
#include "base/error.h"

namespace telltale::answers {

struct TableRequest {
  std::string rows = "operators";  // or kernels, annotations, python, modules, lines
  std::string group = "name";      // or shape, stack
  StepsText steps;
  std::string filter;
  std::optional<std::string> sort;   // the id of a column; the most telling one without it
  std::optional<std::string> order;  // falling or rising; numbers fall and texts rise without it
  std::int64_t offset = 0, limit = 200;
};

struct TableAnswer {
  std::shared_ptr<const FullTable> table;
  std::shared_ptr<const RowOrder> rows;  // that pass the filter, in order
  std::size_t sorted_by = 0;             // the column
  bool is_falling = false;
  std::size_t offset = 0, limit = 0;

  std::string json() const;
  std::string csv() const;  // all that pass the filter
};

Result<TableAnswer> table(const View& view, const TableRequest& request);

}  // namespace telltale::answers
