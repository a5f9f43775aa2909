#include "advise/device_word.h"

#include <cctype>

namespace telltale {
namespace {

constexpr std::string_view kGpu = "GPU";

bool begins_a_sentence(std::string_view text, std::size_t at) { return at == 0 || text.substr(0, at).ends_with(". "); }

bool is_whole_word(std::string_view text, std::size_t at, std::size_t length) {
  const auto is_letter = [&](std::size_t i) {
    return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])) != 0;
  };
  const std::size_t behind = at + length;
  const bool is_plural = behind < text.size() && text[behind] == 's';
  return (at == 0 || !is_letter(at - 1)) && !is_letter(is_plural ? behind + 1 : behind);
}

}  // namespace

std::string with_device_word(std::string text, std::string_view word) {
  if (word == kGpu) return text;
  constexpr std::string_view kCuda = "CUDA ", kGraph = "CUDA graph";
  for (std::size_t at = text.find(kGraph); at != std::string::npos; at = text.find(kGraph))
    text.erase(at, kCuda.size());
  for (std::size_t at = text.find(kGpu); at != std::string::npos; at = text.find(kGpu, at + 1)) {
    if (!is_whole_word(text, at, kGpu.size())) continue;
    const bool is_first = begins_a_sentence(text, at);
    text.replace(at, kGpu.size(), word);
    if (is_first) text[at] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[at])));
  }
  return text;
}

std::string in_words_of_requests(std::string text, bool serves) {
  if (!serves) return text;
  constexpr std::string_view kStep = "step", kRequest = "request";
  for (std::size_t at = text.find(kStep); at != std::string::npos; at = text.find(kStep, at + 1)) {
    const bool is_of_code = at > 0 && std::string_view("-._(`").contains(text[at - 1]);
    if (!is_of_code && is_whole_word(text, at, kStep.size())) text.replace(at, kStep.size(), kRequest);
  }
  return text;
}

}  // namespace telltale
