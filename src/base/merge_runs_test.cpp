#include "base/merge_runs.h"

#include <gtest/gtest.h>

#include <random>

namespace telltale {
namespace {

struct Row {
  int key;
  int place;
  bool operator==(const Row&) const = default;
};

bool by_key(const Row& a, const Row& b) { return a.key < b.key; }

void expect_stable_order(std::vector<Row> rows) {
  std::vector<Row> expected = rows;
  std::stable_sort(expected.begin(), expected.end(), by_key);
  merge_runs(std::span(rows), by_key);
  EXPECT_EQ(rows, expected);
}

TEST(MergeRuns, leaves_nothing_and_one_row_alone) {
  expect_stable_order({});
  expect_stable_order({{5, 0}});
}

TEST(MergeRuns, sorts_random_rows_as_a_stable_sort_does) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<Row> rows(random() % 200);
    for (std::size_t i = 0; i < rows.size(); ++i)
      rows[i] = {static_cast<int>(random() % (1 + random() % 50)), static_cast<int>(i)};
    expect_stable_order(rows);
  }
}

TEST(MergeRuns, sorts_runs_that_follow_or_interleave_one_another) {
  for (const int shift : {0, 1, 50, 100, 1000}) {
    std::vector<Row> rows;
    for (int run = 0; run < 7; ++run)
      for (int i = 0; i < 100; ++i) rows.push_back({run * shift + i, static_cast<int>(rows.size())});
    expect_stable_order(rows);
  }
}

}  // namespace
}  // namespace telltale
