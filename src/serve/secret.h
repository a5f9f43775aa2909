// Words that nobody can guess, and how they are compared.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace telltale::serve {

// 256 bits of the kernel's randomness, in hexadecimal digits.
Result<std::string> new_secret();

// In a time that does not tell where they differ.
bool is_same_secret(std::string_view given, std::string_view secret);

}  // namespace telltale::serve
