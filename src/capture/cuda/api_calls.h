// Calls of CUDA's API as CUPTI's callbacks tell of them: a record for each that the program itself makes, on the thread
// that makes it. Launches and operators meet there: what is open on the thread is what the work is for.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "capture/cuda/capturing_streams.h"
#include "capture/cuda/chosen_calls.h"
#include "capture/cuda/correlations.h"
#include "capture/cuda/cupti_library.h"
#include "capture/cuda/launch_times.h"
#include "capture/cuda/stream_waits.h"
#include "telltale/devices.h"

namespace telltale::capture {

// Contexts that the process works in.
class Contexts {
 public:
  void add(CUcontext context);
  void remove(CUcontext context);
  // CUPTI is attached anew: nobody told of contexts that ended meanwhile, and the driver must not be asked for those.
  void forget_all();
  bool has(CUcontext context) const;
  // How often some have gone: another may have got the address of one.
  std::uint32_t removals() const { return removals_.load(std::memory_order_acquire); }
  template <typename Act>
  void for_each(Act act) const {
    for (const std::atomic<CUcontext>& slot : slots_)
      if (CUcontext context = slot.load(std::memory_order_acquire)) act(context);
  }

 private:
  std::array<std::atomic<CUcontext>, 32> slots_{};  // of more, the others are not waited for
  std::atomic<std::uint32_t> removals_ = 0;
};

class ApiCalls {
 public:
  ApiCalls(const Cupti& cupti, Correlations& correlations, LaunchTimes& launches, Contexts& contexts,
           StreamWaits& waits)
      : cupti_(cupti), correlations_(correlations), launches_(launches), contexts_(contexts), waits_(waits) {}

  // Has CUPTI call back for what `calls` chooses. The first error ends it.
  CUptiResult enable(CUpti_SubscriberHandle subscriber, telltale_cuda_calls calls);
  // The same for what tells of captures alone, as long as CUPTI is attached: none may be missed, or it is broken later.
  // Nor may the end of one that was seen to begin, or it is held to go on for ever.
  CUptiResult enable_captures(CUpti_SubscriberHandle subscriber);
  // All but those, which may go with a whole domain: to be followed by enable_captures().
  void disable(CUpti_SubscriberHandle subscriber);
  // CUPTI is attached anew: nobody told of captures that ended meanwhile.
  void forget_captures() { capturing_.forget_all(); }
  // Calls that have begun are not recorded any more.
  void end();

  void on_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call);

  // Whether the calling thread is in a function that makes nodes of a graph out of others.
  bool clones_graph() const;
  // Somewhere a stream is captured into a graph: nothing must be waited for now.
  bool is_capturing() const { return capturing_.any(); }

  // What the calling thread does is the recorder's own.
  static void leave_this_thread_out();

 private:
  static constexpr std::size_t kMostCalls = 2048;  // of a domain; CUPTI knows some 500 and 800
  struct Domain {
    std::array<CallRole, kMostCalls> roles{};
    std::array<bool, kMostCalls> is_per_thread{};
    std::array<std::atomic<telltale_site*>, kMostCalls> sites{};
  };

  // Each for itself, so that neither keeps registers for the other.
  [[gnu::noinline]] void on_begin(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call);
  [[gnu::noinline]] void on_end(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call);

  void look_up_roles();
  void look_up_roles(CUpti_CallbackDomain domain, CallRole (*role_of)(std::string_view));
  void follow_capture(CallRole role, const CUpti_CallbackData& call);
  telltale_site* site_of(CUpti_CallbackDomain domain, CUpti_CallbackId id, const char* name) {
    telltale_site* const site = domain_of(domain).sites[id].load(std::memory_order_acquire);
    return site != nullptr ? site : make_site(domain, id, name);
  }
  [[gnu::cold, gnu::noinline]] telltale_site* make_site(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                                        const char* name);
  Domain& domain_of(CUpti_CallbackDomain domain) { return domain == CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_ : driver_; }

  const Cupti& cupti_;
  Correlations& correlations_;
  LaunchTimes& launches_;
  Contexts& contexts_;
  StreamWaits& waits_;
  Domain runtime_, driver_;
  bool knows_roles_ = false;
  bool has_whole_domains_ = false;  // enabled, rather than chosen calls
  // Odd while calls are recorded. A thread that was inside a call when that changed begins anew.
  std::atomic<std::uint32_t> generation_ = 0;
  CapturingStreams capturing_;
};

}  // namespace telltale::capture
