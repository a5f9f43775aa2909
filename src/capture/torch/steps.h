// Where a training or inference step ends, found from what torch itself annotates, for programs that do not say.
//
// A step ends with the optimizer; the first one begins with the first batch. Of several optimizers the first one
// counts, and another takes over where that one steps no more. In a program without an optimizer a step begins with
// each batch from a DataLoader, and without that with the first annotation that comes again. A program that marks its
// own steps (ProfilerStep#) is left alone.
#pragma once

#include <telltale/telltale.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace telltale::torch_adapter {

class StepFinder {
 public:
  void reset() {
    const std::lock_guard lock(mutex_);
    source_ = Source::kNone;
    name_.clear();
  }

  // An annotation begins. `is_outermost`: no other annotation is open on this thread. True when a step begins with it.
  bool begins(std::string_view name, bool is_outermost) {
    const std::lock_guard lock(mutex_);
    if (name.starts_with("ProfilerStep#")) source_ = Source::kProgram;
    if (source_ >= Source::kOptimizer) return false;
    if (name.starts_with("enumerate(DataLoader)#")) return is_boundary(Source::kLoader, name);
    if (source_ == Source::kLoader || !is_outermost || is_of_torch(name)) return false;
    if (source_ == Source::kAnnotation) return is_boundary(Source::kAnnotation, name);
    source_ = Source::kAnnotation;
    name_ = name;
    thread_ = std::this_thread::get_id();
    return false;
  }

  // An annotation ends; `optimizer` is the address of the one that took the last step on this thread, 0 where it is not
  // known. True when a step ends with it.
  bool ends(std::string_view name, std::uint64_t optimizer) {
    if (!name.starts_with("Optimizer.step#")) return false;
    const std::lock_guard lock(mutex_);
    if (source_ > Source::kOptimizer) return false;
    const bool is_first = source_ != Source::kOptimizer;
    if (is_first || ++steps_of_others_ > kMostOfOthers) {
      source_ = Source::kNone;
      optimizer_ = optimizer;
    }
    if (optimizer_ != optimizer || !is_boundary(Source::kOptimizer, name)) return false;
    steps_of_others_ = 0;
    return true;
  }

  // Around fork().
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  // Programs that train one network more often than another do so 5 to 25 times.
  static constexpr int kMostOfOthers = 32;

  // Each is a better sign of a step than those before it.
  enum class Source : std::uint8_t { kNone, kAnnotation, kLoader, kOptimizer, kProgram };

  static bool is_of_torch(std::string_view name) { return name.starts_with("Optimizer."); }

  // The first that is seen counts, and only on its thread: a second optimizer belongs to the same step.
  bool is_boundary(Source source, std::string_view name) {
    if (source_ != source) {
      source_ = source;
      name_ = name;
      thread_ = std::this_thread::get_id();
      return true;
    }
    return name_ == name && thread_ == std::this_thread::get_id();
  }

  std::mutex mutex_;
  Source source_ = Source::kNone;
  std::string name_;
  std::thread::id thread_;
  std::uint64_t optimizer_ = 0;
  int steps_of_others_ = 0;  // since the last one of that
};

}  // namespace telltale::torch_adapter
