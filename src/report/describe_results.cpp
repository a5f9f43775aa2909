// Prints the descriptions of all results as JSON: tools/result-pages makes the Python dataclasses and the tables in
// docs/json.md of them.
//
// A type is written in words: "integer", "number", "boolean", "text", "list of X", "dictionary of X", "optional X", or
// the name of a described struct.
#include <iostream>
#include <nlohmann/json.hpp>
#include <ranges>
#include <set>
#include <string>

#include "report/description.h"
#include "report/diagnosis_fields.h"
#include "report/memory_fields.h"
#include "report/memory_what_if_fields.h"
#include "report/result_fields.h"

namespace telltale {
namespace {

using Json = nlohmann::ordered_json;

// The structs of an answer, each behind those that it is a part of.
struct Structs {
  Json list = Json::array();
  std::set<std::string> names;
};

class NamedFields {
 public:
  explicit NamedFields(Structs& structs) : structs_(structs) {}

  void answer(std::string_view schema, std::string_view name, std::string_view meaning) {
    object(name, meaning);
    member("schema", schema, "`" + std::string(schema) + "`");
    written_["schema"] = std::string(schema);
  }

  void object(std::string_view name, std::string_view meaning) {
    name_ = name;
    if (!structs_.names.insert(name_).second) return;
    place_ = structs_.list.size();
    written_ = {{"name", name_}, {"meaning", std::string(meaning)}, {"members", Json::array()}};
    structs_.list.push_back(nullptr);
  }

  template <typename Value>
  void member(std::string_view name, const Value& value, std::string_view meaning) {
    if (is_known()) return;
    written_["members"].push_back(
        {{"name", std::string(name)}, {"type", type_of(value)}, {"meaning", std::string(meaning)}});
  }

  void events(std::string_view name, const std::vector<EventId>&, std::string_view meaning) {
    member(name, std::vector<EventRow>(), meaning);
  }

  std::string finished() {
    if (!is_known()) structs_.list[place_] = written_;
    return name_;
  }

 private:
  // Described before, within the same answer.
  bool is_known() const { return written_.is_null(); }

  template <typename Value>
  std::string type_of(const Value& value) {
    if constexpr (std::same_as<Value, bool>) {
      return "boolean";
    } else if constexpr (std::integral<Value>) {
      return "integer";
    } else if constexpr (std::floating_point<Value> || std::same_as<Value, Exact>) {
      return "number";
    } else if constexpr (DescribedText<Value> || DescribedEnum<Value>) {
      return "text";
    } else if constexpr (kIsOptional<Value>) {
      return "optional " + type_of(typename Value::value_type{});
    } else if constexpr (kIsDictionary<Value>) {
      return "dictionary of " + type_of(typename Value::value_type::second_type{});
    } else if constexpr (DescribedList<Value>) {
      return "list of " + type_of(std::ranges::range_value_t<Value>{});
    } else {
      NamedFields fields(structs_);
      describe(fields, value);
      return fields.finished();
    }
  }

  Structs& structs_;
  std::string name_;
  std::size_t place_ = 0;
  Json written_;
};

template <typename Answer>
Json structs_of() {
  Structs structs;
  NamedFields fields(structs);
  describe(fields, Answer());
  fields.finished();
  return structs.list;
}

}  // namespace
}  // namespace telltale

int main() {
  const telltale::Json answers = {
      telltale::structs_of<telltale::Diagnosis>(),    telltale::structs_of<telltale::WhatIf>(),
      telltale::structs_of<telltale::TraceInfo>(),    telltale::structs_of<telltale::KeyAverages>(),
      telltale::structs_of<telltale::MemoryReport>(), telltale::structs_of<telltale::MemoryWhatIf>()};
  std::cout << answers.dump(1) << '\n';
}
