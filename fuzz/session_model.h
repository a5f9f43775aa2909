// What a session is to do, as simply as it can be said: each call of the recorder's API gives a status and changes what
// the next file is to hold.
//
// One caller at a time; nothing here knows of buffers, threads or time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "telltale/telltale.h"

namespace telltale::fuzzing {

// What a session is started with.
struct Plan {
  std::string path;  // ends with ".tell"
  bool is_flight = false;
  // With active steps, a schedule.
  std::uint32_t skip_first = 0, wait = 0, warmup = 0, active = 0, repeat = 0;
  std::uint64_t memory_limit = 4 << 20;
  telltale_policy policy = TELLTALE_POLICY_BLOCK;
  enum class Reaction : std::uint8_t { kNone, kStop, kStartAnother } reaction = Reaction::kNone;  // of on_ready

  bool loses_nothing() const { return memory_limit >= 1 << 20 && (is_flight || policy == TELLTALE_POLICY_BLOCK); }
};

// What is in one file. A number is given to one record only, and never again.
struct FileContents {
  std::string path;
  std::set<std::int64_t> marks, spans, counts, steps;
  std::uint64_t open_scopes = 0;
  std::map<std::string, std::string> metadata;

  std::size_t records() const { return marks.size() + spans.size() + counts.size() + steps.size(); }
};

class SessionModel {
 public:
  static constexpr std::size_t kThreads = 3;
  static constexpr const char* kNextPath = "next.tell";  // of the session that on_ready starts

  telltale_status start(const Plan& plan);
  telltale_status stop();
  telltale_status step();
  telltale_status flush() const { return plan_ ? TELLTALE_STATUS_OK : TELLTALE_STATUS_NOT_STARTED; }
  telltale_status dump(const std::string& path);

  // Each returns whether it is recorded; all ids differ.
  bool mark(std::int64_t id);
  bool count(std::int64_t id);
  void begin(std::size_t thread);
  // A thread that has no scope open ends none.
  bool end(std::size_t thread, std::int64_t id);
  void end_thread(std::size_t thread) { open_[thread].clear(); }
  void set_metadata(const std::string& key, const std::string& value) { metadata_[key] = value; }

  bool has_started() const { return session_ > 0; }
  bool is_recording() const { return contents_.has_value(); }
  bool is_streaming() const { return is_recording() && !plan_->is_flight; }
  std::size_t depth(std::size_t thread) const { return open_[thread].size(); }
  // Of the present session, or of the last one.
  const Plan& plan() const { return last_plan_; }
  std::uint64_t emitted() const { return emitted_; }  // in it
  const FileContents& contents() const { return *contents_; }

  // The files that have become complete since the last call, in that order; on_ready was told of each.
  std::vector<FileContents> take_complete();
  // Files that must not be there.
  const std::set<std::string>& removed() const { return removed_; }

 private:
  enum class Action : std::uint8_t { kNone, kWarmup, kRecord, kRecordAndSave };
  Action action_of(std::uint64_t step) const;
  void enter(Action action);
  void begin_file();
  void complete(FileContents contents);
  void react(const Plan& plan);
  std::uint64_t open_scopes() const;

  std::optional<Plan> plan_;  // of the session, while there is one
  Plan last_plan_;
  Action action_ = Action::kNone;
  std::uint64_t step_ = 0, session_ = 0, emitted_ = 0;
  unsigned next_file_ = 0;
  std::string file_path_;
  std::optional<FileContents> contents_;  // while something is recorded
  std::vector<FileContents> complete_;
  std::set<std::string> removed_;
  std::map<std::string, std::string> metadata_;
  // The session in which each open scope began; 0 when nothing was recorded then.
  std::vector<std::uint64_t> open_[kThreads];
};

}  // namespace telltale::fuzzing
