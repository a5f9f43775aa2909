#include "formats/kineto/event_details.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "base/json_text.h"
#include "base/utf8.h"
#include "formats/kineto/event_parser.h"
#include "formats/kineto/remembered.h"

namespace telltale::kineto {
namespace {

std::string_view view(const StringToken& token) { return {token.begin, token.size()}; }
std::string_view view(const ValueSpan& span) { return {span.begin, static_cast<std::size_t>(span.end - span.begin)}; }

// [4, 8, 1]; 0 for what is missing or no size.
std::array<std::int32_t, 3> three_sizes(const ValueSpan& list) {
  std::array<std::int32_t, 3> sizes{};
  if (*list.begin != '[') return sizes;
  const char* p = list.begin;
  for (std::int32_t& size : sizes) {
    p = skip_space(p + 1);  // behind the bracket or a comma
    if (p >= list.end || *p == ']') break;
    const char* behind = skip_value(p, list.end);
    const Decimal number = number_in({p, behind});
    if (number.status == DecimalStatus::kOk && std::in_range<std::int32_t>(number.value))
      size = static_cast<std::int32_t>(number.value);
    p = skip_space(behind);
    if (p >= list.end || *p != ',') break;
  }
  return sizes;
}

float real_or_none(const ValueSpan& value) {
  constexpr float kNone = -1;
  const auto number = real_in(value);
  const bool fits = number && std::abs(*number) <= std::numeric_limits<float>::max();
  return fits ? static_cast<float>(*number) : kNone;
}

MemorySpace space_named(std::string_view name) {
  constexpr std::pair<std::string_view, MemorySpace> kSpaces[] = {
      {"Pageable", MemorySpace::kPageable}, {"Pinned", MemorySpace::kPinned},   {"Device", MemorySpace::kDevice},
      {"Array", MemorySpace::kArray},       {"Managed", MemorySpace::kManaged}, {"Unified", MemorySpace::kManaged},
  };
  for (const auto& [spelling, space] : kSpaces)
    if (name == spelling) return space;
  return MemorySpace::kUnknown;
}

}  // namespace

std::optional<EventDetails::Checked> EventDetails::check(const EventFields& fields) {
  Checked checked;
  OperatorInputs inputs;
  constexpr std::pair<ArgumentKey, StringId OperatorInputs::*> kColumns[] = {
      {ArgumentKey::kInputShapes, &OperatorInputs::shapes},
      {ArgumentKey::kInputStrides, &OperatorInputs::strides},
      {ArgumentKey::kInputTypes, &OperatorInputs::types},
      {ArgumentKey::kConcreteInputs, &OperatorInputs::concrete},
  };
  bool has_inputs = false;
  for (const auto& [key, column] : kColumns) {
    if (!fields.has(key)) continue;
    const auto text = compact(fields[key]);
    if (!text) return std::nullopt;
    inputs.*column = *text;
    has_inputs = true;
  }
  if (has_inputs) checked.operator_inputs = names_.operator_inputs.intern(inputs);

  if (!fields.unknown_arguments.empty()) {
    std::string object = "{";
    for (const UnknownArgument& argument : fields.unknown_arguments) {
      const auto key = compact({argument.key.begin - 1, argument.key.end + 1});
      const auto value = compact(argument.value);
      if (!key || !value) return std::nullopt;
      if (object.size() > 1) object += ',';
      object += names_.strings[*key];
      object += ':';
      object += names_.strings[*value];
    }
    checked.others = names_.strings.intern(object + "}");
  } else if (fields.arguments.begin != nullptr && *fields.arguments.begin != '{') {
    const auto value = compact(fields.arguments);
    if (!value) return std::nullopt;
    checked.others = *value;
  }
  return checked;
}

void EventDetails::write(const EventFields& fields, const Checked& checked, Kind kind, BatchRow row) {
  write_links(fields, row);
  write_operator(fields, checked, row);
  if (fields.has(ArgumentKey::kSourceFile)) batch_->sources.push_back({row, source_location(fields)});
  if (checked.others != kEmptyString) batch_->other_arguments.push_back({row, checked.others});
  write_device_work(fields, kind, row);
  if (fields.has(ArgumentKey::kCollectiveName)) batch_->collectives.push_back({row, collective(fields)});
}

void EventDetails::write_links(const EventFields& fields, BatchRow row) {
  if (!fields.has(ArgumentKey::kExternalId) && !fields.has(ArgumentKey::kCorrelation)) return;
  const std::int64_t correlation = integer(fields, ArgumentKey::kCorrelation, 0);
  const std::int64_t external_id = integer(fields, ArgumentKey::kExternalId, 0);
  if (correlation != 0 || external_id != 0) batch_->links.push_back({row, correlation, external_id});
}

void EventDetails::write_operator(const EventFields& fields, const Checked& checked, BatchRow row) {
  const std::int64_t sequence = integer(fields, ArgumentKey::kSequence, OperatorInfo::kNoSequence);
  if (checked.operator_inputs != OperatorInfo::kNoInputs || sequence >= 0) {
    const auto forward_thread = narrow_integer<std::int32_t>(fields, ArgumentKey::kForwardThread, 0);
    batch_->operators.push_back({row,
                                 {.inputs = checked.operator_inputs,
                                  .forward_thread = static_cast<std::uint32_t>(std::max(0, forward_thread)),
                                  .sequence = sequence}});
  }
  if (fields.has(ArgumentKey::kCallStack) || fields.has(ArgumentKey::kModuleHierarchy)) {
    OperatorStack stack;
    if (fields.has(ArgumentKey::kCallStack)) stack.call_stack = text_in(fields[ArgumentKey::kCallStack]);
    if (fields.has(ArgumentKey::kModuleHierarchy))
      stack.module_hierarchy = text_in(fields[ArgumentKey::kModuleHierarchy]);
    batch_->operator_stacks.push_back({row, stack});
  }
}

std::uint32_t EventDetails::source_location(const EventFields& fields) {
  SourceLocation location;
  location.file = text_in(fields[ArgumentKey::kSourceFile]);
  if (fields.has(ArgumentKey::kSourceFunction)) location.function = text_in(fields[ArgumentKey::kSourceFunction]);
  location.line = narrow_integer<std::int32_t>(fields, ArgumentKey::kSourceLine, 0);
  return names_.source_locations.intern(location);
}

void EventDetails::write_device_work(const EventFields& fields, Kind kind, BatchRow row) {
  if (fields.has(ArgumentKey::kGrid) || fields.has(ArgumentKey::kBlock))
    batch_->kernels.push_back({row, {names_.kernel_launches.intern(kernel_launch(fields))}});
  if (fields.has(ArgumentKey::kGraph) || fields.has(ArgumentKey::kGraphNode)) {
    const GraphNode node{integer(fields, ArgumentKey::kGraph, 0), integer(fields, ArgumentKey::kGraphNode, 0)};
    if (node.graph != 0 || node.node != 0) batch_->graph_nodes.push_back({row, node});
  }
  if (kind == Kind::kMemcpy || kind == Kind::kMemset) {
    const CopySpaces spaces = copy_spaces(name_);
    batch_->copies.push_back({row, {integer(fields, ArgumentKey::kBytes, -1), spaces.from, spaces.to}});
  }
  if (kind == Kind::kSync) {
    SyncInfo sync;
    if (fields.has(ArgumentKey::kSyncKind)) sync.kind = text_in(fields[ArgumentKey::kSyncKind]);
    sync.wait_on_stream = integer(fields, ArgumentKey::kWaitOnStream, -1);
    sync.wait_on_event = integer(fields, ArgumentKey::kWaitOnEvent, -1);
    batch_->syncs.push_back({row, sync});
  }
}

KernelLaunch EventDetails::kernel_launch(const EventFields& fields) {
  KernelLaunch launch;
  if (fields.has(ArgumentKey::kGrid)) launch.grid = three_sizes(fields[ArgumentKey::kGrid]);
  if (fields.has(ArgumentKey::kBlock)) launch.block = three_sizes(fields[ArgumentKey::kBlock]);
  launch.registers_per_thread = narrow_integer<std::int32_t>(fields, ArgumentKey::kRegisters, -1);
  launch.shared_memory_bytes = narrow_integer<std::int32_t>(fields, ArgumentKey::kSharedMemory, -1);
  launch.occupancy_percent = narrow_integer<std::int32_t>(fields, ArgumentKey::kOccupancy, -1);
  if (fields.has(ArgumentKey::kBlocksPerMultiprocessor))
    launch.blocks_per_multiprocessor = real_or_none(fields[ArgumentKey::kBlocksPerMultiprocessor]);
  if (fields.has(ArgumentKey::kWarpsPerMultiprocessor))
    launch.warps_per_multiprocessor = real_or_none(fields[ArgumentKey::kWarpsPerMultiprocessor]);
  return launch;
}

CollectiveInfo EventDetails::collective(const EventFields& fields) {
  CollectiveInfo info;
  const auto text = [&](ArgumentKey key) { return fields.has(key) ? text_in(fields[key]) : kEmptyString; };
  info.collective = text(ArgumentKey::kCollectiveName);
  info.dtype = text(ArgumentKey::kCollectiveType);
  info.group_name = text(ArgumentKey::kGroupName);
  info.group_description = text(ArgumentKey::kGroupDescription);
  info.group_ranks = text(ArgumentKey::kGroupRanks);
  info.in_split = text(ArgumentKey::kInSplit);
  info.out_split = text(ArgumentKey::kOutSplit);
  info.in_elements = integer(fields, ArgumentKey::kInElements, -1);
  info.out_elements = integer(fields, ArgumentKey::kOutElements, -1);
  info.group_size = integer(fields, ArgumentKey::kGroupSize, -1);
  info.rank = integer(fields, ArgumentKey::kRank, -1);
  info.source_rank = integer(fields, ArgumentKey::kSourceRank, -1);
  info.destination_rank = integer(fields, ArgumentKey::kDestinationRank, -1);
  info.sequence = integer(fields, ArgumentKey::kCollectiveSequence, -1);
  if (fields.has(ArgumentKey::kIsAsync)) {
    const std::string_view value = view(fields[ArgumentKey::kIsAsync]);
    constexpr std::string_view kYes[] = {"true", "1", "\"true\"", "\"True\"", "\"1\""};
    info.is_async = std::ranges::find(kYes, value) != std::end(kYes) ? 1 : 0;
  }
  return info;
}

// "Memcpy HtoD (Pageable -> Device)", "Memset (Device)".
EventDetails::CopySpaces EventDetails::copy_spaces(StringId name) {
  std::optional<CopySpaces>& known = remembered(copy_spaces_, name);
  if (known) return *known;
  CopySpaces spaces;
  const std::string_view text = names_.strings[name];
  const auto open = text.find('('), close = text.rfind(')');
  if (open != std::string_view::npos && close != std::string_view::npos && open < close) {
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    constexpr std::string_view kArrow = " -> ";
    if (const auto arrow = inside.find(kArrow); arrow != std::string_view::npos)
      spaces = {space_named(inside.substr(0, arrow)), space_named(inside.substr(arrow + kArrow.size()))};
    else
      spaces.to = space_named(inside);
  }
  known = spaces;
  return spaces;
}

StringId EventDetails::text_of(const StringToken& token) {
  if (token.is_plain) return names_.strings.intern(view(token));
  if (token.is_bare) return text_of_bare_value(view(token));
  Repairs repairs;
  const StringId id = names_.strings.intern(unescaped(view(token), repairs));
  if (repairs.invalid_escape) note(Anomaly::kInvalidEscape, id);
  if (repairs.invalid_utf8) note(Anomaly::kInvalidUtf8, id);
  if (repairs.control_character) note(Anomaly::kControlCharacter, id);
  return id;
}

// Where text was expected: the value as it is written. Its white space and escapes are no text's.
StringId EventDetails::text_of_bare_value(std::string_view value) {
  if (is_utf8(value)) return names_.strings.intern(value);
  const StringId id = names_.strings.intern(repaired_utf8(value));
  note(Anomaly::kInvalidUtf8, id);
  return id;
}

StringId EventDetails::text_in(const ValueSpan& value) {
  if (*value.begin == '"') return text_of(scan_string(value.begin + 1));
  return text_of({value.begin, value.end, false, true});
}

std::optional<StringId> EventDetails::compact(const ValueSpan& value) {
  const StringId raw = names_.strings.intern(view(value));
  if (const auto& known = remembered(compact_, raw)) return *known;
  const auto text = compact_json(view(value));
  const std::optional<StringId> id = text ? std::optional(names_.strings.intern(*text)) : std::nullopt;
  remembered(compact_, raw) = id;
  return id;
}

std::int64_t EventDetails::integer(const EventFields& fields, ArgumentKey key, std::int64_t otherwise) {
  if (!fields.has(key)) return otherwise;
  const Decimal number = number_in(fields[key]);
  if (number.status == DecimalStatus::kOutOfRange) note(Anomaly::kNumberOutOfRange);
  return number.status == DecimalStatus::kOk ? number.value : otherwise;
}

}  // namespace telltale::kineto
