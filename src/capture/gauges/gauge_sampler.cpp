#include "capture/gauges/gauge_sampler.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <ctime>
#include <exception>
#include <utility>

namespace telltale::capture {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kUnwantedPeriod = 60 * kSecond;  // often enough for counters that wrap
constexpr std::int64_t kLookout = kSecond / 100;        // how soon it is seen that values are wanted again
constexpr int kMostSecondsToEnd = 2;

std::int64_t now_ns(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

timespec as_timespec(std::int64_t nanoseconds) {
  return {static_cast<time_t>(nanoseconds / kSecond), static_cast<long>(nanoseconds % kSecond)};
}

const char* c_text(const std::optional<std::string>& text) { return text ? text->c_str() : nullptr; }

}  // namespace

GaugeSampler::GaugeSampler(const GaugeChoice& choice, Emit emit) : choice_(choice), emit_(std::move(emit)) {
  pthread_mutex_init(&mutex_, nullptr);
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&changed_, &attributes);
  pthread_condattr_destroy(&attributes);
}

GaugeSampler::~GaugeSampler() {
  pthread_cond_destroy(&changed_);
  pthread_mutex_destroy(&mutex_);
}

std::unique_ptr<GaugeSampler> GaugeSampler::start(const GaugeChoice& choice, Emit emit, std::string& why) {
  std::unique_ptr<GaugeSampler> sampler(new GaugeSampler(choice, std::move(emit)));
  std::string no_nvml = "it was not asked for", no_rapl = no_nvml;
  const bool has_nvml = choice.nvml && sampler->add_nvml(*choice.nvml, no_nvml);
  if (choice.rapl) {
    sampler->rapl_ = std::make_unique<RaplEnergy>(choice.rapl_folder);
    if (sampler->rapl_->is_empty()) sampler->rapl_ = nullptr;
    no_rapl = "the energy of the processors cannot be read in " + choice.rapl_folder;
  }
  if (!has_nvml && sampler->rapl_ == nullptr) {
    why = "there are no gauges: " + (choice.nvml ? no_nvml : no_rapl);
    if (choice.nvml && choice.rapl) why += ", and " + no_rapl;
    return nullptr;
  }

  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&sampler->thread_, nullptr, &GaugeSampler::run, sampler.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    why = "no thread could be started for gauges";
    return nullptr;
  }
  return sampler;
}

bool GaugeSampler::add_nvml(const DeviceNumbering& numbering, std::string& why) {
  if (!NvmlGauges::is_there(why)) return false;
  has_nvml_ = true;
  pthread_mutex_lock(&mutex_);
  added_ = numbering;
  pthread_cond_signal(&changed_);
  pthread_mutex_unlock(&mutex_);
  return true;
}

void GaugeSampler::stop(std::unique_ptr<GaugeSampler> sampler) {
  pthread_mutex_lock(&sampler->mutex_);
  sampler->is_ending_ = true;
  pthread_cond_signal(&sampler->changed_);
  pthread_mutex_unlock(&sampler->mutex_);
  timespec until = {};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += kMostSecondsToEnd;
  if (pthread_timedjoin_np(sampler->thread_, nullptr, &until) == 0) return;
  pthread_detach(sampler->thread_);
  static_cast<void>(sampler.release());  // its thread still uses it
}

void* GaugeSampler::run(void* self) {
  pthread_setname_np(pthread_self(), "telltale gauges");
  static_cast<GaugeSampler*>(self)->sample();
  return nullptr;
}

void GaugeSampler::sample() {
  const auto period = std::max<std::int64_t>(1, std::llround(kSecond / choice_.hertz));
  std::int64_t next = now_ns(CLOCK_MONOTONIC), next_unwanted = next;
  while (true) {
    const bool is_new = open_what_was_added();
    const std::int64_t now = now_ns(CLOCK_MONOTONIC);
    if (is_new) next = next_unwanted = now;
    const bool is_wanted = choice_.is_wanted == nullptr || choice_.is_wanted();
    if ((is_wanted && now >= next) || now >= next_unwanted) {
      read(now);
      next_unwanted = now + kUnwantedPeriod;
      // A period behind the last one, so that the time that reading takes does not add up; but none is made up for.
      next += period;
      if (next <= now) next = now + period;
    }
    const std::int64_t until = is_wanted ? next : now + std::min(kLookout, period);
    if (!wait(until - now_ns(CLOCK_MONOTONIC))) return;
  }
}

// Whether there was any.
bool GaugeSampler::open_what_was_added() {
  pthread_mutex_lock(&mutex_);
  const std::optional<DeviceNumbering> added = std::exchange(added_, std::nullopt);
  pthread_mutex_unlock(&mutex_);
  if (!added) return false;
  try {
    std::string why;
    nvml_ = NvmlGauges::open(c_text(added->visible_devices), c_text(added->device_order), why);
  } catch (const std::exception&) {  // no memory: they are left out
  }
  return true;
}

void GaugeSampler::read(std::int64_t now) {
  try {
    if (nvml_ != nullptr) nvml_->read(now, emit_);
    if (nvml_ != nullptr && !nvml_->has_devices()) nvml_ = nullptr;
    if (rapl_ != nullptr)
      if (const std::optional<double> joules = rapl_->joules()) emit_("CPU", "energy (J)", *joules);
  } catch (const std::exception&) {  // no memory: a reading less
  }
}

// False: it ends.
bool GaugeSampler::wait(std::int64_t nanoseconds) {
  const timespec until = as_timespec(now_ns(CLOCK_MONOTONIC) + std::max<std::int64_t>(0, nanoseconds));
  pthread_mutex_lock(&mutex_);
  while (!is_ending_ && !added_ && pthread_cond_timedwait(&changed_, &mutex_, &until) == 0) {
  }
  const bool is_ending = is_ending_;
  pthread_mutex_unlock(&mutex_);
  return !is_ending;
}

}  // namespace telltale::capture
