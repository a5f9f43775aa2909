#include "replay/kept_edit.h"

#include <algorithm>
#include <utility>

namespace telltale {
namespace {

std::vector<KeptEdit::Run> runs_of(const std::vector<bool>& flags) {
  std::vector<KeptEdit::Run> runs;
  for (EventId event = 0; event < flags.size(); ++event) {
    if (!flags[event]) continue;
    if (!runs.empty() && runs.back().end == event)
      ++runs.back().end;
    else
      runs.push_back({event, event + 1});
  }
  return runs;
}

void set(std::vector<bool>& flags, const Trace& trace, const std::vector<KeptEdit::Run>& runs) {
  if (runs.empty()) return;
  flags.resize(trace.events.size());
  for (const KeptEdit::Run& run : runs)
    for (EventId event = run.first; event < run.end; ++event) flags[event] = true;
}

void scale(Edit& edit, const Trace& trace, const std::vector<KeptEdit::ScaledRun>& runs, auto factor_of_both) {
  if (runs.empty()) return;
  if (edit.scale.empty()) edit.scale.assign(trace.events.size(), 1);
  for (const KeptEdit::ScaledRun& run : runs)
    for (EventId event = run.first; event < run.end; ++event)
      edit.scale[event] = factor_of_both(edit.scale[event], run.factor);
}

// The shortest time wins. Where none is shorter than it was, what takes longest does.
float of_both(float a, float b) { return a < 1 || b < 1 ? std::min(a, b) : std::max(a, b); }

// Of several batches, the largest one has most to do.
float of_batches(float a, float b) { return a > 1 || b > 1 ? std::max(a, b) : std::min(a, b); }

}  // namespace

KeptEdit::KeptEdit(const Edit& edit, int batch_with_it)
    : free_of_waiting(runs_of(edit.is_free_of_waiting)),
      graph_nodes(runs_of(edit.is_graph_node)),
      added_host_ns(edit.added_host_ns),
      added_device_ns(edit.added_device_ns),
      batch(batch_with_it) {
  for (EventId event = 0; event < edit.scale.size(); ++event) {
    const float factor = edit.scale[event];
    if (factor == 1) continue;
    if (!scaled.empty() && scaled.back().end == event && scaled.back().factor == factor)
      ++scaled.back().end;
    else
      scaled.push_back({{event, event + 1}, factor});
  }
}

std::shared_ptr<const KeptEdit> partly(const std::shared_ptr<const KeptEdit>& edit, double share) {
  if (edit == nullptr || share >= 1) return edit;
  KeptEdit part = *edit;
  for (KeptEdit::ScaledRun& run : part.scaled) run.factor = 1 - (1 - run.factor) * static_cast<float>(share);
  return std::make_shared<const KeptEdit>(std::move(part));
}

int batch_with(std::span<const KeptEdit* const> edits) {
  int batch = 1;
  for (const KeptEdit* const edit : edits) batch = std::max(batch, edit->batch);
  return batch;
}

Edit combined(const Trace& trace, const ObserverCost& observer, std::span<const KeptEdit* const> edits) {
  Edit all, grown;
  all.observer = observer;
  for (const KeptEdit* const edit : edits) {
    const bool has_larger_batch = edit->batch > 1;
    scale(has_larger_batch ? grown : all, trace, edit->scaled, has_larger_batch ? of_batches : of_both);
    set(all.is_free_of_waiting, trace, edit->free_of_waiting);
    set(all.is_graph_node, trace, edit->graph_nodes);
    all.added_host_ns += edit->added_host_ns;
    all.added_device_ns += edit->added_device_ns;
  }
  if (all.scale.empty()) all.scale.swap(grown.scale);
  for (EventId event = 0; event < grown.scale.size(); ++event) all.scale[event] *= grown.scale[event];
  return all;
}

}  // namespace telltale
