// The names of operators and annotations, as the recorder wants them: sites, which say what fields their records have.
#pragma once

#include <telltale/telltale.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

namespace telltale::torch_adapter {

// Which fields the records of a site have.
enum Form : std::uint32_t {
  kPlain = 0,
  kWithSequence = 1,
  kWithForwardThread = 2,
  kInputNames = 4,  // numbers of texts that many records share
  kInputTexts = 8,  // texts of this record alone
  kCollective = 16,
};
constexpr std::uint32_t kFormCount = 32;
constexpr std::size_t kMostFields = 21;

inline void add_fields_of(std::uint32_t form, std::vector<telltale_field>& fields) {
  const auto add = [&](const char* name, telltale_field_type type) { fields.push_back({name, type, 0}); };
  if (form & kWithSequence) add("Sequence number", TELLTALE_INTEGER);
  if (form & kWithForwardThread) add("Fwd thread id", TELLTALE_INTEGER);
  const auto add_inputs = [&](telltale_field_type type) {
    for (const char* name : {"Input Dims", "Input Strides", "Input type", "Concrete Inputs"}) add(name, type);
  };
  if (form & kInputNames) add_inputs(TELLTALE_NAME);
  if (form & kInputTexts) add_inputs(TELLTALE_TEXT);
  if (form & kCollective) {
    for (const char* name : {"Collective name", "dtype", "Process Group Name", "Process Group Description",
                             "Process Group Ranks", "In split size", "Out split size"})
      add(name, TELLTALE_TEXT);
    for (const char* name : {"In msg nelems", "Out msg nelems", "Group size", "Rank"}) add(name, TELLTALE_INTEGER);
  }
}

// Lives for ever, as the sites that refer to it do.
inline const std::vector<telltale_field>& fields_of(std::uint32_t form) {
  static const std::vector<telltale_field>* const all = [] {
    auto* lists = new std::vector<telltale_field>[kFormCount];
    for (std::uint32_t i = 0; i < kFormCount; ++i) add_fields_of(i, lists[i]);
    return lists;
  }();
  return all[form];
}

inline telltale_site* make_site(const char* name, telltale_kind kind, std::uint32_t form) {
  const std::vector<telltale_field>& fields = fields_of(form);
  telltale_site description = {};
  description.name = name;
  description.fields = fields.data();
  description.field_count = static_cast<std::uint32_t>(fields.size());
  description.kind = kind;
  return telltale_make_site(&description);
}

// The sites that a thread used, by the text of their name, and those of operators also by where their name stands: in
// the operator's schema, which stays. Other names, such as those of record_function, come and go.
class SiteCache {
 public:
  // `has_schema` says whether the name is that of a schema; asked only for names that are not known by their place.
  template <typename HasSchema>
  telltale_site* find(const char* name, telltale_kind kind, std::uint32_t form, HasSchema has_schema) {
    Placed& placed = placed_[(reinterpret_cast<std::uintptr_t>(name) / 16 + form * 37) % kPlaces];
    if (placed.address == name && placed.form == form && placed.start == start_of(name)) return placed.site;
    telltale_site* const site = find_by_text(name, kind, form);
    if (has_schema()) placed = {name, start_of(name), site, form};
    return site;
  }

  telltale_site* find_by_text(const char* name, telltale_kind kind, std::uint32_t form) {
    if (by_text_.size() >= kMostTexts) by_text_.clear();
    telltale_site*& site = by_text_[name][form * 2 + (kind == TELLTALE_KIND_ANNOTATION ? 1 : 0)];
    if (site == nullptr) site = make_site(name, kind, form);
    return site;
  }

 private:
  static constexpr std::size_t kPlaces = 1024, kMostTexts = 10'000;

  // The first bytes of a name, in case an operator was unregistered and another text stands in its place: torch's names
  // are std::strings, which have room for so many.
  using Start = std::array<char, 16>;
  static Start start_of(const char* name) {
    Start start;
    std::memcpy(start.data(), name, start.size());
    return start;
  }

  struct Placed {
    const char* address = nullptr;
    Start start = {};
    telltale_site* site = nullptr;
    std::uint32_t form = kPlain;
  };

  std::vector<Placed> placed_ = std::vector<Placed>(kPlaces);
  std::unordered_map<std::string, std::unordered_map<std::uint32_t, telltale_site*>> by_text_;
};

}  // namespace telltale::torch_adapter
