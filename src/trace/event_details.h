// Sorts what events carry into the side tables of a batch.
//
// One a thread: it remembers what it has seen to recognize it faster. Rows refer to its LocalNames.
//
// A reader gives the attributes of an event as `Values`, which are asked only for what a column holds, so that a reader
// may leave the rest unread:
//
//   AttributeSet present() const;
//   std::int64_t integer(Attribute, std::int64_t otherwise);   counts what does not fit 64 bits
//   float real(Attribute);                                     -1 when it is no finite number that fits
//   bool flag(Attribute);
//   StringId text(Attribute);                                  likewise below: only for what is present
//   StringId list(Attribute);                                  compact JSON
//   std::array<std::int32_t, 3> sizes(Attribute);
//   StringId others();                                         compact JSON of what no column holds; may be empty
//
// AttributeValues (attribute_values.h) serves any reader; one that reads gigabytes may have its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "trace/attributes.h"
#include "trace/event_batch.h"

namespace telltale {

class EventDetails {
 public:
  explicit EventDetails(LocalNames& names) : names_(names) {}

  // The event that the calls below are about: where its rows go, and what anomalies quote.
  void select(EventBatch& into, std::uint64_t byte_offset, StringId name = kEmptyString) {
    batch_ = &into;
    byte_offset_ = byte_offset;
    name_ = name;
  }
  void set_name(StringId name) { name_ = name; }

  template <typename Values>
  void write(Values& values, Kind kind, BatchRow row) {
    const AttributeSet present = values.present();
    write_links(values, present, row);
    write_operator(values, present, row);
    if (present.has(Attribute::kSourceFile)) batch_->sources.push_back({row, source_location(values, present)});
    if (const StringId others = values.others(); others != kEmptyString)
      batch_->other_arguments.push_back({row, others});
    write_device_work(values, present, kind, row);
    if (present.has(Attribute::kCollectiveName)) batch_->collectives.push_back({row, collective(values, present)});
  }

  // An integer for a column that holds less than 64 bits; one that does not fit is counted and left out.
  template <typename Narrow, typename Values>
  Narrow narrow_integer(Values& values, Attribute attribute, Narrow otherwise) {
    const std::int64_t value = values.integer(attribute, otherwise);
    if (std::in_range<Narrow>(value)) return static_cast<Narrow>(value);
    note(Anomaly::kNumberOutOfRange);
    return otherwise;
  }

  LocalNames& names() { return names_; }
  void note(Anomaly anomaly) { note(anomaly, name_); }
  void note(Anomaly anomaly, StringId example) {
    batch_->anomalies.add(anomaly, byte_offset_, names_.strings[example]);
  }

 private:
  struct CopySpaces {
    MemorySpace from = MemorySpace::kUnknown, to = MemorySpace::kUnknown;
  };

  template <typename Values>
  void write_links(Values& values, AttributeSet present, BatchRow row) {
    constexpr AttributeSet kLinks{Attribute::kExternalId, Attribute::kCorrelation};
    if (!present.has_any(kLinks)) return;
    const std::int64_t correlation = values.integer(Attribute::kCorrelation, 0);
    const std::int64_t external_id = values.integer(Attribute::kExternalId, 0);
    if (correlation != 0 || external_id != 0) batch_->links.push_back({row, correlation, external_id});
  }

  template <typename Values>
  void write_operator(Values& values, AttributeSet present, BatchRow row) {
    const std::uint32_t inputs =
        present.has_any(kOperatorInputs) ? operator_inputs(values, present) : OperatorInfo::kNoInputs;
    const std::int64_t sequence = values.integer(Attribute::kSequence, OperatorInfo::kNoSequence);
    if (inputs != OperatorInfo::kNoInputs || sequence >= 0) {
      const auto thread = narrow_integer<std::int32_t>(values, Attribute::kForwardThread, 0);
      batch_->operators.push_back({row,
                                   {.inputs = inputs,
                                    .forward_thread = static_cast<std::uint32_t>(std::max(0, thread)),
                                    .sequence = sequence}});
    }
    constexpr AttributeSet kStack{Attribute::kCallStack, Attribute::kModuleHierarchy};
    if (!present.has_any(kStack)) return;
    OperatorStack stack;
    if (present.has(Attribute::kCallStack)) stack.call_stack = values.text(Attribute::kCallStack);
    if (present.has(Attribute::kModuleHierarchy)) stack.module_hierarchy = values.text(Attribute::kModuleHierarchy);
    batch_->operator_stacks.push_back({row, stack});
  }

  template <typename Values>
  std::uint32_t operator_inputs(Values& values, AttributeSet present) {
    OperatorInputs inputs;
    if (present.has(Attribute::kInputShapes)) inputs.shapes = values.list(Attribute::kInputShapes);
    if (present.has(Attribute::kInputStrides)) inputs.strides = values.list(Attribute::kInputStrides);
    if (present.has(Attribute::kInputTypes)) inputs.types = values.list(Attribute::kInputTypes);
    if (present.has(Attribute::kConcreteInputs)) inputs.concrete = values.list(Attribute::kConcreteInputs);
    return names_.operator_inputs.intern(inputs);
  }

  template <typename Values>
  std::uint32_t source_location(Values& values, AttributeSet present) {
    SourceLocation location;
    location.file = values.text(Attribute::kSourceFile);
    if (present.has(Attribute::kSourceFunction)) location.function = values.text(Attribute::kSourceFunction);
    location.line = narrow_integer<std::int32_t>(values, Attribute::kSourceLine, 0);
    return names_.source_locations.intern(location);
  }

  template <typename Values>
  void write_device_work(Values& values, AttributeSet present, Kind kind, BatchRow row) {
    if (present.has_any(kLaunchSizes))
      batch_->kernels.push_back({row, {names_.kernel_launches.intern(kernel_launch(values, present))}});
    constexpr AttributeSet kGraphNode{Attribute::kGraph, Attribute::kGraphNode};
    if (present.has_any(kGraphNode)) {
      const GraphNode node{values.integer(Attribute::kGraph, 0), values.integer(Attribute::kGraphNode, 0)};
      if (node.graph != 0 || node.node != 0) batch_->graph_nodes.push_back({row, node});
    }
    if (kind == Kind::kMemcpy || kind == Kind::kMemset) {
      const CopySpaces spaces = copy_spaces(name_);
      batch_->copies.push_back({row, {values.integer(Attribute::kBytes, -1), spaces.from, spaces.to}});
    }
    if (kind == Kind::kSync) {
      SyncInfo sync;
      if (present.has(Attribute::kSyncKind)) sync.kind = values.text(Attribute::kSyncKind);
      sync.wait_on_stream = values.integer(Attribute::kWaitOnStream, -1);
      sync.wait_on_event = values.integer(Attribute::kWaitOnEvent, -1);
      batch_->syncs.push_back({row, sync});
    }
  }

  template <typename Values>
  KernelLaunch kernel_launch(Values& values, AttributeSet present) {
    KernelLaunch launch;
    if (present.has(Attribute::kGrid)) launch.grid = values.sizes(Attribute::kGrid);
    if (present.has(Attribute::kBlock)) launch.block = values.sizes(Attribute::kBlock);
    launch.registers_per_thread = narrow_integer<std::int32_t>(values, Attribute::kRegisters, -1);
    launch.shared_memory_bytes = narrow_integer<std::int32_t>(values, Attribute::kSharedMemory, -1);
    launch.occupancy_percent = narrow_integer<std::int32_t>(values, Attribute::kOccupancy, -1);
    if (present.has(Attribute::kBlocksPerMultiprocessor))
      launch.blocks_per_multiprocessor = values.real(Attribute::kBlocksPerMultiprocessor);
    if (present.has(Attribute::kWarpsPerMultiprocessor))
      launch.warps_per_multiprocessor = values.real(Attribute::kWarpsPerMultiprocessor);
    return launch;
  }

  template <typename Values>
  CollectiveInfo collective(Values& values, AttributeSet present) {
    CollectiveInfo info;
    const auto text = [&](Attribute attribute) {
      return present.has(attribute) ? values.text(attribute) : kEmptyString;
    };
    info.collective = text(Attribute::kCollectiveName);
    info.dtype = text(Attribute::kCollectiveType);
    info.group_name = text(Attribute::kGroupName);
    info.group_description = text(Attribute::kGroupDescription);
    info.group_ranks = text(Attribute::kGroupRanks);
    info.in_split = text(Attribute::kInSplit);
    info.out_split = text(Attribute::kOutSplit);
    info.in_elements = values.integer(Attribute::kInElements, -1);
    info.out_elements = values.integer(Attribute::kOutElements, -1);
    info.group_size = values.integer(Attribute::kGroupSize, -1);
    info.rank = values.integer(Attribute::kRank, -1);
    info.source_rank = values.integer(Attribute::kSourceRank, -1);
    info.destination_rank = values.integer(Attribute::kDestinationRank, -1);
    info.sequence = values.integer(Attribute::kCollectiveSequence, -1);
    if (present.has(Attribute::kIsAsync)) info.is_async = values.flag(Attribute::kIsAsync) ? 1 : 0;
    return info;
  }

  // What the name of a copy says: "Memcpy HtoD (Pageable -> Device)", "Memset (Device)".
  CopySpaces copy_spaces(StringId name);

  LocalNames& names_;
  EventBatch* batch_ = nullptr;
  std::uint64_t byte_offset_ = 0;
  StringId name_ = kEmptyString;
  std::vector<std::optional<CopySpaces>> copy_spaces_;  // by local string id
};

}  // namespace telltale
