// What few operators have and only Kineto's JSON asks for: the number of torch's execution trace, the name of the
// overload, and arguments that were given by name.
#pragma once

#include <ATen/record_function.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "inputs.h"

namespace telltale::torch_adapter {

struct Extras {
  std::int64_t record_function = 0;
  std::string overload;
  std::string keywords;  // a JSON object

  bool empty() const { return record_function == 0 && overload.empty() && keywords.empty(); }
};

// A text with quotation marks is none to Kineto.
inline void append_json(std::string& out, const c10::IValue& value) {
  if (value.isString()) {
    const std::string& text = value.toStringRef();
    append_quoted(out, text.find('"') == std::string::npos ? std::string_view(text) : "None");
  } else if (value.isBool()) {
    out += value.toBool() ? "true" : "false";
  } else if (value.isInt()) {
    append_number(out, value.toInt());
  } else {
    char digits[32];
    const int size = std::snprintf(digits, sizeof digits, "%.17g", value.toDouble());
    out.append(digits, static_cast<std::size_t>(size));
  }
}

inline bool is_finite_scalar(const c10::IValue& value) {
  return value.isString() || value.isBool() || value.isInt() || (value.isDouble() && std::isfinite(value.toDouble()));
}

// Of lists, Kineto tells those of texts alone.
inline bool is_text_list(const c10::IValue& value) {
  if (!value.isList()) return false;
  for (const c10::IValue& element : value.toListRef())
    if (!element.isString()) return false;
  return true;
}

template <typename Keywords>
std::string describe_keywords(const Keywords& keywords) {
  std::string out;
  for (const auto& [name, value] : keywords) {
    if (!is_finite_scalar(value) && !is_text_list(value)) continue;
    if (name == "stream" && !value.isInt()) continue;  // Kineto takes it for a device's
    out += out.empty() ? '{' : ',';
    append_quoted(out, name);
    out += ':';
    if (!value.isList()) {
      append_json(out, value);
      continue;
    }
    char separator = '[';
    for (const c10::IValue& element : value.toListRef()) {
      out += separator;
      append_json(out, element);
      separator = ',';
    }
    out += separator == '[' ? "[]" : "]";
  }
  if (!out.empty()) out += '}';
  return out;
}

// A template, since torch has arguments by name only since 2.3.
template <typename Function>
Extras describe_extras(const Function& function, bool with_overload, bool with_keywords) {
  Extras extras;
  extras.record_function = static_cast<std::int64_t>(function.handle());
  if (with_overload) {
    if (const auto name = function.operator_name()) extras.overload = name->overload_name;
  }
  if constexpr (requires { function.kwinputs(); }) {
    if (with_keywords) extras.keywords = describe_keywords(function.kwinputs());
  }
  return extras;
}

}  // namespace telltale::torch_adapter
