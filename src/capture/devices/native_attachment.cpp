#include "native_attachment.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace telltale::capture {
namespace {

constexpr const char* kVariable = "TELLTALE_ATTACH";

template <typename T>
std::optional<T> number(const nlohmann::json& values, const char* name) {
  const auto found = values.find(name);
  return found != values.end() && found->is_number() ? std::optional(found->get<T>()) : std::nullopt;
}

std::optional<telltale_schedule> schedule_of(const nlohmann::json& values) {
  const auto found = values.find("schedule");
  if (found == values.end() || !found->is_object()) return std::nullopt;
  telltale_schedule schedule;
  telltale_default_schedule(&schedule, sizeof schedule);
  schedule.skip_first = number<std::uint32_t>(*found, "skip_first").value_or(0);
  schedule.wait = number<std::uint32_t>(*found, "wait").value_or(0);
  schedule.warmup = number<std::uint32_t>(*found, "warmup").value_or(0);
  schedule.active = number<std::uint32_t>(*found, "active").value_or(0);
  schedule.repeat = number<std::uint32_t>(*found, "repeat").value_or(0);
  return schedule;
}

}  // namespace

std::optional<NativeAttachment> parse_native_attachment(const char* text) {
  const nlohmann::json values = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!values.is_object() || !values.value("native", nlohmann::json()).is_boolean() || !values["native"].get<bool>())
    return std::nullopt;
  const auto path = values.find("path");
  if (path == values.end() || !path->is_string()) return std::nullopt;
  NativeAttachment attachment;
  attachment.path = path->get<std::string>();
  if (const auto marks = values.find("marks"); marks != values.end() && marks->is_string())
    attachment.marks = marks->get<std::string>();
  attachment.schedule = schedule_of(values);
  attachment.seconds = number<double>(values, "seconds");
  attachment.memory_limit = number<std::uint64_t>(values, "memory_limit");
  const auto api = values.find("api");
  attachment.api = api != values.end() && api->is_boolean() && api->get<bool>();
  return attachment;
}

std::optional<NativeAttachment> native_attachment() {
  const char* const text = secure_getenv(kVariable);
  return text != nullptr ? parse_native_attachment(text) : std::nullopt;
}

}  // namespace telltale::capture
