#include "timeline/name_uses.h"

#include <algorithm>

#include "base/parallel.h"

namespace telltale {

std::vector<NameUse> name_uses(const Trace& trace, unsigned threads) {
  const std::size_t parts = std::max(1u, threads);
  std::vector<std::vector<NameUse>> uses(parts);
  parallel_for(parts, threads, [&](std::size_t part) {
    uses[part].resize(trace.strings.size());
    const std::size_t begin = trace.events.size() * part / parts, end = trace.events.size() * (part + 1) / parts;
    for (std::size_t event = begin; event < end; ++event) {
      NameUse& use = uses[part][trace.events.name[event]];
      if (use.events++ == 0) use.kind = trace.events.kind[event];
    }
  });
  for (std::size_t part = 1; part < parts; ++part) {
    for (std::size_t name = 0; name < uses[0].size(); ++name) {
      if (uses[0][name].events == 0) uses[0][name].kind = uses[part][name].kind;
      uses[0][name].events += uses[part][name].events;
    }
  }
  return std::move(uses[0]);
}

}  // namespace telltale
