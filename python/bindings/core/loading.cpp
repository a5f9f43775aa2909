#include "bindings/core/loading.h"

#include <atomic>
#include <memory>
#include <optional>

#include "bindings/core/errors.h"
#include "bindings/core/interruptible.h"

namespace telltale::python {
namespace {

namespace nb = nanobind;

struct Reading {
  std::atomic<double> share = 0;
  std::atomic<bool> stop = false;
  std::optional<Result<answers::Source>> result;
};

}  // namespace

LoadedTrace load(const std::string& path, unsigned threads, const nb::object& progress) {
  const auto reading = std::make_shared<Reading>();
  LongWork work;
  work.run = [reading, path, threads] {
    answers::Source source;
    source.path = path;
    source.reading.threads = threads;
    source.reading.stop = &reading->stop;
    source.progress = [&share = reading->share](std::string_view, std::optional<double> now) {
      if (now) share = *now;
    };
    reading->result = answers::load(std::move(source));
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
  const answers::Source loaded = value_or_raise(*std::move(reading->result));
  if (!progress.is_none()) progress(1.0);
  // What told of the reading, and could end it, is gone with it.
  return {path, loaded.trace, {}, {}};
}

}  // namespace telltale::python
