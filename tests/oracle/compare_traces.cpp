#include "compare_traces.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <sstream>
#include <type_traits>
#include <vector>

namespace telltale::oracle {
namespace {

template <typename Value>
std::string shown(const Value& value) {
  std::ostringstream out;
  out.precision(17);
  if constexpr (std::is_same_v<Value, std::string> || std::is_same_v<Value, std::string_view>)
    out << '"' << value << '"';
  else if constexpr (std::is_enum_v<Value> || std::is_same_v<Value, std::uint8_t> || std::is_same_v<Value, std::int8_t>)
    out << static_cast<int>(value);
  else
    out << value;
  return out.str();
}

template <typename Value>
std::string shown(const std::optional<Value>& value) {
  return value ? shown(*value) : "absent";
}

// A row of any table as text: its columns by name. Two rows are equal when their texts are.
class RowText {
 public:
  explicit RowText(const Trace& trace) : trace_(trace) {}

  template <typename Value>
  RowText& add(const char* column, const Value& value) {
    text_ += std::string(text_.empty() ? "" : ", ") + column + " " + shown(value);
    return *this;
  }
  RowText& text(const char* column, StringId id) { return add(column, trace_.strings[id]); }
  RowText& event(const char* column, EventId event) { return add(column, describe(trace_, event)); }
  std::string str() const { return text_; }

 private:
  const Trace& trace_;
  std::string text_;
};

using RowOf = std::function<std::string(const Trace&, std::size_t)>;
using SizeOf = std::function<std::size_t(const Trace&)>;

class Comparison {
 public:
  Comparison(const Trace& a, const Trace& b, const std::string& left, const std::string& right)
      : a_(a), b_(b), left_(left), right_(right) {}

  enum class Order { kMatters, kDoesNotMatter };

  // Reports the first row that differs, and how many rows each side has where that differs too.
  void table(const std::string& name, const SizeOf& size_of, const RowOf& row_of, Order order = Order::kMatters) {
    const auto rows_of = [&](const Trace& trace) {
      std::vector<std::string> rows;
      for (std::size_t row = 0; row < size_of(trace); ++row) rows.push_back(row_of(trace, row));
      if (order == Order::kDoesNotMatter) std::ranges::sort(rows);
      return rows;
    };
    const std::vector<std::string> rows_a = rows_of(a_), rows_b = rows_of(b_);
    if (rows_a == rows_b) return;
    if (rows_a.size() != rows_b.size())
      report(name + ": number of rows", std::to_string(rows_a.size()), std::to_string(rows_b.size()));
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(rows_a, rows_b).in1 - rows_a.begin());
    const auto row_or_none = [&](const auto& rows) { return at < rows.size() ? rows[at] : std::string("no such row"); };
    report(name + " " + std::to_string(at), row_or_none(rows_a), row_or_none(rows_b));
  }

  template <typename Row>
  void side_table(const std::string& name, SideTable<Row> Trace::* table_of,
                  const std::function<void(const Trace&, const Row&, RowText&)>& columns) {
    table(
        name, [=](const Trace& trace) { return (trace.*table_of).size(); },
        [=](const Trace& trace, std::size_t row) {
          RowText text(trace);
          text.event("event", (trace.*table_of).event(row));
          columns(trace, (trace.*table_of).row(row), text);
          return text.str();
        });
  }

  template <typename Value>
  void value(const std::string& name, const Value& in_a, const Value& in_b) {
    if (in_a != in_b) report(name, shown(in_a), shown(in_b));
  }

  const std::string& result() const { return result_; }

 private:
  void report(const std::string& what, const std::string& in_a, const std::string& in_b) {
    result_ += what + "\n  " + left_ + ": " + in_a + "\n  " + right_ + ": " + in_b + "\n";
  }

  const Trace& a_;
  const Trace& b_;
  std::string left_, right_, result_;
};

void compare_places(Comparison& comparison) {
  comparison.table(
      "process", [](const Trace& trace) { return trace.processes.size(); },
      [](const Trace& trace, std::size_t i) {
        const Process& process = trace.processes[i];
        return RowText(trace)
            .text("name", process.name)
            .text("labels", process.labels)
            .add("native id", process.native_id)
            .add("sort index", process.sort_index)
            .str();
      });
  comparison.table(
      "track", [](const Trace& trace) { return trace.tracks.size(); },
      [](const Trace& trace, std::size_t i) {
        const Track& track = trace.tracks[i];
        return RowText(trace)
            .text("name", track.name)
            .add("kind", name_of(track.kind))
            .add("process", track.process)
            .add("device", track.device)
            .add("native id", track.native_id)
            .add("sort index", track.sort_index)
            .add("first event", track.first_event)
            .add("events", track.event_count)
            .str();
      });
  comparison.table(
      "device", [](const Trace& trace) { return trace.devices.size(); },
      [](const Trace& trace, std::size_t i) {
        const Device& device = trace.devices[i];
        return RowText(trace)
            .add("id", device.id)
            .add("name", device.name)
            .add("memory", device.memory_bytes)
            .add("compute major", device.compute_major)
            .add("compute minor", device.compute_minor)
            .add("multiprocessors", device.multiprocessors)
            .add("warp size", device.warp_size)
            .add("threads", device.max_threads_per_multiprocessor)
            .add("registers", device.registers_per_multiprocessor)
            .add("shared memory", device.shared_memory_per_multiprocessor)
            .str();
      });
}

void compare_events(Comparison& comparison) {
  const SizeOf events = [](const Trace& trace) { return trace.events.size(); };
  comparison.table("event", events, [](const Trace& trace, std::size_t i) {
    const auto event = static_cast<EventId>(i);
    return RowText(trace)
        .add("name", trace.name(event))
        .add("kind", name_of(trace.events.kind[event]))
        .add("track", trace.events.track[event])
        .add("start", trace.events.start[event])
        .add("duration", trace.events.duration[event])
        .str();
  });
  comparison.table("parent of event", events, [](const Trace& trace, std::size_t i) {
    return RowText(trace).event("event", static_cast<EventId>(i)).event("parent", trace.events.parent[i]).str();
  });
  comparison.table("cause of event", events, [](const Trace& trace, std::size_t i) {
    return RowText(trace).event("event", static_cast<EventId>(i)).event("cause", trace.events.cause[i]).str();
  });
  comparison.table(
      "step", [](const Trace& trace) { return trace.steps.size(); },
      [](const Trace& trace, std::size_t i) {
        const Step& step = trace.steps[i];
        return RowText(trace)
            .add("index", step.index)
            .event("event", step.event)
            .add("start", step.start)
            .add("duration", step.duration)
            .str();
      });
}

void compare_operators(Comparison& comparison) {
  comparison.side_table<OperatorInfo>("operator", &Trace::operators,
                                      [](const Trace& trace, const OperatorInfo& info, RowText& text) {
                                        text.add("forward thread", info.forward_thread).add("sequence", info.sequence);
                                        if (info.inputs == OperatorInfo::kNoInputs) return;
                                        const OperatorInputs& inputs = trace.operator_inputs[info.inputs];
                                        text.text("shapes", inputs.shapes)
                                            .text("strides", inputs.strides)
                                            .text("types", inputs.types)
                                            .text("concrete", inputs.concrete);
                                      });
  comparison.side_table<OperatorStack>(
      "operator stack", &Trace::operator_stacks, [](const Trace&, const OperatorStack& stack, RowText& text) {
        text.text("call stack", stack.call_stack).text("module hierarchy", stack.module_hierarchy);
      });
  comparison.side_table<std::uint32_t>(
      "source", &Trace::sources, [](const Trace& trace, const std::uint32_t& place, RowText& text) {
        const SourceLocation& location = trace.source_locations[place];
        text.text("file", location.file).text("function", location.function).add("line", location.line);
      });
  comparison.side_table<CollectiveInfo>("collective", &Trace::collectives,
                                        [](const Trace&, const CollectiveInfo& info, RowText& text) {
                                          text.text("collective", info.collective)
                                              .text("dtype", info.dtype)
                                              .text("group", info.group_name)
                                              .text("description", info.group_description)
                                              .text("ranks", info.group_ranks)
                                              .text("in split", info.in_split)
                                              .text("out split", info.out_split)
                                              .add("in", info.in_elements)
                                              .add("out", info.out_elements)
                                              .add("group size", info.group_size)
                                              .add("rank", info.rank)
                                              .add("source", info.source_rank)
                                              .add("destination", info.destination_rank)
                                              .add("sequence", info.sequence)
                                              .add("async", info.is_async);
                                        });
}

void compare_device_work(Comparison& comparison) {
  comparison.side_table<KernelInfo>("kernel", &Trace::kernels,
                                    [](const Trace& trace, const KernelInfo& info, RowText& text) {
                                      const KernelLaunch& launch = trace.kernel_launches[info.launch];
                                      for (const std::int32_t size : launch.grid) text.add("grid", size);
                                      for (const std::int32_t size : launch.block) text.add("block", size);
                                      text.add("registers", launch.registers_per_thread)
                                          .add("shared memory", launch.shared_memory_bytes)
                                          .add("occupancy", launch.occupancy_percent)
                                          .add("blocks", launch.blocks_per_multiprocessor)
                                          .add("warps", launch.warps_per_multiprocessor);
                                    });
  comparison.side_table<GraphNode>(
      "graph node", &Trace::graph_nodes,
      [](const Trace&, const GraphNode& node, RowText& text) { text.add("graph", node.graph).add("node", node.node); });
  comparison.side_table<CopyInfo>("copy", &Trace::copies, [](const Trace&, const CopyInfo& copy, RowText& text) {
    text.add("bytes", copy.bytes).add("from", name_of(copy.from)).add("to", name_of(copy.to));
  });
  comparison.side_table<SyncInfo>("sync", &Trace::syncs, [](const Trace&, const SyncInfo& sync, RowText& text) {
    text.text("kind", sync.kind).add("stream", sync.wait_on_stream).add("event", sync.wait_on_event);
  });
  comparison.side_table<std::uint8_t>(
      "lane", &Trace::lanes, [](const Trace&, const std::uint8_t& lane, RowText& text) { text.add("lane", lane); });
}

void compare_texts(Comparison& comparison) {
  for (const auto& [name, table] :
       {std::pair{"category", &Trace::categories}, std::pair{"other arguments", &Trace::other_arguments}})
    comparison.side_table<StringId>(name, table,
                                    [](const Trace&, const StringId& id, RowText& text) { text.text("text", id); });
}

void compare_other_tables(Comparison& comparison) {
  comparison.table(
      "memory event", [](const Trace& trace) { return trace.memory.size(); },
      [](const Trace& trace, std::size_t i) {
        const MemoryEvents& memory = trace.memory;
        return RowText(trace)
            .add("time", memory.time[i])
            .add("address", memory.address[i])
            .add("bytes", memory.bytes[i])
            .add("allocated", memory.total_allocated[i])
            .add("reserved", memory.total_reserved[i])
            .add("device", memory.device[i])
            .add("track", memory.track[i])
            .event("event", memory.event[i])
            .text("pool", memory.pool.empty() ? kEmptyString : memory.pool[i])
            .str();
      });
  comparison.table(
      "counter series", [](const Trace& trace) { return trace.counters.series.size(); },
      [](const Trace& trace, std::size_t i) {
        const CounterSeries& series = trace.counters.series[i];
        return RowText(trace)
            .text("name", series.name)
            .text("series", series.series)
            .add("track", series.track)
            .add("first", series.first)
            .add("count", series.count)
            .str();
      });
  comparison.table(
      "counter value", [](const Trace& trace) { return trace.counters.size(); },
      [](const Trace& trace, std::size_t i) {
        return RowText(trace).add("time", trace.counters.time[i]).add("value", trace.counters.value[i]).str();
      });
  comparison.table(
      "flow", [](const Trace& trace) { return trace.flows.size(); },
      [](const Trace& trace, std::size_t i) {
        const Flow& flow = trace.flows[i];
        return RowText(trace).text("name", flow.name).event("from", flow.from).event("to", flow.to).str();
      },
      Comparison::Order::kDoesNotMatter);
  comparison.table(
      "anomaly", [](const Trace&) { return static_cast<std::size_t>(kAnomalyCount); },
      [](const Trace& trace, std::size_t i) {
        const auto anomaly = static_cast<Anomaly>(i);
        return RowText(trace).add("kind", name_of(anomaly)).add("count", trace.anomalies.count(anomaly)).str();
      });
  comparison.table(
      "metadata", [](const Trace& trace) { return trace.metadata.size(); },
      [](const Trace& trace, std::size_t i) {
        return RowText(trace).add("key", trace.metadata[i].first).add("value", trace.metadata[i].second).str();
      });
}

std::string text_of(const Trace& trace, const Distributed& info) {
  RowText text(trace);
  text.add("backend", info.backend)
      .add("nccl", info.nccl_version)
      .add("rank", info.rank)
      .add("world size", info.world_size);
  for (const ProcessGroup& group : info.groups) {
    text.add("group", group.name).add("description", group.description).add("backend", group.backend);
    text.add("size", group.size);
    for (const std::int64_t rank : group.ranks) text.add("rank", rank);
  }
  return text.str();
}

std::string text_of(const Trace& trace, const Recorded& recorded) {
  return RowText(trace)
      .add("shapes", recorded.shapes)
      .add("stacks", recorded.stacks)
      .add("memory", recorded.memory)
      .add("modules", recorded.modules)
      .add("flops", recorded.flops)
      .str();
}

}  // namespace

std::string describe(const Trace& trace, EventId event) {
  if (event == kNoEvent) return "none";
  if (event >= trace.events.size()) return "no such event " + std::to_string(event);
  std::ostringstream out;
  out << event << ' ' << trace.name(event) << " (" << name_of(trace.events.kind[event]) << ", "
      << trace.events.duration[event] << " ns at " << trace.events.start[event] << " on "
      << trace.strings[trace.tracks[trace.events.track[event]].name] << ')';
  return out.str();
}

std::string difference(const Trace& a, const Trace& b, const std::string& left, const std::string& right) {
  Comparison comparison(a, b, left, right);
  compare_places(comparison);
  compare_events(comparison);
  compare_operators(comparison);
  compare_device_work(comparison);
  compare_texts(comparison);
  compare_other_tables(comparison);
  comparison.value("format", a.format, b.format);
  comparison.value("origin", a.origin_epoch_ns, b.origin_epoch_ns);
  comparison.value("duration", a.duration, b.duration);
  comparison.value("text bytes", a.text_bytes, b.text_bytes);
  comparison.value("recorded", text_of(a, a.recorded), text_of(b, b.recorded));
  comparison.value("distributed", a.distributed ? text_of(a, *a.distributed) : "none",
                   b.distributed ? text_of(b, *b.distributed) : "none");
  return comparison.result();
}

}  // namespace telltale::oracle
