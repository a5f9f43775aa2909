// What an operator was called with, as the JSON lists that Kineto writes: shapes, strides, types, values of scalars.
// Reads tensors' sizes and types alone, holds none of them, and never asks the device.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/util/bit_cast.h>
#include <telltale/telltale.h>

#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace telltale::torch_adapter {

struct InputTexts {
  std::string dims, strides, types, concrete;

  void add(char c) {
    for (std::string* text : {&dims, &strides, &types, &concrete}) *text += c;
  }
};

inline void append_number(std::string& out, std::int64_t number) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

inline void append_double(std::string& out, double number) {
  char digits[32];
  const int size = std::snprintf(digits, sizeof digits, "%.9g", number);
  out.append(digits, static_cast<std::size_t>(size));
  if (std::strpbrk(digits, ".en") == nullptr) out += '.';  // 2. is a float, as torch writes it
}

inline void append_list(std::string& out, c10::IntArrayRef numbers) {
  out += '[';
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) out += ',';
    append_number(out, numbers[i]);
  }
  out += ']';
}

inline void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  out += '"';
}

// Sizes that are symbols, or that no plain list tells, are left out: asking for them can change a compiled graph.
inline bool has_plain_sizes(const at::Tensor& tensor) {
  return tensor.defined() && !tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides() && !tensor.is_nested();
}

inline void append_sizes(InputTexts& texts, const at::Tensor& tensor) {
  const bool is_plain = has_plain_sizes(tensor);
  append_list(texts.dims, is_plain ? tensor.sizes() : c10::IntArrayRef());
  append_list(texts.strides, is_plain && tensor.layout() == c10::kStrided ? tensor.strides() : c10::IntArrayRef());
}

inline std::string_view type_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  const auto name = tensor.dtype().name();  // a string_view of torch's own before 2.6
  return {name.data(), name.size()};
}

inline void append_tensor(InputTexts& texts, const at::Tensor& tensor) {
  append_sizes(texts, tensor);
  append_quoted(texts.types, type_of(tensor));
  texts.concrete += R"("")";
}

inline void append_tensors(InputTexts& texts, c10::ArrayRef<c10::IValue> tensors) {
  texts.dims += '[';
  texts.strides += '[';
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (i > 0) {
      texts.dims += ',';
      texts.strides += ',';
    }
    append_sizes(texts, tensors[i].toTensor());
  }
  texts.dims += ']';
  texts.strides += ']';
  texts.types += R"("TensorList")";
  texts.concrete += R"("")";
}

inline void append_scalar(std::string& out, const c10::IValue& value) {
  if (value.isInt())
    append_number(out, value.toInt());
  else if (value.isBool())
    out += value.toBool() ? "True" : "False";
  else if (value.isDouble())
    append_double(out, value.toDouble());
}

inline void append_without_tensor(InputTexts& texts, std::string_view type) {
  texts.dims += "[]";
  texts.strides += "[]";
  append_quoted(texts.types, type);
}

inline void append_scalars(InputTexts& texts, c10::ArrayRef<c10::IValue> values) {
  append_without_tensor(texts, "ScalarList");
  texts.concrete += "\"[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) texts.concrete += ", ";
    append_scalar(texts.concrete, values[i]);
  }
  texts.concrete += "]\"";
}

inline bool is_scalar_list(const c10::IValue& value) {
  constexpr std::size_t kLongest = 30;  // as in torch's own profiler
  if (!value.isList()) return false;
  const auto list = value.toListRef();
  return list.empty() || (list[0].isScalar() && list.size() <= kLongest);
}

inline void append_input(InputTexts& texts, const c10::IValue& value) {
  if (value.isTensor()) {
    append_tensor(texts, value.toTensor());
  } else if (value.isScalar()) {
    append_without_tensor(texts, "Scalar");
    texts.concrete += '"';
    append_scalar(texts.concrete, value);
    texts.concrete += '"';
  } else if (value.isTensorList()) {
    append_tensors(texts, value.toListRef());
  } else if (is_scalar_list(value)) {
    append_scalars(texts, value.toListRef());
  } else {
    append_without_tensor(texts, "");
    texts.concrete += R"("")";
  }
}

inline InputTexts describe_inputs(c10::ArrayRef<const c10::IValue> inputs) {
  InputTexts texts;
  texts.add('[');
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i > 0) texts.add(',');
    append_input(texts, inputs[i]);
  }
  texts.add(']');
  return texts;
}

// A number for all that describe_inputs() tells, without making its texts.
class Signature {
 public:
  static std::uint64_t of(c10::ArrayRef<const c10::IValue> inputs) {
    Signature signature;
    for (const c10::IValue& input : inputs) signature.add(input);
    return signature.hash_;
  }

 private:
  enum Tag : std::uint64_t { kTensor = 1, kNoSizes, kUndefined, kList, kEnd, kNumber, kTrue, kFalse, kOther };

  void mix(std::uint64_t word) {
    const auto product = static_cast<unsigned __int128>(hash_ ^ word) * 0x9E3779B97F4A7C15u;
    hash_ = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }

  void mix(c10::IntArrayRef numbers) {
    mix(numbers.size());
    for (const std::int64_t number : numbers) mix(static_cast<std::uint64_t>(number));
  }

  void add(const at::Tensor& tensor) {
    if (!tensor.defined()) return mix(kUndefined);
    const bool has_sizes = has_plain_sizes(tensor), has_strides = has_sizes && tensor.layout() == c10::kStrided;
    mix((has_strides ? kTensor : kNoSizes) | static_cast<std::uint64_t>(tensor.scalar_type()) << 8);
    if (has_sizes) mix(tensor.sizes());
    if (has_strides) mix(tensor.strides());
  }

  void add(const c10::IValue& value) {
    if (value.isTensor()) return add(value.toTensor());
    if (value.isInt()) return mix_number(static_cast<std::uint64_t>(value.toInt()));
    if (value.isBool()) return mix(value.toBool() ? kTrue : kFalse);
    if (value.isDouble()) return mix_number(c10::bit_cast<std::uint64_t>(value.toDouble()));
    if (!value.isTensorList() && !is_scalar_list(value)) return mix(kOther);
    mix(kList);
    for (const c10::IValue& element : value.toListRef()) add(element);
    mix(kEnd);
  }

  void mix_number(std::uint64_t bits) {
    mix(kNumber);
    mix(bits);
  }

  std::uint64_t hash_ = 0x243F6A8885A308D3u;
};

// The recorder's numbers of the texts.
struct InputNames {
  std::uint32_t dims = 0, strides = 0, types = 0, concrete = 0;
};

inline InputNames names_of(const InputTexts& texts) {
  return {telltale_intern(texts.dims.c_str()), telltale_intern(texts.strides.c_str()),
          telltale_intern(texts.types.c_str()), telltale_intern(texts.concrete.c_str())};
}

// The inputs that a thread saw last, by their signature: operators see the same ones again and again.
class InputCache {
 public:
  // Null when there were so many different ones that the recorder's names are better kept for other things.
  const InputNames* find(c10::ArrayRef<const c10::IValue> inputs) {
    static constexpr std::uint32_t kMostSignatures = 100'000;
    static std::atomic<std::uint32_t> made = 0;
    if (entries_.empty()) entries_.resize(kEntries);
    const std::uint64_t signature = Signature::of(inputs);
    Entry& entry = entries_[signature % kEntries];
    if (entry.signature == signature) return &entry.names;
    if (made.fetch_add(1, std::memory_order_relaxed) >= kMostSignatures) return nullptr;
    entry = {signature, names_of(describe_inputs(inputs))};
    return &entry.names;
  }

 private:
  static constexpr std::size_t kEntries = 2048;
  struct Entry {
    std::uint64_t signature = 0;
    InputNames names;
  };

  std::vector<Entry> entries_;
};

}  // namespace telltale::torch_adapter
