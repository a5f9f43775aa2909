#include "formats/tell/session_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/amounts.h"
#include "base/json_text.h"
#include "base/text_encoding.h"

namespace telltale::tell {
namespace {

constexpr std::string_view kUserPrefix = "meta:";
constexpr std::array<std::string_view, 7> kUsedUp = {"pid",      "process",  "clock",           "epoch_ns",
                                                     "start_ns", "flush_ns", "ticks_per_second"};

std::string json_of(std::string_view text) {
  const bool may_be_json = text.starts_with('{') || text.starts_with('[');
  if (const auto json = may_be_json ? compact_json(text) : std::nullopt) return *json;
  return json_string(text);
}

std::string_view reason_text(LossReason reason) {
  switch (reason) {
    case LossReason::kNewestDropped:
    case LossReason::kOldestDropped:
      return "for want of memory";
    case LossReason::kInSignal:
      return "in signal handlers";
    case LossReason::kWriteFailed:
      return "that could not be written";
    case LossReason::kTooLarge:
      return "with too large values";
    case LossReason::kGivenUp:
      return "of threads that were held up inside the recorder";
    case LossReason::kAgedOut:
    case LossReason::kValueCut:
    case LossReason::kOpenNotKept:
    case LossReason::kNameNotKept:
      break;
  }
  return "for another reason";
}

bool is_of_lost_records(LossReason reason) {
  return reason != LossReason::kAgedOut && reason != LossReason::kValueCut && reason != LossReason::kOpenNotKept &&
         reason != LossReason::kNameNotKept;
}

}  // namespace

NamedValues session_values(const Definitions& definitions) {
  NamedValues values;
  for (const auto& [key, value] : definitions.session) {
    if (std::ranges::find(kUsedUp, key) != kUsedUp.end()) continue;
    const bool is_users = key.starts_with(kUserPrefix);
    values.emplace_back(is_users ? key.substr(kUserPrefix.size()) : key, json_of(value));
  }
  return values;
}

LossSummary summary_of(const std::vector<std::pair<LossReason, std::uint64_t>>& losses) {
  std::vector<std::pair<std::string_view, std::uint64_t>> by_text;
  LossSummary summary;
  for (const auto& [reason, records] : losses) {
    if (reason == LossReason::kValueCut) summary.values_cut += records;
    if (reason == LossReason::kNameNotKept) summary.names_not_kept += records;
    if (!is_of_lost_records(reason) || records == 0) continue;
    summary.records += records;
    const std::string_view text = reason_text(reason);
    const auto known = std::ranges::find(by_text, text, &std::pair<std::string_view, std::uint64_t>::first);
    if (known == by_text.end())
      by_text.emplace_back(text, records);
    else
      known->second += records;
  }
  for (const auto& [text, records] : by_text)
    summary.reasons += fmt::format("{}{} {}", summary.reasons.empty() ? "" : ", ",
                                   format_count(static_cast<std::int64_t>(records)), text);
  return summary;
}

std::string ended_text(std::string_view ended_by) {
  return fmt::format("{} {}", ended_by.starts_with("exit code") ? "Its process ended with" : "It was ended by",
                     ended_by);
}

std::string unfinished_text(Nanoseconds reach, Nanoseconds flush, Nanoseconds device_flush, std::size_t threads) {
  if (threads == 0) return "It holds no events yet";
  if (device_flush > 0)
    return fmt::format("It reaches {}; at most the next {} are lost, and {} of the GPU", format_time(reach),
                       format_time(flush), format_time(device_flush));
  const std::string of_threads = threads == 1 ? "its thread" : fmt::format("each of {} threads", threads);
  return fmt::format("It reaches {}; at most the next {} of {} are lost", format_time(reach), format_time(flush),
                     of_threads);
}

}  // namespace telltale::tell
