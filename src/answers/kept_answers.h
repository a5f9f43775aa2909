// Answers that are dear to make and are asked for again: each is made once, by the thread that asks first, while others
// who ask for the same wait for it. Only those asked for last are kept.
//
// Safe to ask by several threads. No lock but that of the one answer is held while it is made.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>

namespace telltale::answers {

template <typename Key, typename Made>
class KeptAnswers {
 public:
  using Clock = std::chrono::steady_clock;

  explicit KeptAnswers(std::size_t most) : most_(most) {}

  // `make()` gives a Made. What was got stays alive as long as somebody has it, kept or not.
  template <typename Make>
  std::shared_ptr<const Made> get(const Key& key, Make make) {
    const std::shared_ptr<Place> place = place_of(key);
    std::call_once(place->once, [&] {
      place->made = std::make_shared<const Made>(make());
      place->is_made = true;
    });
    return place->made;
  }

  // Whether get() would return at once.
  bool has(const Key& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(places_, key, &Entry::key);
    return found != places_.end() && found->place->is_made;
  }

  // Those that nobody has asked for since then are not kept any more. Returns how many went.
  std::size_t forget_unused_since(Clock::time_point then) {
    std::list<Entry> unused;  // goes behind the lock, which may take a while
    const std::scoped_lock lock(mutex_);
    const auto first = std::ranges::find_if(places_, [then](const Entry& entry) { return entry.asked < then; });
    unused.splice(unused.begin(), places_, first, places_.end());  // those asked for last come first
    return unused.size();
  }

 private:
  struct Place {
    std::once_flag once;
    std::atomic<bool> is_made = false;
    std::shared_ptr<const Made> made;
  };
  struct Entry {
    Key key;
    std::shared_ptr<Place> place;
    Clock::time_point asked;
  };

  std::shared_ptr<Place> place_of(const Key& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(places_, key, &Entry::key);
    if (found != places_.end()) {
      places_.splice(places_.begin(), places_, found);
    } else {
      places_.push_front({key, std::make_shared<Place>(), {}});
      if (places_.size() > most_) places_.pop_back();
    }
    places_.front().asked = Clock::now();
    return places_.front().place;
  }

  std::size_t most_;
  std::mutex mutex_;
  std::list<Entry> places_;  // the one asked for last comes first
};

}  // namespace telltale::answers
