// Python code of the user's own keeps the device waiting.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "advise/patterns/host_calls.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// What a tensor expression leaves of a loop in Python.
constexpr float kLeftByVectorizing = 0.03F;
constexpr double kUncertainty = 0.2;

// A function of the user's without an operator, or what it calls of libraries, or does itself, between operators.
struct PythonFunction {
  Nanoseconds duration = 0;
  std::vector<EventId> calls;
  std::vector<StretchedCall> stretched;
  std::set<int> steps;   // that have such a stretch
  bool is_whole = true;  // all of the function
};

// A thread that loses its processor looks like a long stretch, too, but not in this share of all steps.
constexpr double kLeastShareOfSteps = 0.5;

bool goes_on_over_steps(const Facts& facts, EventId call) {
  return facts.trace.events.duration[call] > 2 * facts.diagnosis.timing.period();
}

// A comprehension is called like a function, but stands in one that has a name. In the one that loops over the steps
// its own line tells more.
EventId function_with_name(const Facts& facts, EventId function) {
  const Trace& trace = facts.trace;
  while (true) {
    const std::optional<SourceLine> frame = parsed_frame(trace.name(function));
    if (!frame || (frame->function != "<genexpr>" && !frame->function.ends_with("comp>"))) return function;
    const EventId around = function_around(trace, trace.events.parent[function]);
    const std::optional<SourceLine> outer = around == kNoEvent ? std::nullopt : parsed_frame(trace.name(around));
    if (!outer || outer->file != frame->file || goes_on_over_steps(facts, around)) return function;
    function = around;
  }
}

// The function of the user's that makes the call, which may be that call itself.
EventId users_function(const Facts& facts, EventId call) {
  const Trace& trace = facts.trace;
  const std::optional<SourceLine> frame = parsed_frame(trace.name(call));
  const bool is_of_library = frame && is_library_frame(*frame);
  return function_with_name(facts, is_of_library ? function_around(trace, trace.events.parent[call]) : call);
}

// What is no Python, but may stand in it: waits, and collections of the garbage that it leaves.
bool is_interruption(HostWork work) { return work == HostWork::kWaiting || work == HostWork::kGarbageCollection; }

// Without operators.
bool is_plain_python(const Facts& facts, EventId root) {
  const EventId end = subtree_end(facts.trace, root);
  for (EventId event = root; event < end; ++event)
    if (facts.host_work[event] != HostWork::kPython && !is_interruption(facts.host_work[event])) return false;
  return true;
}

// How long a call takes without its interruptions.
Nanoseconds time_in_python(const Facts& facts, EventId root) {
  const Events& events = facts.trace.events;
  const EventId end = subtree_end(facts.trace, root);
  Nanoseconds time = events.duration[root];
  EventId behind = root;  // of the last interruption
  for (EventId event = root; event < end; ++event) {
    if (event < behind || !is_interruption(facts.host_work[event])) continue;
    behind = subtree_end(facts.trace, event);
    time -= events.duration[event];
  }
  return time;
}

void vectorize(const Facts& facts, EventId root, Edit& edit) {
  const EventId end = subtree_end(facts.trace, root);
  for (EventId event = root; event < end; ++event)
    if (facts.host_work[event] == HostWork::kPython) edit.scale_event(facts.trace, event, kLeftByVectorizing);
}

// Libraries that read files, unpack or parse what stands in them.
bool is_reading(std::string_view frame) {
  constexpr auto kReaders = std::to_array<std::string_view>({"numpy/lib/npyio.py",
                                                             "numpy/lib/_npyio_impl.py",
                                                             "numpy/lib/format.py",
                                                             "numpy/lib/_format_impl.py",
                                                             "zipfile",
                                                             "gzip.py",
                                                             "bz2.py",
                                                             "lzma.py",
                                                             "_compression.py",
                                                             "tarfile.py",
                                                             "json/",
                                                             "csv.py",
                                                             "pickle.py",
                                                             "shelve.py",
                                                             "xml/",
                                                             "configparser.py",
                                                             "tomllib/",
                                                             "yaml/",
                                                             "pandas/io/",
                                                             "pyarrow/",
                                                             "h5py/",
                                                             "PIL/",
                                                             "imageio/",
                                                             "soundfile.py",
                                                             "wave.py",
                                                             "codecs.py",
                                                             "<built-in function open>",
                                                             "<built-in method read of "});
  return std::ranges::any_of(kReaders, [&](std::string_view reader) { return frame.contains(reader); });
}

// How much of the function's time such libraries take, with all that they call.
Nanoseconds time_reading(const Facts& facts, const PythonFunction& function) {
  const std::vector<bool> reads = names_where(facts.trace, is_reading);
  Nanoseconds time = 0;
  for (const EventId call : function.calls) {
    const EventId end = subtree_end(facts.trace, call);
    for (EventId event = call; event < end; ++event) {
      if (!reads[facts.trace.events.name[event]]) continue;
      time += time_in_python(facts, event);
      event = subtree_end(facts.trace, event) - 1;
    }
  }
  return time;
}

// From this share of a function's time on, reading is what it does: what was parsed has to be taken apart and freed
// too, by the function itself, which takes about as long.
constexpr double kMostlyReading = 0.3;

Fix fix_for_reading() {
  return {"read_ahead",
          "Read it once, before the loop, and keep it in memory. What is another file in every step is read ahead: in "
          "the workers of a DataLoader, or on another thread.",
          "+ table = load(path)  # before the loop\n- table = load(path)"};
}

std::map<StringId, PythonFunction> python_functions(const Facts& facts) {
  std::map<StringId, PythonFunction> functions, stretched;
  for (const EventId call : facts.user_python()) {
    if (!is_plain_python(facts, call)) continue;
    const EventId users = users_function(facts, call);
    PythonFunction& function = functions[facts.trace.events.name[users]];
    function.is_whole = function.is_whole && users == call;
    function.duration += time_in_python(facts, call);
    function.calls.push_back(call);
  }
  for (const StretchedCall& call : facts.stretched_calls()) {
    PythonFunction& function = stretched[facts.trace.events.name[function_with_name(facts, call.function)]];
    function.steps.insert(call.steps.begin(), call.steps.end());
    function.duration += call.time;
    function.stretched.push_back(call);
  }
  for (auto& [name, found] : stretched) {
    if (static_cast<double>(found.steps.size()) < kLeastShareOfSteps * facts.steps()) continue;
    PythonFunction& function = functions[name];
    function.is_whole = false;
    function.duration += found.duration;
    function.stretched = std::move(found.stretched);
  }
  return functions;
}

// Its calls, those first that the finding is about most.
std::vector<EventId> calls_of(const Facts& facts, const PythonFunction& function) {
  std::vector<EventId> calls = function.calls;
  Nanoseconds plain = 0, between = 0;
  for (const EventId call : function.calls) plain += time_in_python(facts, call);
  for (const StretchedCall& call : function.stretched) between += call.time;
  for (const StretchedCall& call : function.stretched)
    if (calls.empty() || calls.back() != call.function) calls.push_back(call.function);
  if (between > plain) std::ranges::rotate(calls, calls.begin() + static_cast<std::ptrdiff_t>(function.calls.size()));
  return calls;
}

// Where a call that goes on for more than a step stands is known, but not where it computes.
std::optional<SourceLine> place_of(const Facts& facts, EventId call) {
  std::optional<SourceLine> place = source_line(facts.trace, call);
  if (place && goes_on_over_steps(facts, call)) place->line = 0;
  return place;
}

std::optional<Finding> finding_about(const Facts& facts, StringId name_of_function, const PythonFunction& function) {
  Edit edit = facts.unobserved;
  for (const EventId call : function.calls) vectorize(facts, call, edit);
  for (const StretchedCall& call : function.stretched)
    edit.scale_event(facts.trace, call.call, 1 - static_cast<float>(call.share) * (1 - kLeftByVectorizing));
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.evidence = calls_of(facts, function);
  finding.source = place_of(facts, finding.evidence.front());
  const std::string name =
      finding.source ? finding.source->function : std::string(facts.trace.strings[name_of_function]);
  const bool has_device = facts.diagnosis.breakdown.has_device;
  finding.title = fmt::format("{} waits for Python in {}", has_device ? "The GPU" : "The step", name);
  finding.explanation =
      fmt::format("{} {} {} per recorded step {}{}.", name, function.is_whole ? "takes" : "spends",
                  format_time(static_cast<Nanoseconds>(static_cast<double>(function.duration) / facts.steps())),
                  function.is_whole ? "without calling a single operator" : "in Python that calls no operator",
                  has_device ? ", and the GPU runs dry" : "");
  if (static_cast<double>(time_reading(facts, function)) >= kMostlyReading * static_cast<double>(function.duration)) {
    finding.title = fmt::format("{} waits for data to be read in {}", has_device ? "The GPU" : "The step", name);
    finding.explanation =
        fmt::format("{} spends {} per recorded step in Python, mostly to read, unpack or parse data{}.", name,
                    format_time(static_cast<Nanoseconds>(static_cast<double>(function.duration) / facts.steps())),
                    has_device ? ", and the GPU runs dry" : "");
    finding.fix = fix_for_reading();
    return finding;
  }
  finding.fix = {
      "vectorize",
      fmt::format("Compute it as one tensor expression{}, or once before the loop.", has_device ? " on the GPU" : ""),
      fmt::format("- w = [weight(i) for i in range(n)]\n+ w = weight(torch.arange(n{}))",
                  has_device ? ", device=x.device" : "")};
  return finding;
}

// The others take less than those, and each costs a replay.
constexpr std::size_t kMostFunctions = 3;

std::vector<Finding> find(const Facts& facts) {
  const std::map<StringId, PythonFunction> functions = python_functions(facts);
  std::vector<std::pair<StringId, const PythonFunction*>> longest;
  for (const auto& [name, function] : functions) longest.emplace_back(name, &function);
  std::ranges::stable_sort(longest, std::ranges::greater{}, [](const auto& each) { return each.second->duration; });
  if (longest.size() > kMostFunctions) longest.resize(kMostFunctions);
  std::vector<Finding> findings;
  for (const auto& [name, function] : longest)
    if (std::optional<Finding> finding = finding_about(facts, name, *function)) findings.push_back(*std::move(finding));
  return findings;
}

}  // namespace

Rule rules::python_overhead() {
  return {{.title = "Python that the step waits for",
           .looks_for = "A function outside of libraries, on the thread that feeds the GPU, that calls no operator; "
                        "what a function calls of libraries other than torch; or what it does between two operators, "
                        "where that takes 200 µs and more in at least half of the steps. What takes its time tells the "
                        "fix: data that is read, unpacked or parsed is read once, other Python is vectorized.",
           .needs = "Stacks.",
           .cannot_do_without = {{Need::kStacks}},
           .saving = fmt::format("The steps are replayed with that Python at {:.0f} % of its time. Where the GPU is "
                                 "behind anyway, this saves nothing.",
                                 100 * kLeftByVectorizing),
           .held = "Predicted and measured savings, in percent of the step: 59 and 62 (python_between_launches); on a "
                   "CPU 45 and 48 (NumPy in the loop over the steps), 78 and 74 (regular expressions in a forward).",
           .fixes = {"vectorize", "read_ahead"}},
          find};
}

}  // namespace telltale
