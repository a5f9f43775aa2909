#include "memory/allocator_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/json_text.h"

namespace telltale {
namespace {

constexpr std::int64_t kMostMebibytes = std::int64_t{1} << 40;

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>)
    if (!std::isfinite(value)) return std::nullopt;
  return value;
}

// What follows the name of the variable, as people copy it from a shell.
std::string_view without_variable(std::string_view text) {
  text = trimmed(text);
  for (const std::string_view name : {"PYTORCH_CUDA_ALLOC_CONF=", "PYTORCH_HIP_ALLOC_CONF=", "PYTORCH_ALLOC_CONF="})
    if (text.starts_with(name)) return text.substr(name.size());
  return text;
}

// Splits at commas outside of brackets.
std::vector<std::string_view> settings_in(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      if (const std::string_view part = trimmed(text.substr(start, i - start)); !part.empty()) parts.push_back(part);
      start = i + 1;
    } else if (text[i] == '[') {
      ++depth;
    } else if (text[i] == ']' && depth > 0) {
      --depth;
    }
  }
  return parts;
}

bool is_division(std::int64_t divisions) {
  return divisions == 0 || std::has_single_bit(static_cast<std::uint64_t>(divisions));
}

// "4", or "[256:1,512:2,>:8]": requests of 256 MiB and less, of 512 MiB, and larger ones.
Result<void> parse_divisions(std::string_view text, AllocatorSettings& settings) {
  auto& divisions = settings.roundup_power2_divisions;
  const auto refused = [&] {
    return failure(
        fmt::format("roundup_power2_divisions:{} makes no sense: give a power of two, or a list such as "
                    "[256:1,512:2,>:8] of powers of two",
                    text));
  };
  const auto division = [](std::string_view part) -> std::optional<std::int64_t> {
    const auto value = number_in<std::int64_t>(trimmed(part));
    if (!value || *value < 0 || *value > kMostMebibytes || !is_division(*value)) return std::nullopt;
    return value;
  };
  if (!text.starts_with('[')) {
    const auto value = division(text);
    if (!value) return refused();
    divisions.fill(*value);
    return {};
  }
  if (!text.ends_with(']')) return refused();
  std::size_t last = 0;
  bool is_first = true;
  for (const std::string_view entry : settings_in(text.substr(1, text.size() - 2))) {
    const std::size_t colon = entry.find(':');
    if (colon == std::string_view::npos) return refused();
    const auto value = division(entry.substr(colon + 1));
    if (!value) return refused();
    const std::string_view size = trimmed(entry.substr(0, colon));
    if (size == ">") {
      std::fill(divisions.begin() + static_cast<std::ptrdiff_t>(std::min(last + 1, divisions.size())), divisions.end(),
                *value);
      continue;
    }
    const auto mebibytes = number_in<std::int64_t>(size);
    if (!mebibytes || *mebibytes <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(*mebibytes))) return refused();
    last = std::min<std::size_t>(static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(*mebibytes))),
                                 divisions.size() - 1);
    if (is_first) std::fill_n(divisions.begin(), last, *value);
    divisions[last] = *value;
    is_first = false;
  }
  return {};
}

Result<std::int64_t> mebibytes_in(std::string_view name, std::string_view value, std::int64_t least) {
  const auto number = number_in<std::int64_t>(value);
  if (!number || *number < least)
    return failure(fmt::format("{}:{} makes no sense: give a number of MiB, {} or more", name, value, least));
  return std::min(*number, kMostMebibytes) * kMebibyte;
}

Result<bool> truth_in(std::string_view name, std::string_view value) {
  if (value == "True" || value == "true") return true;
  if (value == "False" || value == "false") return false;
  return failure(fmt::format("{}:{} makes no sense: give True or False", name, value));
}

// They change how fast the allocator is, or host memory, and not how much device memory it takes.
bool changes_no_bytes(std::string_view name) {
  return name.starts_with("pinned_") || name == "release_lock_on_cudamalloc" || name == "release_lock_on_hipmalloc" ||
         name == "throw_on_cudamalloc_oom";
}

Result<void> parse_setting(std::string_view name, std::string_view value, AllocatorSettings& settings) {
  if (name == "expandable_segments") {
    const Result<bool> truth = truth_in(name, value);
    if (!truth) return std::unexpected(truth.error());
    settings.expandable_segments = *truth;
  } else if (name == "max_split_size_mb") {
    const Result<std::int64_t> bytes = mebibytes_in(name, value, kLargeSegment / kMebibyte + 1);
    if (!bytes) return std::unexpected(bytes.error());
    settings.max_split_size = *bytes;
  } else if (name == "max_non_split_rounding_mb") {
    const Result<std::int64_t> bytes = mebibytes_in(name, value, kLargeSegment / kMebibyte + 1);
    if (!bytes) return std::unexpected(bytes.error());
    settings.max_non_split_rounding = *bytes;
  } else if (name == "garbage_collection_threshold" || name == "per_process_memory_fraction") {
    const bool is_fraction = name == "per_process_memory_fraction";
    const auto share = number_in<double>(value);
    if (!share || *share <= 0 || *share > 1 || (!is_fraction && *share == 1))
      return failure(fmt::format("{}:{} makes no sense: give a number between 0 and 1", name, value));
    (is_fraction ? settings.memory_fraction : settings.garbage_collection_threshold) = *share;
  } else if (name == "roundup_power2_divisions") {
    return parse_divisions(value, settings);
  } else if (name == "backend" && value == "native") {
    return {};
  } else if (!changes_no_bytes(name)) {
    settings.unknown.emplace_back(name == "backend" ? fmt::format("{}:{}", name, value) : name);
  }
  return {};
}

// The text of a member of an object without white space; "" when it has none. Names inside of strings are no members:
// their quotes are escaped.
std::string_view member(std::string_view json, std::string_view name) {
  const std::string key = fmt::format("\"{}\":", name);
  const std::size_t at = json.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = json.substr(at + key.size());
  if (rest.starts_with('"')) {
    std::size_t end = 1;
    while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
    return rest.substr(1, std::min(end, rest.size()) - 1);
  }
  if (rest.starts_with('{')) return rest.substr(0, rest.find('}'));
  return rest.substr(0, rest.find_first_of(",}]"));
}

}  // namespace

Result<AllocatorSettings> parse_allocator_settings(std::string_view text, AllocatorSettings base) {
  for (const std::string_view part : settings_in(without_variable(text))) {
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos || colon == 0)
      return failure(fmt::format("'{}' is no setting: write name:value, as in expandable_segments:True", part));
    const Result<void> parsed = parse_setting(trimmed(part.substr(0, colon)), trimmed(part.substr(colon + 1)), base);
    if (!parsed) return std::unexpected(parsed.error());
  }
  return base;
}

Result<void> check_question(std::string_view text) {
  const auto parsed = parse_allocator_settings(text);
  if (!parsed) return std::unexpected(parsed.error());
  const std::size_t named = settings_in(without_variable(text)).size();
  if (named == 0) return failure("no setting is named: write name:value, as in expandable_segments:True");
  if (parsed->unknown.size() < named) return {};
  return failure(
      fmt::format("the simulation knows nothing of {}: it knows expandable_segments, max_split_size_mb, "
                  "max_non_split_rounding_mb, garbage_collection_threshold, per_process_memory_fraction and "
                  "roundup_power2_divisions",
                  fmt::join(parsed->unknown, ", ")));
}

AllocatorSettings recorded_allocator_settings(const Trace& trace) {
  AllocatorSettings settings;
  const std::string* recorded = trace.metadata_named("allocator_settings");
  const std::optional<std::string> json = recorded == nullptr ? std::nullopt : compact_json(*recorded);
  if (!json) return settings;
  for (const std::string_view name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"}) {
    Repairs repairs;
    const auto parsed = parse_allocator_settings(unescaped(member(*json, name), repairs), settings);
    if (parsed) settings = *parsed;
  }
  if (const std::string_view truth = member(*json, "expandable_segments"); !truth.empty())
    settings.expandable_segments = truth == "true" || truth == "True" || truth == "1";
  if (const auto bytes = number_in<std::int64_t>(member(*json, "max_split_size")))
    settings.max_split_size = *bytes > 0 ? *bytes : AllocatorSettings::kUnlimited;
  if (const auto share = number_in<double>(member(*json, "garbage_collection_threshold")))
    settings.garbage_collection_threshold = *share > 0 && *share < 1 ? *share : 0;
  const std::string_view divisions = member(*json, "roundup_power2_divisions");
  for (std::size_t i = 0; i < settings.roundup_power2_divisions.size(); ++i)
    if (const auto value = number_in<std::int64_t>(member(divisions, std::to_string(std::int64_t{1} << i)));
        value && *value >= 0 && *value <= kMostMebibytes && is_division(*value))
      settings.roundup_power2_divisions[i] = *value;
  return settings;
}

std::string settings_text(const AllocatorSettings& settings) {
  const AllocatorSettings defaults;
  std::vector<std::string> parts;
  if (settings.expandable_segments) parts.emplace_back("expandable_segments:True");
  if (settings.max_split_size != defaults.max_split_size)
    parts.push_back(fmt::format("max_split_size_mb:{}", settings.max_split_size / kMebibyte));
  if (settings.max_non_split_rounding != defaults.max_non_split_rounding)
    parts.push_back(fmt::format("max_non_split_rounding_mb:{}", settings.max_non_split_rounding / kMebibyte));
  if (settings.garbage_collection_threshold > 0)
    parts.push_back(fmt::format("garbage_collection_threshold:{}", settings.garbage_collection_threshold));
  if (settings.memory_fraction > 0)
    parts.push_back(fmt::format("per_process_memory_fraction:{}", settings.memory_fraction));
  if (const auto& divisions = settings.roundup_power2_divisions; divisions != defaults.roundup_power2_divisions) {
    const bool are_equal = std::ranges::all_of(divisions, [&](std::int64_t each) { return each == divisions[0]; });
    std::string list;
    for (std::size_t i = 0; !are_equal && i < divisions.size(); ++i)
      list += fmt::format("{}{}:{}", i == 0 ? "" : ",", std::int64_t{1} << i, divisions[i]);
    parts.push_back(are_equal ? fmt::format("roundup_power2_divisions:{}", divisions[0])
                              : fmt::format("roundup_power2_divisions:[{}]", list));
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

}  // namespace telltale
