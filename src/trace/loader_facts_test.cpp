#include "trace/loader_facts.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

Trace with(std::string name, std::string value) {
  Trace trace;
  trace.metadata.emplace_back(std::move(name), std::move(value));
  return trace;
}

TEST(LoaderFacts, loaders_are_told_with_what_they_were_made) {
  const Trace trace = with("loader_workers", R"([{"workers":2,"batch_size":null,"persistent_workers":true,
      "pin_memory":false,"start_method":"spawn","file":"train.py","line":30,"function":"main","iterators":3},
      {"workers":"two"}, 7, {"workers":0}])");
  const std::vector<LoaderSetup> setups = loader_setups(trace);
  ASSERT_EQ(setups.size(), 2);
  EXPECT_EQ(setups[0].workers, 2);
  EXPECT_TRUE(setups[0].persistent_workers);
  EXPECT_FALSE(setups[0].pin_memory);
  EXPECT_EQ(setups[0].start_method, "spawn");
  EXPECT_EQ(setups[0].file, "train.py");
  EXPECT_EQ(setups[0].line, 30);
  EXPECT_EQ(setups[0].iterators, 3);
  EXPECT_EQ(setups[1].workers, 0);
  EXPECT_EQ(setups[1].iterators, 1);
}

TEST(LoaderFacts, values_may_be_written_as_text) {
  EXPECT_EQ(loader_setups(with("loader_workers", R"("[{\"workers\":4}]")")).at(0).workers, 4);
}

TEST(LoaderFacts, lines_come_by_falling_share) {
  const auto work = workers_loader_work(with("worker_lines", R"({"workers":2,"batches":10,"took_ns":400,
      "processor_ns":300,"lines":[["a.py",1,"f","",0.25],["b.py",2,"g","sleep",0.75],["c.py",3]]})"));
  ASSERT_TRUE(work);
  EXPECT_EQ(work->workers, 2);
  EXPECT_EQ(work->batches, 10);
  EXPECT_EQ(work->took, 400);
  EXPECT_EQ(work->processor_time, 300);
  ASSERT_EQ(work->lines.size(), 2);
  EXPECT_EQ(work->lines[0].file, "b.py");
  EXPECT_EQ(work->lines[0].waits_for, "sleep");
  EXPECT_EQ(work->lines[1].line, 1);
}

TEST(LoaderFacts, name_the_processes_of_workers) {
  EXPECT_EQ(loader_worker_ids(with("loader_worker_ids", "[12,7]")), (std::vector<std::int64_t>{12, 7}));
  EXPECT_EQ(loader_worker_ids(with("loader_worker_ids", R"("[12,\"7\",null]")")), (std::vector<std::int64_t>{12}));
  EXPECT_FALSE(loader_worker_ids(with("loader_worker_ids", "7")));
  EXPECT_FALSE(loader_worker_ids(with("loader_workers", "[]")));
  EXPECT_TRUE(is_of_loader_worker(with("loader_worker", "0")));
  EXPECT_FALSE(is_of_loader_worker(with("loader_workers", "[]")));
}

TEST(LoaderFacts, what_makes_no_sense_is_passed_over) {
  for (const char* odd : {"", "{", "7", "[]", "{}", R"({"batches":0,"took_ns":1,"processor_ns":1})",
                          R"({"batches":-1,"took_ns":1,"processor_ns":1})", R"({"batches":1,"took_ns":"1"})"}) {
    EXPECT_FALSE(own_loader_work(with("loader_work", odd))) << odd;
    EXPECT_TRUE(loader_setups(with("loader_workers", odd)).empty()) << odd;
  }
}

}  // namespace
}  // namespace telltale
