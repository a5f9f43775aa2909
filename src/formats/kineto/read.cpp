#include "formats/kineto/read.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <thread>

#include "formats/kineto/ascend.h"
#include "formats/kineto/document.h"
#include "formats/kineto/parallel_blocks.h"
#include "formats/kineto/scan.h"
#include "trace/builder.h"
#include "trace/event_block.h"
#include "trace/recording_facts.h"

namespace telltale::kineto {
namespace {

constexpr std::size_t kLongestHead = std::size_t{128} << 20;

// Reads up to the event list and leaves the source behind its opening bracket.
Result<Head> read_head(BlockSource& source, const std::string& path, Anomalies& anomalies) {
  auto block = source.next_uncut();
  if (!block) return std::unexpected(block.error());
  for (;;) {
    Anomalies found;
    Head head = parse_head(block->text(), found);
    switch (head.status) {
      case HeadStatus::kEvents:
        anomalies.merge(found);
        source.push_back(*block, head.position);
        return head;
      case HeadStatus::kNotATrace:
        return failure("is not a trace: its JSON goes wrong before the first event", path, head.position);
      case HeadStatus::kNoEvents:
        return failure("is JSON, but not a trace: it has no list of events (\"traceEvents\")", path);
      case HeadStatus::kIncomplete:
        break;
    }
    if (block->is_last) return failure("ends before its first event; it was probably cut off", path, block->size);
    if (block->size > kLongestHead) return failure("has no list of events in its first 128 MiB", path);
    source.push_back(*block, 0);
    block = source.next_uncut(block->size);
    if (!block) return std::unexpected(block.error());
  }
}

void note_missing_end(const EventList& list, const Head& head, const TextInput& input, std::uint64_t text_bytes,
                      Anomalies& anomalies) {
  if (anomalies.count(Anomaly::kTruncated) > 0) return;
  if (list.was_cut) return anomalies.add(Anomaly::kTruncated, list.cut_offset);
  // Chrome's format lets a bare list end without its bracket.
  const bool may_end_here = list.has_ended || (head.is_bare_list && !list.blocks.empty());
  if (!may_end_here || input.was_cut()) anomalies.add(Anomaly::kTruncated, text_bytes);
}

// The wall-clock time of time 0 of the file's clock, if the file says it.
std::optional<std::int64_t> take_base_time(NamedValues& values) {
  std::optional<std::int64_t> base_time;
  std::erase_if(values, [&](const auto& value) {
    if (value.first != "baseTimeNanoseconds") return false;
    base_time = integer_in(value.second);
    return base_time.has_value();
  });
  return base_time;
}

// Any tool may write Chrome's format. Kineto's own are some values around the event list, its categories, which become
// kinds that no other category becomes, and its memory events.
bool has_marks_of_kineto(const NamedValues& values, std::span<const EventBlock> blocks) {
  constexpr std::string_view kNames[] = {"schemaVersion",  "deviceProperties", "distributedInfo", "baseTimeNanoseconds",
                                         "traceName",      "trace_id",         "record_shapes",   "with_stack",
                                         "profile_memory", "with_modules",     "with_flops"};
  const auto is_mark = [&](const auto& value) { return std::ranges::find(kNames, value.first) != std::end(kNames); };
  if (std::ranges::any_of(values, is_mark)) return true;
  const auto is_of_any_tool = [](const BatchEvent& event) {
    return event.kind == Kind::kOther || event.kind == Kind::kDeviceOther || event.kind == Kind::kInstant ||
           event.kind == Kind::kAsync;
  };
  return std::ranges::any_of(blocks, [&](const EventBlock& block) {
    return !block.batch.memory.empty() || !std::ranges::all_of(block.batch.events, is_of_any_tool);
  });
}

}  // namespace

bool is_json(std::string_view first_bytes) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (first_bytes.starts_with(kByteOrderMark)) first_bytes.remove_prefix(kByteOrderMark.size());
  if (first_bytes.starts_with('\0')) return false;  // a hole, or a device that gives nothing else
  const auto start = std::ranges::find_if(first_bytes, [](char c) { return static_cast<unsigned char>(c) > ' '; });
  return start == first_bytes.end() || *start == '{' || *start == '[';
}

Result<Trace> read(TextInput& input, const std::string& path, const ReadOptions& options) {
  const unsigned threads = options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  BlockSource source(input, std::max<std::size_t>(1, options.block_bytes));
  Trace trace;
  auto head = read_head(source, path, trace.anomalies);
  if (!head) return std::unexpected(head.error());

  const auto report_progress = [&] {
    if (options.progress && input.file_bytes() > 0)
      options.progress(static_cast<double>(input.file_bytes_read()) / static_cast<double>(input.file_bytes()));
  };
  auto list = read_event_list(source, threads, report_progress);
  if (!list) return std::unexpected(list.error());

  if (head->is_bare_list && list->has_other_elements && !list->has_events)
    return failure("is JSON, but not a trace: it is a list, and none of its elements is an event", path);

  if (list->has_ended) {
    const std::size_t tail_size = list->tail.size();
    list->tail.append(kPaddingBytes, kPadding);
    parse_tail(std::string_view(list->tail).substr(0, tail_size), list->tail_offset, head->is_bare_list, head->values,
               trace.anomalies);
  }
  note_missing_end(*list, *head, input, source.bytes_read(), trace.anomalies);
  trace.text_bytes = source.bytes_read();
  trace.format = has_marks_of_kineto(head->values, list->blocks) ? "kineto" : "chrome";
  const auto clock_epoch_ns = take_base_time(head->values);
  take_recording_facts(std::move(head->values), trace);

  pair_spans(list->blocks, trace.anomalies);
  place_ascend_rows(*list);
  TraceBuilder builder;
  for (EventBlock& block : list->blocks) {
    for (const TrackLabel& label : block.labels) builder.append_label(*block.batch.names, label);
    builder.append(std::move(block.batch));
  }
  return std::move(builder).build(std::move(trace), clock_epoch_ns, threads);
}

}  // namespace telltale::kineto
