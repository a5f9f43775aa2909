#include "capture/cuda/activity_names.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace telltale::capture {
namespace {

const char* copy_direction(std::uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return "HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return "DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return "HtoA";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return "AtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
      return "AtoA";
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
      return "AtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
      return "DtoA";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return "DtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return "HtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return "PtoP";
    default:
      return "<unknown>";
  }
}

const char* memory_kind(std::uint32_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
      return "Pageable";
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
      return "Pinned";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
      return "Device";
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY:
      return "Array";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
      return "Managed";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC:
      return "Device Static";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
      return "Managed Static";
    default:
      return "Unknown";
  }
}

}  // namespace

std::string kernel_name(const char* name) {
  if (name == nullptr) return "(kernel without a name)";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                          &std::free);
  return status == 0 && plain != nullptr ? plain.get() : name;
}

std::string copy_name(std::uint8_t copy_kind, std::uint8_t source, std::uint8_t target) {
  return std::string("Memcpy ") + copy_direction(copy_kind) + " (" + memory_kind(source) + " -> " +
         memory_kind(target) + ")";
}

std::string fill_name(std::uint16_t memory) { return std::string("Memset (") + memory_kind(memory) + ")"; }

const char* pool_name(CUpti_ActivityMemoryPoolOperationType operation) {
  switch (operation) {
    case CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED:
      return "Memory pool created";
    case CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED:
      return "Memory pool destroyed";
    case CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED:
      return "Memory pool trimmed";
    default:
      return "Memory pool";
  }
}

const char* overhead_name(CUpti_ActivityOverheadKind kind) {
  switch (static_cast<std::uint32_t>(kind)) {
    case 1:
      return "Driver Compiler";
    case 1 << 16:
      return "Buffer Flush";
    case 2 << 16:
      return "Instrumentation";
    case 3 << 16:
      return "Resource";
    case 4 << 16:
      return "Runtime Triggered Module Loading";
    case 5 << 16:
      return "Lazy Function Loading";
    case 6 << 16:
      return "Command Buffer Full";
    case 7 << 16:
      return "Activity Buffer Request";
    case 8 << 16:
      return "UVM Activity Init";
    default:
      return "Unknown Overhead";
  }
}

}  // namespace telltale::capture
