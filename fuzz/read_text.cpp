#include "read_text.h"

#include "compare_traces.h"
#include "formats/input/text_in_memory.h"
#include "formats/kineto/read.h"
#include "require.h"
#include "slow_reader.h"
#include "trace_checks.h"

namespace telltale::fuzzing {
namespace {

Result<Trace> read(std::string_view text, unsigned threads, std::size_t block_bytes) {
  TextInMemory input(text);
  ReadOptions options;
  options.threads = threads;
  options.block_bytes = block_bytes;
  return kineto::read(input, "input", options);
}

}  // namespace

Result<Trace> trace_in(std::string_view text) { return read(text, 1, text.size() + 1); }

void check_all_readers(std::string_view text) {
  const auto whole = trace_in(text);
  const auto pieces = read(text, 3, 1 + text.size() % 200);
  require(whole.has_value() == pieces.has_value(), "whether a text is a trace does not depend on blocks");
  if (whole) {
    require_sound(*whole);
    require_same(*whole, *pieces, "one block", "many blocks");
    require_same_examples(*whole, *pieces);
  }
  const auto slow = oracle::slow_read(text);
  if (!slow) return;
  require(whole.has_value(), "what the slow reader takes is a trace");
  require_same(slow->trace, *whole, "slow", "fast");
  for (EventId event = 0; event < whole->events.size(); ++event) {
    require(whole->step_of(event) == slow->step_of[event], "the step of " + oracle::describe(*whole, event));
    require(whole->launch_of(event) == slow->launch_of[event], "the launch of " + oracle::describe(*whole, event));
    require(whole->operator_of(event) == slow->operator_of[event],
            "the operator of " + oracle::describe(*whole, event));
  }
}

}  // namespace telltale::fuzzing
