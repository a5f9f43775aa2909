// Writes small .tell files by hand, for tests: straight from docs/formats/tell.md, sharing nothing with what writes
// them for real.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telltale::tell::testing {

std::string varint(std::uint64_t value);
std::string zigzagged(std::int64_t value);
std::string fixed(std::uint64_t value, int bytes);
std::string float_bytes(double value);
std::string text(std::string_view value);
std::string shape(const std::vector<std::int64_t>& dims);

// Bit by bit, as the definition has it.
std::uint32_t slow_crc32c(std::string_view bytes);

// The payload of a chunk of records.
class RecordsSketch {
 public:
  explicit RecordsSketch(std::uint64_t track, std::uint64_t before = 0) : track_(track), before_(before) {}

  // `values` are the fields of the site, one after the other.
  RecordsSketch& span(std::uint64_t site, std::uint64_t start, std::uint64_t duration, std::string_view values = {});
  RecordsSketch& instant(std::uint64_t site, std::uint64_t time, std::string_view values = {});
  RecordsSketch& counter(std::uint64_t site, std::uint64_t time, double value);
  RecordsSketch& allocation(std::uint64_t pool, std::uint64_t time, std::uint64_t address, std::int64_t bytes,
                            std::int64_t device);
  RecordsSketch& allocation_with_totals(std::uint64_t pool, std::uint64_t time, std::uint64_t address,
                                        std::int64_t bytes, std::int64_t device, std::int64_t allocated,
                                        std::int64_t reserved);
  // `role` is 0 for a start, 1 for a step, 2 for an end.
  RecordsSketch& flow(std::uint64_t site, std::uint64_t time, std::uint64_t id, int role);
  RecordsSketch& async_begin(std::uint64_t site, std::uint64_t time, std::uint64_t id, std::string_view values = {});
  RecordsSketch& async_end(std::uint64_t site, std::uint64_t time, std::uint64_t id);
  RecordsSketch& step(std::int64_t number, std::uint64_t start, std::uint64_t duration);
  RecordsSketch& span_on(std::uint64_t track, std::uint64_t site, std::uint64_t start, std::uint64_t duration,
                         std::uint64_t correlation = 0, std::string_view values = {});
  RecordsSketch& begin_on(std::uint64_t track, std::uint64_t site, std::uint64_t time, std::uint64_t correlation = 0,
                          std::string_view values = {});
  RecordsSketch& end_on(std::uint64_t track, std::uint64_t time);
  // A record of a type that nobody has defined.
  RecordsSketch& odd(unsigned char type);

  std::string payload() const;
  std::uint64_t count() const { return types_.size(); }

 private:
  void start(unsigned char type, std::uint64_t site, std::uint64_t time);

  std::uint64_t track_, before_;
  std::string types_, sites_, times_, durations_, extras_, values_;
  std::uint64_t own_time_ = 0, other_time_ = 0, address_ = 0;
};

struct FieldSketch {
  std::string name;
  int type = 0;
};

struct SiteWords {
  std::string category, file, function;
  int line = 0;
  int kind = 0;
  std::vector<FieldSketch> fields;
};

// A file, chunk by chunk.
class TellSketch {
 public:
  explicit TellSketch(std::uint16_t major_version = 1, std::uint16_t minor_version = 0);

  TellSketch& chunk(int kind, std::string_view payload);
  TellSketch& compressed_chunk(int kind, std::string_view payload);
  // The next chunk's number is skipped, as if the chunk with it were lost.
  TellSketch& skip_number() { return ++sequence_, *this; }

  TellSketch& session(const std::vector<std::pair<std::string, std::string>>& pairs);
  // Defines what is not defined yet; returns its number.
  std::uint64_t string(const std::string& value);
  std::uint64_t site(const std::string& name, const SiteWords& words = {});
  // `type`: 0 thread, 1 stream, 2 other; `clock`: 0 ticks, 1 monotonic, 2 realtime.
  TellSketch& track(std::uint64_t number, int type, std::int64_t native_id, const std::string& name,
                    std::int64_t device = -1, int clock = 0, std::int64_t order = 0);
  TellSketch& thread(std::uint64_t number, std::int64_t tid, const std::string& name) {
    return track(number, 0, tid, name);
  }
  TellSketch& records(const RecordsSketch& records);
  struct Reading {
    std::uint64_t ticks, monotonic, realtime;
  };
  TellSketch& calibrations(const std::vector<Reading>& readings);
  TellSketch& losses(const std::vector<std::pair<int, std::uint64_t>>& losses);
  TellSketch& open_scopes(std::uint64_t track, std::uint64_t ticks,
                          const std::vector<std::pair<std::uint64_t, std::uint64_t>>& sites_and_starts);
  TellSketch& end(std::uint64_t ticks);
  // An index that is only good for being pointed at, and the trailer that does.
  TellSketch& trailer();

  const std::string& bytes() const { return bytes_; }
  // Where each chunk begins, and where the last one ends.
  const std::vector<std::size_t>& boundaries() const { return boundaries_; }

 private:
  TellSketch& append(int kind, int codec, std::string_view stored, std::size_t raw_bytes);

  std::string bytes_;
  std::uint64_t sequence_ = 0, sites_ = 0, record_count_ = 0;
  std::map<std::string, std::uint64_t> strings_;
  std::vector<std::size_t> boundaries_;
};

// A recording in the recorder's "monotonic" clock, of process 42, that is complete but for its end.
TellSketch simple_recording();

}  // namespace telltale::tell::testing
