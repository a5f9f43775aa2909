#include "serve/opened_trace.h"

#include <algorithm>
#include <exception>
#include <expected>
#include <new>
#include <utility>

#include "answers/view_overview.h"
#include "serve/background.h"
#include "trace/anomalies.h"

namespace telltale::serve {
namespace {

using Stage = OpeningState::Stage;

// How often a followed file is looked at, and how long it may stay as it is before its writer is taken to be gone.
constexpr std::chrono::milliseconds kLook{250};
constexpr std::chrono::seconds kPatience{10};
// Of the time, a third at most is spent with reading again.
constexpr int kRestFactor = 2;
constexpr std::chrono::seconds kShortestRest{1};
// After so long, somebody who looks at another view waits a moment when coming back.
constexpr std::chrono::seconds kUnused{30};

// A file of which we have seen the end will not grow.
bool has_end(const Trace& trace) {
  return trace.anomalies.count(Anomaly::kUnfinishedRecording) == 0 && trace.anomalies.count(Anomaly::kTruncated) == 0;
}

}  // namespace

OpenedTrace::OpenedTrace(Opening opening) : path_(opening.source.path) {
  state_.is_followed = state_.is_recording = opening.is_followed;
  state_.doing = "Reading";
  thread_ = std::thread([this, opening = std::move(opening)]() mutable { work(std::move(opening)); });
}

OpenedTrace::~OpenedTrace() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  read_.notify_all();
  thread_.join();
}

OpeningState OpenedTrace::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void OpenedTrace::wait_until_read(Clock::duration longest) const {
  std::unique_lock lock(mutex_);
  read_.wait_for(lock, longest,
                 [this] { return state_.stage == Stage::kReady || state_.stage == Stage::kFailed || stop_; });
}

std::shared_ptr<const answers::View> OpenedTrace::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

bool OpenedTrace::wait(Clock::duration duration) {
  std::unique_lock lock(mutex_);
  return !stopped_.wait_for(lock, duration, [this] { return stop_.load(); });
}

void OpenedTrace::progress(std::string_view doing, std::optional<double> share) {
  const std::lock_guard lock(mutex_);
  if (!view_) state_.stage = doing == "Reading" ? Stage::kReading : Stage::kIndexing;
  state_.doing = doing;
  state_.share = share;
}

void OpenedTrace::set_error(Error error) {
  const std::lock_guard lock(mutex_);
  if (!view_) state_.stage = Stage::kFailed;
  state_.doing.clear();
  state_.share.reset();
  state_.error = std::move(error);
  read_.notify_all();
}

void OpenedTrace::set_recording(bool is_recording) {
  const std::lock_guard lock(mutex_);
  state_.is_recording = is_recording;
}

void OpenedTrace::show(std::shared_ptr<const answers::View> view) {
  const std::lock_guard lock(mutex_);
  view_.swap(view);  // the old one goes behind the lock, which may take a while
  state_.stage = Stage::kReady;
  state_.doing.clear();
  state_.share.reset();
  state_.has_diagnosis = false;
  state_.error.reset();
  state_.generation += 1;
  read_.notify_all();
  if (has_end(*view_->trace)) state_.is_recording = false;
}

Result<std::shared_ptr<const answers::View>> OpenedTrace::read(const Opening& opening) {
  answers::Source source = opening.source;
  if (opening.is_followed) source.path = file_behind(path_);
  source.reading.stop = &stop_;
  source.progress = [this, shown = source.progress](std::string_view doing, std::optional<double> share) {
    progress(doing, share);
    if (shown) shown(doing, share);
  };
  source.tell("Reading");
  try {
    auto loaded = answers::load(std::move(source));
    if (!loaded) return std::unexpected(std::move(loaded).error());
    loaded->path = path_;  // whichever file it stands in while it is being recorded
    return answers::open_view(*std::move(loaded), opening.source_folders);
  } catch (const std::bad_alloc&) {
    return failure("there is not enough memory for this trace");
  } catch (const std::exception& error) {
    return failure(std::string("something went wrong inside telltale: ") + error.what());
  }
}

// Asked for here, so that the answer is kept when the page asks for it.
void OpenedTrace::diagnose(const answers::View& view) {
  progress("Analyzing", std::nullopt);
  try {
    static_cast<void>(answers::overview(view, {}));
  } catch (const std::exception&) {
    // The page learns it when it asks the same.
  }
  give_back_memory();
  const std::lock_guard lock(mutex_);
  state_.doing.clear();
  state_.has_diagnosis = true;
}

void OpenedTrace::work(Opening opening) {
  // A recording that is followed may have only begun, so that there is nothing in its file, or no file at all. The mark
  // is taken before the file is read: what comes meanwhile makes another one.
  auto mark = mark_of(file_behind(path_));
  while (opening.is_followed && (mark ? mark->bytes == 0 : is_being_recorded(path_))) {
    if (!wait(kLook)) return;
    mark = mark_of(file_behind(path_));
  }
  auto opened = read(opening);
  opening.source.progress = nullptr;
  if (!opened) return set_error(std::move(opened).error());
  show(*opened);
  // Reading leaves more behind than the trace takes. All from here on happens while somebody looks.
  give_back_memory();
  give_way();
  diagnose(**opened);
  keep_little_of_what_is_freed();  // not before: the diagnosis would ask the system for the same memory again and again
  opened->reset();
  if (opening.is_followed) follow(opening, mark);
  give_up_unused();
}

void OpenedTrace::give_up_unused() {
  while (wait(kUnused / 4))
    if (answers::forget_unused_since(*view(), Clock::now() - kUnused)) give_back_memory();
}

void OpenedTrace::follow(const Opening& opening, std::optional<FileMark> seen) {
  Clock::time_point changed = Clock::now();
  Clock::duration rest = kShortestRest;
  while (!has_end(*view()->trace)) {
    if (!wait(rest)) return;
    rest = kLook;
    const auto mark = mark_of(file_behind(path_));
    if (mark == seen) {
      if (Clock::now() - changed > kPatience) set_recording(false);
      continue;
    }
    seen = mark;
    changed = Clock::now();
    set_recording(true);
    auto opened = read(opening);
    if (opened) {
      show(*opened);
      diagnose(**opened);
    } else if (!stop_) {
      set_error(std::move(opened).error());
    }
    rest = std::max<Clock::duration>(kShortestRest, (Clock::now() - changed) * kRestFactor);
  }
}

}  // namespace telltale::serve
