#include "capture/cuda/api_calls.h"

#include <algorithm>
#include <string>

namespace telltale::capture {
namespace {

struct ThreadCalls {
  std::uint32_t generation = 0;
  std::uint32_t depth = 0;  // of calls that CUPTI told of: the runtime's call the driver's
  CallRole driver_role = CallRole::kNotChosen;
  bool is_left_out = false;
  CUcontext context = nullptr;
  std::uint32_t removals = 0;  // of contexts, when it was looked at
};

thread_local ThreadCalls calls_of_thread;

// Where that is takes a call to find out, since this library may be loaded late. The compiler would make it again for
// each use.
ThreadCalls& found_calls_of_thread() {
  ThreadCalls* found = &calls_of_thread;
  asm("" : "+r"(found));
  return *found;
}

bool tells_of_captures(CallRole role) {
  return role == CallRole::kBeginCapture || role == CallRole::kEndCapture || role == CallRole::kDestroyStream;
}

constexpr telltale_field kCorrelation = {"correlation", TELLTALE_FIELD_TYPE_INTEGER, 0};

}  // namespace

void Contexts::add(CUcontext context) {
  for (const std::atomic<CUcontext>& slot : slots_)
    if (slot.load(std::memory_order_relaxed) == context) return;
  for (std::atomic<CUcontext>& slot : slots_) {
    CUcontext none = nullptr;
    if (slot.compare_exchange_strong(none, context, std::memory_order_release)) return;
  }
}

void Contexts::remove(CUcontext context) {
  for (std::atomic<CUcontext>& slot : slots_) {
    CUcontext expected = context;
    slot.compare_exchange_strong(expected, nullptr, std::memory_order_relaxed);
  }
  removals_.fetch_add(1, std::memory_order_release);
}

bool Contexts::has(CUcontext context) const {
  return std::ranges::any_of(
      slots_, [&](const std::atomic<CUcontext>& slot) { return slot.load(std::memory_order_acquire) == context; });
}

void Contexts::forget_all() {
  for (std::atomic<CUcontext>& slot : slots_) slot.store(nullptr, std::memory_order_relaxed);
  removals_.fetch_add(1, std::memory_order_release);
}

void ApiCalls::look_up_roles() {
  if (knows_roles_) return;
  look_up_roles(CUPTI_CB_DOMAIN_RUNTIME_API, role_of_runtime_call);
  look_up_roles(CUPTI_CB_DOMAIN_DRIVER_API, role_of_driver_call);
}

void ApiCalls::look_up_roles(CUpti_CallbackDomain domain, CallRole (*role_of)(std::string_view)) {
  Domain& functions = domain_of(domain);
  for (std::uint32_t id = 1; id < kMostCalls; ++id) {
    const char* name = nullptr;
    if (cupti_.GetCallbackName(domain, id, &name) != CUPTI_SUCCESS || name == nullptr) continue;
    functions.roles[id] = role_of(name);
    knows_roles_ = true;
    functions.is_per_thread[id] = is_per_thread(name);
  }
}

CUptiResult ApiCalls::enable(CUpti_SubscriberHandle subscriber, telltale_cuda_calls calls) {
  look_up_roles();
  has_whole_domains_ = calls == TELLTALE_CUDA_CALLS_ALL;
  generation_.store((generation_.load(std::memory_order_relaxed) + 1) | 1, std::memory_order_relaxed);
  for (const CUpti_CallbackDomain domain : {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API}) {
    if (calls == TELLTALE_CUDA_CALLS_ALL) {
      if (const CUptiResult result = cupti_.EnableDomain(1, subscriber, domain); result != CUPTI_SUCCESS) return result;
      continue;
    }
    // The driver alone tells of each launch once, for half the price.
    const bool leaves_launches_out = domain == CUPTI_CB_DOMAIN_RUNTIME_API && calls == TELLTALE_CUDA_CALLS_CHOSEN;
    const Domain& functions = domain_of(domain);
    for (std::uint32_t id = 1; id < kMostCalls; ++id) {
      const CallRole role = functions.roles[id];
      if (role == CallRole::kNotChosen || (role == CallRole::kLaunch && leaves_launches_out)) continue;
      if (const CUptiResult result = cupti_.EnableCallback(1, subscriber, domain, id); result != CUPTI_SUCCESS)
        return result;
    }
  }
  return CUPTI_SUCCESS;
}

CUptiResult ApiCalls::enable_captures(CUpti_SubscriberHandle subscriber) {
  look_up_roles();
  // Their ends before their beginnings.
  for (const bool enables_begin : {false, true})
    for (std::uint32_t id = 1; id < kMostCalls; ++id) {
      const CallRole role = driver_.roles[id];
      if (!tells_of_captures(role) || (role == CallRole::kBeginCapture) != enables_begin) continue;
      if (const CUptiResult result = cupti_.EnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
          result != CUPTI_SUCCESS)
        return result;
    }
  return CUPTI_SUCCESS;
}

void ApiCalls::disable(CUpti_SubscriberHandle subscriber) {
  for (const CUpti_CallbackDomain domain : {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API}) {
    if (has_whole_domains_) {
      cupti_.EnableDomain(0, subscriber, domain);
      continue;
    }
    const Domain& functions = domain_of(domain);
    for (std::uint32_t id = 1; id < kMostCalls; ++id)
      if (functions.roles[id] != CallRole::kNotChosen && !tells_of_captures(functions.roles[id]))
        cupti_.EnableCallback(0, subscriber, domain, id);
  }
}

void ApiCalls::end() {
  const std::uint32_t generation = generation_.load(std::memory_order_relaxed);
  if (generation % 2 == 1) generation_.store(generation + 1, std::memory_order_release);
}

void ApiCalls::leave_this_thread_out() { calls_of_thread.is_left_out = true; }

bool ApiCalls::clones_graph() const { return calls_of_thread.driver_role == CallRole::kCloneGraph; }

telltale_site* ApiCalls::make_site(CUpti_CallbackDomain domain, CUpti_CallbackId id, const char* name) {
  const std::string plain(without_version(name != nullptr ? name : ""));
  telltale_site description = {};
  description.name = plain.c_str();
  description.fields = &kCorrelation;
  description.field_count = 1;
  description.kind = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? TELLTALE_KIND_RUNTIME : TELLTALE_KIND_DRIVER;
  telltale_site* site = telltale_make_site(&description);
  domain_of(domain).sites[id].store(site, std::memory_order_release);
  return site;
}

void ApiCalls::follow_capture(CallRole role, const CUpti_CallbackData& call) {
  if (!tells_of_captures(role)) return;
  const auto* result = static_cast<const CUresult*>(call.functionReturnValue);
  const bool has_failed = result != nullptr && *result != CUDA_SUCCESS;
  // All of these functions take the stream first.
  const auto* stream = static_cast<const CUstream*>(call.functionParams);
  const CUstream handle = stream != nullptr ? *stream : nullptr;
  if (role == CallRole::kBeginCapture && !has_failed) capturing_.add(handle);
  // A capture that something has broken ends with an error.
  if (role == CallRole::kEndCapture || (role == CallRole::kDestroyStream && !has_failed)) capturing_.remove(handle);
}

void ApiCalls::on_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call) {
  if (id >= kMostCalls || call.correlationData == nullptr) return;
  if (call.callbackSite == CUPTI_API_ENTER)
    on_begin(domain, id, call);
  else
    on_end(domain, id, call);
}

void ApiCalls::on_begin(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call) {
  const std::uint32_t generation = generation_.load(std::memory_order_relaxed);
  if (generation % 2 == 0) return;
  ThreadCalls& thread = found_calls_of_thread();
  if (thread.generation != generation) {
    thread.generation = generation;
    thread.depth = 0;
    thread.driver_role = CallRole::kNotChosen;
  }
  const CallRole role = domain_of(domain).roles[id];
  if (role == CallRole::kEndsContext) [[unlikely]]
    cupti_.ActivityFlushAll(0);
  const bool is_outermost = thread.depth++ == 0;
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) thread.driver_role = role;
  *call.correlationData = is_outermost && telltale_is_recording() ? telltale_now() : 0;
}

void ApiCalls::on_end(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call) {
  // Also of those that are not recorded.
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) follow_capture(driver_.roles[id], call);
  const std::uint32_t generation = generation_.load(std::memory_order_relaxed);
  if (generation % 2 == 0) return;
  ThreadCalls& thread = found_calls_of_thread();
  if (thread.generation != generation || thread.depth == 0) return;  // it began before it could be seen
  --thread.depth;
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) thread.driver_role = CallRole::kNotChosen;
  if (thread.is_left_out) return;
  const CallRole role = domain_of(domain).roles[id];
  const std::uint32_t removals = contexts_.removals();
  if (role != CallRole::kEndsContext && (thread.context != call.context || thread.removals != removals) &&
      call.context != nullptr) {
    thread.context = call.context;
    thread.removals = removals;
    contexts_.add(call.context);
  }
  const std::uint64_t start = *call.correlationData;
  if (start == 0) return;
  const std::uint64_t correlation = correlations_.unwrapped(call.correlationId);
  // If CUPTI went and came back while this thread did not run, that is the number of another call.
  if (generation_.load(std::memory_order_relaxed) != generation) return;
  launches_.note(correlation, start);
  telltale_scope_end_words(site_of(domain, id, call.functionName), start, &correlation);
  if (role >= CallRole::kRecordEvent && !is_capturing()) [[unlikely]]
    waits_.on_call({role, domain_of(domain).is_per_thread[id], &call, start, telltale_now(), correlation});
}

}  // namespace telltale::capture
