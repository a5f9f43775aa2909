// A value that is made when it is first asked for; whoever asks meanwhile waits for it.
//
// Safe to ask by several threads at a time.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

namespace telltale {

template <typename Value>
class MadeOnce {
 public:
  template <typename Make>
  const Value& get(Make make) const {
    std::call_once(once_, [&] {
      value_.emplace(make());
      is_made_.store(true, std::memory_order_release);
    });
    return *value_;
  }

  // Null as long as nobody has asked for it.
  const Value* peek() const { return is_made_.load(std::memory_order_acquire) ? &*value_ : nullptr; }

 private:
  mutable std::once_flag once_;
  mutable std::optional<Value> value_;
  mutable std::atomic<bool> is_made_ = false;
};

}  // namespace telltale
