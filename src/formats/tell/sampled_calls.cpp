#include "formats/tell/sampled_calls.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "formats/tell/seen_stacks.h"
#include "formats/tell/thread_calls.h"
#include "trace/remembered.h"
#include "trace/unrecorded_steps.h"

namespace telltale::tell {
namespace {

constexpr std::string_view kCollection = "gc.collect";

struct Thread {
  TrackId track = 0;
  SeenThread seen;
  Nanoseconds first_start = std::numeric_limits<Nanoseconds>::max();
  bool is_seen = false;  // by samples or by operators that tell stacks
  bool has_exact_calls = false, has_exact_modules = false;
};

bool may_contain_calls(Kind kind) {
  return kind == Kind::kAnnotation || kind == Kind::kModule || kind == Kind::kSpan || kind == Kind::kOther;
}

// The reading of one recording's stacks, step by step: each member function is one step, in the order of run().
class SampledCalls {
 public:
  SampledCalls(std::span<const EventBlock> blocks, std::span<const std::vector<KeptFrames>> kept_frames,
               std::span<const Sample> samples, const Definitions& definitions, const Places& places, LocalNames& names)
      : blocks_(blocks),
        kept_frames_(kept_frames),
        samples_(samples),
        definitions_(definitions),
        places_(places),
        names_(names),
        process_(local_id(places.process(), names)),
        stacks_(names.strings) {}

  EventBatch run() {
    mark_seen_threads();
    gather_rows();
    gather_samples();
    EventBatch batch;
    batch.names = &names_;
    for (Thread& thread : threads_)
      if (thread.is_seen && !thread.has_exact_calls) add_calls(thread, batch);
    return batch;
  }

 private:
  // What is known of the names of one reading thread.
  struct Known {
    std::vector<std::optional<std::size_t>> threads;  // by local track
    std::vector<std::optional<StackNumber>> stacks;   // by local string
    std::vector<std::optional<StringId>> names;       // by local string
  };

  std::size_t thread_at(const NativeId& id) {
    const TrackId track = names_.tracks.intern({process_, id, TrackKind::kThread, kHost});
    const auto [known, is_new] = thread_of_track_.try_emplace(track, threads_.size());
    if (is_new) threads_.emplace_back().track = track;
    return known->second;
  }

  // Nothing where no Python runs.
  Thread* thread_of(const LocalNames& local, TrackId track) {
    const TrackKey& key = local.tracks[track];
    if (key.kind != TrackKind::kThread || key.device != kHost) return nullptr;
    std::optional<std::size_t>& known = remembered(known_[&local].threads, track);
    if (!known) known = thread_at({key.thread.number, names_.strings.intern(local.strings[key.thread.text])});
    return &threads_[*known];
  }

  StackNumber stack_of(const LocalNames& local, StringId text) {
    std::optional<StackNumber>& known = remembered(known_[&local].stacks, text);
    if (!known) known = stacks_.of(local.strings[text]);
    return *known;
  }

  StringId name_of(const LocalNames& local, StringId name) {
    std::optional<StringId>& known = remembered(known_[&local].names, name);
    if (!known) known = names_.strings.intern(local.strings[name]);
    return *known;
  }

  void mark_seen_threads() {
    for (std::size_t b = 0; b < kept_frames_.size(); ++b)
      for (const KeptFrames& kept : kept_frames_[b]) {
        const EventBatch& batch = blocks_[b].batch;
        if (Thread* thread = thread_of(*batch.names, batch.events[kept.row].track)) thread->is_seen = true;
      }
    for (const auto& [number, track] : definitions_.tracks) {
      if (track.type != TrackType::kThread) continue;
      threads_by_native_id_[track.native_id].push_back(thread_at(local_id(places_.place(number).thread, names_)));
    }
    for (const Sample& sample : samples_) {
      std::vector<std::size_t>& candidates = threads_by_native_id_[sample.thread];
      if (candidates.empty()) candidates.push_back(thread_at({sample.thread, kEmptyString}));
      for (const std::size_t candidate : candidates) threads_[candidate].is_seen = true;
      first_ = std::min(first_, sample.time);
    }
  }

  void gather_rows() {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const EventBatch& batch = blocks_[b].batch;
      auto stack = batch.operator_stacks.begin();
      auto kept = b < kept_frames_.size() ? std::span(kept_frames_[b]) : std::span<const KeptFrames>();
      for (BatchRow row = 0; row < batch.events.size(); ++row) {
        const BatchEvent& event = batch.events[row];
        first_ = std::min(first_, event.start);
        ExactScope scope{.start = event.start,
                         .end = event.start + event.duration,
                         .may_contain_calls = may_contain_calls(event.kind)};
        if (stack != batch.operator_stacks.end() && stack->row == row) {
          scope.stack = stack_of(*batch.names, (stack++)->detail.call_stack);
        }
        if (!kept.empty() && kept.front().row == row) {
          scope.kept_frames = kept.front().count;
          kept = kept.subspan(1);
        }
        Thread* const thread = thread_of(*batch.names, event.track);
        if (thread == nullptr || !thread->is_seen) continue;
        scope.name = name_of(*batch.names, event.name);
        add_row(batch, event, scope, *thread);
      }
    }
  }

  static void add_row(const EventBatch& batch, const BatchEvent& event, const ExactScope& scope, Thread& thread) {
    thread.first_start = std::min(thread.first_start, event.start);
    const std::string_view name = batch.names->strings[event.name];
    if (event.kind == Kind::kInstant || event.kind == Kind::kAsync) return;
    if (event.kind == Kind::kPython && !name.starts_with(kCollection)) thread.has_exact_calls = true;
    if (event.kind == Kind::kModule) thread.has_exact_modules = true;
    if (event.kind == Kind::kAnnotation && name == kUnrecordedStep)
      thread.seen.pauses.push_back({scope.start, scope.end});
    else
      thread.seen.scopes.push_back(scope);
  }

  void gather_samples() {
    for (const Sample& sample : samples_) {
      const StackNumber stack =
          stacks_.waiting(stacks_.of(definitions_.sites[sample.stack]), definitions_.sites[sample.waits_for]);
      if (stack == kNoFrames) continue;
      const std::vector<std::size_t>& candidates = threads_by_native_id_[sample.thread];
      // A thread's id is used again when the thread is gone: the last one that had begun.
      std::size_t best = candidates.front();
      for (const std::size_t candidate : candidates)
        if (threads_[candidate].first_start <= sample.time) best = candidate;
      threads_[best].seen.samples.push_back({sample.time, stack});
    }
  }

  void add_calls(Thread& thread, EventBatch& batch) {
    for (const MadeCall& call : calls_of(std::move(thread.seen), stacks_, first_)) {
      const Kind kind = stacks_.kind(call.frame.function);
      if (call.end <= call.start || (kind == Kind::kModule && thread.has_exact_modules)) continue;
      const auto row = static_cast<BatchRow>(batch.events.size());
      batch.events.push_back(
          {call.start, call.end - call.start, stacks_.name(call.frame.function), thread.track, kind});
      batch.offsets.push_back(0);
      const SeenFunction& function = stacks_.function(call.frame.function);
      if (function.file != kEmptyString)
        batch.sources.push_back(
            {row, names_.source_locations.intern({function.file, function.function, call.frame.line})});
      if (call.stack != kNoFrames) batch.operator_stacks.push_back({row, {stacks_.text(call.stack), kEmptyString}});
    }
  }

  std::span<const EventBlock> blocks_;
  std::span<const std::vector<KeptFrames>> kept_frames_;
  std::span<const Sample> samples_;
  const Definitions& definitions_;
  const Places& places_;
  LocalNames& names_;
  NativeId process_;
  SeenStacks stacks_;
  std::vector<Thread> threads_;
  std::unordered_map<TrackId, std::size_t> thread_of_track_;
  std::unordered_map<const LocalNames*, Known> known_;
  std::map<std::int64_t, std::vector<std::size_t>> threads_by_native_id_;
  Nanoseconds first_ = std::numeric_limits<Nanoseconds>::max();  // moment of the recording
};

}  // namespace

EventBatch sampled_calls(std::span<const EventBlock> blocks, std::span<const std::vector<KeptFrames>> kept_frames,
                         std::span<const Sample> samples, const Definitions& definitions, const Places& places,
                         LocalNames& names) {
  return SampledCalls(blocks, kept_frames, samples, definitions, places, names).run();
}

}  // namespace telltale::tell
