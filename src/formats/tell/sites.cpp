#include "formats/tell/sites.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/text_encoding.h"

namespace telltale::tell {

std::string_view read_text(ByteReader& payload) {
  const ByteReader bytes = payload.bytes(payload.varint());
  return {reinterpret_cast<const char*>(bytes.position()), bytes.left()};
}

bool Sites::take_strings(ByteReader payload) {
  const std::uint64_t first = payload.varint(), count = payload.varint();
  std::vector<StringId> texts;
  for (std::uint64_t i = 0; i < count && payload.is_good(); ++i) {
    const std::string_view text = read_text(payload);
    if (is_utf8(text)) {
      texts.push_back(strings_.intern(text));
    } else {
      texts.push_back(strings_.intern(repaired_utf8(text)));
      ++repaired_texts_;
    }
  }
  return payload.is_good() && first > 0 && texts_.append(first, std::move(texts));
}

bool Sites::take_sites(ByteReader payload) {
  const std::uint64_t first = payload.varint(), count = payload.varint();
  std::vector<Site> sites;
  bool is_known = true;
  for (std::uint64_t i = 0; i < count && payload.is_good(); ++i) {
    Site site;
    site.index = site_count_ + static_cast<std::uint32_t>(sites.size());
    for (StringId* text : {&site.name, &site.category, &site.file, &site.function})
      *text = this->text(payload.varint());
    constexpr std::uint64_t kLastLine = std::numeric_limits<std::int32_t>::max();
    site.line = static_cast<std::int32_t>(std::min(payload.varint(), kLastLine));
    const std::uint8_t kind = payload.byte();
    site.kind = kind < kSiteKindCount ? static_cast<SiteKind>(kind) : SiteKind::kOther;
    const std::uint64_t fields = payload.varint();
    for (std::uint64_t f = 0; f < fields && payload.is_good(); ++f) {
      const StringId name = text(payload.varint());
      const auto type = static_cast<FieldType>(payload.byte());
      is_known &= type <= FieldType::kName;
      site.fields.push_back({name, type});
    }
    sites.push_back(std::move(site));
  }
  const auto added = static_cast<std::uint32_t>(sites.size());
  const bool is_good = payload.is_good() && is_known && first > 0 && sites_.append(first, std::move(sites));
  if (is_good) site_count_ += added;
  return is_good;
}

void Sites::place_kernels(std::span<const CompiledKernel> kernels) {
  std::unordered_map<StringId, const CompiledKernel*> by_name;
  for (const CompiledKernel& kernel : kernels) by_name.emplace(strings_.intern(kernel.name), &kernel);
  sites_.for_each([&](Site& site) {
    if (site.kind != SiteKind::kKernel || site.file != kEmptyString) return;
    const auto found = by_name.find(site.name);
    if (found == by_name.end()) return;
    site.file = strings_.intern(found->second->file);
    site.function = strings_.intern(found->second->function);
    site.line = found->second->line;
  });
}

StringId Sites::text(std::uint64_t number) const {
  if (number == 0) return kEmptyString;
  const StringId* id = texts_.find(number);
  return id != nullptr ? *id : lost_;
}

}  // namespace telltale::tell
