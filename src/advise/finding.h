// What a rule says: what is wrong, where, how to fix it, and what that would buy; and the order in which findings are
// read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/source_line.h"
#include "base/time.h"
#include "replay/kept_edit.h"
#include "trace/trace.h"

namespace telltale {

struct MemoryEdit;

// Per step of the unobserved program. All zero: the finding costs no time, but memory or trust.
struct Saving {
  Nanoseconds low = 0, likely = 0, high = 0;
  double low_percent = 0, likely_percent = 0, high_percent = 0;  // of the unobserved step; diagnose() fills them in
};

enum class Confidence : std::uint8_t { kLow, kMedium, kHigh };
std::string_view name_of(Confidence confidence);

// The ids are a fixed vocabulary, so that advice can be compared with measurements and applied by tools. Each is
// proposed by some rule: see RuleInfo::fixes.
inline constexpr auto kFixIds = std::to_array<std::string_view>({"loader_workers",
                                                                 "persistent_workers",
                                                                 "cheaper_batches",
                                                                 "pin_memory",
                                                                 "pack_copies",
                                                                 "build_on_device",
                                                                 "remove_sync",
                                                                 "no_anomaly_detection",
                                                                 "load_once",
                                                                 "join_once",
                                                                 "unset_launch_blocking",
                                                                 "log_less",
                                                                 "remove_sleep",
                                                                 "shorten_lock",
                                                                 "prefetch_request",
                                                                 "read_ahead",
                                                                 "keep_process",
                                                                 "wait_elsewhere",
                                                                 "balance_ranks",
                                                                 "cuda_graph",
                                                                 "compile",
                                                                 "compile_graphs",
                                                                 "vectorize",
                                                                 "batch_calls",
                                                                 "freeze_gc",
                                                                 "stable_shapes",
                                                                 "tf32",
                                                                 "bf16",
                                                                 "pad_dims",
                                                                 "sdpa",
                                                                 "fuse_norm",
                                                                 "fused_optimizer",
                                                                 "set_to_none",
                                                                 "channels_last",
                                                                 "contiguous_layout",
                                                                 "no_checkpointing",
                                                                 "keep_cache",
                                                                 "expandable_segments",
                                                                 "detach",
                                                                 "chunk",
                                                                 "larger_batch",
                                                                 "threads",
                                                                 "float32",
                                                                 "kv_cache",
                                                                 "overlap_communication",
                                                                 "raise_power_limit",
                                                                 "cool_device",
                                                                 "other"});

struct Fix {
  std::string id;    // one of kFixIds
  std::string text;  // a sentence
  std::string code;  // a short change, lines separated by \n; "- " and "+ " where something is replaced
};

// What another rule found that the fix of a finding mends as well.
struct FindingPart {
  std::string rule;
  std::string title;
  std::string explanation;
  Saving saving;       // of `fix` alone
  std::string fix_id;  // the finding's, or one of its family: see is_one_change()
};

struct Finding {
  std::string rule;         // "host_sync"
  std::string title;        // "The GPU waits for the data loader"
  std::string explanation;  // a sentence or two, with its numbers
  Saving saving;
  // By how much the peak of memory falls with the fix alone; 0 where that is not known or not the point.
  std::int64_t saving_bytes = 0;
  // What such a fix costs in time, per step of the unobserved program; nothing where that is not known.
  std::optional<Nanoseconds> cost;
  Confidence confidence = Confidence::kMedium;
  // The most telling first. A rule may give all it has, of which diagnose() keeps kMaxEvidence.
  std::vector<EventId> evidence;
  // All events that the fix can shorten, calls with what they contain; ascending. Empty where a rule gives it no other:
  // then it is the rule's evidence. The saving is never more than a step takes less without any of them.
  std::vector<EventId> reach;
  // What the fix does to the steps, where it saves time and somebody wants to try fixes together; else null.
  std::shared_ptr<const KeptEdit> edit;
  // What the fix does to the blocks of the fullest device, where it frees memory and somebody wants to try it; else
  // null.
  std::shared_ptr<const MemoryEdit> memory_edit;
  std::optional<SourceLine> source;
  Fix fix;
  std::vector<FindingPart> parts;          // what other rules found that the same change mends, by falling saving
  std::vector<std::string> also_explains;  // rules with another fix whose finding this one's would resolve as well

  static constexpr std::size_t kMaxEvidence = 8;
};

// How many bytes a fix frees for what it costs, in bytes a nanosecond. What costs less than `least` costs nothing that
// anybody would notice: savings below that are not told either. What a fix costs that nobody knows counts as nothing.
double bytes_for_time(const Finding& finding, Nanoseconds least);

// Or about memory, or trust.
inline bool is_about_time(const Finding& finding) { return finding.saving.likely > 0; }

// Whether two fixes are one change to the program, so that a reader hears of it once: the same fix, or torch.compile
// with and without CUDA graphs.
bool is_one_change(std::string_view fix, std::string_view other);

// Findings that save less than `least` and more than nothing go. One change to the program is one finding: of those
// about time with one change, the one that saves most stays and has the others as its parts, with their evidence behind
// its own. A finding names in also_explains the rules of lesser ones with other fixes whose evidence it shares. By
// falling likely saving; what saves no time comes last: first what saves memory, by bytes for time, then the others in
// the order given.
std::vector<Finding> ranked(std::vector<Finding> findings, Nanoseconds least);

}  // namespace telltale
