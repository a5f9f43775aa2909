#include "replay/graph_capture.h"

namespace telltale {
namespace {

// What launching a graph costs the host.
constexpr Nanoseconds kGraphLaunch = 30'000;

bool is_in_graph(HostWork work) {
  return work == HostWork::kPython || work == HostWork::kOperators || work == HostWork::kLaunching;
}

}  // namespace

void capture_in_graph(const Trace& trace, const std::vector<HostWork>& host_work, Edit& edit) {
  edit.added_host_ns += kGraphLaunch;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (is_device_work(trace.events.kind[event]))
      edit.run_in_graph(trace, event);
    else if (!is_on_device(trace.events.kind[event]) && is_in_graph(host_work[event]))
      edit.scale_event(trace, event, 0);
  }
}

}  // namespace telltale
