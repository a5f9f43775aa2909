#include "bindings/core/loading.h"

#include <atomic>

#include "bindings/core/errors.h"
#include "bindings/core/interruptible.h"
#include "formats/read_trace.h"

namespace telltale::python {
namespace {

namespace nb = nanobind;

struct Reading {
  std::atomic<double> share = 0;
  std::atomic<bool> stop = false;
  std::optional<Result<Trace>> result;
};

}  // namespace

LoadedTrace load(const std::string& path, unsigned threads, const nb::object& progress) {
  const auto reading = std::make_shared<Reading>();
  LongWork work;
  work.run = [reading, path, threads] {
    ReadOptions options;
    options.threads = threads;
    options.stop = &reading->stop;
    options.progress = [&share = reading->share](double now) { share = now; };
    reading->result = read_trace(path, options);
  };
  work.give_up = [reading] { reading->stop = true; };
  if (!progress.is_none()) {
    work.while_waiting = [&progress, &share = reading->share, shown = -1.0]() mutable {
      if (share == shown) return;
      shown = share;
      progress(shown);
    };
  }
  run_interruptibly(work);
  if (!*reading->result) raise(reading->result->error());
  if (!progress.is_none()) progress(1.0);
  return {std::make_shared<const Trace>(**std::move(reading->result)), path};
}

}  // namespace telltale::python
