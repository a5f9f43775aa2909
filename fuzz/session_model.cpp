#include "session_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace telltale::fuzzing {

telltale_status SessionModel::start(const Plan& plan) {
  if (plan_) return TELLTALE_STATUS_ALREADY_STARTED;
  plan_ = last_plan_ = plan;
  step_ = next_file_ = 0;
  emitted_ = 0;
  ++session_;
  action_ = Action::kNone;
  enter(action_of(0));
  return TELLTALE_STATUS_OK;
}

// Step by step through the whole schedule: slow, but plain.
SessionModel::Action SessionModel::action_of(std::uint64_t step) const {
  if (plan_->active == 0) return Action::kRecord;
  std::uint64_t now = plan_->skip_first;
  if (step < now) return Action::kNone;
  for (std::uint32_t cycle = 0; plan_->repeat == 0 || cycle < plan_->repeat; ++cycle) {
    for (std::uint32_t i = 0; i < plan_->wait; ++i)
      if (now++ == step) return Action::kNone;
    for (std::uint32_t i = 0; i < plan_->warmup; ++i)
      if (now++ == step) return Action::kWarmup;
    for (std::uint32_t i = 0; i < plan_->active; ++i)
      if (now++ == step) return i + 1 < plan_->active ? Action::kRecord : Action::kRecordAndSave;
  }
  return Action::kNone;
}

void SessionModel::begin_file() {
  const unsigned number = next_file_++;
  const std::string_view stem = std::string_view(plan_->path).substr(0, plan_->path.rfind('.'));
  file_path_ = number == 0 ? plan_->path : fmt::format("{}.{}.tell", stem, number);
  removed_.erase(file_path_);
}

void SessionModel::enter(Action action) {
  if (action_ == Action::kNone && action != Action::kNone) begin_file();
  action_ = action;
  const bool records = action == Action::kRecord || action == Action::kRecordAndSave;
  if (records && !contents_) contents_ = FileContents{file_path_, {}, {}, {}, {}, 0, {}};
}

std::uint64_t SessionModel::open_scopes() const {
  std::uint64_t count = 0;
  for (const auto& thread : open_) count += static_cast<std::uint64_t>(std::ranges::count(thread, session_));
  return count;
}

void SessionModel::complete(FileContents contents) {
  contents.open_scopes = open_scopes();
  contents.metadata = metadata_;
  complete_.push_back(std::move(contents));
}

telltale_status SessionModel::stop() {
  if (!plan_) return TELLTALE_STATUS_NOT_STARTED;
  const Plan plan = *std::exchange(plan_, std::nullopt);
  const std::optional<FileContents> contents = std::exchange(contents_, std::nullopt);
  if (action_ == Action::kWarmup) removed_.insert(file_path_);
  if (contents && !plan.is_flight) {
    complete(*contents);
    react(plan);
  }
  return TELLTALE_STATUS_OK;
}

telltale_status SessionModel::step() {
  if (!plan_) return TELLTALE_STATUS_NOT_STARTED;
  if (contents_) {
    contents_->steps.insert(static_cast<std::int64_t>(step_));
    ++emitted_;
  }
  ++step_;
  if (action_ == Action::kRecordAndSave) {
    action_ = Action::kNone;
    complete(*std::exchange(contents_, std::nullopt));
    const std::uint64_t session = session_;
    react(*plan_);
    if (!plan_ || session != session_) return TELLTALE_STATUS_OK;
  }
  enter(action_of(step_));
  return TELLTALE_STATUS_OK;
}

// What on_ready does.
void SessionModel::react(const Plan& plan) {
  if (plan.reaction == Plan::Reaction::kNone) return;
  const bool starts = plan.reaction == Plan::Reaction::kStartAnother;
  stop();
  Plan next;
  next.path = kNextPath;
  if (starts) start(next);
}

telltale_status SessionModel::dump(const std::string& path) {
  if (!plan_) return TELLTALE_STATUS_NOT_STARTED;
  if (!plan_->is_flight) return TELLTALE_STATUS_NOT_FLIGHT;
  FileContents contents = *contents_;
  contents.path = path;
  complete(std::move(contents));
  return TELLTALE_STATUS_OK;
}

bool SessionModel::mark(std::int64_t id) {
  if (!contents_) return false;
  contents_->marks.insert(id);
  ++emitted_;
  return true;
}

bool SessionModel::count(std::int64_t id) {
  if (!contents_) return false;
  contents_->counts.insert(id);
  ++emitted_;
  return true;
}

void SessionModel::begin(std::size_t thread) { open_[thread].push_back(contents_ ? session_ : 0); }

bool SessionModel::end(std::size_t thread, std::int64_t id) {
  if (open_[thread].empty()) return false;
  const bool was_recorded = open_[thread].back() != 0;
  open_[thread].pop_back();
  if (!was_recorded || !contents_) return false;
  contents_->spans.insert(id);
  ++emitted_;
  return true;
}

std::vector<FileContents> SessionModel::take_complete() { return std::exchange(complete_, {}); }

}  // namespace telltale::fuzzing
