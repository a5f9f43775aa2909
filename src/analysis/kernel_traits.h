// In which precision a kernel computes, and on which units, as far as its name tells.
//
// Pure and thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

namespace telltale {

enum class Precision : std::uint8_t { kUnknown, kFp64, kFp32, kTf32, kFp16, kBf16, kFp8, kInt8 };
std::string_view name_of(Precision precision);

struct KernelTraits {
  Precision precision = Precision::kUnknown;  // of the numbers that it multiplies, or reads and writes
  bool uses_tensor_cores = false;
  bool operator==(const KernelTraits&) const = default;
};

// What a kernel's name says, helped by the types of its operator's inputs (as in OperatorInputs) where the name says
// nothing.
KernelTraits traits_of_kernel(std::string_view kernel_name, std::string_view operator_types);

// Of a type as torch writes it: "c10::BFloat16", "float". kUnknown for what is no number of a tensor's.
Precision precision_of_type(std::string_view type);

// Bytes of one element of such a type; 0 for "Scalar", "TensorList" and unknown ones.
int bytes_of_type(std::string_view type);

}  // namespace telltale
