#include "capture/run/signal_relay.h"

#include <algorithm>

namespace telltale::capture {

void SignalRelay::arrived(SentSignal signal, Time now) { waiting_.push_back({signal, now}); }

void SignalRelay::witnessed(SentSignal signal, Time now) {
  std::erase_if(witnessed_, [&](const Timed& each) { return now - each.time > 2 * kPatience; });
  witnessed_.push_back({signal, now});
}

bool SignalRelay::was_witnessed(const Timed& arrival) const {
  return std::ranges::any_of(witnessed_, [&](const Timed& each) {
    return each.signal == arrival.signal && std::chrono::abs(each.time - arrival.time) <= kPatience;
  });
}

std::vector<SignalRelay::Settled> SignalRelay::settled(Time now) {
  std::vector<Settled> all;
  std::erase_if(waiting_, [&](const Timed& arrival) {
    const bool is_for_all = was_witnessed(arrival);
    if (!is_for_all && now - arrival.time < kPatience) return false;
    all.push_back({arrival.signal.number, !is_for_all});
    return true;
  });
  return all;
}

std::optional<SignalRelay::Time> SignalRelay::next_time() const {
  if (waiting_.empty()) return std::nullopt;
  return waiting_.front().time + kPatience;
}

}  // namespace telltale::capture
