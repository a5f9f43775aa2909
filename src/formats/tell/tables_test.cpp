// Files of tables, encoded by hand.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "formats/output/testing/sinks.h"
#include "formats/tell/column_codec.h"
#include "formats/tell/table_layout.h"
#include "formats/tell/testing/read_bytes.h"
#include "formats/tell/testing/tell_sketch.h"
#include "formats/tell/write.h"
#include "trace/testing/all_details.h"

namespace telltale::tell {
namespace {

using testing::fixed;
using testing::read_bytes;
using testing::rows;
using testing::TellSketch;
using testing::text;
using testing::varint;
using testing::zigzagged;

using Lines = std::vector<std::string>;

struct Table {
  std::uint64_t count = 0;
  std::vector<std::string> columns;
};
using Tables = std::map<int, Table>;

std::string joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += part;
  return all;
}

std::string unsigned_column(const std::vector<std::uint64_t>& values) {
  std::string column;
  for (const std::uint64_t value : values) column += varint(value);
  return column;
}

std::string signed_column(const std::vector<std::int64_t>& values) {
  std::string column;
  for (const std::int64_t value : values) column += zigzagged(value);
  return column;
}

std::string payload_of(int id, std::uint64_t first, std::uint64_t count, const std::vector<std::string>& columns) {
  std::string payload = varint(static_cast<std::uint64_t>(id)) + varint(first) + varint(count) + varint(columns.size());
  for (const std::string& column : columns) payload += text(column);
  return payload;
}

std::string file_of(const Tables& tables) {
  TellSketch sketch;
  std::vector<std::int64_t> ids, counts;
  for (const auto& [id, table] : tables) {
    ids.push_back(id);
    counts.push_back(static_cast<std::int64_t>(table.count));
  }
  sketch.chunk(11, payload_of(0, 0, ids.size(), {signed_column(ids), signed_column(counts)}));
  for (const auto& [id, table] : tables) sketch.chunk(11, payload_of(id, 0, table.count, table.columns));
  return sketch.trailer().bytes();
}

// Two threads with two events each, and one row of most other tables:
//   main: outer 0+100 (annotation), inner 10+20 (operator)
//   worker: inner 5+7, again at 5+6, caused by main's inner
Tables sample() {
  Tables tables;
  tables[1] = {1,
               {text("kineto"),
                zigzagged(1'700'000'000'000'000'000),
                zigzagged(100),
                zigzagged(4321),
                "\1",
                {"\0", 1},
                {"\0", 1},
                {"\0", 1},
                {"\0", 1}}};
  tables[2] = {5, {joined({text("outer"), text("inner"), text("main"), text("worker"), text("{\"a\":1}")})}};
  tables[3] = {1, {varint(3), varint(0), zigzagged(42), zigzagged(-1)}};
  tables[4] = {2,
               {unsigned_column({3, 4}), unsigned_column({0, 0}), unsigned_column({0, 0}), signed_column({-1, -1}),
                signed_column({7, 8}), signed_column({0, 5}), signed_column({0, 2}), signed_column({2, 2})}};
  tables[6] = {2, {unsigned_column({1, 2}), unsigned_column({1, 0})}};
  tables[7] = {4,
               {unsigned_column({0, 1, 1, 1}), signed_column({0, 10, -5, 0}), unsigned_column({100, 20, 7, 6}),
                // none, none, none, then event 1
                unsigned_column({0, 0, 0, 1 + 2 * 1})}};
  tables[20] = {1, {signed_column({3}), signed_column({1})}};
  tables[22] = {2, {signed_column({1, 2}), unsigned_column({5, 5})}};
  tables[24] = {2, {signed_column({3, 4}), testing::float_bytes(0.5) + testing::float_bytes(-2)}};
  tables[25] = {1, {varint(1), varint(2), varint(0), zigzagged(0), zigzagged(2)}};
  tables[26] = {1, {varint(4), varint(1 + 2 * 0), varint(1 + 2 * 3)}};
  tables[27] = {1, {text("key"), text("\"value\"")}};
  // 16 bytes got on the host with totals 16 and 64, then given back.
  tables[23] = {2,
                {signed_column({20, 1}), signed_column({0x7000, 0}), signed_column({16, -16}), signed_column({-1, -1}),
                 signed_column({0, 0}), signed_column({64, 0}), unsigned_column({0, 1}),
                 unsigned_column({1 + 2 * 1, 0}), unsigned_column({0, 0})}};
  tables[30] = {2,
                {text("truncated") + text("unheard_of"), signed_column({2, 3}), signed_column({99, 5}),
                 text("aten::") + text("x")}};
  return tables;
}

TEST(Tables, give_the_trace_that_they_were_made_of) {
  const auto trace = read_bytes(file_of(sample()));
  ASSERT_TRUE(trace) << to_string(trace.error());
  EXPECT_EQ(rows(*trace), (Lines{"annotation outer 0+100 on main", "operator inner 10+20 on main",
                                 "operator inner 5+7 on worker", "operator inner 5+6 on worker"}));
  EXPECT_EQ(trace->events.parent, (std::vector<EventId>{kNoEvent, 0, kNoEvent, 2}));
  EXPECT_EQ(trace->events.cause, (std::vector<EventId>{kNoEvent, kNoEvent, kNoEvent, 1}));
  EXPECT_EQ(trace->events.track, (std::vector<TrackId>{0, 0, 1, 1}));
  EXPECT_EQ(trace->format, "kineto");
  EXPECT_EQ(trace->origin_epoch_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(trace->duration, 100);
  EXPECT_EQ(trace->text_bytes, 4321u);
  EXPECT_TRUE(trace->recorded.shapes);
  EXPECT_FALSE(trace->recorded.stacks);
  EXPECT_EQ(trace->processes[0].native_id, 42);
  EXPECT_EQ(trace->processes[0].sort_index, -1);
  EXPECT_EQ(trace->strings[trace->processes[0].name], "main");
  EXPECT_EQ(trace->tracks[1].native_id, 8);
  EXPECT_EQ(trace->tracks[1].sort_index, 5);
  EXPECT_EQ(*trace->lanes.find(3), 1);
  EXPECT_EQ(trace->strings[*trace->other_arguments.find(1)], "{\"a\":1}");
  EXPECT_EQ(trace->other_arguments.event(1), 3u);
  EXPECT_EQ(trace->counters.time, (std::vector<Nanoseconds>{3, 7}));
  EXPECT_EQ(trace->counters.value, (std::vector<double>{0.5, -2}));
  EXPECT_EQ(trace->counters.series[0].count, 2u);
  EXPECT_EQ(trace->flows[0].from, 0u);
  EXPECT_EQ(trace->flows[0].to, 3u);
  EXPECT_EQ(trace->metadata, (decltype(trace->metadata){{"key", "\"value\""}}));
  EXPECT_EQ(trace->memory.time, (std::vector<Nanoseconds>{20, 21}));
  EXPECT_EQ(trace->memory.address, (std::vector<std::uint64_t>{0x7000, 0x7000}));
  EXPECT_EQ(trace->memory.total_allocated, (std::vector<std::int64_t>{16, 0}));
  EXPECT_EQ(trace->memory.total_reserved, (std::vector<std::int64_t>{64, 64}));
  EXPECT_EQ(trace->memory.event, (std::vector<EventId>{1, kNoEvent}));
  EXPECT_EQ(trace->memory.track, (std::vector<TrackId>{0, 1}));
  EXPECT_TRUE(trace->memory.pool.empty());
  EXPECT_EQ(trace->anomalies.count(Anomaly::kTruncated), 2u);
  EXPECT_EQ(testing::example_of(*trace, Anomaly::kTruncated), "aten::");
  EXPECT_EQ(trace->anomalies.total(), 5u);  // that of a later version is at least counted
}

TEST(Tables, may_be_cut_into_any_number_of_chunks) {
  Tables tables = sample();
  const Table events = tables[7];
  tables.erase(7);
  std::string whole = file_of(sample());
  TellSketch sketch;
  std::vector<std::int64_t> ids{7}, counts{4};
  for (const auto& [id, table] : tables) {
    ids.push_back(id);
    counts.push_back(static_cast<std::int64_t>(table.count));
  }
  sketch.chunk(11, payload_of(0, 0, ids.size(), {signed_column(ids), signed_column(counts)}));
  for (const auto& [id, table] : tables) sketch.compressed_chunk(11, payload_of(id, 0, table.count, table.columns));
  // Differences count from 0 in each chunk.
  sketch.chunk(11, payload_of(7, 0, 3,
                              {unsigned_column({0, 1, 1}), signed_column({0, 10, -5}), unsigned_column({100, 20, 7}),
                               unsigned_column({0, 0, 0})}));
  sketch.chunk(11, payload_of(7, 3, 1, {varint(1), zigzagged(5), varint(6), varint(1 + 2 * 1)}));
  sketch.chunk(11, payload_of(77, 0, 1, {"?"})).chunk(600, "?").trailer();
  const auto trace = read_bytes(sketch.bytes()), expected = read_bytes(whole);
  ASSERT_TRUE(trace && expected);
  EXPECT_EQ(rows(*trace), rows(*expected));
  EXPECT_EQ(trace->events.cause, expected->events.cause);
  // The table of number 77 and the chunk of kind 600 are from the future.
  EXPECT_EQ(trace->anomalies.count(Anomaly::kUnknownChunk), expected->anomalies.count(Anomaly::kUnknownChunk) + 2);
}

TEST(Tables, in_which_something_cannot_be_are_refused) {
  const std::pair<const char*, std::function<void(Tables&)>> faults[] = {
      {"a label beyond the table", [](Tables& t) { t[7].columns[0] = unsigned_column({0, 1, 2, 1}); }},
      {"a start before the first", [](Tables& t) { t[7].columns[1] = signed_column({-1, 11, -5, 0}); }},
      {"an end beyond all time",
       [](Tables& t) { t[7].columns[2] = unsigned_column({INT64_MAX, INT64_MAX - 3, 7, 6}); }},
      {"a negative duration", [](Tables& t) { t[7].columns[2] = unsigned_column({100, UINT64_MAX, 7, 6}); }},
      {"rows out of order", [](Tables& t) { t[7].columns[1] = signed_column({20, -10, -5, 0}); }},
      {"the shorter one first", [](Tables& t) { t[7].columns[2] = unsigned_column({100, 20, 6, 7}); }},
      {"a cause beyond the events", [](Tables& t) { t[7].columns[3] = unsigned_column({0, 0, 0, 1 + 2 * 4}); }},
      {"a cause before the events", [](Tables& t) { t[7].columns[3] = unsigned_column({0, 0, 0, 1 + 1}); }},
      {"too few bytes", [](Tables& t) { t[7].columns[3] = unsigned_column({0, 0, 0}); }},
      {"too few columns", [](Tables& t) { t[7].columns.pop_back(); }},
      {"fewer rows than said",
       [](Tables& t) {
         t[7].count = 3;
         t[4].columns[7] = signed_column({2, 2});
       }},
      {"a track's range beyond the events", [](Tables& t) { t[4].columns[7] = signed_column({2, 3}); }},
      {"tracks that share events", [](Tables& t) { t[4].columns[6] = signed_column({0, 1}); }},
      {"events of no track", [](Tables& t) { t[4].columns[7] = signed_column({2, 1}); }},
      {"a track without a process", [](Tables& t) { t[4].columns[2] = unsigned_column({0, 1}); }},
      {"a kind of track that there is not", [](Tables& t) { t[4].columns[1] = unsigned_column({0, 5}); }},
      {"a kind of event that there is not", [](Tables& t) { t[6].columns[1] = unsigned_column({1, 18}); }},
      {"a name without a text", [](Tables& t) { t[6].columns[0] = unsigned_column({1, 6}); }},
      {"the same text twice",
       [](Tables& t) {
         t[2].columns[0] = joined({text("outer"), text("outer"), text("main"), text("worker"), text("x")});
       }},
      {"an empty text",
       [](Tables& t) { t[2].columns[0] = joined({text("outer"), text(""), text("main"), text("worker"), text("x")}); }},
      {"a text that is no UTF-8",
       [](Tables& t) {
         t[2].columns[0] = joined({text("outer"), text("\xff"), text("main"), text("worker"), text("x")});
       }},
      {"events of a side table out of order", [](Tables& t) { t[22].columns[0] = signed_column({3, -2}); }},
      {"an event of a side table twice", [](Tables& t) { t[22].columns[0] = signed_column({1, 0}); }},
      {"an event of a side table beyond the events", [](Tables& t) { t[22].columns[0] = signed_column({1, 3}); }},
      {"a lane beyond a byte", [](Tables& t) { t[20].columns[1] = signed_column({256}); }},
      {"a flow to nowhere", [](Tables& t) { t[26].columns[2] = varint(0); }},
      {"a series beyond the values", [](Tables& t) { t[25].columns[4] = zigzagged(3); }},
      {"a series on no track", [](Tables& t) { t[25].columns[2] = varint(2); }},
      {"memory out of order", [](Tables& t) { t[23].columns[0] = signed_column({20, -1}); }},
      {"memory on no track", [](Tables& t) { t[23].columns[6] = unsigned_column({0, 2}); }},
      {"a header value that is no JSON", [](Tables& t) { t[27].columns[1] = text("{"); }},
      {"no trace", [](Tables& t) { t.erase(1); }},
      {"two traces",
       [](Tables& t) {
         t[1].count = 2;
         for (std::string& c : t[1].columns) c += c;
       }},
      {"a trace that ends before it begins", [](Tables& t) { t[1].columns[2] = zigzagged(-1); }},
      {"a step that is no event", [](Tables& t) { t[8] = {1, {zigzagged(1), varint(4), zigzagged(0), zigzagged(1)}}; }},
      {"a step of negative length",
       [](Tables& t) { t[8] = {1, {zigzagged(1), varint(0), zigzagged(0), zigzagged(-1)}}; }},
      {"a kernel without its launch", [](Tables& t) { t[15] = {1, {zigzagged(1), varint(0)}}; }},
      {"an operator without its inputs",
       [](Tables& t) { t[10] = {1, {zigzagged(1), varint(1), varint(0), varint(0)}}; }},
      {"a place that is none", [](Tables& t) { t[13] = {1, {zigzagged(1), varint(0)}}; }},
  };
  ASSERT_TRUE(read_bytes(file_of(sample())));
  for (const auto& [what, make] : faults) {
    Tables tables = sample();
    make(tables);
    const auto trace = read_bytes(file_of(tables));
    EXPECT_FALSE(trace) << what;
  }
}

TEST(Tables, that_lack_rows_are_refused) {
  const std::string whole = file_of(sample());
  const std::size_t first = whole.find("CHNK", 20), last = whole.rfind("CHNK");
  for (std::size_t size = first; size < last; ++size)
    EXPECT_FALSE(read_bytes(std::string_view(whole).substr(0, size))) << "cut at " << size;
  EXPECT_TRUE(read_bytes(std::string_view(whole).substr(0, last)));  // only the index and the trailer are missing
  for (const std::uint64_t claimed : {std::uint64_t{5}, std::uint64_t{1} << 40, UINT64_MAX}) {
    TellSketch sketch;
    sketch.chunk(11, payload_of(0, 0, 1, {zigzagged(7), zigzagged(static_cast<std::int64_t>(claimed))}));
    sketch.chunk(11, payload_of(7, 0, claimed, {"\1", "\1", "\1", "\1"})).trailer();
    EXPECT_FALSE(read_bytes(sketch.bytes()));
  }
}

TEST(Tables, never_hide_that_a_byte_has_changed) {
  const std::string whole = file_of(sample());
  for (std::size_t at = 12; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    const auto trace = read_bytes(changed);
    EXPECT_TRUE(!trace || trace->anomalies.total() > 5) << "byte " << at;
  }
}

// A writer that goes mad writes good checksums: whatever comes out is refused, or is a trace like any other.
TEST(Tables, of_any_bytes_do_no_harm) {
  const Tables whole = sample();
  int read = 0;
  for (const auto& [id, table] : whole) {
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      for (std::size_t at = 0; at < table.columns[column].size(); ++at) {
        for (const int change : {0x01, 0x02, 0x40, 0x80, 0xFF}) {
          Tables changed = whole;
          char& byte = changed[id].columns[column][at];
          byte = static_cast<char>(byte ^ change);
          const auto trace = read_bytes(file_of(changed));
          if (!trace) continue;
          ++read;
          for (EventId event = 0; event < trace->events.size(); ++event)
            EXPECT_LT(trace->events.parent[event] + 1, event + 1);
          rows(*trace);
        }
      }
    }
  }
  EXPECT_GT(read, 100);
}

TEST(Tables, keep_every_column_of_every_detail) {
  const Trace before = trace_with_all_details();
  MemorySink sink;
  TextWriter out(sink);
  write(before, out, {});
  ASSERT_TRUE(out.finish());
  const auto after = read_bytes(sink.text);
  ASSERT_TRUE(after) << to_string(after.error());
  for_each_side_table([&](const TableInfo& info, auto table_of, auto description) {
    ASSERT_EQ(table_of(*after).size(), table_of(before).size()) << info.name;
    for (std::size_t i = 0; i < table_of(before).size(); ++i) {
      EXPECT_EQ(table_of(*after).event(i), table_of(before).event(i)) << info.name;
      EXPECT_EQ(meaning_of(*after, table_of(*after).row(i), description),
                meaning_of(before, table_of(before).row(i), description))
          << info.name;
    }
  });
}

// A row as it was when files were first written, and as it is now.
struct OldRow {
  std::int64_t bytes = 0;
};
constexpr void describe(auto& columns, RowOf<OldRow>) { columns.number(&OldRow::bytes, {}); }
struct NewRow {
  std::int64_t bytes = 0;
  std::int64_t alignment = -1;
  std::optional<int> level;
};
constexpr void describe(auto& columns, RowOf<NewRow>) {
  columns.number(&NewRow::bytes, {});
  columns.number(&NewRow::alignment, {.null = Null::kNegative, .is_new = true});
  columns.maybe(&NewRow::level, {.is_new = true});
}

template <typename Row>
std::string columns_with(const Row& row) {
  ColumnWriter writer;
  writer.begin_row();
  columns_of(writer, row);
  std::string bytes;
  writer.take(bytes);
  return bytes;
}

template <typename Row>
Row read_back(const std::string& bytes) {
  const RowCounts counts{};
  const auto* begin = reinterpret_cast<const unsigned char*>(bytes.data());
  ColumnReader reader(ByteReader(begin, begin + bytes.size()), counts);
  Row row;
  reader.begin_row();
  columns_of(reader, row);
  EXPECT_TRUE(reader.is_good());
  return row;
}

TEST(Tables, from_before_a_column_was_added_give_its_default) {
  const NewRow row = read_back<NewRow>(columns_with(OldRow{7}));
  EXPECT_EQ(row.bytes, 7);
  EXPECT_EQ(row.alignment, -1);
  EXPECT_FALSE(row.level);
  const NewRow whole = read_back<NewRow>(columns_with(NewRow{7, 8, 9}));
  EXPECT_EQ(whole.alignment, 8);
  EXPECT_EQ(whole.level, 9);
  EXPECT_EQ(read_back<OldRow>(columns_with(NewRow{7, 8, 9})).bytes, 7);  // and an older reader skips it
}

}  // namespace
}  // namespace telltale::tell
