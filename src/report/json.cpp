#include "report/json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/description.h"
#include "report/diagnosis_fields.h"
#include "report/memory_fields.h"
#include "report/memory_what_if_fields.h"
#include "report/result_fields.h"

namespace telltale {
namespace {

using Json = nlohmann::ordered_json;

double rounded(double value) { return std::round(value * 1000) / 1000; }

// Writes what it is told of.
class JsonFields {
 public:
  explicit JsonFields(const Trace* trace) : trace_(trace) {}

  void answer(std::string_view schema, std::string_view, std::string_view) { object_["schema"] = std::string(schema); }
  void object(std::string_view, std::string_view) {}

  template <typename Value>
  void member(std::string_view name, const Value& value, std::string_view) {
    object_[std::string(name)] = json_of(value);
  }

  void events(std::string_view name, const std::vector<EventId>& events, std::string_view meaning) {
    std::vector<EventRow> rows;
    for (const EventId event : events) {
      if (trace_ == nullptr || event >= trace_->events.size()) continue;
      rows.push_back({event, trace_->name(event), trace_->events.start[event], trace_->events.duration[event]});
    }
    member(name, rows, meaning);
  }

  const Json& written() const { return object_; }

 private:
  template <typename Value>
  Json json_of(const Value& value) const {
    if constexpr (std::floating_point<Value>) {
      return rounded(value);
    } else if constexpr (std::same_as<Value, Exact>) {
      return value.value;
    } else if constexpr (std::integral<Value>) {
      return value;
    } else if constexpr (DescribedEnum<Value>) {
      return std::string(name_of(value));
    } else if constexpr (DescribedText<Value>) {
      return std::string(std::string_view(value));
    } else if constexpr (kIsOptional<Value>) {
      return value ? json_of(*value) : Json(nullptr);
    } else if constexpr (kIsDictionary<Value>) {
      Json object = Json::object();
      for (const auto& [key, each] : value) object[json_of(key).template get<std::string>()] = json_of(each);
      return object;
    } else if constexpr (DescribedList<Value>) {
      Json list = Json::array();
      for (const auto& each : value) list.push_back(json_of(each));
      return list;
    } else {
      JsonFields fields(trace_);
      describe(fields, value);
      return fields.object_;
    }
  }

  const Trace* trace_;
  Json object_ = Json::object();
};

std::string compact(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string in_lines(const Json& object) {
  std::string text = "{\n";
  std::size_t left = object.size();
  for (const auto& [key, value] : object.items()) {
    text += "  " + compact(Json(key)) + ": ";
    const bool is_list_of_objects = value.is_array() && !value.empty() && value.front().is_object();
    if (is_list_of_objects) {
      text += "[\n";
      for (std::size_t i = 0; i < value.size(); ++i) {
        text += "    " + compact(value[i]) + (i + 1 < value.size() ? ",\n" : "\n");
      }
      text += "  ]";
    } else {
      text += compact(value);
    }
    text += --left > 0 ? ",\n" : "\n";
  }
  return text + "}\n";
}

template <typename Answer>
std::string written(const Answer& answer, const Trace* trace) {
  JsonFields fields(trace);
  describe(fields, answer);
  return in_lines(fields.written());
}

}  // namespace

std::string to_json(const TraceInfo& info) { return written(info, nullptr); }
std::string to_json(const KeyAverages& averages) { return written(averages, nullptr); }
std::string to_json(const WhatIf& answer) { return written(answer, nullptr); }
std::string to_json(const MemoryReport& report, const Trace& trace) { return written(report, &trace); }
std::string to_json(const MemoryWhatIf& answer) { return written(answer, nullptr); }
std::string to_json(const Diagnosis& diagnosis, const Trace& trace) { return written(diagnosis, &trace); }

}  // namespace telltale
