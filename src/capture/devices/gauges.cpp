// The functions of include/telltale/devices.h that are about gauges: a sampler whose values are counters of the
// session.
#include <pthread.h>
#include <telltale/devices.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "capture/gauges/gauge_sampler.h"
#include "interface.h"

namespace telltale::capture {
namespace {

constexpr double kMostHertz = 1000;

// Never destroyed: the sampler may outlive all else.
struct State {
  std::mutex mutex;
  std::unique_ptr<GaugeSampler> sampler;  // under the mutex
  bool is_changing = false;               // somebody starts or stops it
  bool is_of_parent = false;              // the process was forked while a sampler could be inside NVML
};

State& state() {
  alignas(State) static unsigned char place[sizeof(State)];
  static State* const made = new (place) State;
  return *made;
}

void emit(const char* device, const char* gauge, double value) {
  telltale_site site = {};
  site.name = gauge;
  site.category = device;
  telltale_counter(telltale_make_site(&site), value);
}

// The child has no sampler, and whoever held the mutex is not there. What the parent's thread uses stays as it is: it
// may have been inside NVML, whose locks are then held for ever.
void forget_in_child() {
  State* const parents = &state();
  parents->is_of_parent |= parents->sampler.release() != nullptr || parents->is_changing;
  parents->is_changing = false;
  new (&parents->mutex) std::mutex;
}

void stop_at_exit() { telltale_gauges_stop(); }

// Libraries must not be torn down under the sampler's hands, nor children wait for a thread that they lack.
void survive_forks_and_exit() {
  static const bool is_registered = [] {
    pthread_atfork(nullptr, nullptr, forget_in_child);
    std::atexit(stop_at_exit);
    return true;
  }();
  static_cast<void>(is_registered);
}

std::optional<std::string> variable(const char* name) {
  const char* const value = secure_getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Outcome add_to(GaugeSampler& sampler, const telltale_gauge_options& options, const DeviceNumbering& numbering) {
  if (options.nvml == 0 || sampler.has_nvml()) return {TELLTALE_STATUS_ALREADY_STARTED, "gauges are read already"};
  std::string why;
  if (!sampler.add_nvml(numbering, why)) return {TELLTALE_STATUS_CANNOT_OPEN, "there are no gauges: " + why};
  return {};
}

Outcome start_gauges(const telltale_gauge_options& options) {
  if (!(options.hertz > 0 && options.hertz <= kMostHertz))
    return {TELLTALE_STATUS_BAD_OPTIONS, "gauges can be read up to 1000 times a second, and at least sometimes"};
  const std::lock_guard lock(state().mutex);
  const DeviceNumbering numbering = {variable("CUDA_VISIBLE_DEVICES"), variable("CUDA_DEVICE_ORDER")};
  if (state().sampler != nullptr) return add_to(*state().sampler, options, numbering);
  if (state().is_of_parent)
    return {TELLTALE_STATUS_CANNOT_OPEN, "gauges are read by the process that this one was forked from"};
  survive_forks_and_exit();
  GaugeChoice choice;
  choice.hertz = options.hertz;
  choice.nvml = options.nvml != 0 ? std::optional(numbering) : std::nullopt;
  choice.rapl = options.rapl != 0;
  choice.is_wanted = [] { return telltale_is_recording() != 0; };
  std::string why;
  state().is_changing = true;
  // As a lambda: the library would export the type of a function, which others know as well.
  state().sampler = GaugeSampler::start(
      choice, [](const char* device, const char* gauge, double value) { emit(device, gauge, value); }, why);
  state().is_changing = false;
  if (state().sampler == nullptr) return {TELLTALE_STATUS_CANNOT_OPEN, why};
  return {};
}

Outcome stop_gauges() {
  const std::lock_guard lock(state().mutex);
  if (state().sampler == nullptr) return {TELLTALE_STATUS_NOT_STARTED, "gauges are not read"};
  state().is_changing = true;
  GaugeSampler::stop(std::move(state().sampler));
  state().is_changing = false;
  return {};
}

}  // namespace
}  // namespace telltale::capture

using namespace telltale::capture;

extern "C" {

void telltale_default_gauge_options(telltale_gauge_options* options, size_t size) {
  const telltale_gauge_options defaults = {sizeof defaults, 10, 1, 1};
  std::memset(options, 0, size);
  std::memcpy(options, &defaults, std::min(size, sizeof defaults));
  options->size = size;
}

telltale_status telltale_gauges_start(const telltale_gauge_options* options) try {
  return status_of(start_gauges(given(options, telltale_default_gauge_options)));
} catch (const std::exception&) {
  return TELLTALE_STATUS_NO_MEMORY;
}

telltale_status telltale_gauges_stop(void) try { return status_of(stop_gauges()); } catch (const std::exception&) {
  return TELLTALE_STATUS_NO_MEMORY;
}

}  // extern "C"
