#include "capture/cuda/activity_decoder.h"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <iterator>

#include "capture/cuda/activity_names.h"

namespace telltale::capture {
namespace {

// Newer versions of these structs add members at the end: what is read here stands where it stood in CUDA 12.0.
static_assert(offsetof(CUpti_ActivityKernel9, correlationId) == 92 && offsetof(CUpti_ActivityKernel9, name) == 104);
static_assert(offsetof(CUpti_ActivityKernel9, graphNodeId) == 144 && offsetof(CUpti_ActivityKernel9, graphId) == 156);

// From this version on, that of CUDA 12.4, some records of overhead come with memory that their reader has to free.
constexpr std::uint32_t kFirstWithOverheadData = 22;

constexpr auto kInteger = TELLTALE_FIELD_TYPE_INTEGER;
constexpr auto kFloat = TELLTALE_FIELD_TYPE_FLOAT;
constexpr auto kShape = TELLTALE_FIELD_TYPE_SHAPE;

// Those of graphs come last: other work has none.
constexpr telltale_field kKernelFields[] = {{"context", kInteger, 0},       {"registers per thread", kInteger, 0},
                                            {"shared memory", kInteger, 0}, {"grid", kShape, 0},
                                            {"block", kShape, 0},           {"blocks per SM", kFloat, 0},
                                            {"warps per SM", kFloat, 0},    {"est. achieved occupancy %", kInteger, 0},
                                            {"graph id", kInteger, 0},      {"graph node id", kInteger, 0}};
constexpr telltale_field kTransferFields[] = {
    {"context", kInteger, 0}, {"bytes", kInteger, 0}, {"graph id", kInteger, 0}, {"graph node id", kInteger, 0}};
constexpr telltale_field kPoolFields[] = {{"device", kInteger, 0}, {"pool bytes", kInteger, 0}};
constexpr std::uint32_t kGraphFields = 2;

struct Fields {
  const telltale_field* first = nullptr;
  std::uint32_t count = 0;
};

Fields fields_of(telltale_kind kind, bool is_in_graph) {
  const std::uint32_t left_out = is_in_graph ? 0 : kGraphFields;
  switch (kind) {
    case TELLTALE_KIND_KERNEL:
      return {kKernelFields, static_cast<std::uint32_t>(std::size(kKernelFields)) - left_out};
    case TELLTALE_KIND_MEMCPY:
    case TELLTALE_KIND_MEMSET:
      return {kTransferFields, static_cast<std::uint32_t>(std::size(kTransferFields)) - left_out};
    case TELLTALE_KIND_OTHER:
      return {kPoolFields, static_cast<std::uint32_t>(std::size(kPoolFields))};
    default:
      return {};
  }
}

telltale_value integer(std::int64_t number) {
  telltale_value value;
  value.integer = number;
  return value;
}

telltale_value real(double number) {
  telltale_value value;
  value.number = number;
  return value;
}

telltale_value sizes(const std::int64_t (&dims)[3]) {
  telltale_value value;
  value.shape = {dims, 3};
  return value;
}

template <typename Record>
const Record& as(const CUpti_Activity& record) {
  return reinterpret_cast<const Record&>(record);
}

}  // namespace

void ActivityDecoder::decode(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return decode_kernel(as<CUpti_ActivityKernel9>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = as<CUpti_ActivityMemcpy5>(record);
      return decode_transfer(copy, copy_name(copy.copyKind, copy.srcKind, copy.dstKind), TELLTALE_KIND_MEMCPY);
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto& copy = as<CUpti_ActivityMemcpyPtoP4>(record);
      return decode_transfer(copy, copy_name(copy.copyKind, copy.srcKind, copy.dstKind), TELLTALE_KIND_MEMCPY);
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& fill = as<CUpti_ActivityMemset4>(record);
      return decode_transfer(fill, fill_name(fill.memoryKind), TELLTALE_KIND_MEMSET);
    }
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return decode_overhead(as<CUpti_ActivityOverhead>(record));
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return decode_pool(as<CUpti_ActivityMemoryPool2>(record));
    default:
      return;
  }
}

bool ActivityDecoder::span_of(std::uint64_t start_ns, std::uint64_t end_ns, std::uint64_t correlation, Span& span) {
  if (start_ns == 0 || end_ns == 0) {
    ++unfinished_;
    return false;
  }
  if (!clock_.can_place()) {
    ++unplaced_;
    return false;
  }
  const std::uint64_t start = clock_.ticks_at(start_ns), end = clock_.ticks_at(end_ns);
  if (launches_.is_before_all(correlation, start)) return false;  // done before anything was recorded
  span.start = clock_.not_before(start, launches_.of(correlation));
  span.end = end + (span.start - start);
  return true;
}

void ActivityDecoder::decode_kernel(const CUpti_ActivityKernel9& kernel) {
  correlations_.note_newest(kernel.correlationId);
  const std::uint64_t correlation = correlations_.unwrapped(kernel.correlationId);
  Span span;
  if (!span_of(kernel.start, kernel.end, correlation, span)) return;
  const LaunchShape launch = {
      .grid = {kernel.gridX, kernel.gridY, kernel.gridZ},
      .block = {kernel.blockX, kernel.blockY, kernel.blockZ},
      .registers_per_thread = kernel.registersPerThread,
      .shared_memory = std::int64_t{kernel.staticSharedMemory} + kernel.dynamicSharedMemory,
  };
  const Occupancy occupancy = occupancy_of(launch, limits_of(kernel.deviceId));
  const bool is_in_graph = kernel.graphId != 0;
  const std::array values = {integer(kernel.contextId),
                             integer(launch.registers_per_thread),
                             integer(launch.shared_memory),
                             sizes(launch.grid),
                             sizes(launch.block),
                             real(occupancy.blocks_per_multiprocessor),
                             real(occupancy.warps_per_multiprocessor),
                             integer(occupancy.percent),
                             integer(kernel.graphId),
                             integer(static_cast<std::int64_t>(kernel.graphNodeId))};
  static_assert(values.size() == std::size(kKernelFields));
  if (is_in_graph) graphs_.used(kernel.graphNodeId);
  telltale_span_at(tracks_.of(kernel.deviceId, kernel.streamId), site_of_kernel(kernel.name, is_in_graph), span.start,
                   span.end, correlation, values.data());
}

template <typename Record>
void ActivityDecoder::decode_transfer(const Record& record, std::string name, telltale_kind kind) {
  correlations_.note_newest(record.correlationId);
  const std::uint64_t correlation = correlations_.unwrapped(record.correlationId);
  Span span;
  if (!span_of(record.start, record.end, correlation, span)) return;
  const bool is_in_graph = record.graphId != 0;
  const std::array values = {integer(record.contextId), integer(static_cast<std::int64_t>(record.bytes)),
                             integer(record.graphId), integer(static_cast<std::int64_t>(record.graphNodeId))};
  static_assert(values.size() == std::size(kTransferFields));
  if (is_in_graph) graphs_.used(record.graphNodeId);
  telltale_span_at(tracks_.of(record.deviceId, record.streamId), site_named(name, kind, is_in_graph), span.start,
                   span.end, correlation, values.data());
}

void ActivityDecoder::decode_overhead(const CUpti_ActivityOverhead& overhead) {
  if (cupti_.version >= kFirstWithOverheadData && overhead.overheadKind == CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL)
    std::free(reinterpret_cast<const CUpti_ActivityOverhead3&>(overhead).overheadData);
  Span span;
  if (!span_of(overhead.start, overhead.end, 0, span)) return;
  telltale_span_at(tracks_.overhead(), site_named(overhead_name(overhead.overheadKind), TELLTALE_KIND_OVERHEAD, false),
                   span.start, span.end, 0, nullptr);
}

void ActivityDecoder::decode_pool(const CUpti_ActivityMemoryPool2& pool) {
  Span span;
  if (!span_of(pool.timestamp, pool.timestamp, 0, span)) return;
  const std::array values = {integer(pool.deviceId), integer(static_cast<std::int64_t>(pool.size))};
  static_assert(values.size() == std::size(kPoolFields));
  telltale_span_at(tracks_.memory_pools(),
                   site_named(pool_name(pool.memoryPoolOperationType), TELLTALE_KIND_OTHER, false), span.start,
                   span.end, 0, values.data());
}

telltale_site* ActivityDecoder::site_of_kernel(const char* name, bool is_in_graph) {
  KernelSites& sites = kernels_[name != nullptr ? name : ""];
  telltale_site*& known = is_in_graph ? sites.in_graph : sites.plain;
  if (known == nullptr) known = site_named(kernel_name(name), TELLTALE_KIND_KERNEL, is_in_graph);
  return known;
}

telltale_site* ActivityDecoder::site_named(const std::string& name, telltale_kind kind, bool is_in_graph) {
  telltale_site*& known = sites_[std::to_string(kind) + (is_in_graph ? "g" : " ") + name];
  if (known == nullptr) {
    const Fields fields = fields_of(kind, is_in_graph);
    telltale_site description = {};
    description.name = name.c_str();
    description.fields = fields.first;
    description.field_count = fields.count;
    description.kind = kind;
    known = telltale_make_site(&description);
  }
  return known;
}

const MultiprocessorLimits& ActivityDecoder::limits_of(std::uint32_t device) {
  if (devices_.empty()) {
    devices_ = device_facts(driver_);
    telltale_metadata("deviceProperties", properties_json(devices_).c_str());
  }
  static const MultiprocessorLimits unknown;
  return device < devices_.size() ? devices_[device].limits : unknown;
}

}  // namespace telltale::capture
