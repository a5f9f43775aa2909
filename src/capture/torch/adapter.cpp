// Telltale's adapter for PyTorch: gives the recorder what at::RecordFunction and the allocators report.
//
// This folder is compiled on the user's machine against the user's torch, whose C++ interface differs between versions;
// it knows torch and telltale.h, and nothing else of Telltale. Its callbacks run on every thread of the user's program:
// they hold no tensor beyond the call, take no lock that Python or a device could wait for, and let no exception out.
#include <ATen/record_function.h>
#include <pthread.h>
#include <telltale/telltale.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "collectives.h"
#include "extras.h"
#include "inputs.h"
#include "memory.h"
#include "profiler_mark.h"
#include "sites.h"
#include "steps.h"

namespace telltale::torch_adapter {
namespace {

using Scope = at::RecordScope;

// What telltale_torch_start() can be asked for.
enum Option : std::uint32_t {
  kWithInputs = 1,
  kWithMemory = 2,
  kFindSteps = 4,
  kAsProfiler = 8,  // in place of torch's own: with a mark that says so, and with extras
  kWithOverloads = 16,
  kCallsAreRecorded = 32,  // each of Python's calls: stacks add the lines, and no calls are made of them
};

// What is wanted now. Callbacks of a recording that has ended may still run.
std::atomic<std::uint32_t> options = 0;
// Counts recordings, so that what began in one is not ended in the next.
std::atomic<std::uint32_t> generation = 0;
StepFinder steps;

// Tells the stack of the calling thread, see python/bindings/recorder/observed_stacks.h; null where nobody can.
using StackSource = int (*)(int is_new, std::uint32_t* stack, std::uint32_t* kept);
std::atomic<StackSource> stack_source = nullptr;

struct ThreadState;

// What few operators have.
struct Details {
  InputTexts inputs;
  CollectiveTexts collective;
  Extras extras;
};

// An operator that has begun. Its memory comes from those that ended before, one every few nanoseconds.
struct OpenOperator final : at::ObserverContext {
  telltale_site* site = nullptr;
  std::uint64_t start = 0;
  const ThreadState* thread = nullptr;  // to tell threads apart; it may have ended
  std::uint32_t generation = 0;
  std::uint32_t form = kPlain;
  std::int64_t sequence = -1;
  std::int64_t forward_thread = 0;
  std::uint32_t stack = 0, frames_kept = 0;
  InputNames inputs;
  std::unique_ptr<Details> details;

  static void* operator new(std::size_t size);
  static void operator delete(void* memory);
};

// Memory for operators, linked through its first word.
struct SpareMemory {
  SpareMemory* next;
};

struct ThreadState {
  SiteCache sites;
  InputCache inputs;
  SpareMemory* spare = nullptr;
  int open_annotations = 0;
  std::uint64_t optimizer = 0;  // that takes a step, by its address; 0: not known
  int open_operators = 0;

  ~ThreadState() {
    while (spare != nullptr) ::operator delete(std::exchange(spare, spare->next));
  }
};

// The model that needs no call to find a thread's variables; a few words are kept free for libraries that come late.
#define TELLTALE_QUICK_TLS __attribute__((tls_model("initial-exec")))
TELLTALE_QUICK_TLS thread_local ThreadState* thread_state = nullptr;
TELLTALE_QUICK_TLS thread_local bool has_thread_ended = false;

ThreadState* make_thread_state() {
  struct Owner {
    ThreadState state;
    ~Owner() {
      thread_state = nullptr;
      has_thread_ended = true;
    }
  };
  if (has_thread_ended) return nullptr;
  thread_local Owner owner;
  return thread_state = &owner.state;
}

// Null when the thread is about to end and has given its state back: then nothing more is recorded on it.
ThreadState* this_thread() { return thread_state != nullptr ? thread_state : make_thread_state(); }

void* OpenOperator::operator new(std::size_t size) {
  if (thread_state == nullptr || thread_state->spare == nullptr) return ::operator new(size);
  return std::exchange(thread_state->spare, thread_state->spare->next);
}

void OpenOperator::operator delete(void* memory) {
  if (thread_state != nullptr)
    thread_state->spare = new (memory) SpareMemory{thread_state->spare};
  else
    ::operator delete(memory);
}

std::uint32_t form_of(const OpenOperator& open) {
  if (open.sequence < 0) return kPlain;
  return open.forward_thread == 0 ? kWithSequence : kWithSequence | kWithForwardThread;
}

Details& details_of(OpenOperator& open) {
  if (open.details == nullptr) open.details = std::make_unique<Details>();
  return *open.details;
}

void take_note_of_collective(OpenOperator& open) {
  CollectiveTexts about;
  if (!describe_collective(about)) return;
  details_of(open).collective = std::move(about);
  open.form |= kCollective;
}

void take_note_of_inputs(OpenOperator& open, ThreadState& thread, c10::ArrayRef<const c10::IValue> inputs) {
  if (const InputNames* const names = thread.inputs.find(inputs)) {
    open.inputs = *names;
    open.form |= kInputNames;
  } else {
    details_of(open).inputs = describe_inputs(inputs);
    open.form |= kInputTexts;
  }
}

void take_note_of_extras(OpenOperator& open, const at::RecordFunction& function, std::uint32_t wanted) {
  Extras extras = describe_extras(function, (wanted & kWithOverloads) != 0, (wanted & kWithInputs) != 0);
  if (extras.empty()) return;
  details_of(open).extras = std::move(extras);
  open.form |= kWithExtras;
}

void take_note_of_stack(OpenOperator& open, bool is_new) {
  const StackSource ask = stack_source.load(std::memory_order_relaxed);
  if (ask == nullptr || ask(is_new ? 1 : 0, &open.stack, &open.frames_kept) == 0) return;
  const bool are_calls_recorded = (options.load(std::memory_order_relaxed) & kCallsAreRecorded) != 0;
  open.form |= are_calls_recorded ? kWithStack : kWithStack | kWithKeptFrames;
}

std::unique_ptr<OpenOperator> begin(const ThreadState& thread, const at::RecordFunction& function) {
  auto open = std::make_unique<OpenOperator>();
  open->thread = &thread;
  open->generation = generation.load(std::memory_order_relaxed);
  open->sequence = function.seqNr();
  open->forward_thread = static_cast<std::int64_t>(function.forwardThreadId());
  open->form = form_of(*open);
  return open;
}

std::unique_ptr<at::ObserverContext> on_operator_start(const at::RecordFunction& function) {
  if (!telltale_is_recording()) return nullptr;
  ThreadState* const thread = this_thread();
  if (thread == nullptr) return nullptr;
  auto open = begin(*thread, function);
  take_note_of_stack(*open, thread->open_operators++ == 0);
  const char* const name = function.name();
  try {
    if (is_collective(name)) take_note_of_collective(*open);
    const std::uint32_t wanted = options.load(std::memory_order_relaxed);
    if (wanted & kWithInputs) take_note_of_inputs(*open, *thread, function.inputs());
    if (wanted & kAsProfiler) take_note_of_extras(*open, function, wanted);
  } catch (...) {  // a kind of tensor that has no sizes: recorded without
  }
  open->site = thread->sites.find(name, TELLTALE_KIND_OPERATOR, open->form,
                                  [&] { return function.operator_name().has_value(); });
  open->start = telltale_scope_begin(open->site);
  return open;
}

constexpr std::uint32_t kTextForms = kInputTexts | kCollective | kWithExtras;

// The values of a record without texts, in the order of the fields in sites.h.
std::size_t fill(const OpenOperator& open, std::uint64_t* words) {
  std::size_t count = 0;
  if (open.form & kWithSequence) words[count++] = static_cast<std::uint64_t>(open.sequence);
  if (open.form & kWithForwardThread) words[count++] = static_cast<std::uint64_t>(open.forward_thread);
  if (open.form & kWithStack) words[count++] = open.stack;
  if (open.form & kWithKeptFrames) words[count++] = open.frames_kept;
  if (open.form & kInputNames) {
    for (const std::uint32_t name : {open.inputs.dims, open.inputs.strides, open.inputs.types, open.inputs.concrete})
      words[count++] = name;
  }
  return count;
}

// Those of any record.
void fill(const OpenOperator& open, telltale_value* values) {
  std::uint64_t words[kMostFields];
  std::size_t count = fill(open, words);
  for (std::size_t i = 0; i < count; ++i) values[i].integer = static_cast<std::int64_t>(words[i]);
  const auto add_text = [&](const std::string& text) { values[count++].text = {text.data(), text.size()}; };
  if (open.form & kInputTexts) {
    const InputTexts& inputs = open.details->inputs;
    for (const std::string* text : {&inputs.dims, &inputs.strides, &inputs.types, &inputs.concrete}) add_text(*text);
  }
  if (open.form & kCollective) {
    const CollectiveTexts& about = open.details->collective;
    for (const std::string* text :
         {&about.name, &about.type, &about.group, &about.description, &about.ranks, &about.in_split, &about.out_split})
      add_text(*text);
    for (const std::int64_t number : {about.in_elements, about.out_elements, about.group_size, about.rank})
      values[count++].integer = number;
  }
  if (open.form & kWithExtras) {
    const Extras& extras = open.details->extras;
    values[count++].integer = extras.record_function;
    add_text(extras.overload);
    add_text(extras.keywords);
  }
}

// Operators that end on another thread than they began on have a line of their own.
void tell_asynchronous(const OpenOperator& open, const telltale_value* values) {
  static const std::uint32_t track = [] {
    const telltale_track description = {
        "asynchronous operators", TELLTALE_TRACK_TYPE_CUSTOM, TELLTALE_CLOCK_TICKS, -1, 0, 0};
    return telltale_make_track(&description);
  }();
  telltale_span_at(track, open.site, open.start, telltale_now(), 0, values);
}

void end(const OpenOperator& open, bool is_asynchronous) {
  if (open.generation != generation.load(std::memory_order_relaxed)) {
    if (!is_asynchronous) telltale_scope_abandon(open.start);
    return;
  }
  if (!is_asynchronous && (open.form & kTextForms) == 0) {
    std::uint64_t words[kMostFields];
    fill(open, words);
    telltale_scope_end_words(open.site, open.start, words);
    return;
  }
  telltale_value values[kMostFields];
  fill(open, values);
  if (is_asynchronous)
    tell_asynchronous(open, values);
  else
    telltale_scope_end_with(open.site, open.start, values);
}

void on_operator_end(const at::RecordFunction&, at::ObserverContext* context) {
  if (context == nullptr) return;
  const OpenOperator& open = *static_cast<OpenOperator*>(context);
  ThreadState* const thread = this_thread();
  const bool is_asynchronous = open.thread != thread;
  if (!is_asynchronous && thread->open_operators > 0) --thread->open_operators;
  end(open, is_asynchronous);
}

// ---- Annotations, and the steps they tell of ----

class OperatorCallback {
 public:
  // Operators are watched only while something is recorded, so that steps in between cost nothing.
  void follow_recording() {
    const std::lock_guard lock(mutex_);
    const bool is_wanted = is_active_ && telltale_is_recording() != 0;
    if (is_wanted && handle_ == at::INVALID_CALLBACK_HANDLE) handle_ = at::addGlobalCallback(callback());
    if (!is_wanted && handle_ != at::INVALID_CALLBACK_HANDLE) {
      at::removeCallback(handle_);
      handle_ = at::INVALID_CALLBACK_HANDLE;
    }
  }

  // Around fork().
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

  void activate(bool is_active) {
    {
      const std::lock_guard lock(mutex_);
      is_active_ = is_active;
    }
    follow_recording();
  }

 private:
  static at::RecordFunctionCallback callback() {
    auto made = at::RecordFunctionCallback(on_operator_start, on_operator_end);
    made.needsInputs((options.load() & kWithInputs) != 0);
    // Those that Python programs have: torch goes through all that are asked for at each node of a backward pass.
    made.scopes({Scope::FUNCTION, Scope::BACKWARD_FUNCTION, Scope::TORCHSCRIPT_FUNCTION, Scope::CUSTOM_CLASS});
    return made;
  }

  std::mutex mutex_;
  bool is_active_ = false;
  at::CallbackHandle handle_ = at::INVALID_CALLBACK_HANDLE;
};

OperatorCallback operators;
at::CallbackHandle annotations = at::INVALID_CALLBACK_HANDLE;

bool wants_steps() { return (options.load(std::memory_order_relaxed) & kFindSteps) != 0; }

void end_step() {
  telltale_step();
  operators.follow_recording();
}

std::unique_ptr<at::ObserverContext> on_annotation_start(const at::RecordFunction& function) {
  ThreadState* const thread = this_thread();
  if (thread == nullptr) return nullptr;
  if (wants_steps() && steps.begins(function.name(), thread->open_annotations == 0)) end_step();
  ++thread->open_annotations;
  if (!telltale_is_recording()) return nullptr;
  auto open = begin(*thread, function);
  take_note_of_stack(*open, true);
  if (options.load(std::memory_order_relaxed) & kAsProfiler) take_note_of_extras(*open, function, 0);
  open->site = thread->sites.find_by_text(function.name(), TELLTALE_KIND_ANNOTATION, open->form);
  open->start = telltale_scope_begin(open->site);
  return open;
}

void on_annotation_end(const at::RecordFunction& function, at::ObserverContext* context) {
  ThreadState* const thread = this_thread();
  if (context != nullptr) {
    const OpenOperator& open = *static_cast<OpenOperator*>(context);
    end(open, open.thread != thread);
  }
  if (thread != nullptr && thread->open_annotations > 0) --thread->open_annotations;
  if (wants_steps() && steps.ends(function.name(), thread == nullptr ? 0 : thread->optimizer)) end_step();
}

void unlock_all() {
  HostAllocator::instance().sizes().unlock();
  steps.unlock();
  operators.unlock();
}

// A thread that forks must not leave the child with locks that other threads held.
void survive_forks() {
  static const int registered = pthread_atfork(
      [] {
        operators.lock();
        steps.lock();
        HostAllocator::instance().sizes().lock();
      },
      [] { unlock_all(); },
      [] {
        unlock_all();
        operators.follow_recording();  // a child records even where its parent pauses
      });
  static_cast<void>(registered);
}

}  // namespace
}  // namespace telltale::torch_adapter

// What Python calls, through ctypes. Not thread-safe: one recording at a time, as in the recorder.
extern "C" {

// Begins to tell the recorder what torch does. `wanted`: see Option; `stacks`: see StackSource. 1: all of it; 0: memory
// cannot be recorded.
TELLTALE_API int telltale_torch_start(std::uint32_t wanted, void* stacks) {
  using namespace telltale::torch_adapter;
  stack_source.store(reinterpret_cast<StackSource>(stacks));
  survive_forks();
  generation.fetch_add(1);
  options.store(wanted);
  steps.reset();
  bool has_all = true;
  if ((wanted & kWithMemory) != 0) {
    has_all = HostAllocator::instance().install();
    is_memory_wanted.store(true);
    static_cast<void>(allocator_event_site());
  }
  if (annotations == at::INVALID_CALLBACK_HANDLE) {
    annotations = at::addGlobalCallback(
        at::RecordFunctionCallback(on_annotation_start, on_annotation_end).scopes({at::RecordScope::USER_SCOPE}));
  }
  operators.activate(true);
  if ((wanted & kAsProfiler) != 0) ProfilerMark::set((wanted & kWithInputs) != 0);
  return has_all ? 1 : 0;
}

// Leaves nothing behind but blocks of memory that are given back through us.
TELLTALE_API void telltale_torch_stop() {
  using namespace telltale::torch_adapter;
  ProfilerMark::remove();
  operators.activate(false);
  if (annotations != at::INVALID_CALLBACK_HANDLE) at::removeCallback(annotations);
  annotations = at::INVALID_CALLBACK_HANDLE;
  options.store(0);
  stack_source.store(nullptr);
  if (is_memory_wanted.exchange(false)) HostAllocator::instance().uninstall();
  generation.fetch_add(1);
}

// The optimizer at that address takes a step on this thread: see StepFinder.
TELLTALE_API void telltale_torch_optimizer(std::uint64_t address) {
  using namespace telltale::torch_adapter;
  if (ThreadState* const thread = this_thread()) thread->optimizer = address;
}

// Torch's own profiler may start on this thread, see profiler_mark.h.
TELLTALE_API void telltale_torch_let_torch_record() { telltale::torch_adapter::ProfilerMark::remove(); }

// Watches CUDA's allocator, which must be there: 1 when it is watched, 0 when it cannot be.
TELLTALE_API int telltale_torch_watch_cuda_memory() { return telltale::torch_adapter::watch_cuda_memory() ? 1 : 0; }

// Around the one look at what CUDA's allocator holds that the calling thread takes for the recording.
TELLTALE_API void telltale_torch_take_state(int is_begin) {
  telltale::torch_adapter::is_state_taken_here = is_begin != 0;
}

// Whether CUDA's allocator can be watched when memory is.
TELLTALE_API int telltale_torch_sees_cuda_memory() {
#ifdef TELLTALE_WITH_CUDA
  return 1;
#else
  return 0;
#endif
}
}
