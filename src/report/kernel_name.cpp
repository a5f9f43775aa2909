#include "report/kernel_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <vector>

namespace telltale {
namespace {

bool opens(char c) { return c == '<' || c == '(' || c == '{' || c == '['; }
bool closes(char c) { return c == '>' || c == ')' || c == '}' || c == ']'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The position after the bracket that closes the one at `open`, or the end of the text.
std::size_t after_bracket(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (opens(text[at])) ++depth;
    if (closes(text[at]) && --depth == 0) return at + 1;
  }
  return text.size();
}

// Splits at a separator that stands outside all brackets.
std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (opens(text[at])) {
      at = after_bracket(text, at);
    } else if (text.substr(at).starts_with(separator)) {
      parts.push_back(trimmed(text.substr(start, at - start)));
      start = at += separator.size();
    } else {
      ++at;
    }
  }
  parts.push_back(trimmed(text.substr(start)));
  return parts;
}

// One name between "::" signs: what it is called and its template arguments.
struct Part {
  std::string_view name;
  std::vector<std::string_view> arguments;
};

Part parsed_part(std::string_view text) {
  Part part;
  const std::size_t end = std::min(text.find_first_of("<({"), text.size());
  part.name = trimmed(text.substr(0, end));
  if (end < text.size() && text[end] == '<') {
    const std::size_t close = after_bracket(text, end);
    part.arguments = split(text.substr(end + 1, close - end - 2), ",");
  }
  return part;
}

// Of a::b<c>::d(e)::{lambda(f)#1} the part d: the last that names a function or a type.
Part telling_part(std::string_view qualified) {
  const std::vector<std::string_view> parts = split(qualified, "::");
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const bool is_nameless = part->empty() || part->front() == '{' || part->front() == '(';
    if (!is_nameless && !part->starts_with("operator")) return parsed_part(*part);
  }
  return parsed_part(qualified);
}

bool is_value(std::string_view argument) {
  const char first = argument.empty() ? '0' : argument.front();
  const bool is_cast = first == '(' && !argument.starts_with("(anonymous namespace)");
  return (first >= '0' && first <= '9') || first == '-' || is_cast || argument == "true" || argument == "false";
}

bool is_element_type(std::string_view name) {
  constexpr std::array<std::string_view, 20> kTypes = {"void",    "bool",          "char",       "signed", "unsigned",
                                                       "short",   "int",           "long",       "float",  "half",
                                                       "double",  "BFloat16",      "bfloat16",   "Half",   "__half",
                                                       "complex", "__nv_bfloat16", "bfloat16_t", "float2", "float4"};
  return std::ranges::find(kTypes, name.substr(0, name.find_first_of(" *&"))) != kTypes.end();
}

// Types that carry data to a kernel and say nothing of what it does.
bool is_plumbing(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"array", "tuple", "LoadWithCast", "StoreWithCast",
                                                      "LoadWithoutCast"};
  return std::ranges::find(kNames, name) != kNames.end() || name == "StoreWithoutCast" ||
         name.ends_with("OffsetCalculator") || name.ends_with("Metadata") || name.ends_with("Params");
}

// The name inside a template argument that says what is computed, or nothing.
std::string_view computation(std::string_view argument) {
  if (is_value(argument)) return {};
  const Part part = telling_part(argument);
  if (is_element_type(part.name) || is_plumbing(part.name)) return {};
  std::string_view found = part.name;
  for (const std::string_view inner : part.arguments) {
    const std::string_view name = computation(inner);
    if (!name.empty()) found = name;
  }
  return found;
}

// A longer name is no compiler's, and is not worth taking apart.
constexpr std::size_t kLongestSignature = 8192;

std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z")) return std::string(name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : std::string(name);
}

// Without return type and parameters. A name with a space before its bracket, such as "Memset (Device)", is no
// signature and stays as it is.
std::string_view without_signature(std::string_view name) {
  std::size_t name_start = 0, at = 0, parameters = name.size();
  while (at < name.size()) {
    const bool is_anonymous = name.substr(at).starts_with("(anonymous namespace)");
    if (name[at] == '(' && !is_anonymous) {
      if (at == 0 || name[at - 1] == ' ') return name;
      parameters = at;
      at = after_bracket(name, at);
      // Parameters of an enclosing function, as around a lambda, are followed by more of the name.
      if (at < name.size() && name[at] == ':') parameters = name.size();
    } else if (opens(name[at])) {
      at = after_bracket(name, at);
    } else {
      if (name[at] == ' ' && parameters == name.size()) name_start = at + 1;
      ++at;
    }
  }
  const bool is_signature = parameters < name.size() || name.find('<') != std::string_view::npos;
  return is_signature ? name.substr(name_start, parameters - name_start) : name;
}

bool is_plain(std::string_view bare) {
  const bool has_structure = bare.find("::") != std::string_view::npos || bare.find('<') != std::string_view::npos;
  return !has_structure || bare.size() > kLongestSignature;
}

std::string joined(std::string_view name, const std::vector<std::string>& arguments) {
  std::string text(name);
  for (std::size_t i = 0; i < arguments.size(); ++i) text.append(i == 0 ? "<" : ", ").append(arguments[i]);
  return arguments.empty() ? text : text + '>';
}

// A template argument with its own arguments, without namespaces.
std::string medium_argument(std::string_view argument) {
  if (is_value(argument)) {
    const std::size_t cast_end = argument.front() == '(' ? after_bracket(argument, 0) : 0;
    return std::string(argument.substr(cast_end));
  }
  const Part part = telling_part(argument);
  std::vector<std::string> arguments;
  for (const std::string_view inner : part.arguments) arguments.push_back(medium_argument(inner));
  return joined(part.name, arguments);
}

}  // namespace

std::string short_kernel_name(std::string_view name) {
  const std::string text = demangled(name);
  const std::string_view bare = without_signature(text);
  if (is_plain(bare)) return std::string(bare);
  const Part part = telling_part(bare);
  std::vector<std::string> computations;
  for (const std::string_view argument : part.arguments) {
    const std::string_view found = computation(argument);
    if (!found.empty()) computations.emplace_back(found);
  }
  if (!computations.empty()) return joined(part.name, computations);
  return medium_kernel_name(name);
}

std::string medium_kernel_name(std::string_view name) {
  const std::string text = demangled(name);
  const std::string_view bare = without_signature(text);
  if (is_plain(bare)) return std::string(bare);
  return medium_argument(bare);
}

}  // namespace telltale
