#include "answers/source.h"

#include <utility>

#include "formats/read_trace.h"

namespace telltale::answers {

Result<Source> load(Source source) {
  if (source.trace) return source;
  ReadOptions options = source.reading;
  options.progress = [&source](double share) { source.tell("Reading", share); };
  Result<Trace> trace = read_trace(source.path, options);
  if (!trace) return std::unexpected(std::move(trace).error());
  source.trace = std::make_shared<const Trace>(*std::move(trace));
  return source;
}

}  // namespace telltale::answers
