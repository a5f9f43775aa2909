#include "answers/info.h"

#include <filesystem>
#include <system_error>

#include "report/info_card.h"
#include "report/json.h"

namespace telltale::answers {
namespace {

std::optional<std::uint64_t> stored_size(const std::string& path) {
  if (path == "-") return std::nullopt;
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? std::nullopt : std::optional<std::uint64_t>(size);
}

}  // namespace

std::string InfoAnswer::json() const { return to_json(info); }

std::string InfoAnswer::terminal(const TextStyle& style) const { return info_card(info, style); }

Result<InfoAnswer> info(const InfoRequest& request) {
  const auto source = load(request.source);
  if (!source) return std::unexpected(source.error());
  InfoAnswer answer{trace_info(*source->trace)};
  answer.info.path = source->path;
  answer.info.bytes = stored_size(source->path);
  return answer;
}

}  // namespace telltale::answers
