#include "answers/view_memory_report.h"

#include <expected>
#include <vector>

#include "answers/drawn_segments.h"
#include "answers/memory_category.h"
#include "answers/view_kept.h"
#include "report/analyze_words.h"
#include "report/compact_json.h"
#include "report/memory_words.h"

namespace telltale::answers {
namespace {

struct CategoryWords {
  MemoryUse use = MemoryUse::kOther;
};
template <typename Fields>
void describe(Fields& fields, const CategoryWords& of) {
  fields.object("MemoryCategoryWords", "A category");
  describe_category(fields, of.use);
}

struct DeviceWords {
  const MemoryReport& report;
  const DeviceCauses& device;
  DrawnSegments segments;
};
template <typename Fields>
void describe(Fields& fields, const DeviceWords& of) {
  fields.object("MemoryDeviceWords", "What the report says of a device, as sentences; empty where there is nothing");
  fields.member("device", of.device.peak.device, "its id; -1: the host");
  fields.member("label", device_label(of.report, of.device), "what to call it");
  fields.member("peak", peak_sentence(of.report, of.device), "how much, of how much");
  fields.member("place", peak_place_sentence(of.device), "where");
  fields.member("steps", steps_sentence(of.device), "whether they are alike");
  fields.member("keepers", tensor_keepers_sentence(of.device), "what keeps the largest tensors alive");
  fields.member("pinning", pinning_sentence(of.device), "what keeps free memory apart");
  fields.member("certainty", certainty_sentence(of.device), "how categories are known");
  fields.member("segments", of.segments, "of the allocator, at the peak");
}

struct FindingOf {
  const Finding& finding;
};
template <typename Fields>
void describe(Fields& fields, const FindingOf& of) {
  fields.object("MemoryFindingWords", "What the report says of a finding");
  fields.member("saving", memory_saving_text(of.finding), "what it frees, and what that costs; may be empty");
  fields.member("where", of.finding.source ? source_text(*of.finding.source) : std::string(), "the line; may be empty");
}

}  // namespace

template <typename Fields>
void describe(Fields& fields, const MemoryReportAnswer& answer) {
  const MemoryReport& report = answer.held->report;
  std::vector<CategoryWords> categories;
  for (const MemoryUse use : stacked_uses()) categories.push_back({use});
  categories.push_back({MemoryUse::kOutside});
  const std::vector<std::vector<MappedSegment>> segments = answer.held->segments();
  std::vector<DeviceWords> devices;
  for (std::size_t i = 0; i < report.causes.devices.size(); ++i) {
    const DeviceCauses& device = report.causes.devices[i];
    devices.push_back({report, device, drawn_segments(*answer.held->trace, device, segments[i])});
  }
  std::vector<std::string> leaks;
  for (const MemoryLeak& leak : report.causes.leaks) {
    const std::string keeper = keeper_sentence(leak);
    leaks.push_back(leak_sentence(report, leak) + (keeper.empty() ? "" : ' ' + keeper));
  }
  std::vector<FindingOf> findings;
  for (const Finding& finding : report.findings) findings.push_back({finding});
  fields.object("MemoryReport", "The words and pictures beside telltale.memory/1");
  fields.member("subject", memory_subject(report), "what it is about");
  fields.member("categories", categories, "from the ground of a stacked curve up");
  fields.member("devices", devices, "as in `memory`");
  fields.member("leaks", leaks, "as in `memory`: a sentence each");
  fields.member("findings", findings, "as in `memory`");
  fields.member("overlap", kSavingsOverlap, "what to know of savings");
  fields.member("urgent_remarks", report.urgent_remarks, "how many of the first remarks come before all else");
}

std::string MemoryReportAnswer::json() const {
  std::string text = "{\"memory\":" + held->json();
  CompactMembers members(text.append(","));
  describe(members, *this);
  return text + '}';
}

Result<std::shared_ptr<const HeldMemoryAnswer>> held_memory_of(const View& view) {
  const auto made = view.kept->memory_report.get(0, [&] {
    HeldMemoryRequest request;
    request.source.path = view.path;
    request.source.trace = view.trace;
    return held_memory(request);
  });
  if (!*made) return std::unexpected(made->error());
  return std::shared_ptr<const HeldMemoryAnswer>(made, &**made);
}

Result<MemoryReportAnswer> view_memory_report(const View& view, const MemoryReportRequest&) {
  auto held = held_memory_of(view);
  if (!held) return std::unexpected(held.error());
  return MemoryReportAnswer{*std::move(held)};
}

}  // namespace telltale::answers
