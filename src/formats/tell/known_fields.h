// Sites whose records mean something to the reader, told by their name and by having just the fields that it knows.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "formats/tell/sites.h"

namespace telltale::tell {

template <typename Field>
struct KnownField {
  std::string_view name;
  FieldType type;
  Field field;  // numbered from 0, in the order of the list
};

// The fields in the order in which the site has them; empty unless it has that name and all of them, and no others.
template <typename Field, std::size_t kCount>
std::vector<Field> known_fields(const Site& site, const Sites& sites, std::string_view name,
                                const KnownField<Field> (&all)[kCount]) {
  if (sites[site.name] != name) return {};
  std::vector<Field> fields;
  unsigned seen = 0;
  for (const SiteField& field : site.fields)
    for (const KnownField<Field>& known : all)
      if (sites[field.name] == known.name && field.type == known.type) {
        fields.push_back(known.field);
        seen |= 1U << static_cast<unsigned>(known.field);
      }
  const bool has_all = seen == (1U << kCount) - 1;
  return has_all && fields.size() == site.fields.size() ? fields : std::vector<Field>{};
}

}  // namespace telltale::tell
