#include "formats/output/argument_text.h"

#include <array>
#include <cmath>
#include <utility>

namespace telltale {

void ArgumentText::write_host_side(EventId event, ObjectText& object) {
  write_operator(event, object);
  write_source(event, object);
}

void ArgumentText::write_rest(EventId event, ObjectText& object) {
  write_device_work(event, object);
  if (const CollectiveInfo* info = details_.collectives.find(event)) write_collective(*info, object);
  const StringId* others = details_.other_arguments.find(event);
  if (others == nullptr) return;
  if (json_.valid(*others).empty()) ++unwritable_;
  object.members(json_.members(*others));
}

std::string_view ArgumentText::bare_value(EventId event) {
  const StringId* others = details_.other_arguments.find(event);
  if (others == nullptr) return {};
  const std::string_view text = json_.valid(*others);
  return text.starts_with('{') ? std::string_view() : text;
}

void ArgumentText::add_text(ObjectText& object, Attribute attribute, std::string_view text) {
  start(object, attribute) << InJson{text};
}

void ArgumentText::add_number_unless(std::int64_t absent, ObjectText& object, Attribute attribute,
                                     std::int64_t number) {
  if (number != absent) start(object, attribute) << number;
}

void ArgumentText::add_real(ObjectText& object, Attribute attribute, float number) {
  if (number != -1 && std::isfinite(number)) start(object, attribute) << number;
}

void ArgumentText::add_sizes(ObjectText& object, Attribute attribute, const std::array<std::int32_t, 3>& sizes) {
  start(object, attribute) << '[' << sizes[0] << ',' << sizes[1] << ',' << sizes[2] << ']';
}

void ArgumentText::write_operator(EventId event, ObjectText& object) {
  if (const OperatorInfo* info = details_.operators.find(event)) {
    add_number_unless(OperatorInfo::kNoSequence, object, Attribute::kSequence, info->sequence);
    if (info->sequence != OperatorInfo::kNoSequence || info->forward_thread != 0)
      start(object, Attribute::kForwardThread) << info->forward_thread;
    if (info->inputs != OperatorInfo::kNoInputs) write_inputs(trace_.operator_inputs[info->inputs], object);
  }
  if (const OperatorStack* stack = details_.operator_stacks.find(event)) {
    const bool has_modules = stack->module_hierarchy != kEmptyString;
    if (stack->call_stack != kEmptyString || !has_modules)
      add_text(object, Attribute::kCallStack, trace_.strings[stack->call_stack]);
    if (has_modules) add_text(object, Attribute::kModuleHierarchy, trace_.strings[stack->module_hierarchy]);
  }
}

void ArgumentText::write_inputs(const OperatorInputs& inputs, ObjectText& object) {
  constexpr std::pair<Attribute, StringId OperatorInputs::*> kColumns[] = {
      {Attribute::kConcreteInputs, &OperatorInputs::concrete},
      {Attribute::kInputTypes, &OperatorInputs::types},
      {Attribute::kInputStrides, &OperatorInputs::strides},
      {Attribute::kInputShapes, &OperatorInputs::shapes},
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
  add_text(object, Attribute::kSourceFile, trace_.strings[location.file]);
  add_number_unless(0, object, Attribute::kSourceLine, location.line);
  if (location.function != kEmptyString)
    add_text(object, Attribute::kSourceFunction, trace_.strings[location.function]);
}

void ArgumentText::write_device_work(EventId event, ObjectText& object) {
  if (const KernelInfo* info = details_.kernels.find(event)) {
    const KernelLaunch& launch = trace_.kernel_launches[info->launch];
    add_number_unless(-1, object, Attribute::kRegisters, launch.registers_per_thread);
    add_number_unless(-1, object, Attribute::kSharedMemory, launch.shared_memory_bytes);
    add_real(object, Attribute::kBlocksPerMultiprocessor, launch.blocks_per_multiprocessor);
    add_real(object, Attribute::kWarpsPerMultiprocessor, launch.warps_per_multiprocessor);
    add_sizes(object, Attribute::kGrid, launch.grid);
    add_sizes(object, Attribute::kBlock, launch.block);
    add_number_unless(-1, object, Attribute::kOccupancy, launch.occupancy_percent);
  }
  if (const GraphNode* node = details_.graph_nodes.find(event)) {
    start(object, Attribute::kGraph) << node->graph;
    start(object, Attribute::kGraphNode) << node->node;
  }
  if (const CopyInfo* copy = details_.copies.find(event)) write_copy(event, *copy, object);
  if (const SyncInfo* sync = details_.syncs.find(event)) {
    if (sync->kind != kEmptyString) add_text(object, Attribute::kSyncKind, trace_.strings[sync->kind]);
    add_number_unless(-1, object, Attribute::kWaitOnStream, sync->wait_on_stream);
    add_number_unless(-1, object, Attribute::kWaitOnEvent, sync->wait_on_event);
  }
}

void ArgumentText::write_copy(EventId event, const CopyInfo& copy, ObjectText& object) {
  if (copy.bytes == -1) return;
  start(object, Attribute::kBytes) << copy.bytes;
  // Says nothing new, but profilers write it and readers of their files look for it.
  const Nanoseconds duration = trace_.events.duration[event];
  if (duration > 0)
    start(object, Attribute::kBandwidth) << static_cast<double>(copy.bytes) / static_cast<double>(duration);
}

void ArgumentText::write_collective(const CollectiveInfo& info, ObjectText& object) {
  add_text(object, Attribute::kCollectiveName, trace_.strings[info.collective]);
  constexpr std::pair<Attribute, StringId CollectiveInfo::*> kTexts[] = {
      {Attribute::kCollectiveType, &CollectiveInfo::dtype},
      {Attribute::kInSplit, &CollectiveInfo::in_split},
      {Attribute::kOutSplit, &CollectiveInfo::out_split},
      {Attribute::kGroupName, &CollectiveInfo::group_name},
      {Attribute::kGroupDescription, &CollectiveInfo::group_description},
      {Attribute::kGroupRanks, &CollectiveInfo::group_ranks},
  };
  for (const auto& [key, column] : kTexts)
    if (info.*column != kEmptyString) add_text(object, key, trace_.strings[info.*column]);
  constexpr std::pair<Attribute, std::int64_t CollectiveInfo::*> kNumbers[] = {
      {Attribute::kInElements, &CollectiveInfo::in_elements},
      {Attribute::kOutElements, &CollectiveInfo::out_elements},
      {Attribute::kGroupSize, &CollectiveInfo::group_size},
      {Attribute::kRank, &CollectiveInfo::rank},
      {Attribute::kSourceRank, &CollectiveInfo::source_rank},
      {Attribute::kDestinationRank, &CollectiveInfo::destination_rank},
      {Attribute::kCollectiveSequence, &CollectiveInfo::sequence},
  };
  for (const auto& [key, column] : kNumbers) add_number_unless(-1, object, key, info.*column);
  if (info.is_async != -1) start(object, Attribute::kIsAsync) << (info.is_async != 0 ? "true" : "false");
}

}  // namespace telltale
