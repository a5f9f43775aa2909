#include "capture/nvml/nvml_gauges.h"

#include <algorithm>

#include "capture/nvml/visible_devices.h"

namespace telltale::capture {
namespace {

using nvml::Result;

constexpr std::uint8_t kGivenUp = 10;                // failures in a row after which a value is not asked for any more
constexpr std::int64_t kPciePeriod = 1'000'000'000;  // at least, between two readings of one throughput
constexpr double kKib = 1024;

// Whether a device that says this has nothing more to say.
bool is_lost_with(Result result) {
  switch (result) {
    case Result::kUninitialized:
    case Result::kDriverNotLoaded:
    case Result::kGpuIsLost:
    case Result::kResetRequired:
    case Result::kLibraryMismatch:
    case Result::kGpuNotFound:
      return true;
    default:
      return false;
  }
}

// Whether asking again makes no sense.
bool is_final(Result result) {
  switch (result) {
    case Result::kInvalidArgument:
    case Result::kNotSupported:
    case Result::kNoPermission:
    case Result::kFunctionNotFound:
    case Result::kArgumentVersionMismatch:
    case Result::kDeprecated:
      return true;
    default:
      return false;
  }
}

std::string failure(const char* what, Result result) {
  return std::string("NVML cannot ") + what + " (error " + std::to_string(static_cast<int>(result)) + ")";
}

std::optional<unsigned long long> value_of(const nvml::FieldValue& field) {
  if (field.result != Result::kSuccess) return std::nullopt;
  switch (field.type) {
    case nvml::ValueType::kUnsigned:
      return field.value.number;
    case nvml::ValueType::kUnsignedLong:
    case nvml::ValueType::kUnsignedLongLong:
      return field.value.large;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::unique_ptr<NvmlGauges> NvmlGauges::open(const char* cuda_visible_devices, const char* cuda_device_order,
                                             std::string& why) {
  std::unique_ptr<nvml::Library> library = nvml::Library::open(why);
  if (library == nullptr) return nullptr;
  if (const Result result = library->init(); result != Result::kSuccess) {
    why = failure("start", result);
    return nullptr;
  }
  std::unique_ptr<NvmlGauges> gauges(new NvmlGauges(std::move(library)));  // from here on it ends NVML, too
  const nvml::Library& nvml = *gauges->library_;
  unsigned count = 0;
  if (const Result result = nvml.device_count(&count); result != Result::kSuccess) {
    why = failure("count devices", result);
    return nullptr;
  }
  std::vector<nvml::Device> handles(count);
  std::vector<PhysicalDevice> all(count);
  for (unsigned i = 0; i < count; ++i) {
    if (nvml.device_by_index(i, &handles[i]) != Result::kSuccess) handles[i] = nullptr;
    char text[96] = "";
    if (handles[i] != nullptr && nvml.uuid(handles[i], text, sizeof text) == Result::kSuccess) all[i].uuid = text;
    text[0] = '\0';
    if (handles[i] != nullptr && nvml.name(handles[i], text, sizeof text) == Result::kSuccess) all[i].name = text;
  }
  for (const VisibleDevice& visible : visible_devices(all, cuda_visible_devices, cuda_device_order)) {
    if (handles[visible.index] == nullptr) continue;
    Device device;
    device.handle = handles[visible.index];
    device.label =
        visible.number ? "GPU " + std::to_string(*visible.number) : "NVML GPU " + std::to_string(visible.index);
    for (const bool is_sent : {true, false}) gauges->pcie_.push_back({gauges->devices_.size(), is_sent, std::nullopt});
    gauges->devices_.push_back(std::move(device));
  }
  if (gauges->devices_.empty()) {
    why = "NVML shows this process no device";
    return nullptr;
  }
  return gauges;
}

NvmlGauges::~NvmlGauges() { library_->shutdown(); }

bool NvmlGauges::has_devices() const { return !std::ranges::all_of(devices_, &Device::is_lost); }

// Whether it answered.
template <typename Ask>
bool NvmlGauges::ask(Device& device, Quantity quantity, Ask ask) {
  std::uint8_t& failures = device.failures[quantity];
  if (device.is_lost || failures >= kGivenUp) return false;
  const Result result = ask();
  if (result == Result::kSuccess) {
    failures = 0;
    return true;
  }
  device.is_lost = is_lost_with(result);
  failures = is_final(result) ? kGivenUp : static_cast<std::uint8_t>(failures + 1);
  return false;
}

void NvmlGauges::read(std::int64_t now, const Emit& emit) {
  for (Device& device : devices_) read(device, now, emit);
  read_pcie(now, emit);
}

void NvmlGauges::read(Device& device, std::int64_t now, const Emit& emit) {
  const nvml::Library& nvml = *library_;
  const auto put = [&](const char* gauge, double value) { emit(device.label.c_str(), gauge, value); };
  unsigned value = 0;
  unsigned long long large = 0;
  // First, so that its time is closest to that of the reading.
  if (ask(device, kEnergy, [&] { return nvml.energy(device.handle, &large); })) {
    // A counter that begins anew, as when the driver is loaded again, does not say what was used until then.
    if (device.last_energy && large >= *device.last_energy) device.used_energy += large - *device.last_energy;
    device.last_energy = large;
    put("energy (J)", static_cast<double>(device.used_energy) / 1e3);
  }
  if (ask(device, kPower, [&] { return nvml.power(device.handle, &value); })) put("power (W)", value / 1e3);
  if (ask(device, kPowerLimit, [&] { return nvml.power_limit(device.handle, &value); }))
    put("power limit (W)", value / 1e3);
  nvml::Utilization utilization = {};
  if (ask(device, kUtilization, [&] { return nvml.utilization(device.handle, &utilization); })) {
    put("utilization (%)", utilization.gpu);
    put("memory activity (%)", utilization.memory);
  }
  if (ask(device, kSmClock, [&] { return nvml.clock(device.handle, nvml::Clock::kMultiprocessor, &value); }))
    put("SM clock (MHz)", value);
  if (ask(device, kMemoryClock, [&] { return nvml.clock(device.handle, nvml::Clock::kMemory, &value); }))
    put("memory clock (MHz)", value);
  if (ask(device, kThrottleReasons, [&] { return nvml.throttle_reasons(device.handle, &large); }))
    put("throttle reasons", static_cast<double>(large));
  nvml::Memory memory = {};
  if (ask(device, kMemory, [&] { return nvml.memory(device.handle, &memory); })) {
    put("memory used (bytes)", static_cast<double>(memory.used));
    put("memory total (bytes)", static_cast<double>(memory.total));
  }
  if (ask(device, kTemperature, [&] { return nvml.temperature(device.handle, nvml::Sensor::kGpu, &value); }))
    put("temperature (°C)", value);
  read_nvlink(device, now, emit);
}

// NVML counts what was sent and received in all: a rate needs two readings.
void NvmlGauges::read_nvlink(Device& device, std::int64_t now, const Emit& emit) {
  std::array<nvml::FieldValue, 2> fields = {};
  fields[0].field = nvml::kNvlinkSentKib;
  fields[1].field = nvml::kNvlinkReceivedKib;
  for (nvml::FieldValue& field : fields) field.scope = nvml::kAllLinks;
  const auto both = [&] {
    const Result result = library_->fields(device.handle, static_cast<int>(fields.size()), fields.data());
    return result != Result::kSuccess ? result : std::max(fields[0].result, fields[1].result);
  };
  if (!ask(device, kNvlink, both)) return;
  constexpr std::array kGauges = {"NVLink sent (bytes/s)", "NVLink received (bytes/s)"};
  const double seconds = static_cast<double>(now - device.nvlink_time) / 1e9;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::optional<unsigned long long> before = std::exchange(device.nvlink_kib[i], value_of(fields[i]));
    const std::optional<unsigned long long>& after = device.nvlink_kib[i];
    if (before && after && *after >= *before && seconds > 0)
      emit(device.label.c_str(), kGauges[i], kKib * static_cast<double>(*after - *before) / seconds);
  }
  device.nvlink_time = now;
}

// One at a time, since each takes 20 ms: whichever was read longest ago.
void NvmlGauges::read_pcie(std::int64_t now, const Emit& emit) {
  const auto is_due = [&](const PcieReading& reading) {
    const Device& device = devices_[reading.device];
    return !device.is_lost && device.failures[reading.is_sent ? kPcieSent : kPcieReceived] < kGivenUp &&
           (!reading.time || now - *reading.time >= kPciePeriod);
  };
  PcieReading* next = nullptr;
  for (PcieReading& reading : pcie_)
    if (is_due(reading) && (next == nullptr || reading.time < next->time)) next = &reading;
  if (next == nullptr) return;
  next->time = now;
  Device& device = devices_[next->device];
  unsigned kib = 0;
  const auto counter = next->is_sent ? nvml::PcieCounter::kSent : nvml::PcieCounter::kReceived;
  if (ask(device, next->is_sent ? kPcieSent : kPcieReceived,
          [&] { return library_->pcie(device.handle, counter, &kib); }))
    emit(device.label.c_str(), next->is_sent ? "PCIe sent (bytes/s)" : "PCIe received (bytes/s)", kKib * kib);
}

}  // namespace telltale::capture
