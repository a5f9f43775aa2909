#include "serve/desk.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "serve/background.h"
#include "serve/page_files.h"
#include "serve/parameters.h"
#include "serve/routes.h"

namespace telltale::serve {
namespace {

using Stage = OpeningState::Stage;

std::string_view word(Stage stage) {
  switch (stage) {
    case Stage::kReading:
      return "reading";
    case Stage::kIndexing:
      return "indexing";
    case Stage::kReady:
      return "ready";
    case Stage::kFailed:
      return "failed";
  }
  std::unreachable();
}

std::string file_name(const std::string& path) {
  return path == "-" ? "standard input" : std::filesystem::path(path).filename().string();
}

template <typename T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

// So long a page that asks for news of the reading waits for them. To paint how far it is more often would take
// processors from the reading.
constexpr std::chrono::milliseconds kNews{200};

// An answer that took so long has worked something out, with memory that it no longer needs.
constexpr std::chrono::milliseconds kLongAnswer{50};

Reply answered(const Route& route, const answers::View& view, const std::string& query) {
  const auto began = Desk::Clock::now();
  const std::shared_ptr<void> ended(nullptr, [began](void*) {
    if (Desk::Clock::now() - began > kLongAnswer) give_back_memory();
  });
  try {
    Parameters parameters(query);
    auto reply = route.answer(view, parameters);
    return reply ? *std::move(reply) : refusal(route.path, 400, to_string(reply.error()));
  } catch (const std::bad_alloc&) {
    return refusal(route.path, 500, "there is not enough memory for this answer");
  } catch (const std::exception& error) {
    return refusal(route.path, 500, std::string("something went wrong inside telltale: ") + error.what());
  }
}

}  // namespace

Handling Desk::receive(const RequestHead& head) {
  if (auto stopped = gate_.stop(head)) return {.reply = std::move(stopped)};
  note_visit();
  for (const PageFile& file : page_files()) {
    if (head.path() != file.path) continue;
    return {.reply = Reply{.type = file.type, .body = std::string(file.content)}};
  }
  if (head.path() == "/api/state") return opening(head);
  return question(head);
}

Handling Desk::opening(const RequestHead& head) {
  const Stage stage = trace_.state().stage;
  const bool waits = head.query() == "until=read" && stage != Stage::kReady && stage != Stage::kFailed;
  if (!waits) return {.reply = state()};
  return {.later = [this] {
    trace_.wait_until_read(kNews);
    return state();
  }};
}

Handling Desk::question(const RequestHead& head) {
  const auto route = std::ranges::find(routes(), head.path(), &Route::path);
  if (route == routes().end()) return {.reply = refusal(head.path(), 404, "there is nothing at this address")};
  const auto view = trace_.view();
  if (!view) {
    const OpeningState opening = trace_.state();
    if (opening.error) return {.reply = refusal(head.path(), 500, to_string(*opening.error))};
    Reply wait = refusal(head.path(), 503, "the trace is still being read; ask again in a moment");
    wait.fields.emplace_back("Retry-After", "1");
    return {.reply = std::move(wait)};
  }
  in_progress_ += 1;
  const std::shared_ptr<void> ended(nullptr, [this](void*) {  // answered or not: the server may find nobody waiting
    note_visit();
    in_progress_ -= 1;
  });
  const std::string query(head.query());
  return {.later = [&route = *route, view, query, ended] { return answered(route, *view, query); },
          .is_slow = is_slow(*route, *view, query)};
}

Reply Desk::state() {
  const OpeningState opening = trace_.state();
  if (opening.stage == Stage::kFailed) has_told_failure_ = true;
  const nlohmann::ordered_json json = {
      {"stage", word(opening.stage)},
      {"doing", opening.doing},
      {"share", or_null(opening.share)},
      {"has_diagnosis", opening.has_diagnosis},
      {"error", opening.error ? nlohmann::json(to_string(*opening.error)) : nlohmann::json(nullptr)},
      {"file", file_name(trace_.path())},
      {"generation", opening.generation},
      {"is_followed", opening.is_followed},
      {"is_recording", opening.is_recording},
      {"has_source", facts_.has_source},
      {"version", facts_.version},
  };
  return {.body = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

void Desk::note_visit() {
  last_visit_ = Clock::now();
  was_visited_ = true;
}

std::optional<Desk::Clock::time_point> Desk::last_visit() const {
  if (!was_visited_) return std::nullopt;
  return in_progress_ > 0 ? Clock::now() : last_visit_.load();
}

}  // namespace telltale::serve
