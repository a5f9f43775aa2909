#include "trace_from_bytes.h"

#include <string_view>
#include <vector>

namespace telltale::fuzzing {
namespace {

using Words = std::vector<std::string_view>;

const Words kPhases = {"X", "X", "X", "X", "X", "X", "B", "E", "b", "e", "n",
                       "i", "I", "C", "s", "f", "t", "M", "S", "F", "Q"};
const Words kCategories = {"cpu_op",
                           "cpu_op",
                           "cpu_op",
                           "user_annotation",
                           "python_function",
                           "cuda_runtime",
                           "cuda_driver",
                           "kernel",
                           "kernel",
                           "gpu_memcpy",
                           "gpu_memset",
                           "cuda_sync",
                           "gpu_user_annotation",
                           "overhead",
                           "Trace",
                           "collective_comm",
                           "privateuse1_dma",
                           "fwdbwd",
                           "ac2g",
                           "queue",
                           ""};
const Words kNames = {"aten::mm",
                      "aten::add",
                      "ProfilerStep#1",
                      "ProfilerStep#12",
                      "ProfilerStep#x",
                      "nn.Module: L_0",
                      "a.py(1): f",
                      "cudaLaunchKernel",
                      "k",
                      "Memcpy HtoD (Pageable -> Device)",
                      "Memset (Device)",
                      "[memory]",
                      "[memory]",
                      "thread_name",
                      "process_name",
                      "process_labels",
                      "thread_sort_index",
                      "process_sort_index",
                      "num_cpus",
                      "",
                      "\\u00e9\\n"};
const Words kPlaces = {"1",      "1",       "1",         "2",    "7",    "0",   "-3",
                       "\"1\"",  "\"0x7\"", "\"Spans\"", "\"\"", "null", "2.5", "99999999999999999999",
                       "\"9b\"", "true"};
const Words kTimes = {"0",     "1",      "2",  "3",   "4",  "5",     "5.0005",           "6",    "7.25", "8",
                      "10",    "12.001", "20", "1e1", "-4", "\"9\"", "1700000000000000", "1e30", "null", "\"x\"",
                      "2.5e-1"};
const Words kDurations = {"0", "1", "2", "3", "5", "10", "0.001", "2.5", "-1", "\"4\"", "1e30", "null"};
const Words kKeys = {"External id",
                     "correlation",
                     "Sequence number",
                     "Fwd thread id",
                     "device",
                     "stream",
                     "bytes",
                     "Addr",
                     "Bytes",
                     "Device Type",
                     "Device Id",
                     "Total Allocated",
                     "Total Reserved",
                     "name",
                     "labels",
                     "sort_index",
                     "Input Dims",
                     "Input type",
                     "Concrete Inputs",
                     "Call stack",
                     "Module Hierarchy",
                     "grid",
                     "block",
                     "registers per thread",
                     "blocks per SM",
                     "graph id",
                     "graph node id",
                     "cuda_sync_kind",
                     "wait_on_stream",
                     "Collective name",
                     "Group size",
                     "Is asynchronized op",
                     "Source path",
                     "Source line",
                     "Memory pool",
                     "Ev Idx",
                     "other",
                     "\\u0064evice",
                     "queue depth"};
const Words kValues = {"0",
                       "1",
                       "1",
                       "2",
                       "3",
                       "-1",
                       "40",
                       "\"1\"",
                       "\"2\"",
                       "\"text\"",
                       "\"\"",
                       "null",
                       "true",
                       "1.5",
                       "-0",
                       "[4, 8, 1]",
                       "[[1, 2], []]",
                       "[\"float\", \"\"]",
                       "{\"a\": [1 ,2]}",
                       "4294967297",
                       "18446744073709551615",
                       "1e3",
                       "\"a\\\"b\"",
                       "[]",
                       "{}",
                       "1e-320",
                       "2147483648"};
const Words kHeaders = {"\"baseTimeNanoseconds\": 1700000000000000000",
                        "\"record_shapes\": 1",
                        "\"with_stack\": true",
                        "\"deviceProperties\": [{\"id\": 1, \"name\": \"A\", \"numSms\": 7}]",
                        "\"displayTimeUnit\": \"ms\"",
                        "\"distributedInfo\": {\"rank\": 1, \"pg_config\": [{\"pg_name\": 0, \"ranks\": \"[0, 1]\"}]}",
                        "\"traceEvents\": []",
                        "\"deviceProperties\": 3",
                        "\"baseTimeNanoseconds\": \"5\""};

class Writer {
 public:
  explicit Writer(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::string run() {
    const bool is_bare = chance(8);
    text_.push_back(is_bare ? '[' : '{');
    if (!is_bare) {
      headers("", ", ");
      text_ += "\"traceEvents\": [";
    }
    for (bool is_first = true; !bytes_.empty(); is_first = false) {
      if (!is_first) text_ += ",\n";
      if (chance(40))
        text_ += pick(kValues);
      else
        event();
    }
    text_ += ']';
    if (!is_bare) {
      headers(", ", "");
      text_ += '}';
    }
    return text_;
  }

 private:
  std::size_t next() {
    if (bytes_.empty()) return 0;
    const std::size_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }
  bool chance(std::size_t one_in) { return next() % one_in == 1; }
  std::string_view pick(const Words& words) { return words[next() % words.size()]; }

  void headers(std::string_view before, std::string_view behind) {
    while (chance(3)) {
      text_ += before;
      text_ += pick(kHeaders);
      text_ += behind;
    }
  }

  void member(std::string_view key, std::string_view value, bool is_text = false) {
    if (text_.back() != '{') text_ += ", ";
    text_ += '"';
    text_ += key;
    text_ += "\": ";
    if (is_text) text_ += '"';
    text_ += value;
    if (is_text) text_ += '"';
  }

  void event() {
    text_ += '{';
    if (!chance(50)) member("ph", pick(kPhases), true);
    member("cat", pick(kCategories), true);
    member("name", pick(kNames), true);
    if (!chance(20)) member("pid", pick(kPlaces));
    if (!chance(20)) member("tid", pick(kPlaces));
    if (!chance(30)) member("ts", pick(kTimes));
    if (!chance(10)) member("dur", pick(kDurations));
    if (chance(2)) member("id", pick(kPlaces));
    if (chance(2)) member("bp", "e", true);
    if (chance(4)) return close();
    if (chance(20)) {
      member("args", pick(kValues));
      return close();
    }
    text_ += ", \"args\": {";
    for (std::size_t left = next() % 6; left > 0; --left) member(pick(kKeys), pick(kValues));
    text_ += '}';
    close();
  }

  void close() { text_ += '}'; }

  std::span<const std::uint8_t> bytes_;
  std::string text_;
};

}  // namespace

std::string trace_from_bytes(std::span<const std::uint8_t> bytes) { return Writer(bytes).run(); }

}  // namespace telltale::fuzzing
