// How Kineto spells the attributes of events in its JSON, recognized by one hash and one comparison.
#pragma once

#include <string_view>

#include "formats/kineto/scan.h"
#include "trace/attributes.h"

namespace telltale::kineto {

// The bytes behind the name are looked at too (see scan.h).
Attribute attribute_of(const StringToken& name);

// The same for a name that stands alone.
Attribute attribute_of(std::string_view name);

// How Kineto spells it today; it must not be kUnknown.
std::string_view spelling_of(Attribute attribute);

}  // namespace telltale::kineto
