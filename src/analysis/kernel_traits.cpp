#include "analysis/kernel_traits.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "trace/shapes.h"

namespace telltale {
namespace {

struct PartMeaning {
  std::string_view part;
  Precision precision;
};

// cuBLAS's "nvjet_sm90_tst_256x128_…" has a letter each for what it multiplies, for the sums and for the result, as
// BLAS has them in its names: t is bf16, h fp16, s fp32, q and r the two kinds of fp8 (given twice, once a matrix).
// Seen with operators of these types: tst and tss with bf16, hsh with fp16; sss computes in tf32, having no other
// units.
KernelTraits traits_of_nvjet(std::string_view letters) {
  constexpr std::string_view kPrefix = "sm";
  if (letters.starts_with(kPrefix)) letters.remove_prefix(std::min(letters.find('_'), letters.size() - 1) + 1);
  switch (letters.empty() ? '\0' : letters.front()) {
    case 't':
      return {Precision::kBf16, true};
    case 'h':
      return {Precision::kFp16, true};
    case 's':
      return {Precision::kTf32, true};
    case 'q':
    case 'r':
      return {Precision::kFp8, true};
    case 'd':
      return {Precision::kFp64, true};
    case 'i':
    case 'b':
      return {Precision::kInt8, true};
    default:
      return {Precision::kUnknown, true};
  }
}

// In names of cuBLAS, cuDNN and CUTLASS: the types that are multiplied come first, then those of sums and results. A
// part that holds another one comes before it.
constexpr PartMeaning kMatrixTypes[] = {
    {"DF16b", Precision::kBf16},    {"DF16_", Precision::kFp16},
    {"_Float16", Precision::kFp16},  // as compilers write them
    {"bhalf", Precision::kBf16},    {"tf32", Precision::kTf32},
    {"e4m3", Precision::kFp8},      {"e5m2", Precision::kFp8},
    {"i8i8", Precision::kInt8},     {"_s8_", Precision::kInt8},
    {"int8", Precision::kInt8},     {"bf16", Precision::kBf16},
    {"fp16", Precision::kFp16},     {"f16", Precision::kFp16},
    {"f64", Precision::kFp64},      {"dgemm", Precision::kFp64},
    {"_d884", Precision::kFp64},    {"sgemm", Precision::kFp32},
    {"hgemm", Precision::kFp16},    {"f32", Precision::kFp32},
};

// Instructions of tensor cores and what only they are used for.
constexpr auto kTensorCoreParts = std::to_array<std::string_view>({
    "tensorop",      "wgmma",     "s16816",      "h16816",      "s1688",    "h1688",    "s884",    "h884",
    "d884",          "i16832",    "i8816",       "hmma",        "imma",     "qmma",     "wmma",    "_xmma_",
    "flash_fwd",     "flash_bwd", "flash_fprop", "flash_bprop", "_MI16x16", "_MI32x32", "_MI4x4",  "mfma",
    "MFMA",          "_xdl",      "_gtcx",       "attn_fwd",    "attn_bwd", "FmhaFwd",  "FmhaBwd", "bwd_kernel_dk_dv",
    "bwd_kernel_dq",
});

bool names_tensor_cores(std::string_view name) {
  return std::ranges::any_of(kTensorCoreParts, [&](std::string_view part) { return name.contains(part); });
}

Precision first_of(std::string_view name, const auto& meanings) {
  for (const PartMeaning& meaning : meanings)
    if (name.contains(meaning.part)) return meaning.precision;
  return Precision::kUnknown;
}

// Templates are written out with their types; the first one that stands there is that of the elements.
Precision precision_of_template(std::string_view name) {
  constexpr PartMeaning kTypes[] = {
      {"DF16b", Precision::kBf16},    {"DF16_", Precision::kFp16},  {"BFloat16", Precision::kBf16},
      {"bfloat16", Precision::kBf16}, {"Half", Precision::kFp16},   {"half", Precision::kFp16},
      {"float", Precision::kFp32},    {"double", Precision::kFp64},
  };
  std::size_t first = std::string_view::npos;
  Precision precision = Precision::kUnknown;
  for (const auto& [part, meaning] : kTypes) {
    const std::size_t at = name.find(part);
    if (at >= first) continue;  // "float" stands one letter behind "bfloat16"
    first = at;
    precision = meaning;
  }
  return precision;
}

// "sm80_xmma_gemm_f32f32_f32f32_f32_…ffma…" and "cutlass_80_simt_sgemm_…" multiply in fp32 without tensor cores;
// "sm90_xmma_gemm_f32f32_tf32f32_f32_…" and "cutlass_80_tensorop_s1688gemm_…", which names no type, were seen in their
// places once torch was allowed to use tf32.
KernelTraits traits_of_matrix_kernel(std::string_view name) {
  KernelTraits traits{first_of(name, kMatrixTypes), names_tensor_cores(name)};
  const bool is_plain_fp32 = name.contains("ffma") || name.contains("simt") || name.contains("sgemm");
  if (traits.precision == Precision::kFp32 && is_plain_fp32) traits.uses_tensor_cores = false;
  if (traits.precision == Precision::kUnknown) traits.precision = precision_of_template(name);
  if (traits.precision == Precision::kUnknown && name.contains("s1688")) traits.precision = Precision::kTf32;
  return traits;
}

bool is_matrix_kernel(std::string_view name) {
  constexpr auto kParts = std::to_array<std::string_view>({"xmma", "cutlass", "16816", "1688", "884gemm", "sgemm_",
                                                           "hgemm_", "dgemm_", "fmha_", "igemm_", "ck_tile", "_xdl"});
  return std::ranges::any_of(kParts, [&](std::string_view part) { return name.contains(part); });
}

// AMD's Tensile: "Cijk_Ailk_Bljk_BBS_BH_…_MI32x32x8x1_…" or "…_B_BS_BH_…": behind the indices of the three matrices,
// with BLAS's letters again, the type of what is multiplied. "S_MX" multiplies fp32 in xf32.
Precision precision_of_tensile(std::string_view name) {
  name.remove_prefix(name.find("Cijk_"));
  for (int part = 0; part < 3 && !name.empty(); ++part)
    name.remove_prefix(std::min(name.find('_'), name.size() - 1) + 1);
  constexpr PartMeaning kTypes[] = {
      {"F8", Precision::kFp8},    {"B8", Precision::kFp8},    {"I8", Precision::kInt8},
      {"4xi8", Precision::kInt8}, {"S_MX", Precision::kTf32}, {"B", Precision::kBf16},
      {"H", Precision::kFp16},    {"S", Precision::kFp32},    {"D", Precision::kFp64},
  };
  for (const auto& [start, precision] : kTypes)
    if (name.starts_with(start)) return precision;
  return Precision::kUnknown;
}

Precision precision_of_types(std::string_view operator_types) {
  for (const std::string& type : concrete_values(operator_types)) {
    const Precision precision = precision_of_type(type);
    if (precision != Precision::kUnknown) return precision;
  }
  return Precision::kUnknown;
}

// "fmha_cutlassF_f32_aligned_64x64_rf_sm80" makes fp32 products of three tf32 ones.
KernelTraits traits_of_attention(std::string_view name) {
  return {first_of(name, kMatrixTypes), !name.contains("_sm50") && !name.contains("_sm70")};
}

}  // namespace

std::string_view name_of(Precision precision) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"unknown", "fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"});
  return kNames[static_cast<std::size_t>(precision)];
}

KernelTraits traits_of_kernel(std::string_view kernel_name, std::string_view operator_types) {
  constexpr std::string_view kNvjet = "nvjet_";
  if (kernel_name.starts_with(kNvjet)) return traits_of_nvjet(kernel_name.substr(kNvjet.size()));

  KernelTraits traits;
  if (kernel_name.starts_with("fmha_cutlass"))
    traits = traits_of_attention(kernel_name);
  else if (kernel_name.contains("Cijk_"))
    traits = {precision_of_tensile(kernel_name), names_tensor_cores(kernel_name)};
  else if (is_matrix_kernel(kernel_name))
    traits = traits_of_matrix_kernel(kernel_name);
  else
    traits = {precision_of_template(kernel_name), names_tensor_cores(kernel_name)};

  // cuDNN's "…sdpa_sm90_flash_fprop_wgmma_f16…" takes both kinds of 16 bits, as the operators' types show.
  const bool says_16_bits_at_most = kernel_name.contains("_sdpa_");
  if (traits.precision == Precision::kUnknown || says_16_bits_at_most) {
    const Precision by_types = precision_of_types(operator_types);
    if (by_types != Precision::kUnknown) traits.precision = by_types;
  }
  return traits;
}

Precision precision_of_type(std::string_view type) {
  if (type == "float") return Precision::kFp32;
  if (type == "c10::BFloat16") return Precision::kBf16;
  if (type == "c10::Half") return Precision::kFp16;
  if (type == "double") return Precision::kFp64;
  if (type.starts_with("c10::Float8")) return Precision::kFp8;
  if (type == "signed char" || type == "unsigned char") return Precision::kInt8;
  return Precision::kUnknown;
}

int bytes_of_type(std::string_view type) {
  switch (precision_of_type(type)) {
    case Precision::kFp64:
      return 8;
    case Precision::kFp32:
      return 4;
    case Precision::kFp16:
    case Precision::kBf16:
      return 2;
    case Precision::kFp8:
    case Precision::kInt8:
      return 1;
    default:
      break;
  }
  if (type == "bool") return 1;
  if (type == "short int") return 2;
  if (type == "int") return 4;
  if (type == "long int" || type == "c10::complex<float>") return 8;
  if (type == "c10::complex<double>") return 16;
  return 0;
}

}  // namespace telltale
