#include "advise/patterns/epoch_seams.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

// Outermost calls of one thread, a microsecond each, one after the other.
class Loader {
 public:
  Loader& call(std::string_view name) {
    handles_.push_back(sketch_.event(thread_, Kind::kAnnotation, name, now_, now_ + 1'000));
    now_ += 2'000;
    return *this;
  }
  Loader& next() { return call("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"); }
  Loader& torn() { return call("torch/utils/data/dataloader.py(721): __next__"); }
  Loader& iterate() { return call("DataLoader.__iter__"); }
  // Python's call with the annotation in it.
  Loader& iterate_in_python() {
    sketch_.event(thread_, Kind::kAnnotation, "DataLoader.__iter__", now_ + 100, now_ + 900);
    return call("torch/utils/data/dataloader.py(505): __iter__");
  }

  LoaderCalls read() {
    trace_ = sketch_.build();
    std::vector<EventId> events;
    for (const TraceSketch::Handle handle : handles_) events.push_back(sketch_.id(handle));
    return loader_calls(trace_, events);
  }
  EventId at(std::size_t place) const { return sketch_.id(handles_[place]); }

 private:
  TraceSketch sketch_;
  TrackId thread_ = sketch_.thread("main");
  std::vector<TraceSketch::Handle> handles_;
  Nanoseconds now_ = 0;
  Trace trace_;
};

TEST(EpochSeams, begin_with_the_call_that_ends_an_epoch_and_end_with_the_first_of_the_next) {
  Loader loader;
  loader.next().next().iterate().next().next();
  const LoaderCalls calls = loader.read();
  ASSERT_EQ(calls.seams.size(), 1);
  EXPECT_EQ(calls.seams[0].last_call, loader.at(1));
  EXPECT_EQ(calls.seams[0].start, loader.at(2));
  EXPECT_EQ(calls.seams[0].between, std::vector{loader.at(2)});
  EXPECT_EQ(calls.seams[0].first_call, loader.at(3));
  EXPECT_EQ(calls.steady, (std::vector{loader.at(0), loader.at(4)}));
  EXPECT_EQ(calls.batches, 2);
}

TEST(EpochSeams, hold_calls_that_samples_tore_apart_and_starts_within_calls) {
  Loader loader;
  loader.next().torn().iterate_in_python().torn().next().torn().next();
  const LoaderCalls calls = loader.read();
  ASSERT_EQ(calls.seams.size(), 1);
  EXPECT_EQ(calls.seams[0].last_call, loader.at(0));
  EXPECT_EQ(calls.seams[0].between, (std::vector{loader.at(1), loader.at(2), loader.at(3)}));
  EXPECT_EQ(calls.seams[0].first_call, loader.at(4));
  EXPECT_EQ(calls.steady, (std::vector{loader.at(5), loader.at(6)}));
  EXPECT_EQ(calls.batches, 1);
}

TEST(EpochSeams, are_cut_where_the_recording_begins_and_ends) {
  Loader loader;
  loader.torn().iterate().next().next().iterate();
  const LoaderCalls calls = loader.read();
  ASSERT_EQ(calls.seams.size(), 2);
  EXPECT_EQ(calls.seams[0].last_call, kNoEvent);
  EXPECT_EQ(calls.seams[0].first_call, loader.at(2));
  EXPECT_EQ(calls.seams[1].last_call, loader.at(3));
  EXPECT_EQ(calls.seams[1].first_call, kNoEvent);
  EXPECT_EQ(calls.steady, std::vector{loader.at(0)});
}

TEST(EpochSeams, are_none_without_starts) {
  Loader loader;
  loader.call("train.py(3): load").call("train.py(3): load");
  const LoaderCalls calls = loader.read();
  EXPECT_TRUE(calls.seams.empty());
  EXPECT_EQ(calls.steady.size(), 2);
  EXPECT_EQ(calls.batches, 2);  // nothing marks them
}

}  // namespace
}  // namespace telltale
