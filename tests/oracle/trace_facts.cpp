#include "trace_facts.h"

#include <algorithm>
#include <functional>
#include <sstream>

namespace telltale::oracle {
namespace {

using Facts = std::map<std::string, std::string>;

template <typename Value>
std::string text(const Value& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += word;
  }
  return line;
}

std::string name_or_none(const Trace& trace, EventId event) {
  return event == kNoEvent ? "none" : std::string(trace.name(event));
}

void add_side_tables(const Trace& trace, EventId event, Facts& facts) {
  const auto string = [&](StringId id) { return std::string(trace.strings[id]); };
  if (const OperatorInfo* info = trace.operators.find(event); info && info->inputs != OperatorInfo::kNoInputs) {
    const OperatorInputs& inputs = trace.operator_inputs[info->inputs];
    facts["shapes"] = string(inputs.shapes);
    facts["strides"] = string(inputs.strides);
    facts["types"] = string(inputs.types);
    facts["concrete"] = string(inputs.concrete);
  }
  if (const std::uint32_t* place = trace.sources.find(event)) {
    const SourceLocation& location = trace.source_locations[*place];
    facts["file"] = string(location.file);
    facts["function"] = string(location.function);
    facts["line"] = text(location.line);
  }
  if (const OperatorStack* stack = trace.operator_stacks.find(event)) {
    facts["call stack"] = string(stack->call_stack);
    facts["module hierarchy"] = string(stack->module_hierarchy);
  }
  if (const KernelInfo* info = trace.kernels.find(event)) {
    const KernelLaunch& launch = trace.kernel_launches[info->launch];
    const auto sizes = [](const auto& three) { return joined({text(three[0]), text(three[1]), text(three[2])}); };
    facts["grid"] = sizes(launch.grid);
    facts["block"] = sizes(launch.block);
    facts["registers"] = text(launch.registers_per_thread);
    facts["shared memory"] = text(launch.shared_memory_bytes);
    facts["occupancy"] = text(launch.occupancy_percent);
  }
  if (const GraphNode* node = trace.graph_nodes.find(event))
    facts["graph"] = text(node->graph) + "/" + text(node->node);
  if (const CopyInfo* copy = trace.copies.find(event)) {
    facts["bytes"] = text(copy->bytes);
    facts["from"] = name_of(copy->from);
    facts["to"] = name_of(copy->to);
  }
  if (const SyncInfo* sync = trace.syncs.find(event)) {
    facts["wait on stream"] = text(sync->wait_on_stream);
    facts["wait on event"] = text(sync->wait_on_event);
  }
  if (const CollectiveInfo* info = trace.collectives.find(event)) {
    facts["collective"] = string(info->collective);
    facts["dtype"] = string(info->dtype);
    facts["group"] = string(info->group_name);
    facts["group size"] = text(info->group_size);
    facts["elements"] = text(info->in_elements);
    facts["rank"] = text(info->rank);
    facts["sequence"] = text(info->sequence);
  }
  const StringId* category = trace.categories.find(event);
  facts["category"] = category ? string(*category) : "none";
  const StringId* arguments = trace.other_arguments.find(event);
  facts["arguments"] = arguments ? string(*arguments) : "none";
}

Facts event_facts(const Trace& trace, EventId event) {
  const Events& events = trace.events;
  const Track& track = trace.tracks[events.track[event]];
  const StepId step = trace.step_of(event);
  const std::uint8_t* lane = trace.lanes.find(event);
  Facts facts = {
      {"kind", std::string(name_of(events.kind[event]))},
      {"start", text(events.start[event])},
      {"duration", text(events.duration[event])},
      {"parent", name_or_none(trace, events.parent[event])},
      {"cause", name_or_none(trace, events.cause[event])},
      {"track", std::string(trace.strings[track.name])},
      {"track kind", std::string(name_of(track.kind))},
      {"device", text(track.device)},
      {"step", step == kNoStep ? "none" : text(trace.steps[static_cast<std::size_t>(step)].index)},
      {"lane", lane ? text(static_cast<int>(*lane)) : "0"},
  };
  add_side_tables(trace, event, facts);
  return facts;
}

std::optional<NamedFacts> facts_of_event(const Trace& trace, const std::string& name) {
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (trace.name(event) == name) return NamedFacts{event_facts(trace, event), 2};
  return std::nullopt;
}

std::optional<NamedFacts> facts_of_track(const Trace& trace, const std::string& name) {
  for (const Track& track : trace.tracks)
    if (trace.strings[track.name] == name)
      return NamedFacts{{{"kind", std::string(name_of(track.kind))},
                         {"native id", text(track.native_id)},
                         {"sort index", text(track.sort_index)},
                         {"events", text(track.event_count)}},
                        2};
  return std::nullopt;
}

std::optional<NamedFacts> facts_of_process(const Trace& trace, const std::string& name) {
  for (const Process& process : trace.processes)
    if (trace.strings[process.name] == name)
      return NamedFacts{{{"labels", std::string(trace.strings[process.labels])},
                         {"native id", text(process.native_id)},
                         {"sort index", text(process.sort_index)}},
                        2};
  return std::nullopt;
}

std::optional<NamedFacts> facts_of_device(const Trace& trace, const std::string& id) {
  for (const Device& device : trace.devices)
    if (text(device.id) == id)
      return NamedFacts{{{"name", device.name},
                         {"memory", device.memory_bytes ? text(*device.memory_bytes) : "unknown"},
                         {"multiprocessors", device.multiprocessors ? text(*device.multiprocessors) : "unknown"}},
                        2};
  return std::nullopt;
}

std::optional<NamedFacts> facts_of_step(const Trace& trace, const std::string& index) {
  for (const Step& step : trace.steps)
    if (text(step.index) == index)
      return NamedFacts{{{"start", text(step.start)}, {"duration", text(step.duration)}}, 2};
  return std::nullopt;
}

std::optional<NamedFacts> facts_of_memory(const Trace& trace, const std::string& time) {
  const MemoryEvents& memory = trace.memory;
  for (std::size_t i = 0; i < memory.size(); ++i)
    if (text(memory.time[i]) == time)
      return NamedFacts{{{"bytes", text(memory.bytes[i])},
                         {"device", text(memory.device[i])},
                         {"address", text(memory.address[i])},
                         {"allocated", text(memory.total_allocated[i])},
                         {"reserved", text(memory.total_reserved[i])},
                         {"pool", std::string(memory.pool.empty() ? "" : trace.strings[memory.pool[i]])},
                         {"event", name_or_none(trace, memory.event[i])}},
                        2};
  return std::nullopt;
}

std::optional<NamedFacts> facts_of_counter(const Trace& trace, const std::string& name) {
  for (const CounterSeries& series : trace.counters.series) {
    if (std::string(trace.strings[series.name]) + "/" + std::string(trace.strings[series.series]) != name) continue;
    std::vector<std::string> values;
    for (std::size_t i = series.first; i < series.first + series.count; ++i)
      values.push_back(text(trace.counters.value[i]) + "@" + text(trace.counters.time[i]));
    return NamedFacts{{{"values", joined(values)}}, 2};
  }
  return std::nullopt;
}

std::optional<NamedFacts> facts_of_metadata(const Trace& trace, const std::string& key) {
  for (const auto& [name, value] : trace.metadata)
    if (name == key) return NamedFacts{{{"", value}}, 2};
  return std::nullopt;
}

std::optional<NamedFacts> distributed_facts(const Trace& trace) {
  if (!trace.distributed) return std::nullopt;
  const Distributed& info = *trace.distributed;
  return NamedFacts{{{"rank", info.rank ? text(*info.rank) : "unknown"},
                     {"world_size", info.world_size ? text(*info.world_size) : "unknown"},
                     {"backend", info.backend},
                     {"nccl_version", info.nccl_version},
                     {"groups", text(info.groups.size())}}};
}

std::string recorded_words(const Recorded& recorded) {
  std::vector<std::string> words;
  for (const auto& [is_recorded, word] : {std::pair{recorded.shapes, "shapes"}, std::pair{recorded.stacks, "stacks"},
                                          std::pair{recorded.memory, "memory"}, std::pair{recorded.modules, "modules"},
                                          std::pair{recorded.flops, "flops"}})
    if (is_recorded) words.emplace_back(word);
  return words.empty() ? "nothing" : joined(words);
}

}  // namespace

std::optional<NamedFacts> facts_about(const Trace& trace, const std::vector<std::string>& fields) {
  const auto single = [](const auto& value) { return NamedFacts{{{"", text(value)}}}; };
  const std::map<std::string, std::function<std::optional<NamedFacts>()>> whole = {
      {"events", [&] { return single(trace.events.size()); }},
      {"tracks", [&] { return single(trace.tracks.size()); }},
      {"processes", [&] { return single(trace.processes.size()); }},
      {"devices", [&] { return single(trace.devices.size()); }},
      {"steps", [&] { return single(trace.steps.size()); }},
      {"flows", [&] { return single(trace.flows.size()); }},
      {"memory events", [&] { return single(trace.memory.size()); }},
      {"counters", [&] { return single(trace.counters.series.size()); }},
      {"duration", [&] { return single(trace.duration); }},
      {"origin", [&] { return single(trace.origin_epoch_ns); }},
      {"recorded", [&] { return single(recorded_words(trace.recorded)); }},
      {"distributed", [&] { return distributed_facts(trace); }},
  };
  if (const auto about = whole.find(fields[0]); about != whole.end()) return about->second();

  using FactsOf = std::optional<NamedFacts> (*)(const Trace&, const std::string&);
  const std::map<std::string, FactsOf> named = {
      {"event", facts_of_event},     {"track", facts_of_track},       {"process", facts_of_process},
      {"device", facts_of_device},   {"step", facts_of_step},         {"memory at", facts_of_memory},
      {"counter", facts_of_counter}, {"metadata", facts_of_metadata},
  };
  const auto about = named.find(fields[0]);
  if (about == named.end() || fields.size() < 2) return std::nullopt;
  return about->second(trace, fields[1]);
}

}  // namespace telltale::oracle
