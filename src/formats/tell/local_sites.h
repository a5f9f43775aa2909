// Sites in the names of one reading thread: what their records become, on the host and on a device.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/tell/captured_nodes.h"
#include "formats/tell/field_values.h"
#include "formats/tell/memory_records.h"
#include "formats/tell/samples.h"
#include "formats/tell/sites.h"
#include "trace/event_batch.h"

namespace telltale::tell {

struct LocalSite {
  StringId name = kEmptyString, category = kEmptyString;
  std::optional<std::uint32_t> source;  // index of LocalNames::source_locations

  // Records of one sort.
  struct Side {
    Kind kind = Kind::kOther;
    StringId category = kEmptyString;  // what the kind does not tell
    bool has_values = false;           // in the column of values
    bool has_details = false;          // beyond its own columns and other arguments
    FieldPlan plan;
  };
  Side host;     // spans on threads
  Side device;   // spans on streams
  Side instant;  // marks
  Side async;    // spans that belong to no thread
  SamplePlan sample;
  CapturedNodePlan captured_node;
  MemoryRecordPlan memory_record;
  bool is_known = false;  // some chunk describes it
};

// Used by one thread. What it returns is valid as long as it lives.
class LocalSites {
 public:
  LocalSites(const Sites& sites, LocalNames& names);

  // By the file's number. One that no chunk describes has `is_known` false.
  const LocalSite& of(std::uint64_t number) {
    if (number < by_number_.size() && by_number_[number] != nullptr) return *by_number_[number];
    return looked_up(number);
  }
  // Of records that are about none.
  const LocalSite& none() const { return lost_; }
  LocalTexts& texts() { return texts_; }

 private:
  const LocalSite& looked_up(std::uint64_t number);
  LocalSite made_of(const Site& site);
  LocalSite::Side side(const Site& site, Kind kind, Kind kind_told);

  const Sites& sites_;
  LocalNames& names_;
  LocalTexts texts_;
  std::vector<std::optional<LocalSite>> known_;  // by Site::index; never grows
  std::vector<const LocalSite*> by_number_;      // of small numbers; null: not looked up yet
  LocalSite lost_;
};

}  // namespace telltale::tell
