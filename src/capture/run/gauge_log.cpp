#include "capture/run/gauge_log.h"

#include <chrono>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <utility>

#include "capture/gauges/gauge_sampler.h"
#include "capture/run/engine.h"
#include "trace/gauges.h"

namespace telltale::capture {
namespace {

constexpr std::size_t kMostReadings = 1'000'000;
constexpr const char* kVisibleDevices = "CUDA_VISIBLE_DEVICES";
constexpr const char* kDeviceOrder = "CUDA_DEVICE_ORDER";

// Shared with the sampler's thread, which may outlive us.
struct Readings {
  std::mutex mutex;
  std::deque<GaugeReading> readings;

  void add(const char* device, const char* quantity, double value) {
    const std::optional<Gauge> gauge = gauge_of(device, quantity);
    if (!gauge) return;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::lock_guard lock(mutex);
    readings.push_back(
        {std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(), counter_name(*gauge), value});
    if (readings.size() > kMostReadings) readings.pop_front();
  }
};

std::optional<std::string> variable(const char* name) {
  const char* const value = secure_getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace

DeviceVariables DeviceVariables::of_this_process() { return {variable(kVisibleDevices), variable(kDeviceOrder)}; }

DeviceVariables DeviceVariables::of(int pid) {
  return {variable_of(pid, kVisibleDevices), variable_of(pid, kDeviceOrder)};
}

struct GaugeLog::State {
  std::shared_ptr<Readings> readings = std::make_shared<Readings>();
  std::unique_ptr<GaugeSampler> sampler;
};

GaugeLog::GaugeLog(const DeviceVariables& variables) : state_(std::make_unique<State>()) {
  GaugeChoice choice;
  choice.nvml = DeviceNumbering{variables.visible, variables.order};
  std::string why;
  state_->sampler = GaugeSampler::start(
      choice,
      [readings = state_->readings](const char* device, const char* gauge, double value) {
        readings->add(device, gauge, value);
      },
      why);
}

GaugeLog::~GaugeLog() { finish(); }

std::vector<GaugeReading> GaugeLog::finish() {
  if (state_->sampler != nullptr) GaugeSampler::stop(std::move(state_->sampler));
  const std::lock_guard lock(state_->readings->mutex);
  std::deque<GaugeReading> readings = std::exchange(state_->readings->readings, {});
  return {std::make_move_iterator(readings.begin()), std::make_move_iterator(readings.end())};
}

}  // namespace telltale::capture
