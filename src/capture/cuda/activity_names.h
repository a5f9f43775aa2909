// What device work is called: as PyTorch's profiler calls it, so that traces of both can be compared.
#pragma once

#include <cupti.h>

#include <string>

namespace telltale::capture {

// Demangled; as it is where it is no C++ name.
std::string kernel_name(const char* name);

std::string copy_name(std::uint8_t copy_kind, std::uint8_t source,
                      std::uint8_t target);   // Memcpy HtoD (Pinned -> Device)
std::string fill_name(std::uint16_t memory);  // Memset (Device)
const char* overhead_name(CUpti_ActivityOverheadKind kind);
const char* pool_name(CUpti_ActivityMemoryPoolOperationType operation);  // Memory pool trimmed

}  // namespace telltale::capture
