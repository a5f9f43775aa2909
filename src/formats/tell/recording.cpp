#include "formats/tell/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <string>

#include "base/amounts.h"
#include "base/parallel.h"
#include "formats/tell/definitions.h"
#include "formats/tell/device_records.h"
#include "formats/tell/places.h"
#include "formats/tell/record_decoder.h"
#include "formats/tell/sampled_calls.h"
#include "formats/tell/session_values.h"
#include "trace/allocator_rows.h"
#include "trace/builder.h"
#include "trace/event_block.h"
#include "trace/recording_facts.h"

namespace telltale::tell {
namespace {

// Chunks that one thread decodes, with names of its own.
struct Group {
  LocalNames names;
  std::size_t first = 0, count = 0;  // of the chunks of records
};

// The reading of one recording, step by step: each member function is one step, in the order of run().
class Reading {
 public:
  Reading(const FrameScan& scan, unsigned threads) : scan_(scan), threads_(threads) {}

  Result<Trace> run(std::uint64_t file_bytes) {
    note_frame_damage();
    read_definitions();
    places_.emplace(definitions_);
    decode_records();
    count_records();
    find_reach();
    add_open_scopes();

    Trace trace;
    trace.format = "tell";
    trace.text_bytes = file_bytes;
    trace.anomalies = anomalies_;
    take_recording_facts(session_values(definitions_), trace);
    pair_spans(blocks_, trace.anomalies);
    add_sampled_calls(trace.recorded);
    TraceBuilder builder;
    places_->label(end_names_, builder);
    for (EventBlock& block : blocks_) builder.append(std::move(block.batch));
    auto built = std::move(builder).build(std::move(trace), places_->epoch_ns(), threads_);
    if (built) note_what_is_missing(*built);
    return built;
  }

 private:
  void note_frame_damage() {
    if (scan_.lost_chunks > 0) note_damage(scan_.lost_chunks, scan_.first_damage);
    if (scan_.was_cut) anomalies_.add(Anomaly::kTruncated, scan_.cut_offset);
  }

  void read_definitions() {
    for (const Frame& frame : scan_.frames) {
      if (frame.kind() == ChunkKind::kRecords) {
        record_frames_.push_back(&frame);
        continue;
      }
      const auto payload = Payload::open(frame);
      const bool is_known = frame.kind() >= ChunkKind::kSession && frame.kind() <= ChunkKind::kIndex;
      if (payload && !is_known) {
        anomalies_.add(Anomaly::kUnknownChunk, frame.offset, "kind " + std::to_string(frame.header.kind));
        continue;
      }
      const bool is_sound =
          payload && (frame.kind() == ChunkKind::kIndex || definitions_.take(frame.kind(), payload->reader()));
      if (!is_sound) note_damage(1, frame.offset);
    }
    if (const std::string* const kernels = definitions_.session_value("meta:triton_kernels"))
      definitions_.sites.place_kernels(compiled_kernels(*kernels));
    if (definitions_.repaired_texts() > 0)
      anomalies_.add_many(Anomaly::kInvalidUtf8, definitions_.repaired_texts(), 0, {});
  }

  // Each group is a run of chunks of about the same size, so that the names of few groups must be joined.
  void decode_records() {
    constexpr std::uint64_t kGroupsPerThread = 2;
    std::uint64_t bytes = 0;
    for (const Frame* frame : record_frames_) bytes += frame->header.raw_bytes;
    const std::uint64_t share = bytes / (kGroupsPerThread * threads_) + 1;
    std::uint64_t filled = share;
    for (std::size_t i = 0; i < record_frames_.size(); ++i) {
      if (filled >= share) {
        groups_.push_back(std::make_unique<Group>());
        groups_.back()->first = i;
        filled = 0;
      }
      ++groups_.back()->count;
      filled += record_frames_[i]->header.raw_bytes;
    }
    decoded_.resize(record_frames_.size());
    parallel_for(groups_.size(), threads_, [this](std::size_t g) {
      Group& group = *groups_[g];
      RecordDecoder decoder(definitions_, *places_, group.names);
      for (std::size_t i = group.first; i < group.first + group.count; ++i)
        decoded_[i] = decoder.decode(*record_frames_[i]);
    });
  }

  // How many records damage took away: each chunk says how many of its track stand before it.
  void count_records() {
    std::map<std::uint64_t, std::uint64_t> next;  // by track
    for (std::size_t i = 0; i < decoded_.size(); ++i) {
      DecodedRecords& decoded = decoded_[i];
      if (!decoded.is_sound || decoded.lacks_sites) note_damage(1, record_frames_[i]->offset);
      if (!decoded.is_sound) continue;
      std::uint64_t& expected = next[decoded.track];
      if (decoded.records_before > expected) missing_records_ += decoded.records_before - expected;
      expected = std::max(expected, decoded.records_before) + decoded.records;
      records_ += decoded.records;
      if (decoded.records > 0) recording_tracks_.insert(decoded.track);
      for (const OpenScope& scope : decoded.ended) ended_.emplace(decoded.track, scope);
      blocks_.push_back(std::move(decoded.block));
      has_stacks_ |= !decoded.samples.empty() || !decoded.kept_frames.empty();
      kept_frames_.push_back(std::move(decoded.kept_frames));
      samples_.insert(samples_.end(), decoded.samples.begin(), decoded.samples.end());
    }
    if (definitions_.end_mark && definitions_.end_mark->records >= records_)
      missing_records_ = definitions_.end_mark->records - records_;
  }

  // The first moment of the trace, and the latest one that the file knows of.
  void find_reach() {
    const auto reach = [this](std::optional<Nanoseconds> time) {
      if (time) reach_ = reach_ ? std::max(*reach_, *time) : *time;
    };
    for (const EventBlock& block : blocks_) {
      for (const BatchEvent& event : block.batch.events) {
        first_ = std::min(first_, event.start);
        reach(event.start + event.duration);
      }
      for (const BatchMemoryEvent& event : block.batch.memory) first_ = std::min(first_, event.time);
      for (const BatchCounter& counter : block.batch.counters) first_ = std::min(first_, counter.time);
      first_ = std::min(first_, first_allocator_row(block.batch));
    }
    for (const auto& [track, open] : definitions_.open_scopes) reach(places_->time(TrackClock::kTicks, open.ticks));
    for (const Sample& sample : samples_) reach(sample.time);
    if (!definitions_.calibrations.empty())
      reach(places_->time(TrackClock::kTicks, definitions_.calibrations.back().ticks));
    if (definitions_.end_mark) reach(places_->time(TrackClock::kTicks, definitions_.end_mark->ticks));
  }

  void add_open_scopes() {
    EventBlock block;
    block.batch.names = &end_names_;
    RecordDecoder decoder(definitions_, *places_, end_names_);
    for (const auto& [track, open] : definitions_.open_scopes)
      for (const OpenScope& scope : open.scopes)
        if (!ended_.contains({track, scope})) decoder.add_open_scope(track, scope, reach_.value_or(0), block.batch);
    blocks_.push_back(std::move(block));
  }

  // When all durations are known.
  void add_sampled_calls(Recorded& recorded) {
    if (!has_stacks_) return;
    EventBlock block;
    block.batch = sampled_calls(blocks_, kept_frames_, samples_, definitions_, *places_, sampled_names_);
    recorded.sampled = !block.batch.events.empty();
    blocks_.push_back(std::move(block));
  }

  // Said in the words of the finished trace: its times count from its first event.
  void note_what_is_missing(Trace& trace) const {
    if (damaged_chunks_ > 0)
      trace.anomalies.add_many(Anomaly::kDamagedChunk, damaged_chunks_, first_damage_,
                               fmt::format("{} records are missing", missing_records_));
    const LossSummary losses = summary_of(definitions_.losses);
    if (losses.records > 0) trace.anomalies.add_many(Anomaly::kDroppedEvents, losses.records, 0, losses.reasons);
    if (losses.values_cut > 0) trace.metadata.emplace_back("values_cut", fmt::format("{}", losses.values_cut));
    if (losses.names_not_kept > 0)
      trace.metadata.emplace_back("names_not_kept", fmt::format("{}", losses.names_not_kept));
    forget_earlier_devices(trace);
    note_quality_of_device_records(trace);
    if (definitions_.end_mark) return;
    const Nanoseconds reach = reach_ && first_ <= *reach_ ? *reach_ - first_ : 0;
    const Nanoseconds covered = std::max(reach, trace.duration);
    const std::string* const ended_by = definitions_.session_value("ended_by");
    trace.anomalies.add(
        Anomaly::kUnfinishedRecording, scan_.was_cut ? scan_.cut_offset : trace.text_bytes,
        ended_by != nullptr
            ? fmt::format("{}; it reaches {}", ended_text(*ended_by), format_time(covered))
            : unfinished_text(covered, definitions_.session_number("flush_ns"),
                              definitions_.session_number("meta:cuda_read_ns"), recording_tracks_.size()));
  }

  void note_damage(std::uint64_t chunks, std::uint64_t offset) {
    first_damage_ = damaged_chunks_ == 0 ? offset : std::min(first_damage_, offset);
    damaged_chunks_ += chunks;
  }

  const FrameScan& scan_;
  unsigned threads_;
  Anomalies anomalies_;
  std::uint64_t damaged_chunks_ = 0, first_damage_ = 0;
  Definitions definitions_;
  std::optional<Places> places_;
  std::vector<const Frame*> record_frames_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<DecodedRecords> decoded_;  // of each chunk of records
  std::vector<EventBlock> blocks_;
  std::vector<std::vector<KeptFrames>> kept_frames_;  // of the first blocks
  std::vector<Sample> samples_;
  bool has_stacks_ = false;   // at operators or by samples
  LocalNames end_names_;      // of what stands in no chunk of records
  LocalNames sampled_names_;  // of calls made of samples
  std::set<std::uint64_t> recording_tracks_;
  std::set<std::pair<std::uint64_t, OpenScope>> ended_;
  std::uint64_t records_ = 0, missing_records_ = 0;
  Nanoseconds first_ = std::numeric_limits<Nanoseconds>::max();
  std::optional<Nanoseconds> reach_;
};

}  // namespace

Result<Trace> read_recording(const FrameScan& scan, std::uint64_t file_bytes, unsigned threads) {
  return Reading(scan, threads).run(file_bytes);
}

}  // namespace telltale::tell
