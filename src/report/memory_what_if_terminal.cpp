#include "report/memory_what_if_terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/source_line.h"
#include "base/amounts.h"
#include "report/text_table.h"
#include "report/text_width.h"

namespace telltale {
namespace {

constexpr std::size_t kWidest = 100;

std::string range_of(std::int64_t low, std::int64_t high) {
  const std::string from = format_bytes(low), to = format_bytes(high);
  return from == to ? to : fmt::format("{} to {}", from, to);
}

std::string range_of(const std::optional<std::int64_t>& low, const std::optional<std::int64_t>& high) {
  return low && high ? range_of(*low, *high) : "–";
}

std::string batch_words(double factor) { return fmt::format("{} times the recorded batch", format_number(factor)); }

std::string changes_of(const MemoryWhatIf& answer) {
  std::vector<std::string> parts;
  if (answer.batch_factor) parts.push_back(batch_words(*answer.batch_factor));
  if (answer.has_other_settings) parts.push_back(answer.settings.empty() ? "PyTorch's own settings" : answer.settings);
  std::vector<std::string> rules;
  for (const WithoutFinding& finding : answer.without)
    if (rules.empty() || rules.back() != finding.rule)
      rules.push_back(finding.rule);  // which may have found two things
  std::string text = parts.empty() ? "" : "With " + listed(parts);
  if (!rules.empty()) text += (text.empty() ? "Without " : ", without ") + listed(rules);
  return text.empty() ? "With this much memory" : text;
}

std::string failure_words(const WhatIfFailure& failure, bool has_allocator) {
  const std::string where = failure.source             ? printable(short_place(*failure.source))
                            : !failure.made_by.empty() ? printable(failure.made_by)
                            : failure.time             ? "a request whose line was not recorded"
                                                       : "what was there before the recording";
  std::string text = fmt::format("{} first at {}, which asks for {} when tensors take {}",
                                 failure.was_survived ? "it runs out of memory" : "it fails", where,
                                 format_bytes(failure.requested), format_bytes(failure.allocated));
  // On a host, there is nobody who holds more than that.
  if (has_allocator) text += fmt::format(" and the allocator holds {}", format_bytes(failure.reserved));
  if (failure.was_survived) text += "; there the recorded program ran out, too, and went on";
  return text;
}

std::string verdict_words(const MemoryWhatIf& answer) {
  const std::string into = format_bytes(*answer.capacity);
  const bool has_allocator = answer.is_simulated || answer.before.peak_reserved.has_value();
  switch (answer.verdict()) {
    case MemoryWhatIf::Verdict::kFits:
      return fmt::format("It fits into {}.", into);
    case MemoryWhatIf::Verdict::kMayFit:
      return fmt::format("It may fit into {}: if {}, {}.", into,
                         !answer.is_simulated  ? "as much is reserved beyond what tensors take as may be"
                         : answer.batch_factor ? "as much grows with the batch as may be"
                                               : "segments lie as badly as they may",
                         failure_words(*answer.high.failure, has_allocator));
    case MemoryWhatIf::Verdict::kFails:
      return fmt::format("It does not fit into {}: {}.", into, failure_words(*answer.low.failure, has_allocator));
  }
  return "";
}

std::string largest_words(const MemoryWhatIf& answer) {
  const double sure = *answer.largest_batch, best = answer.largest_batch_at_best.value_or(sure);
  if (best == 0 && answer.low.failure && answer.low.failure->was_survived)
    return "No batch gets past that request, however small.";
  if (best == 0) return "No batch fits, however small.";
  const std::string from = format_number(sure), to = format_number(best);
  if (sure == 0 && best < 1)
    return fmt::format("At best, {} of the recorded batch fits, and perhaps none.", format_percent(100 * best));
  if (sure == 0) return fmt::format("At best, {} times the recorded batch fits, and perhaps none.", to);
  if (sure >= kMostBatchFactor)
    return fmt::format("The largest batch that fits is at least {} times the recorded one.", from);
  return fmt::format("The largest batch that fits is {} times the recorded one{}.", from,
                     from == to                 ? ""
                     : best >= kMostBatchFactor ? fmt::format(" (at least {} at best)", to)
                                                : fmt::format(" ({} at best)", to));
}

}  // namespace

std::string memory_what_if_text(const MemoryWhatIf& answer, const TextStyle& style) {
  const auto sentence = [&](std::string_view text) { return paragraph_of(text, std::min(style.width, kWidest)); };
  std::string text;
  if (answer.capacity) text += sentence(verdict_words(answer));
  if (answer.largest_batch) text += sentence(largest_words(answer));
  if (!text.empty()) text += "\n";

  TextTable table;
  table.label_header = answer.device == kHost ? "At most" : fmt::format("GPU {}, at most", answer.device);
  table.labels = {"As recorded", changes_of(answer)};
  table.fit_labels = [](const std::vector<std::string>& labels, std::size_t width) {
    std::vector<std::string> fitting;
    for (const std::string& label : labels) fitting.push_back(cut_to_width(label, width));
    return fitting;
  };
  table.columns.push_back(
      {"Allocated",
       {format_bytes(answer.before.peak_allocated), range_of(answer.low.peak_allocated, answer.high.peak_allocated)}});
  table.columns.push_back({"Reserved",
                           {range_of(answer.before.peak_reserved, answer.before.peak_reserved),
                            range_of(answer.low.peak_reserved, answer.high.peak_reserved)}});
  text += render(table, style) + "\n";

  if (answer.high.failure && answer.is_simulated) text += sentence("Where it fails, the numbers are those until then.");
  if (answer.high.retries > 0 && !answer.high.failure)
    text += sentence(fmt::format("The allocator has to empty its cache {} on the way, and waits for the GPU each time.",
                                 how_often(static_cast<double>(answer.high.retries))));
  if (answer.capacity && answer.outside_bytes > 0)
    text +=
        sentence(fmt::format("{} of it were not PyTorch's to have when the recording was out of memory, and are "
                             "left out.",
                             format_bytes(answer.outside_bytes)));
  else if (answer.capacity && answer.device != kHost)
    text +=
        sentence("CUDA itself and other programs need some of that memory, too: the recording does not say how much.");
  if ((answer.batch_factor || answer.largest_batch) && !answer.is_from_two_recordings)
    text += sentence(
        "What grows with the batch is inferred from one recording: what is allocated and freed again. "
        "Give a second recording with another batch size with --other to see it.");
  for (const std::string& remark : answer.remarks) text += sentence(printable(remark));
  if (!answer.without.empty())
    text += sentence("With a fix, the same tensors are made, smaller or for a shorter time: nothing else changes.");
  if (answer.is_simulated) return text + sentence(sentence_of(answer.check));
  text += sentence("The file has no log of PyTorch's allocator: the tensors that were recorded are added up.");
  if (answer.low.peak_reserved)
    text += sentence(
        "What is reserved lies between what they take and as much beyond that as was recorded, which fragmentation "
        "may change.");
  return text;
}

}  // namespace telltale
