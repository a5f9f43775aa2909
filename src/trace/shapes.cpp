#include "trace/shapes.h"

#include <charconv>

namespace telltale {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// The position after the JSON string that starts at `at`, or the end of the text when it is not closed.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

// The elements of a JSON list, each as its text; none when it is no list.
std::vector<std::string_view> list_elements(std::string_view list) {
  std::vector<std::string_view> elements;
  list = trimmed(list);
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') return elements;
  list = list.substr(1, list.size() - 2);
  if (trimmed(list).empty()) return elements;

  int depth = 0;
  std::size_t start = 0;
  for (std::size_t at = 0; at < list.size();) {
    const char c = list[at];
    if (c == '"') {
      at = end_of_string(list, at);
      continue;
    }
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      elements.push_back(trimmed(list.substr(start, at - start)));
      start = at + 1;
    }
    ++at;
  }
  elements.push_back(trimmed(list.substr(start)));
  return elements;
}

// Only the escapes that values of arguments can hold; others stay as they are written.
std::string unescaped(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      plain += text[at];
      continue;
    }
    switch (const char escaped = text[++at]) {
      case '"':
      case '\\':
      case '/':
        plain += escaped;
        break;
      case 'n':
        plain += '\n';
        break;
      case 't':
        plain += '\t';
        break;
      default:
        plain += '\\';
        plain += escaped;
    }
  }
  return plain;
}

}  // namespace

Shape whole_numbers(std::string_view list) {
  Shape numbers;
  for (const std::string_view element : list_elements(list)) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(element.data(), element.data() + element.size(), number);
    if (error != std::errc{} || end != element.data() + element.size()) return {};
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<Shape> tensor_shapes(std::string_view shapes) {
  std::vector<Shape> parsed;
  for (const std::string_view element : list_elements(shapes)) parsed.push_back(whole_numbers(element));
  return parsed;
}

std::vector<std::string> concrete_values(std::string_view concrete) {
  std::vector<std::string> values;
  for (std::string_view element : list_elements(concrete)) {
    if (element.size() >= 2 && element.front() == '"' && element.back() == '"') {
      element = element.substr(1, element.size() - 2);
    }
    values.push_back(unescaped(element));
  }
  return values;
}

std::string to_string(const std::vector<Shape>& shapes) {
  std::string text = "[";
  for (const Shape& shape : shapes) {
    if (text.size() > 1) text += ", ";
    text += '[';
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (i > 0) text += ", ";
      text += std::to_string(shape[i]);
    }
    text += ']';
  }
  return text + ']';
}

}  // namespace telltale
