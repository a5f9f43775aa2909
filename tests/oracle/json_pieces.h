// JSON as its author wrote it: the raw text of each member and element, so that numbers keep their digits and
// values can be quoted verbatim. Only for text that nlohmann-json accepts; strings are decoded by it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telltale::oracle {

struct JsonMember {
  std::string key;           // decoded
  std::string_view raw_key;  // as written, with its quotation marks
  std::string_view raw;      // the value, without the white space around it
};

bool is_valid_json(std::string_view text);

std::vector<JsonMember> members_of(std::string_view raw_object);
std::vector<std::string_view> elements_of(std::string_view raw_array);

bool is_object(std::string_view raw);
bool is_array(std::string_view raw);
bool is_string(std::string_view raw);
bool is_number(std::string_view raw);

// The text of a string; nothing for every other value.
std::optional<std::string> decoded_string(std::string_view raw);

// What stands between the quotation marks of a string, as written; any other value as it is. Numbers and letters that
// someone wrote with escapes are not taken for what they stand for.
std::string_view unquoted(std::string_view raw);

// The same value without white space outside its strings.
std::string compact(std::string_view raw);

// The value of the last member with that key, as most readers of JSON see it.
std::optional<std::string_view> find(const std::vector<JsonMember>& members, std::string_view key);

std::string_view trimmed(std::string_view text);

}  // namespace telltale::oracle
