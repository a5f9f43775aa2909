// The names of operators and annotations, as the recorder wants them: sites, which say what fields their records have.
#pragma once

#include <telltale/telltale.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
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
  kWithStack = 32,
  kWithExtras = 64,
  kWithKeptFrames = 128,
};
constexpr std::uint32_t kFormCount = 256;
constexpr std::size_t kMostFields = 26;

inline void add_fields_of(std::uint32_t form, std::vector<telltale_field>& fields) {
  const auto add = [&](const char* name, telltale_field_type type) { fields.push_back({name, type, 0}); };
  if (form & kWithSequence) add("Sequence number", TELLTALE_FIELD_TYPE_INTEGER);
  if (form & kWithForwardThread) add("Fwd thread id", TELLTALE_FIELD_TYPE_INTEGER);
  if (form & kWithStack) add("Call stack", TELLTALE_FIELD_TYPE_NAME);
  if (form & kWithKeptFrames) add("Frames kept", TELLTALE_FIELD_TYPE_INTEGER);
  const auto add_inputs = [&](telltale_field_type type) {
    for (const char* name : {"Input Dims", "Input Strides", "Input type", "Concrete Inputs"}) add(name, type);
  };
  if (form & kInputNames) add_inputs(TELLTALE_FIELD_TYPE_NAME);
  if (form & kInputTexts) add_inputs(TELLTALE_FIELD_TYPE_TEXT);
  if (form & kCollective) {
    for (const char* name : {"Collective name", "dtype", "Process Group Name", "Process Group Description",
                             "Process Group Ranks", "In split size", "Out split size"})
      add(name, TELLTALE_FIELD_TYPE_TEXT);
    for (const char* name : {"In msg nelems", "Out msg nelems", "Group size", "Rank"})
      add(name, TELLTALE_FIELD_TYPE_INTEGER);
  }
  if (form & kWithExtras) {  // in this order: python/bindings/core/torch_extras.h relies on it
    add("Execution trace id", TELLTALE_FIELD_TYPE_INTEGER);
    add("Overload name", TELLTALE_FIELD_TYPE_TEXT);
    add("Keyword inputs", TELLTALE_FIELD_TYPE_TEXT);
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

// The sites that a thread used last. Names of operators stand in their schemas, which stay where they are; other names,
// such as those of autograd's functions and of record_function, come and go and are known by their text.
class SiteCache {
 public:
  // `has_schema` says whether the name is that of a schema; asked only for names that are not known by their place.
  template <typename HasSchema>
  telltale_site* find(const char* name, telltale_kind kind, std::uint32_t form, HasSchema has_schema) {
    Placed& placed = placed_[(reinterpret_cast<std::uintptr_t>(name) / 16 + form * 37) % kEntries];
    if (placed.address == name && placed.form == form && placed.start == start_of(name)) return placed.site;
    telltale_site* const site = find_by_text(name, kind, form);
    if (has_schema()) placed = {name, start_of(name), site, form};
    return site;
  }

  telltale_site* find_by_text(const char* name, telltale_kind kind, std::uint32_t form) {
    const std::size_t size = std::strlen(name);
    const std::uint64_t hash = hash_of(name, size) + form * 16 + kind;
    Spelt& spelt = spelt_[hash % kEntries];
    if (spelt.hash == hash && spelt.name.size() == size && std::memcmp(spelt.name.data(), name, size) == 0)
      return spelt.site;
    spelt = {hash, std::string(name, size), make_site(name, kind, form)};
    return spelt.site;
  }

 private:
  static constexpr std::size_t kEntries = 1024;

  // The first bytes of a name, in case an operator was unregistered and another text stands in its place: torch's names
  // are std::strings, which have room for so many.
  using Start = std::array<char, 16>;
  static Start start_of(const char* name) {
    Start start;
    std::memcpy(start.data(), name, start.size());
    return start;
  }

  // Eight bytes at a time: many of these names are 50 bytes long.
  static std::uint64_t hash_of(const char* name, std::size_t size) {
    constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15u;
    std::uint64_t hash = size;
    for (std::size_t at = 0; at < size; at += sizeof hash) {
      std::uint64_t word = 0;
      std::memcpy(&word, name + at, std::min(size - at, sizeof word));
      hash = (hash ^ word) * kFactor;
      hash ^= hash >> 29;
    }
    return hash;
  }

  struct Placed {
    const char* address = nullptr;
    Start start = {};
    telltale_site* site = nullptr;
    std::uint32_t form = kPlain;
  };
  struct Spelt {
    std::uint64_t hash = 0;
    std::string name;
    telltale_site* site = nullptr;
  };

  std::vector<Placed> placed_ = std::vector<Placed>(kEntries);
  std::vector<Spelt> spelt_ = std::vector<Spelt>(kEntries);
};

}  // namespace telltale::torch_adapter
