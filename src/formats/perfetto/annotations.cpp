#include "formats/perfetto/annotations.h"

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace telltale::perfetto {
namespace {

// Fields of DebugAnnotation.
enum Field : unsigned {
  kNameNumber = 1,
  kBool = 2,
  kInteger = 4,
  kReal = 5,
  kText = 6,
  kJson = 9,
  kTextNumber = 17,
};

constexpr int kDeepestJson = 64;  // deeper ones, which nobody writes, would need deep recursion

}  // namespace

Annotations::Annotations(const Trace& trace, Interning& interning)
    : trace_(trace), interning_(interning), details_(trace) {}

void Annotations::add(EventId event, ProtoMessage& track_event) {
  event_ = &track_event;
  add_operator(event);
  add_device_work(event);
  if (const CollectiveInfo* info = details_.collectives.find(event)) add_collective(*info);
  if (const StringId* others = details_.other_arguments.find(event)) add_members(*others);
}

void Annotations::add_metadata(ProtoMessage& track_event) {
  event_ = &track_event;
  for (const auto& [name, value] : trace_.metadata) add_json(name, value);
}

void Annotations::add_operator(EventId event) {
  if (const OperatorInfo* info = details_.operators.find(event)) {
    add_number_unless(OperatorInfo::kNoSequence, "Sequence number", info->sequence);
    add_number_unless(0, "Fwd thread id", info->forward_thread);
    if (info->inputs != OperatorInfo::kNoInputs) {
      const OperatorInputs& inputs = trace_.operator_inputs[info->inputs];
      add_text("Input Dims", inputs.shapes);
      add_text("Input Strides", inputs.strides);
      add_text("Input type", inputs.types);
      add_text("Concrete Inputs", inputs.concrete);
    }
  }
  if (const OperatorStack* stack = details_.operator_stacks.find(event)) {
    add_text("Call stack", stack->call_stack);
    add_text("Module Hierarchy", stack->module_hierarchy);
  }
  if (const std::uint32_t* place = details_.sources.find(event)) {
    const SourceLocation& location = trace_.source_locations[*place];
    add_text("Source path", location.file);
    add_number_unless(0, "Source line", location.line);
    add_text("Source function", location.function);
  }
}

void Annotations::add_device_work(EventId event) {
  if (const KernelInfo* info = details_.kernels.find(event)) {
    const KernelLaunch& launch = trace_.kernel_launches[info->launch];
    add_sizes("grid", launch.grid);
    add_sizes("block", launch.block);
    add_number_unless(-1, "registers per thread", launch.registers_per_thread);
    add_number_unless(-1, "shared memory", launch.shared_memory_bytes);
    add_number_unless(-1, "est. achieved occupancy %", launch.occupancy_percent);
    if (launch.blocks_per_multiprocessor != -1) add_real("blocks per SM", launch.blocks_per_multiprocessor);
    if (launch.warps_per_multiprocessor != -1) add_real("warps per SM", launch.warps_per_multiprocessor);
  }
  if (const GraphNode* node = details_.graph_nodes.find(event)) {
    add_number("graph id", node->graph);
    add_number("graph node id", node->node);
  }
  if (const CopyInfo* copy = details_.copies.find(event)) {
    add_number_unless(-1, "bytes", copy->bytes);
    if (copy->from != MemorySpace::kUnknown) add_any_text("from", name_of(copy->from));
    if (copy->to != MemorySpace::kUnknown) add_any_text("to", name_of(copy->to));
  }
  if (const SyncInfo* sync = details_.syncs.find(event)) {
    add_text("cuda_sync_kind", sync->kind);
    add_number_unless(-1, "wait_on_stream", sync->wait_on_stream);
    add_number_unless(-1, "wait_on_cuda_event_id", sync->wait_on_event);
  }
}

void Annotations::add_collective(const CollectiveInfo& info) {
  add_text("Collective name", info.collective);
  add_text("dtype", info.dtype);
  add_text("Process Group Name", info.group_name);
  add_text("Process Group Description", info.group_description);
  add_text("Process Group Ranks", info.group_ranks);
  add_text("In split size", info.in_split);
  add_text("Out split size", info.out_split);
  add_number_unless(-1, "In msg nelems", info.in_elements);
  add_number_unless(-1, "Out msg nelems", info.out_elements);
  add_number_unless(-1, "Group size", info.group_size);
  add_number_unless(-1, "Rank", info.rank);
  add_number_unless(-1, "Src Rank", info.source_rank);
  add_number_unless(-1, "Dst Rank", info.destination_rank);
  add_number_unless(-1, "Seq", info.sequence);
  add_number_unless(-1, "Is asynchronized op", info.is_async);
}

void Annotations::add_members(StringId id) {
  const std::string_view text = trace_.strings[id];
  if (add_flat_members(text)) return;
  bool is_too_deep = false;
  const auto watch_depth = [&](int depth, nlohmann::ordered_json::parse_event_t, const nlohmann::ordered_json&) {
    is_too_deep |= depth > kDeepestJson;
    return depth <= kDeepestJson;
  };
  const auto object = nlohmann::ordered_json::parse(text, watch_depth, false);
  if (!object.is_object() || is_too_deep) return add_any_text("args", text);
  for (const auto& [name, value] : object.items())
    add_json(name, value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

// Most objects are {"depth":3,"queue":"low"}: no nesting, no escapes. False for all others, and nothing is added.
bool Annotations::add_flat_members(std::string_view json) {
  if (!json.starts_with("{\"") || !json.ends_with('}')) return false;
  const std::string_view inside = json.substr(1, json.size() - 2);
  if (inside.find_first_of("{}[]\\") != std::string_view::npos) return false;
  struct Member {
    std::string_view name, value;
  };
  std::vector<Member> members;
  for (std::size_t at = 0;;) {
    if (at >= inside.size() || inside[at] != '"') return false;
    const std::size_t name_end = inside.find('"', at + 1);
    if (name_end == std::string_view::npos || inside.substr(name_end + 1, 1) != ":") return false;
    const std::size_t value = name_end + 2;
    const bool is_text = inside.substr(value, 1) == "\"";
    const std::size_t end =
        is_text ? inside.find('"', value + 1) + 1 : std::min(inside.find(',', value), inside.size());
    if (end == 0) return false;
    members.push_back({inside.substr(at + 1, name_end - at - 1), inside.substr(value, end - value)});
    if (end == inside.size()) break;
    if (inside[end] != ',') return false;
    at = end + 1;
  }
  for (const Member& member : members) add_json(member.name, member.value);
  return true;
}

void Annotations::add_json(std::string_view name, std::string_view value) {
  if (value.size() >= 2 && value.front() == '"') {
    if (value.find('\\') == std::string_view::npos) return add_any_text(name, value.substr(1, value.size() - 2));
    const auto text = nlohmann::json::parse(value, nullptr, false);
    return add_any_text(name, text.is_string() ? text.get<std::string>() : std::string(value));
  }
  const char* end = value.data() + value.size();
  std::int64_t integer = 0;
  double real = 0;
  if (const auto parsed = std::from_chars(value.data(), end, integer); parsed.ec == std::errc() && parsed.ptr == end)
    return add_number(name, integer);
  const bool looks_like_number =
      !value.empty() && (value.front() == '-' || (value.front() >= '0' && value.front() <= '9'));
  if (const auto parsed = std::from_chars(value.data(), end, real);
      looks_like_number && parsed.ec == std::errc() && parsed.ptr == end)
    return add_real(name, real);
  start(name);
  if (value == "true" || value == "false")
    annotation_.add_bool(kBool, value == "true");
  else
    annotation_.add_string(kJson, value);
  finish();
}

void Annotations::start(std::string_view name) {
  annotation_.clear();
  annotation_.add_unsigned(kNameNumber, interning_.id(Table::kAnnotationNames, name));
}

void Annotations::add_number(std::string_view name, std::int64_t value) {
  start(name);
  annotation_.add_signed(kInteger, value);
  finish();
}

void Annotations::add_real(std::string_view name, double value) {
  start(name);
  annotation_.add_double(kReal, value);
  finish();
}

void Annotations::add_text(std::string_view name, StringId text) {
  if (text == kEmptyString) return;
  start(name);
  annotation_.add_unsigned(kTextNumber, interning_.id(Table::kAnnotationStrings, text));
  finish();
}

void Annotations::add_any_text(std::string_view name, std::string_view text) {
  start(name);
  annotation_.add_string(kText, text);
  finish();
}

void Annotations::add_sizes(std::string_view name, const std::array<std::int32_t, 3>& sizes) {
  std::string text = "[";
  for (const std::int32_t size : sizes) text.append(text.size() == 1 ? "" : ",").append(std::to_string(size));
  add_any_text(name, text + "]");
}

}  // namespace telltale::perfetto
