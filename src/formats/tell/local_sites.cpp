#include "formats/tell/local_sites.h"

#include "trace/categories.h"

namespace telltale::tell {
namespace {

Kind kind_of(SiteKind kind) {
  switch (kind) {
    case SiteKind::kScope:
    case SiteKind::kFunction:
    case SiteKind::kAnnotation:
      return Kind::kAnnotation;
    case SiteKind::kOperator:
      return Kind::kOperator;
    case SiteKind::kPython:
      return Kind::kPython;
    case SiteKind::kModule:
      return Kind::kModule;
    case SiteKind::kRuntime:
      return Kind::kRuntime;
    case SiteKind::kDriver:
      return Kind::kDriver;
    case SiteKind::kKernel:
      return Kind::kKernel;
    case SiteKind::kMemcpy:
      return Kind::kMemcpy;
    case SiteKind::kMemset:
      return Kind::kMemset;
    case SiteKind::kSync:
      return Kind::kSync;
    case SiteKind::kCollective:
      return Kind::kCollective;
    case SiteKind::kOverhead:
      return Kind::kOverhead;
    case SiteKind::kOther:
      return Kind::kOther;
    case SiteKind::kDeviceAnnotation:
      return Kind::kDeviceAnnotation;
  }
  return Kind::kOther;
}

// Device work stands on streams, and nothing else does: all that reads a trace relies on it.
Kind kind_on_host(Kind kind) { return is_on_device(kind) ? Kind::kOther : kind; }
Kind kind_on_device(Kind kind) {
  if (is_on_device(kind)) return kind;
  return kind == Kind::kAnnotation ? Kind::kDeviceAnnotation : Kind::kDeviceOther;
}

}  // namespace

LocalSites::LocalSites(const Sites& sites, LocalNames& names)
    : sites_(sites), names_(names), texts_(sites, names.strings), known_(sites.site_count()) {
  lost_.name = names.strings.intern("(lost name)");
  lost_.device.kind = Kind::kDeviceOther;
  lost_.instant.kind = Kind::kInstant;
  lost_.async.kind = Kind::kAsync;
}

const LocalSite& LocalSites::looked_up(std::uint64_t number) {
  const Site* site = sites_.site(number);
  if (site == nullptr) return lost_;
  std::optional<LocalSite>& known = known_[site->index];
  if (!known) known = made_of(*site);
  constexpr std::uint64_t kSmallNumbers = 1 << 16;
  if (number < kSmallNumbers) {
    if (number >= by_number_.size()) by_number_.resize(number + 1);
    by_number_[number] = &*known;
  }
  return *known;
}

LocalSite LocalSites::made_of(const Site& site) {
  LocalSite local;
  local.name = texts_.of(site.name);
  local.category = texts_.of(site.category);
  if (site.file != kEmptyString || site.line != 0)
    local.source = names_.source_locations.intern({texts_.of(site.file), texts_.of(site.function), site.line});
  const Kind kind = kind_of(site.kind);
  local.host = side(site, kind_on_host(kind), kind);
  local.device = side(site, kind_on_device(kind), kind);
  local.instant = side(site, Kind::kInstant, Kind::kInstant);
  local.async = side(site, Kind::kAsync, Kind::kAsync);
  local.sample = SamplePlan(site, sites_);
  local.captured_node = CapturedNodePlan(site, sites_);
  local.memory_record = MemoryRecordPlan(site, sites_);
  local.is_known = true;
  return local;
}

// `kind_told` is what the site says of itself; where it cannot be `kind`, it is kept as a category.
LocalSite::Side LocalSites::side(const Site& site, Kind kind, Kind kind_told) {
  LocalSite::Side side;
  side.kind = kind;
  side.plan = FieldPlan(site, sites_, kind);
  side.has_values = !site.fields.empty();
  side.has_details = side.plan.has_columns() || kind == Kind::kMemcpy || kind == Kind::kMemset || kind == Kind::kSync;
  const std::string_view category = sites_[site.category];
  bool is_known = false;
  const bool says_kind = telltale::kind_of(category, {}, is_known) == kind && is_known;
  const bool is_projected = kind == Kind::kDeviceAnnotation && kind_told == Kind::kAnnotation;
  if (!category.empty()) {
    if (!says_kind) side.category = texts_.of(site.category);
  } else if (kind != kind_told && !is_projected) {
    side.category = names_.strings.intern(name_of(kind_told));
  }
  return side;
}

}  // namespace telltale::tell
