// What a rule may look at, and what it asks to learn what a fix would buy.
//
// Made once for a trace, then only read; rules may run side by side.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "advise/diagnosis.h"
#include "advise/finding.h"
#include "analysis/host_work.h"
#include "analysis/names_where.h"
#include "analysis/operator_arguments.h"
#include "analysis/phases.h"
#include "replay/edit.h"
#include "replay/step_graph.h"
#include "trace/trace.h"

namespace telltale {

class CompileModel;
class HostCost;
struct CallLoop;
struct DataLoading;
struct RowLoop;
struct StretchedCall;

// What is made when it is first asked for, once, by whichever thread asks.
template <typename Made>
class OnDemand {
 public:
  template <typename Make>
  const Made& get(Make make) const {
    std::call_once(is_made_, [&] { made_ = std::make_shared<const Made>(make()); });
    return *made_;
  }

 private:
  mutable std::once_flag is_made_;
  mutable std::shared_ptr<const Made> made_;
};

struct Facts {
  // `diagnosis` has everything but findings; both must outlive the facts.
  Facts(const Trace& trace, const Diagnosis& diagnosis, const StepGraph& graph, std::vector<HostWork> host_work,
        std::vector<Phase> phases, bool keeps_edits = false);

  const Trace& trace;
  const Diagnosis& diagnosis;
  const StepGraph& graph;
  std::vector<HostWork> host_work;  // by event
  std::vector<Phase> phases;        // by event
  LaunchedWork launched;
  Edit unobserved;   // takes the observer's cost out: every edit of a rule starts from it
  Nanoseconds step;  // the unobserved step, never 0
  bool keeps_edits;  // for those who try the fixes of several findings together
  bool trains;       // the trace has a backward pass or an optimizer's step; else the program only computes answers

  // What a step would take less after the edit; negative when it would take longer.
  Nanoseconds saved_by(const Edit& edit) const;
  // What the edit changes in the unobserved program, for Finding::edit; null unless edits are kept.
  std::shared_ptr<const KeptEdit> kept(const Edit& edit) const;
  // The same where its steps have so many times the samples.
  std::shared_ptr<const KeptEdit> kept_for_batch(const Edit& edit, int batch) const;
  double percent_of_step(Nanoseconds time) const;

  double steps() const { return static_cast<double>(diagnosis.timing.steps.size()); }
  // Whether a host event begins within a step, or the launch of device work does.
  bool is_in_steps(EventId event) const;
  // An operator that calls nothing, or other operators to make its arguments ready, and takes so long without these
  // that it computes on the host itself: no mere dispatch.
  bool computes_on_host(EventId event) const;
  // What several rules want to know, found out when the first one asks: what torch.compile would do
  // (models/compile_model.h), what operators cost on a CPU (models/host_cost.h), the loops over rows
  // (patterns/row_loops.h) and all loops (patterns/call_loops.h), how batches come into a step
  // (patterns/data_loading.h), the user's own Python without operators and between them (patterns/host_calls.h), and
  // functions that log (patterns/log_calls.h).
  const CompileModel& compile_model() const;
  const HostCost& host_cost() const;
  const std::vector<RowLoop>& row_loops() const;
  const std::vector<CallLoop>& call_loops() const;
  const DataLoading& data_loading() const;
  const std::vector<EventId>& user_python() const;
  const std::vector<StretchedCall>& stretched_calls() const;
  const std::vector<EventId>& log_calls() const;
  // How many times as long work took while it was recorded, where the device itself was slower then; else 1. What rules
  // know of a device's speed they multiply by it, as replays are scaled to the step that was measured.
  double slower_when_recorded() const;
  // The device is at work for nearly the whole unobserved step: shortening the host buys nothing.
  bool is_device_bound() const;

 private:
  OnDemand<CompileModel> compile_model_;
  OnDemand<HostCost> host_cost_;
  OnDemand<std::vector<RowLoop>> row_loops_;
  OnDemand<std::vector<CallLoop>> call_loops_;
  OnDemand<DataLoading> data_loading_;
  OnDemand<std::vector<EventId>> user_python_;
  OnDemand<std::vector<StretchedCall>> stretched_calls_;
  OnDemand<std::vector<EventId>> log_calls_;
};

// The arguments of an operator call. All empty when the trace does not have them, or `op` is kNoEvent.
OperatorTexts texts_of(const Trace& trace, EventId op);

// Events of a kind (host events that begin in a step; device work launched in one) whose name passes, by id.
std::vector<EventId> events_named(const Facts& facts, Kind kind, const std::function<bool(std::string_view)>& test);

// The events that an edit shortens, runs in a graph or frees of waiting, by id: for Finding::reach.
std::vector<EventId> changed_by(const Facts& facts, const Edit& edit);

// A time of a recorded step and its share of the step, for sentences: "20.0 ms per step (67 %)". Where the device was
// slower while it was recorded, as it takes without that.
std::string time_and_share(const Facts& facts, Nanoseconds per_step);

// A range around what the replay says, as wide as predictions of its sort have been off, and never more than the step.
Saving saving_around(const Facts& facts, Nanoseconds likely, double uncertainty);

}  // namespace telltale
