#include "advise/facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "advise/models/compile_model.h"
#include "advise/models/host_cost.h"
#include "advise/patterns/call_loops.h"
#include "advise/patterns/data_loading.h"
#include "advise/patterns/host_calls.h"
#include "advise/patterns/log_calls.h"
#include "advise/patterns/row_loops.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// A device that works for this share of the step leaves nothing to gain on the host.
constexpr double kShareOfDeviceBound = 0.95;
// Dispatching an operator takes microseconds.
constexpr Nanoseconds kLongestDispatch = 100'000;
// Of an operator that calls others, which any of them may hold up: moving so many bytes takes longer than a dispatch.
constexpr double kLeastComputed = kLongestDispatch / 1e9 * HostCost::kBytesPerSecond;

// Traces without host events tell by their kernels.
bool is_name_of_training(std::string_view name) {
  return name.contains("ackward") || name.contains("Optimizer.step") || name.contains("optimizer.step");
}

bool has_training(const Trace& trace, const std::vector<Phase>& phases) {
  const auto trains = [](Phase phase) { return phase == Phase::kBackward || phase == Phase::kOptimizer; };
  if (std::ranges::any_of(phases, trains)) return true;
  const std::vector<bool> is_telling = names_where(trace, is_name_of_training);
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (trace.events.kind[event] != Kind::kPython && is_telling[trace.events.name[event]]) return true;
  return false;
}

}  // namespace

Facts::Facts(const Trace& recorded, const Diagnosis& diagnosed, const StepGraph& replayable,
             std::vector<HostWork> work_by_event, std::vector<Phase> phase_by_event, bool edits_are_kept)
    : trace(recorded),
      diagnosis(diagnosed),
      graph(replayable),
      host_work(std::move(work_by_event)),
      phases(std::move(phase_by_event)),
      launched(recorded),
      step(std::max<Nanoseconds>(diagnosed.unobserved_ns, 1)),
      keeps_edits(edits_are_kept),
      trains(has_training(recorded, phases)) {
  unobserved.observer = diagnosed.observer.cost;
}

Nanoseconds Facts::saved_by(const Edit& edit) const {
  return step - static_cast<Nanoseconds>(static_cast<double>(graph.replay(edit).period) * diagnosis.observer.rest);
}

std::shared_ptr<const KeptEdit> Facts::kept(const Edit& edit) const { return kept_for_batch(edit, 1); }

std::shared_ptr<const KeptEdit> Facts::kept_for_batch(const Edit& edit, int batch) const {
  return keeps_edits ? std::make_shared<const KeptEdit>(edit, batch) : nullptr;
}

double Facts::percent_of_step(Nanoseconds time) const {
  return 100.0 * static_cast<double>(time) / static_cast<double>(step);
}

bool Facts::is_in_steps(EventId event) const { return telltale::is_in_steps(trace, diagnosis.timing, event); }

bool Facts::computes_on_host(EventId event) const {
  if (host_work[event] != HostWork::kOperators || trace.events.duration[event] < kLongestDispatch) return false;
  if (event + 1 == trace.events.size() || trace.events.parent[event + 1] != event) return true;
  const HostCost& cost = host_cost();
  const std::optional<double> bytes = cost.known(event).work.bytes;
  return bytes && *bytes >= kLeastComputed && cost.own_time(event) >= kLongestDispatch && !cost.contains_others(event);
}

double Facts::slower_when_recorded() const {
  const double rest = diagnosis.observer.rest;
  return diagnosis.has_slower_device() && rest > 0 && rest < 1 ? 1 / rest : 1;
}

const CompileModel& Facts::compile_model() const {
  return compile_model_.get([this] { return CompileModel(*this); });
}

const HostCost& Facts::host_cost() const {
  return host_cost_.get([this] { return HostCost(*this); });
}

const std::vector<RowLoop>& Facts::row_loops() const {
  return row_loops_.get([this] { return find_row_loops(*this); });
}

const std::vector<CallLoop>& Facts::call_loops() const {
  return call_loops_.get([this] { return find_call_loops(*this); });
}

const DataLoading& Facts::data_loading() const {
  return data_loading_.get([this] { return find_data_loading(*this); });
}

const std::vector<EventId>& Facts::user_python() const {
  return user_python_.get([this] { return find_user_python(*this); });
}

const std::vector<StretchedCall>& Facts::stretched_calls() const {
  return stretched_calls_.get([this] { return find_stretched_calls(*this); });
}

const std::vector<EventId>& Facts::log_calls() const {
  return log_calls_.get([this] { return find_log_calls(*this); });
}

bool Facts::is_device_bound() const {
  return static_cast<double>(diagnosis.timing.device_period) >= kShareOfDeviceBound * static_cast<double>(step);
}

OperatorTexts texts_of(const Trace& trace, EventId op) {
  const OperatorInfo* const info = op == kNoEvent ? nullptr : trace.operators.find(op);
  if (info == nullptr || info->inputs == OperatorInfo::kNoInputs) return {};
  const OperatorInputs& inputs = trace.operator_inputs[info->inputs];
  return {trace.strings[inputs.shapes], trace.strings[inputs.strides], trace.strings[inputs.types],
          trace.strings[inputs.concrete]};
}

std::vector<EventId> events_named(const Facts& facts, Kind kind, const std::function<bool(std::string_view)>& test) {
  const std::vector<bool> passes = names_where(facts.trace, test);
  std::vector<EventId> found;
  for (EventId event = 0; event < facts.trace.events.size(); ++event)
    if (facts.trace.events.kind[event] == kind && passes[facts.trace.events.name[event]] && facts.is_in_steps(event))
      found.push_back(event);
  return found;
}

std::vector<EventId> changed_by(const Facts& facts, const Edit& edit) {
  const auto scale_in = [](const Edit& of, EventId event) { return of.scale.empty() ? 1.0F : of.scale[event]; };
  const auto is_set = [](const std::vector<bool>& flags, EventId event) { return !flags.empty() && flags[event]; };
  std::vector<EventId> changed;
  for (EventId event = 0; event < facts.trace.events.size(); ++event)
    if (scale_in(edit, event) < scale_in(facts.unobserved, event) || is_set(edit.is_free_of_waiting, event) ||
        is_set(edit.is_graph_node, event))
      changed.push_back(event);
  return changed;
}

std::string time_and_share(const Facts& facts, Nanoseconds per_step) {
  const auto time = static_cast<Nanoseconds>(static_cast<double>(per_step) / facts.slower_when_recorded());
  return fmt::format("{} per step ({})", format_time(time), format_percent(facts.percent_of_step(time)));
}

Saving saving_around(const Facts& facts, Nanoseconds likely, double uncertainty) {
  const auto scaled = [&](double factor) {
    return std::clamp<Nanoseconds>(static_cast<Nanoseconds>(static_cast<double>(likely) * factor), 0, facts.step);
  };
  return {scaled(1 - uncertainty), scaled(1), scaled(1 + uncertainty)};
}

}  // namespace telltale
