#include "formats/kineto/argument_text.h"

#include <array>
#include <cmath>
#include <string_view>

#include "formats/kineto/argument_keys.h"

namespace telltale::kineto {
namespace {

constexpr std::string_view kOpening = R"(,"args":)";

TextWriter& start(ObjectText& object, ArgumentKey key) { return object.member(name_of(key)); }

void add_text(ObjectText& object, ArgumentKey key, std::string_view text) { start(object, key) << InJson{text}; }

void add_number_unless(std::int64_t absent, ObjectText& object, ArgumentKey key, std::int64_t number) {
  if (number != absent) start(object, key) << number;
}

void add_real(ObjectText& object, ArgumentKey key, float number) {
  if (number != -1 && std::isfinite(number)) start(object, key) << number;
}

void add_sizes(ObjectText& object, ArgumentKey key, const std::array<std::int32_t, 3>& sizes) {
  start(object, key) << '[' << sizes[0] << ',' << sizes[1] << ',' << sizes[2] << ']';
}

}  // namespace

ArgumentText::ArgumentText(const Trace& trace, CheckedJson& json, Links links)
    : trace_(trace), json_(json), has_links_(links == Links::kWritten), details_(trace) {}

void ArgumentText::write(EventId event, TextWriter& out) {
  if (write_bare_value(event, out)) return;
  ObjectText object(out, kOpening);
  if (has_links_) write_links(event, object);
  write_operator(event, object);
  write_source(event, object);
  write_device_work(event, object);
  if (const CollectiveInfo* info = details_.collectives.find(event)) write_collective(*info, object);
  const StringId* others = details_.other_arguments.find(event);
  if (others == nullptr) return;
  if (json_.valid(*others).empty()) ++unwritable_;
  object.members(json_.members(*others));
}

bool ArgumentText::write_bare_value(EventId event, TextWriter& out) {
  const StringId* others = details_.other_arguments.find(event);
  if (others == nullptr) return false;
  const std::string_view text = json_.valid(*others);
  if (text.empty() || text.starts_with('{')) return false;
  out << kOpening << text;
  return true;
}

// A launch carries a number, its device work the same one; operators carry another, and what they caused that one.
void ArgumentText::write_links(EventId event, ObjectText& object) {
  const Kind kind = trace_.events.kind[event];
  const EventId cause = trace_.events.cause[event];
  const auto add = [&](ArgumentKey key, EventId named) {
    if (named != kNoEvent) start(object, key) << link_number(named);
  };
  bool is_named = cause == kNoEvent;
  if (kind == Kind::kOperator) {
    add(ArgumentKey::kExternalId, event);
    is_named = true;  // by the sequence number: see write_operator
  } else if (is_api_call(kind)) {
    const EventId around = trace_.operator_of(event);
    add(ArgumentKey::kExternalId, around);
    add(ArgumentKey::kCorrelation, event);
    is_named |= cause == around;
  } else if (is_on_device(kind) && kind != Kind::kDeviceAnnotation && cause != kNoEvent) {
    add(ArgumentKey::kExternalId, trace_.operator_of(event));
    if (is_api_call(trace_.events.kind[cause])) add(ArgumentKey::kCorrelation, cause);
    is_named = is_api_call(trace_.events.kind[cause]) || trace_.events.kind[cause] == Kind::kOperator;
  }
  if (!is_named) ++unnamed_causes_;
}

void ArgumentText::write_operator(EventId event, ObjectText& object) {
  if (const OperatorInfo* info = details_.operators.find(event)) {
    add_number_unless(OperatorInfo::kNoSequence, object, ArgumentKey::kSequence, info->sequence);
    if (info->sequence != OperatorInfo::kNoSequence || info->forward_thread != 0)
      start(object, ArgumentKey::kForwardThread) << info->forward_thread;
    if (info->inputs != OperatorInfo::kNoInputs) write_inputs(trace_.operator_inputs[info->inputs], object);
  }
  if (const OperatorStack* stack = details_.operator_stacks.find(event)) {
    const bool has_modules = stack->module_hierarchy != kEmptyString;
    if (stack->call_stack != kEmptyString || !has_modules)
      add_text(object, ArgumentKey::kCallStack, trace_.strings[stack->call_stack]);
    if (has_modules) add_text(object, ArgumentKey::kModuleHierarchy, trace_.strings[stack->module_hierarchy]);
  }
}

void ArgumentText::write_inputs(const OperatorInputs& inputs, ObjectText& object) {
  constexpr std::pair<ArgumentKey, StringId OperatorInputs::*> kColumns[] = {
      {ArgumentKey::kConcreteInputs, &OperatorInputs::concrete},
      {ArgumentKey::kInputTypes, &OperatorInputs::types},
      {ArgumentKey::kInputStrides, &OperatorInputs::strides},
      {ArgumentKey::kInputShapes, &OperatorInputs::shapes},
  };
  for (const auto& [key, column] : kColumns) {
    if (inputs.*column == kEmptyString) continue;
    const std::string_view text = json_.valid(inputs.*column);
    if (text.empty())
      ++unwritable_;
    else
      start(object, key) << text;
  }
}

void ArgumentText::write_source(EventId event, ObjectText& object) {
  const std::uint32_t* place = details_.sources.find(event);
  if (place == nullptr) return;
  const SourceLocation& location = trace_.source_locations[*place];
  add_text(object, ArgumentKey::kSourceFile, trace_.strings[location.file]);
  add_number_unless(0, object, ArgumentKey::kSourceLine, location.line);
  if (location.function != kEmptyString)
    add_text(object, ArgumentKey::kSourceFunction, trace_.strings[location.function]);
}

void ArgumentText::write_device_work(EventId event, ObjectText& object) {
  if (has_links_ && is_on_device(trace_.events.kind[event])) write_stream(event, object);
  if (const KernelInfo* info = details_.kernels.find(event)) {
    const KernelLaunch& launch = trace_.kernel_launches[info->launch];
    add_number_unless(-1, object, ArgumentKey::kRegisters, launch.registers_per_thread);
    add_number_unless(-1, object, ArgumentKey::kSharedMemory, launch.shared_memory_bytes);
    add_real(object, ArgumentKey::kBlocksPerMultiprocessor, launch.blocks_per_multiprocessor);
    add_real(object, ArgumentKey::kWarpsPerMultiprocessor, launch.warps_per_multiprocessor);
    add_sizes(object, ArgumentKey::kGrid, launch.grid);
    add_sizes(object, ArgumentKey::kBlock, launch.block);
    add_number_unless(-1, object, ArgumentKey::kOccupancy, launch.occupancy_percent);
  }
  if (const GraphNode* node = details_.graph_nodes.find(event)) {
    start(object, ArgumentKey::kGraph) << node->graph;
    start(object, ArgumentKey::kGraphNode) << node->node;
  }
  if (const CopyInfo* copy = details_.copies.find(event)) write_copy(event, *copy, object);
  if (const SyncInfo* sync = details_.syncs.find(event)) {
    if (sync->kind != kEmptyString) add_text(object, ArgumentKey::kSyncKind, trace_.strings[sync->kind]);
    add_number_unless(-1, object, ArgumentKey::kWaitOnStream, sync->wait_on_stream);
    add_number_unless(-1, object, ArgumentKey::kWaitOnEvent, sync->wait_on_event);
  }
}

void ArgumentText::write_stream(EventId event, ObjectText& object) {
  const Track& track = trace_.tracks[trace_.events.track[event]];
  // On an annotation, which is no work, they would make readers count it as such.
  const bool is_work = trace_.events.kind[event] != Kind::kDeviceAnnotation;
  if (is_work || trace_.processes[track.process].native_id != track.device)
    start(object, ArgumentKey::kDevice) << track.device;
  if (is_work) start(object, ArgumentKey::kStream) << track.native_id;
}

void ArgumentText::write_copy(EventId event, const CopyInfo& copy, ObjectText& object) {
  if (copy.bytes == -1) return;
  start(object, ArgumentKey::kBytes) << copy.bytes;
  // Says nothing new, but Kineto writes it and readers of its files look for it.
  const Nanoseconds duration = trace_.events.duration[event];
  if (duration > 0)
    start(object, ArgumentKey::kBandwidth) << static_cast<double>(copy.bytes) / static_cast<double>(duration);
}

void ArgumentText::write_collective(const CollectiveInfo& info, ObjectText& object) {
  add_text(object, ArgumentKey::kCollectiveName, trace_.strings[info.collective]);
  constexpr std::pair<ArgumentKey, StringId CollectiveInfo::*> kTexts[] = {
      {ArgumentKey::kCollectiveType, &CollectiveInfo::dtype},
      {ArgumentKey::kInSplit, &CollectiveInfo::in_split},
      {ArgumentKey::kOutSplit, &CollectiveInfo::out_split},
      {ArgumentKey::kGroupName, &CollectiveInfo::group_name},
      {ArgumentKey::kGroupDescription, &CollectiveInfo::group_description},
      {ArgumentKey::kGroupRanks, &CollectiveInfo::group_ranks},
  };
  for (const auto& [key, column] : kTexts)
    if (info.*column != kEmptyString) add_text(object, key, trace_.strings[info.*column]);
  constexpr std::pair<ArgumentKey, std::int64_t CollectiveInfo::*> kNumbers[] = {
      {ArgumentKey::kInElements, &CollectiveInfo::in_elements},
      {ArgumentKey::kOutElements, &CollectiveInfo::out_elements},
      {ArgumentKey::kGroupSize, &CollectiveInfo::group_size},
      {ArgumentKey::kRank, &CollectiveInfo::rank},
      {ArgumentKey::kSourceRank, &CollectiveInfo::source_rank},
      {ArgumentKey::kDestinationRank, &CollectiveInfo::destination_rank},
      {ArgumentKey::kCollectiveSequence, &CollectiveInfo::sequence},
  };
  for (const auto& [key, column] : kNumbers) add_number_unless(-1, object, key, info.*column);
  if (info.is_async != -1) start(object, ArgumentKey::kIsAsync) << (info.is_async != 0 ? "true" : "false");
}

}  // namespace telltale::kineto
