#include "record/writer.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "record/recorder_state.h"
#include "record/session_pairs.h"
#include "record/step_times.h"
#include "record/thread_state.h"
#include "record/uninterrupted.h"
#include "record/writer_thread.h"

namespace telltale::record {

constinit Writer writer;

namespace {

// A scope is worth telling of before it ends when it has been open for so long.
constexpr std::int64_t kLongOpenNs = 250'000'000;

}  // namespace

int Writer::start(const Settings& settings, const char* path, unsigned number) {
  settings_ = settings;
  number_ = number;
  is_finish_asked_ = lacks_thread_ = false;
  flushes_asked_ = flushes_done_ = 0;
  is_dump_asked_.store(false, std::memory_order_relaxed);
  error_.store(0, std::memory_order_relaxed);
  const bool is_flight = settings.flight_ns > 0;
  const bool has_memory = pool.open(settings.memory_limit, settings.policy, is_flight) &&
                          encoder_.open(pool.buffer_bytes()) && file_.prepare(settings.compression);
  int error = has_memory ? 0 : ENOMEM;
  first_calibration_ = calibrate();
  if (error == 0 && !is_flight) {
    const int open_error = open_file(path, number);
    if (number == 0) error = open_error;  // a later file that cannot be opened is counted as lost, not refused
  }
  if (error == 0) {
    error = start_writer_thread(thread_, run, this);
    lacks_thread_ = error != 0;
    if (error != 0 && !is_flight) file_.remove(path);
  }
  is_running_ = error == 0;
  if (error != 0) release_memory();
  return error;
}

int Writer::open_file(const char* path, unsigned number) {
  const int error = file_.open(path, losses);
  error_.store(error, std::memory_order_relaxed);
  metadata_described_ = metadata_told_ = metadata_changes();
  pairs_.describe(settings_, number, first_calibration_, names);
  file_.set_session(pairs_.begin(), pairs_.size(), settings_.began);
  file_.add_names(names);
  file_.add_calibration(first_calibration_);
  if (error == 0) file_.commit();
  return error;
}

void* Writer::run(void* self) {
  pthread_setname_np(pthread_self(), "telltale");
  Uninterrupted::assume_for_this_thread();
  auto& own = *static_cast<Writer*>(self);
  own.thread_id_.store(gettid(), std::memory_order_relaxed);
  own.loop();
  own.thread_id_.store(0, std::memory_order_relaxed);
  return nullptr;
}

void Writer::loop() {
  std::int64_t deadline = clock_ns(CLOCK_MONOTONIC) + settings_.flush_ns;
  while (true) {
    const std::int64_t left = deadline - clock_ns(CLOCK_MONOTONIC);
    if (left > 0) pool.wait_for_work(left);
    mutex_.lock();
    const std::uint64_t flushes = flushes_asked_;
    const bool must_flush = flushes != flushes_done_ || clock_ns(CLOCK_MONOTONIC) >= deadline;
    const bool must_finish = is_finish_asked_;
    mutex_.unlock();
    if (must_finish) break;
    if (settings_.flight_ns > 0) {
      losses.add(tell::LossReason::kAgedOut, pool.drop_older_than(ticks_ago(settings_.flight_ns)));
      write_dumps();
      pool.recycle();
    } else {
      write_full_buffers();
      if (pool.take_starvation()) make_room();
      if (must_flush) write_partial_buffers();
      if (must_flush) tell_of_new_metadata();
      file_.commit();
      pool.recycle();
    }
    if (must_flush) deadline = clock_ns(CLOCK_MONOTONIC) + settings_.flush_ns;
    note_progress();
    Lock lock(mutex_);
    flushes_done_ = flushes;
    done_.wake_all();
  }
  close_down();
}

void Writer::close_down() {
  if (is_abandoned_) return;
  if (settings_.flight_ns > 0) {
    write_dumps();
    losses.add(tell::LossReason::kAgedOut, pool.drop_older_than(UINT64_MAX));
  } else {
    write_full_buffers();
    const Calibration now = calibrate();
    pool.for_each_thread([&](ThreadState& thread, BufferPool::Partial partial) {
      write_partial(partial);  // of a thread that was given up
      file_.add_open_scopes(thread, now.ticks, UINT64_MAX, names);
    });
    file_.add_calibration(now);
    tell_what_is_new();
    file_.finish(end_reason_);
    files_.fetch_add(file_.error() == 0 ? 1 : 0, std::memory_order_relaxed);
  }
  note_progress();
}

// Nothing of the session's own, which may change meanwhile.
void Writer::tell_of_new_metadata() {
  const std::uint64_t changes = metadata_changes();
  if (changes == metadata_told_) return;
  metadata_told_ = changes;
  new_pairs_.describe_metadata(names);
  file_.add_to_session(new_pairs_.begin(), new_pairs_.size());
}

// Steps that ran since the session described itself, and what the user said.
void Writer::tell_what_is_new() {
  if (unrecorded_steps.text()[0] == '\0' && metadata_changes() == metadata_described_) return;
  pairs_.describe(settings_, number_, first_calibration_, names);
  file_.set_session(pairs_.begin(), pairs_.size(), settings_.began);
  file_.repeat_session();
}

void Writer::write_full_buffers() {
  // Threads that come and go fill the queue as fast as it empties; what is known of those that are gone makes room for
  // others meanwhile.
  constexpr int kBetweenRecycling = 32;
  for (int count = 1; Buffer* buffer = pool.pop_full(); ++count) {
    write(*buffer, buffer->written, buffer->end, 0);
    pool.release(buffer);
    if (count % kBetweenRecycling != 0) continue;
    file_.commit();
    pool.recycle();
  }
}

void Writer::write_partial_buffers() {
  const std::uint64_t now = ticks_now(), long_ago = ticks_ago(kLongOpenNs);
  // A thread can fill its buffer while others are written. What it filled goes first: a file that ends here has no
  // gaps, and what is flushed is all that was emitted before. A thread that is always faster waits for the next time.
  constexpr int kMostRounds = 16;
  bool is_behind = true;
  for (int round = 0; is_behind && round < kMostRounds; ++round) {
    if (round > 0) write_full_buffers();
    is_behind = false;
    pool.for_each_thread([&](ThreadState&, BufferPool::Partial partial) {
      is_behind |= partial.has_full_before;
      if (!partial.has_full_before) write_partial(partial);
    });
  }
  pool.for_each_thread(
      [&](ThreadState& thread, BufferPool::Partial) { file_.add_open_scopes(thread, now, long_ago, names); });
  file_.add_calibration(calibrate());
  file_.add_losses();
}

void Writer::write_partial(BufferPool::Partial partial) {
  if (partial.buffer == nullptr || partial.buffer->written >= partial.end) return;
  write(*partial.buffer, partial.buffer->written, partial.end, 0);
  partial.buffer->written = const_cast<unsigned char*>(partial.end);
}

// Some thread found no buffer: those that others hold and do not use come back.
void Writer::make_room() {
  pool.close_buffers();
  barrier_on_all_threads();
  pool.take_closed_buffers();
  write_full_buffers();
}

void Writer::write(Buffer& buffer, const unsigned char* begin, const unsigned char* end, std::uint64_t not_before) {
  ThreadState& thread = *buffer.owner;
  file_.add_names(names);
  const std::uint64_t before = file_.describe_thread(thread, names);
  file_.add_records(thread, encoder_.encode({begin, end}, thread.track, before, not_before, names));
}

DumpRequest* Writer::next_request() {
  Lock lock(mutex_);
  DumpRequest* request = requests_;
  if (request != nullptr) requests_ = request->next;
  return request;
}

// Each request has a file of its own; a signal and a step that takes too long have one together.
void Writer::write_dumps() {
  while (DumpRequest* request = next_request()) {
    const int error = write_dump(request->path);
    Lock lock(mutex_);
    request->error = error;
    request->is_done = true;
    done_.wake_all();
  }
  if (is_dump_asked_.exchange(false, std::memory_order_relaxed)) write_dump(nullptr);
}

int Writer::write_dump(const char* asked) {
  char path[kMaxPath];
  if (asked != nullptr)
    strcpy(path, asked);
  else if (!expand_path(settings_.path, number_, path))
    return ENAMETOOLONG;
  if (const int error = open_file(path, number_); error != 0) return error;
  const std::uint64_t oldest = ticks_ago(settings_.flight_ns);
  Buffer* list = pool.take_all_full();
  for (Buffer* buffer = list; buffer != nullptr; buffer = buffer->next)
    write(*buffer, buffer->begin(), buffer->end, oldest);
  pool.put_back(list);
  const Calibration now = calibrate();
  pool.for_each_thread([&](ThreadState& thread, BufferPool::Partial partial) {
    if (partial.buffer != nullptr) write(*partial.buffer, partial.buffer->begin(), partial.end, oldest);
    file_.add_open_scopes(thread, now.ticks, UINT64_MAX, names);
  });
  file_.add_calibration(now);
  file_.finish(tell::EndReason::kDumped);
  records_before_ += file_.records();
  bytes_before_ += file_.bytes();
  const int error = file_.error();
  if (error == 0) files_.fetch_add(1, std::memory_order_relaxed);
  if (error == 0 && asked == nullptr) ++number_;
  note_progress();
  if (error == 0 && settings_.on_ready != nullptr) settings_.on_ready(path, settings_.user);
  return error;
}

std::uint64_t Writer::ticks_ago(std::int64_t ns) const {
  const Calibration now = calibrate();
  const double elapsed = static_cast<double>(now.monotonic_ns - first_calibration_.monotonic_ns);
  const double ticks = static_cast<double>(now.ticks - first_calibration_.ticks);
  if (elapsed <= 0 || static_cast<double>(ns) >= elapsed) return 0;
  return now.ticks - static_cast<std::uint64_t>(static_cast<double>(ns) * (ticks / elapsed));
}

void Writer::note_progress() {
  const bool has_file = settings_.flight_ns == 0;
  records_.store(records_before_ + (has_file ? file_.records() : 0), std::memory_order_relaxed);
  bytes_.store(bytes_before_ + (has_file ? file_.bytes() : 0), std::memory_order_relaxed);
  cpu_ns_.store(cpu_before_ + static_cast<std::uint64_t>(clock_ns(CLOCK_THREAD_CPUTIME_ID)), std::memory_order_relaxed);
  error_.store(file_.error(), std::memory_order_relaxed);
}

void Writer::finish(tell::EndReason reason) {
  if (!is_running_) return;
  {
    Lock lock(mutex_);
    end_reason_ = reason;
    is_finish_asked_ = true;
  }
  pool.wake_writer();
  pthread_join(thread_, nullptr);
  is_running_ = false;
  records_before_ = records();
  bytes_before_ = bytes();
  cpu_before_ = cpu_ns();
  release_memory();
}

void Writer::abandon(const char* path) {
  is_abandoned_ = true;
  finish(tell::EndReason::kStopped);
  is_abandoned_ = false;
  file_.remove(path);
}

void Writer::release_memory() {
  encoder_.close();
  file_.discard();
  pool.close();
}

void Writer::flush() {
  mutex_.lock();
  const std::uint64_t ticket = ++flushes_asked_;
  mutex_.unlock();
  pool.wake_writer();
  Lock lock(mutex_);
  while (flushes_done_ < ticket && is_running_) done_.wait_for(mutex_, settings_.flush_ns);
}

void Writer::add(DumpRequest& request) {
  {
    Lock lock(mutex_);
    DumpRequest** end = &requests_;
    while (*end != nullptr) end = &(*end)->next;
    *end = &request;
  }
  pool.wake_writer();
}

int Writer::await(const DumpRequest& request) {
  constexpr std::int64_t kBetweenLooksNs = 100'000'000;
  const pid_t pid = getpid();  // a child that a handler of this thread forked has no writer
  Lock lock(mutex_);
  while (!request.is_done && getpid() == pid) done_.wait_for(mutex_, kBetweenLooksNs);
  return request.is_done ? request.error : ECANCELED;
}

void Writer::reset_statistics() {
  records_before_ = bytes_before_ = cpu_before_ = 0;
  records_.store(0, std::memory_order_relaxed);
  bytes_.store(0, std::memory_order_relaxed);
  cpu_ns_.store(0, std::memory_order_relaxed);
  files_.store(0, std::memory_order_relaxed);
}

void Writer::reset_in_child() {
  mutex_.reset_in_child();
  is_running_ = is_abandoned_ = false;
  thread_id_.store(0, std::memory_order_relaxed);
  requests_ = nullptr;
  file_.leave_to_parent();
  encoder_.close();
  pool.reset_in_child();
}

}  // namespace telltale::record
