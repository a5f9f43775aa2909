// Python code of the user's own keeps the device waiting.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// What a tensor expression leaves of a loop in Python.
constexpr float kLeftByVectorizing = 0.03F;
constexpr double kUncertainty = 0.2;

// A function of the user's, or what it calls of libraries, without an operator.
struct PythonFunction {
  Nanoseconds duration = 0;
  std::vector<EventId> calls;
  bool is_whole = true;  // all of the function
};

// The function of the user's that makes the call, which may be that call itself.
EventId users_function(const Trace& trace, EventId call) {
  const std::optional<SourceLine> frame = parsed_frame(trace.name(call));
  return frame && is_library_frame(*frame) ? trace.events.parent[call] : call;
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

std::vector<Finding> find(const Facts& facts) {
  std::map<StringId, PythonFunction> functions;
  for (const EventId call : facts.user_python()) {
    if (!is_plain_python(facts, call)) continue;
    const EventId users = users_function(facts.trace, call);
    PythonFunction& function = functions[facts.trace.events.name[users]];
    function.is_whole = function.is_whole && users == call;
    function.duration += time_in_python(facts, call);
    function.calls.push_back(call);
  }
  const auto longest = std::max_element(functions.begin(), functions.end(), [](const auto& a, const auto& b) {
    return a.second.duration < b.second.duration;
  });
  if (longest == functions.end()) return {};
  const PythonFunction& function = longest->second;

  Edit edit = facts.unobserved;
  for (const EventId call : function.calls) vectorize(facts, call, edit);
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.source = source_line(facts.trace, function.calls.front());
  finding.evidence = function.calls;
  const std::string name = finding.source ? finding.source->function : std::string(facts.trace.strings[longest->first]);
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
    return {finding};
  }
  finding.fix = {
      "vectorize",
      fmt::format("Compute it as one tensor expression{}, or once before the loop.", has_device ? " on the GPU" : ""),
      fmt::format("- w = [weight(i) for i in range(n)]\n+ w = weight(torch.arange(n{}))",
                  has_device ? ", device=x.device" : "")};
  return {finding};
}

}  // namespace

Rule rules::python_overhead() {
  return {{.title = "Python that the step waits for",
           .looks_for = "A function outside of libraries, on the thread that feeds the GPU, that calls no operator, or "
                        "what such a function calls of libraries other than torch. What takes its time tells the fix: "
                        "data that is read, unpacked or parsed is read once, other Python is vectorized.",
           .needs = "Stacks.",
           .cannot_do_without = {{Need::kStacks}},
           .saving = fmt::format("The steps are replayed with that Python at {:.0f} % of its time. Where the GPU is "
                                 "behind anyway, this saves nothing.",
                                 100 * kLeftByVectorizing),
           .held = "Predicted and measured savings, in percent of the step: 59 and 62 (python_between_launches).",
           .fixes = {"vectorize", "read_ahead"}},
          find};
}

}  // namespace telltale
