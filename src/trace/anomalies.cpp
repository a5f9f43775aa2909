#include "trace/anomalies.h"

#include "base/text_encoding.h"

namespace telltale {
namespace {

constexpr std::size_t kLongestQuote = 80;

struct Declaration {
  std::string_view name;
  Severity severity;
  std::string_view description;
};

constexpr std::array<Declaration, kAnomalyCount> kDeclarations = {{
#define TELLTALE_ANOMALY(enumerator, name, severity, description) {name, Severity::severity, description},
#include "trace/anomalies.inc"
#undef TELLTALE_ANOMALY
}};

const Declaration& declaration_of(Anomaly anomaly) { return kDeclarations[static_cast<std::size_t>(anomaly)]; }

}  // namespace

std::string_view name_of(Anomaly anomaly) { return declaration_of(anomaly).name; }

std::optional<Anomaly> anomaly_named(std::string_view name) {
  for (std::size_t i = 0; i < kDeclarations.size(); ++i)
    if (kDeclarations[i].name == name) return static_cast<Anomaly>(i);
  return std::nullopt;
}

std::string_view description_of(Anomaly anomaly) { return declaration_of(anomaly).description; }

Severity severity_of(Anomaly anomaly) { return declaration_of(anomaly).severity; }

std::string_view name_of(Severity severity) {
  constexpr auto kNames = std::to_array<std::string_view>({"lost", "repaired", "note"});
  return kNames[static_cast<std::size_t>(severity)];
}

bool has_telling_example(Anomaly anomaly) {
  return anomaly == Anomaly::kUnfinishedRecording || anomaly == Anomaly::kDroppedEvents ||
         anomaly == Anomaly::kDamagedChunk;
}

void Anomalies::add(Anomaly anomaly, std::uint64_t byte_offset, std::string_view text) {
  add_many(anomaly, 1, byte_offset, text);
}

void Anomalies::add_many(Anomaly anomaly, std::uint64_t times, std::uint64_t byte_offset, std::string_view text) {
  Entry& entry = entries_[static_cast<std::size_t>(anomaly)];
  if (entry.count == 0 || byte_offset < entry.example.byte_offset)
    entry.example = {byte_offset, repaired_utf8(text.substr(0, kLongestQuote))};
  entry.count += times;
}

void Anomalies::merge(const Anomalies& other) {
  for (const AnomalyCount& entry : other.list())
    add_many(entry.anomaly, entry.count, entry.example.byte_offset, entry.example.text);
}

std::uint64_t Anomalies::total() const {
  std::uint64_t sum = 0;
  for (const Entry& entry : entries_) sum += entry.count;
  return sum;
}

std::uint64_t Anomalies::count(Severity severity) const {
  std::uint64_t sum = 0;
  for (const AnomalyCount& entry : list())
    if (severity_of(entry.anomaly) == severity) sum += entry.count;
  return sum;
}

std::vector<AnomalyCount> Anomalies::list() const {
  std::vector<AnomalyCount> found;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (entries_[i].count > 0) found.push_back({static_cast<Anomaly>(i), entries_[i].count, entries_[i].example});
  return found;
}

std::vector<AnomalyCount> Anomalies::troubles() const {
  std::vector<AnomalyCount> found = list();
  std::erase_if(found, [](const AnomalyCount& entry) { return severity_of(entry.anomaly) == Severity::kNote; });
  return found;
}

}  // namespace telltale
