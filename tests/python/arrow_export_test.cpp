// Tables as a reader of Arrow's C data interface takes them: whole, in pieces, in any order of release. No Python is
// needed, so that these tests also run under the sanitizers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>

#include "analysis/testing/trace_sketch.h"
#include "bindings/core/trace_tables.h"

namespace telltale::python {
namespace {

// Two operators, the inner one with inputs, and a kernel that the inner one launched in step 7.
SharedTrace sketched_trace() {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  const TrackId stream = sketch.stream(0, 7);
  sketch.event(thread, Kind::kAnnotation, "ProfilerStep#7", 0, 1000);
  sketch.op(thread, "aten::linear", 100, 900);
  const auto inner = sketch.op(thread, "aten::mm", 200, 800);
  sketch.set_inputs(inner, "[[16,1000],[],[3]]");
  sketch.set_types(inner, R"(["float","Scalar","long"])");
  const auto launch = sketch.event(thread, Kind::kRuntime, "cudaLaunchKernel", 300, 400);
  const auto kernel = sketch.work(stream, Kind::kKernel, "gemm", 2000, 2500, launch);
  sketch.set_launch(kernel, {.grid = {4, 1, 1}, .block = {128, 1, 1}, .registers_per_thread = 32});
  return std::make_shared<const Trace>(sketch.build());
}

std::shared_ptr<const ArrowTable> shared(ArrowTable table) {
  return std::make_shared<const ArrowTable>(std::move(table));
}

ArrowTable table_named(std::string_view name, const SharedTrace& trace) {
  const auto table = std::ranges::find(all_tables(), name, &NamedTable::name);
  return table->make(trace);
}

// Takes over what a stream gives, as readers do: one schema, one batch, and then the end.
struct Taken {
  ArrowSchema schema{};
  ArrowArray rows{};

  explicit Taken(const std::shared_ptr<const ArrowTable>& table) {
    ArrowArrayStream stream;
    export_stream(table, stream);
    EXPECT_EQ(stream.get_schema(&stream, &schema), 0);
    EXPECT_EQ(stream.get_next(&stream, &rows), 0);
    ArrowArray end;
    EXPECT_EQ(stream.get_next(&stream, &end), 0);
    EXPECT_EQ(end.release, nullptr);
    stream.release(&stream);
    EXPECT_EQ(stream.release, nullptr);
  }
  ~Taken() {
    if (rows.release != nullptr) rows.release(&rows);
    if (schema.release != nullptr) schema.release(&schema);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

  std::int64_t index_of(std::string_view name) const {
    for (std::int64_t i = 0; i < schema.n_children; ++i)
      if (schema.children[i]->name == name) return i;
    ADD_FAILURE() << "no column " << name;
    return 0;
  }
  const ArrowArray& column(std::string_view name) const { return *rows.children[index_of(name)]; }
};

template <typename Value>
const Value* values_of(const ArrowArray& column, int buffer = 1) {
  return static_cast<const Value*>(column.buffers[buffer]);
}

bool is_null(const ArrowArray& column, std::size_t row) {
  const auto* bits = values_of<std::uint8_t>(column, 0);
  return bits != nullptr && (bits[row / 8] >> (row % 8) & 1) == 0;
}

std::string text_of(const ArrowArray& texts, std::size_t row) {
  const auto* offsets = values_of<std::int32_t>(texts);
  return {values_of<char>(texts, 2) + offsets[row], values_of<char>(texts, 2) + offsets[row + 1]};
}

TEST(ArrowExport, gives_events_with_their_names_and_links) {
  const SharedTrace trace = sketched_trace();
  const Taken events(shared(events_table(trace)));
  ASSERT_EQ(events.rows.length, 5);
  EXPECT_EQ(values_of<std::int64_t>(events.column("start_ns")), trace->events.start.data());
  const ArrowArray& name = events.column("name");
  const ArrowArray& parent = events.column("parent");
  const ArrowArray& step = events.column("step");
  EXPECT_EQ(text_of(*name.dictionary, static_cast<std::size_t>(values_of<std::int32_t>(name)[4])), "gemm");
  EXPECT_TRUE(is_null(parent, 0));
  EXPECT_EQ(values_of<std::uint32_t>(parent)[2], 1);
  EXPECT_EQ(parent.null_count, 2);  // the step and the kernel
  EXPECT_EQ(values_of<std::uint32_t>(events.column("cause"))[4], 3);
  EXPECT_FALSE(is_null(step, 4));
  EXPECT_EQ(values_of<std::int64_t>(step)[4], 7);
}

TEST(ArrowExport, gives_lists_and_what_is_absent) {
  const SharedTrace trace = sketched_trace();
  const Taken tensors(shared(table_named("tensors", trace)));
  ASSERT_EQ(tensors.rows.length, 2);
  const ArrowArray& shape = tensors.column("shape");
  EXPECT_STREQ(tensors.schema.children[tensors.index_of("shape")]->format, "+L");
  EXPECT_EQ(std::vector(values_of<std::int64_t>(shape), values_of<std::int64_t>(shape) + 3),
            (std::vector<std::int64_t>{0, 2, 3}));
  EXPECT_EQ(std::vector(values_of<std::int64_t>(*shape.children[0]), values_of<std::int64_t>(*shape.children[0]) + 3),
            (std::vector<std::int64_t>{16, 1000, 3}));
  EXPECT_EQ(text_of(tensors.column("type"), 1), "long");
  const Taken kernels(shared(table_named("kernels", trace)));
  EXPECT_EQ(values_of<std::int32_t>(kernels.column("registers_per_thread"))[0], 32);
  EXPECT_TRUE(is_null(kernels.column("occupancy_percent"), 0));
}

TEST(ArrowExport, gives_tables_without_rows) {
  const auto trace = std::make_shared<const Trace>();
  for (const NamedTable& named : all_tables()) {
    const Taken table(shared(named.make(trace)));
    EXPECT_EQ(table.rows.length, 0) << named.name;
    EXPECT_EQ(table.rows.n_children, table.schema.n_children);
  }
}

// Readers may move children out of a batch, release them one by one, and the batch before or after them.
TEST(ArrowExport, keeps_what_was_taken_until_it_is_released_in_any_order) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::weak_ptr<const Trace> watched;
    std::vector<ArrowArray> moved;
    {
      SharedTrace trace = sketched_trace();
      watched = trace;
      Taken taken(shared(events_table(trace)));
      trace.reset();
      for (std::int64_t i = 0; i < taken.rows.n_children; ++i) {
        if (random() % 2 == 0) continue;
        moved.push_back(*taken.rows.children[i]);
        taken.rows.children[i]->release = nullptr;
      }
    }
    EXPECT_EQ(watched.expired(), moved.empty());
    std::shuffle(moved.begin(), moved.end(), random);
    for (ArrowArray& column : moved) {
      std::int64_t last = 0;  // the memory can be read until then
      std::memcpy(&last, static_cast<const char*>(column.buffers[1]), 1);
      std::thread([&column] { column.release(&column); }).join();
    }
    EXPECT_TRUE(watched.expired());
  }
}

TEST(ArrowExport, leaves_nothing_behind_when_nobody_takes_anything) {
  const SharedTrace trace = sketched_trace();
  for (const NamedTable& named : all_tables()) {
    ArrowArrayStream stream;
    export_stream(shared(named.make(trace)), stream);
    stream.release(&stream);
    ArrowSchema schema;
    export_schema(shared(named.make(trace)), schema);
    schema.release(&schema);
  }
  EXPECT_EQ(trace.use_count(), 1);
}

}  // namespace
}  // namespace telltale::python
