#include "analysis/wait_names.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

TEST(WaitNames, of_sampled_waits_say_what_the_kernel_says) {
  EXPECT_EQ(wait_of_call("<waits for sleep>"), WaitFor::kSleep);
  EXPECT_EQ(wait_of_call("<waits for lock>"), WaitFor::kLock);
  EXPECT_EQ(wait_of_call("<waits for socket>"), WaitFor::kSocket);
  EXPECT_EQ(wait_of_call("<waits for pipe>"), WaitFor::kPipe);
  EXPECT_EQ(wait_of_call("<waits for file>"), WaitFor::kFile);
  EXPECT_EQ(wait_of_call("<waits for process>"), WaitFor::kProcess);
  EXPECT_EQ(wait_of_call("<waits for poll>"), WaitFor::kPoll);
  EXPECT_EQ(wait_of_call("<waits for other>"), WaitFor::kOther);
  EXPECT_EQ(wait_of_call("<waits for what comes>"), WaitFor::kOther);
}

TEST(WaitNames, of_built_ins_are_known_however_a_recorder_writes_them) {
  EXPECT_EQ(wait_of_call("<built-in function sleep>"), WaitFor::kSleep);
  EXPECT_EQ(wait_of_call("<built-in method time.sleep>"), WaitFor::kSleep);
  EXPECT_EQ(wait_of_call("<built-in method acquire of _thread.lock object at 0x7f57b78b7c50>"), WaitFor::kLock);
  EXPECT_EQ(wait_of_call("<method 'acquire' of '_thread.lock' objects>"), WaitFor::kLock);
  EXPECT_EQ(wait_of_call("<built-in method recv_into of socket object>"), WaitFor::kSocket);
  EXPECT_EQ(wait_of_call("<method 'recv_into' of '_socket.socket' objects>"), WaitFor::kSocket);
  EXPECT_EQ(wait_of_call("<built-in method read of _ssl._SSLSocket object at 0x7f57b78b7c50>"), WaitFor::kSocket);
  EXPECT_EQ(wait_of_call("<built-in method posix.waitpid>"), WaitFor::kProcess);
  EXPECT_EQ(wait_of_call("<built-in function select>"), WaitFor::kPoll);
  EXPECT_EQ(wait_of_call("<built-in method poll of select.epoll object>"), WaitFor::kPoll);
  EXPECT_EQ(wait_of_call("<built-in method read of _io.BufferedReader object>"), WaitFor::kFile);
  EXPECT_EQ(wait_of_call("<built-in function fsync>"), WaitFor::kFile);
}

TEST(WaitNames, of_other_calls_are_none) {
  for (const std::string_view call :
       {"<built-in function len>", "<built-in method get of dict object>", "<built-in method acquire of Pool object>",
        "<built-in method read of _io.BytesIO object>", "train.py(3): sleep",
        "<built-in method run_backward of E object>", "sleep", "<", "<waits for ", "<method 'acquire>", ""})
    EXPECT_EQ(wait_of_call(call), WaitFor::kNothing) << call;
}

// A built-in within functions, the outermost first.
WaitFor waited_within(const std::vector<std::string_view>& functions, std::string_view call) {
  TraceSketch sketch;
  const TrackId main = sketch.thread("main");
  Nanoseconds margin = 0;
  for (const std::string_view function : functions) {
    sketch.event(main, Kind::kPython, function, margin, 100 - margin);
    ++margin;
  }
  const auto wait = sketch.event(main, Kind::kPython, call, 40, 60);
  const Trace trace = sketch.build();
  return waited_for(trace, sketch.id(wait));
}

TEST(WaitNames, the_outermost_library_function_below_the_user_says_what_a_wait_is_for) {
  EXPECT_EQ(waited_within({"train.py(3): main", "subprocess.py(506): run", "selectors.py(403): select"},
                          "<built-in method poll of select.poll object>"),
            WaitFor::kProcess);
  EXPECT_EQ(waited_within({"train.py(3): main", "urllib/request.py(189): urlopen", "http/client.py(463): read"},
                          "<waits for poll>"),
            WaitFor::kSocket);
  EXPECT_EQ(waited_within({"train.py(3): main", "multiprocessing/queues.py(98): get"}, "<waits for pipe>"),
            WaitFor::kProcess);
  EXPECT_EQ(waited_within({"train.py(3): main", "queue.py(154): get", "threading.py(288): wait"}, "<waits for lock>"),
            WaitFor::kLock);
}

TEST(WaitNames, what_stands_outside_of_the_users_function_says_nothing) {
  EXPECT_EQ(waited_within({"subprocess.py(506): run", "train.py(3): main"}, "<waits for lock>"), WaitFor::kLock);
  EXPECT_EQ(waited_within({"subprocess.py(506): run"}, "<waits for sleep>"), WaitFor::kSleep);
  EXPECT_EQ(waited_within({"train.py(3): main", "my_queue.py(4): get"}, "<waits for file>"), WaitFor::kFile);
}

TEST(WaitNames, have_a_word_and_a_phrase_each) {
  for (int i = 0; i < kWaitForCount; ++i) {
    EXPECT_FALSE(name_of(static_cast<WaitFor>(i)).empty());
    EXPECT_FALSE(phrase_of(static_cast<WaitFor>(i)).empty());
  }
}

}  // namespace
}  // namespace telltale
