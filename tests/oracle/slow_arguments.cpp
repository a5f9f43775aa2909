#include "slow_arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "slow_rows.h"

namespace telltale::oracle {
namespace {

using Arguments = std::vector<JsonMember>;

// What columns hold, or what numbers things for the recorder's own use.
const std::set<std::string, std::less<>>& keys_with_a_column() {
  static const std::set<std::string, std::less<>> keys = {"External id",
                                                          "external id",
                                                          "Record function id",
                                                          "Ev Idx",
                                                          "Python id",
                                                          "Python parent id",
                                                          "Python module id",
                                                          "cbid",
                                                          "correlation",
                                                          "Sequence number",
                                                          "Fwd thread id",
                                                          "Input Dims",
                                                          "Input dims",
                                                          "Input Strides",
                                                          "Input type",
                                                          "Concrete Inputs",
                                                          "Call stack",
                                                          "Module Hierarchy",
                                                          "device",
                                                          "context",
                                                          "stream",
                                                          "registers per thread",
                                                          "shared memory",
                                                          "blocks per SM",
                                                          "warps per SM",
                                                          "grid",
                                                          "block",
                                                          "est. achieved occupancy %",
                                                          "graph id",
                                                          "graph node id",
                                                          "queued",
                                                          "bytes",
                                                          "memory bandwidth (GB/s)",
                                                          "Collective name",
                                                          "dtype",
                                                          "In msg nelems",
                                                          "Out msg nelems",
                                                          "In split size",
                                                          "Out split size",
                                                          "Group size",
                                                          "Process Group Name",
                                                          "Process Group Description",
                                                          "Process Group Ranks",
                                                          "Rank",
                                                          "Src Rank",
                                                          "Dst Rank",
                                                          "Seq",
                                                          "Is asynchronized op",
                                                          "cuda_sync_kind",
                                                          "wait_on_stream",
                                                          "wait_on_cuda_event_id",
                                                          "Bytes",
                                                          "Addr",
                                                          "Device Type",
                                                          "Device Id",
                                                          "Total Allocated",
                                                          "Total Reserved",
                                                          "Source path",
                                                          "Source line",
                                                          "Source function",
                                                          "Memory pool"};
  return keys;
}

class SideTables {
 public:
  explicit SideTables(Trace& trace) : trace_(trace) {}

  void add(EventId event, const SlowRow& row) {
    event_ = event;
    row_ = &row;
    arguments_ = &row.event->arguments;
    add_operator();
    add_stack();
    add_source();
    add_kernel();
    add_graph_node();
    add_copy();
    add_sync();
    add_collective();
    if (!is_told_by_kind(row.event->category)) trace_.categories.append(event, intern(row.event->category));
    const std::string others = other_arguments();
    if (!others.empty()) trace_.other_arguments.append(event, intern(others));
  }

 private:
  StringId intern(std::string_view text) { return trace_.strings.intern(text); }
  bool has(std::string_view key) const { return find(*arguments_, key).has_value(); }
  std::int64_t integer(std::string_view key, std::int64_t otherwise) const {
    return integer_in(*arguments_, key).value_or(otherwise);
  }
  std::int32_t small_integer(std::string_view key) const { return small_integer_in(*arguments_, key).value_or(-1); }
  StringId text(std::string_view key) {
    const auto raw = find(*arguments_, key);
    return raw ? intern(text_of(*raw)) : kEmptyString;
  }
  StringId compact_text(std::string_view key) {
    const auto raw = find(*arguments_, key);
    return raw ? intern(compact(*raw)) : kEmptyString;
  }

  void add_operator() {
    OperatorInputs inputs;
    inputs.shapes = compact_text(has("Input Dims") ? "Input Dims" : "Input dims");
    inputs.strides = compact_text("Input Strides");
    inputs.types = compact_text("Input type");
    inputs.concrete = compact_text("Concrete Inputs");
    OperatorInfo info;
    info.sequence = integer("Sequence number", OperatorInfo::kNoSequence);
    if (inputs == OperatorInputs{} && info.sequence < 0) return;
    if (inputs != OperatorInputs{}) info.inputs = index_of(inputs, inputs_, trace_.operator_inputs);
    info.forward_thread = static_cast<std::uint32_t>(std::max(0, small_integer("Fwd thread id")));
    trace_.operators.append(event_, info);
  }

  void add_stack() {
    if (has("Call stack") || has("Module Hierarchy"))
      trace_.operator_stacks.append(event_, {text("Call stack"), text("Module Hierarchy")});
  }

  void add_source() {
    if (!has("Source path")) return;
    const SourceLocation location{text("Source path"), text("Source function"),
                                  small_integer_in(*arguments_, "Source line").value_or(0)};
    trace_.sources.append(event_, index_of(location, locations_, trace_.source_locations));
  }

  void add_kernel() {
    if (!has("grid") && !has("block")) return;
    KernelLaunch launch;
    launch.grid = sizes("grid");
    launch.block = sizes("block");
    launch.registers_per_thread = small_integer("registers per thread");
    launch.shared_memory_bytes = small_integer("shared memory");
    launch.occupancy_percent = small_integer("est. achieved occupancy %");
    launch.blocks_per_multiprocessor = real("blocks per SM");
    launch.warps_per_multiprocessor = real("warps per SM");
    trace_.kernels.append(event_, {index_of(launch, launches_, trace_.kernel_launches)});
  }

  void add_graph_node() {
    const GraphNode node{integer("graph id", 0), integer("graph node id", 0)};
    if (node.graph != 0 || node.node != 0) trace_.graph_nodes.append(event_, node);
  }

  void add_copy() {
    if (row_->kind != Kind::kMemcpy && row_->kind != Kind::kMemset) return;
    CopyInfo copy;
    copy.bytes = integer("bytes", -1);
    const std::string& name = row_->event->name;
    const std::size_t open = name.find('('), close = name.rfind(')');
    if (open != std::string::npos && close != std::string::npos && open < close) {
      const std::string inside = name.substr(open + 1, close - open - 1);
      const std::size_t arrow = inside.find(" -> ");
      if (arrow == std::string::npos) {
        copy.to = space(inside);
      } else {
        copy.from = space(inside.substr(0, arrow));
        copy.to = space(inside.substr(arrow + 4));
      }
    }
    trace_.copies.append(event_, copy);
  }

  void add_sync() {
    if (row_->kind != Kind::kSync) return;
    trace_.syncs.append(event_,
                        {text("cuda_sync_kind"), integer("wait_on_stream", -1), integer("wait_on_cuda_event_id", -1)});
  }

  void add_collective() {
    if (!has("Collective name")) return;
    CollectiveInfo info;
    info.collective = text("Collective name");
    info.dtype = text("dtype");
    info.group_name = text("Process Group Name");
    info.group_description = text("Process Group Description");
    info.group_ranks = text("Process Group Ranks");
    info.in_split = text("In split size");
    info.out_split = text("Out split size");
    info.in_elements = integer("In msg nelems", -1);
    info.out_elements = integer("Out msg nelems", -1);
    info.group_size = integer("Group size", -1);
    info.rank = integer("Rank", -1);
    info.source_rank = integer("Src Rank", -1);
    info.destination_rank = integer("Dst Rank", -1);
    info.sequence = integer("Seq", -1);
    if (const auto raw = find(*arguments_, "Is asynchronized op")) {
      const std::string_view value = unquoted(*raw);
      info.is_async = value == "true" || value == "True" || value == "1" ? 1 : 0;
    }
    trace_.collectives.append(event_, info);
  }

  std::string other_arguments() const {
    std::string object;
    for (const JsonMember& member : *arguments_) {
      if (keys_with_a_column().contains(member.key)) continue;
      object += object.empty() ? "{" : ",";
      object += member.raw_key;
      object += ':';
      object += compact(member.raw);
    }
    if (!object.empty()) return object += '}';
    const std::string_view raw = row_->event->raw_arguments;
    return raw.empty() || is_object(raw) ? std::string() : compact(raw);
  }

  std::array<std::int32_t, 3> sizes(std::string_view key) const {
    std::array<std::int32_t, 3> three{};
    const auto raw = find(*arguments_, key);
    if (!raw || !is_array(*raw)) return three;
    const auto elements = elements_of(*raw);
    for (std::size_t i = 0; i < three.size() && i < elements.size(); ++i) {
      const ExactInteger number = number_in(elements[i]);
      if (number.outcome == ExactInteger::Outcome::kFits && std::in_range<std::int32_t>(number.value))
        three[i] = static_cast<std::int32_t>(number.value);
    }
    return three;
  }

  float real(std::string_view key) const {
    const auto raw = find(*arguments_, key);
    if (!raw || !real_in(*raw)) return -1;
    const double value = *real_in(*raw);
    return std::abs(value) <= std::numeric_limits<float>::max() ? static_cast<float>(value) : -1;
  }

  static MemorySpace space(const std::string& name) {
    static const std::map<std::string, MemorySpace> spaces = {
        {"Pageable", MemorySpace::kPageable}, {"Pinned", MemorySpace::kPinned},   {"Device", MemorySpace::kDevice},
        {"Array", MemorySpace::kArray},       {"Managed", MemorySpace::kManaged}, {"Unified", MemorySpace::kManaged}};
    const auto known = spaces.find(name);
    return known == spaces.end() ? MemorySpace::kUnknown : known->second;
  }

  template <typename Value>
  static std::uint32_t index_of(const Value& value, std::map<Value, std::uint32_t>& known, std::vector<Value>& all) {
    const auto [entry, is_new] = known.emplace(value, static_cast<std::uint32_t>(all.size()));
    if (is_new) all.push_back(value);
    return entry->second;
  }

  Trace& trace_;
  EventId event_ = 0;
  const SlowRow* row_ = nullptr;
  const Arguments* arguments_ = nullptr;
  std::map<OperatorInputs, std::uint32_t> inputs_;
  std::map<KernelLaunch, std::uint32_t> launches_;
  std::map<SourceLocation, std::uint32_t> locations_;
};

}  // namespace

std::optional<std::int64_t> integer_in(const Arguments& arguments, std::string_view key) {
  const auto raw = find(arguments, key);
  if (!raw) return std::nullopt;
  const ExactInteger number = number_in(*raw);
  if (number.outcome != ExactInteger::Outcome::kFits) return std::nullopt;
  return number.value;
}

std::optional<std::int32_t> small_integer_in(const Arguments& arguments, std::string_view key) {
  const auto value = integer_in(arguments, key);
  if (!value || !std::in_range<std::int32_t>(*value)) return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

std::optional<std::uint64_t> address_in(const Arguments& arguments, std::string_view key) {
  const auto raw = find(arguments, key);
  if (!raw) return std::nullopt;
  const std::string_view digits = unquoted(*raw);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : digits)
    if (__builtin_mul_overflow(value, 10u, &value) ||
        __builtin_add_overflow(value, static_cast<unsigned>(c - '0'), &value))
      return std::nullopt;
  return value;
}

std::optional<double> real_in(std::string_view raw) {
  if (number_in(raw).outcome == ExactInteger::Outcome::kNotANumber) return std::nullopt;
  const std::string_view text = unquoted(raw);
  double value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

void fill_side_tables(const std::vector<SlowRow>& rows, Trace& trace) {
  SideTables tables(trace);
  for (std::size_t i = 0; i < rows.size(); ++i) tables.add(static_cast<EventId>(i), rows[i]);
}

}  // namespace telltale::oracle
