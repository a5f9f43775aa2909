#include "formats/tell/testing/tell_sketch.h"

#include <zstd.h>

#include <cstring>

namespace telltale::tell::testing {

std::string varint(std::uint64_t value) {
  std::string bytes;
  do {
    bytes += static_cast<char>((value & 0x7F) | (value > 0x7F ? 0x80 : 0));
    value >>= 7;
  } while (value > 0);
  return bytes;
}

std::string zigzagged(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return varint(value < 0 ? 2 * (~bits) + 1 : 2 * bits);
}

std::string fixed(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
  return text;
}

std::string float_bytes(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return fixed(bits, 8);
}

std::string text(std::string_view value) { return varint(value.size()) + std::string(value); }

std::string shape(const std::vector<std::int64_t>& dims) {
  std::string bytes = varint(dims.size());
  for (const std::int64_t dim : dims) bytes += zigzagged(dim);
  return bytes;
}

std::uint32_t slow_crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0x82F63B78 : crc >> 1;
  }
  return ~crc;
}

void RecordsSketch::start(unsigned char type, std::uint64_t site, std::uint64_t time) {
  std::uint64_t& last = type < 10 ? own_time_ : other_time_;
  types_ += static_cast<char>(type);
  sites_ += varint(site);
  times_ += zigzagged(static_cast<std::int64_t>(time - last));
  last = time;
}

RecordsSketch& RecordsSketch::span(std::uint64_t site, std::uint64_t from, std::uint64_t duration,
                                   std::string_view values) {
  start(0, site, from);
  durations_ += varint(duration);
  values_ += values;
  return *this;
}

RecordsSketch& RecordsSketch::instant(std::uint64_t site, std::uint64_t time, std::string_view values) {
  start(1, site, time);
  values_ += values;
  return *this;
}

RecordsSketch& RecordsSketch::counter(std::uint64_t site, std::uint64_t time, double value) {
  start(2, site, time);
  extras_ += float_bytes(value);
  return *this;
}

RecordsSketch& RecordsSketch::allocation(std::uint64_t pool, std::uint64_t time, std::uint64_t address,
                                         std::int64_t bytes, std::int64_t device) {
  start(3, pool, time);
  extras_ +=
      zigzagged(static_cast<std::int64_t>(address - address_)) + zigzagged(bytes) + zigzagged(device) + varint(0);
  address_ = address;
  return *this;
}

RecordsSketch& RecordsSketch::allocation_with_totals(std::uint64_t pool, std::uint64_t time, std::uint64_t address,
                                                     std::int64_t bytes, std::int64_t device, std::int64_t allocated,
                                                     std::int64_t reserved) {
  allocation(pool, time, address, bytes, device);
  extras_.back() = 1;
  extras_ += zigzagged(allocated) + zigzagged(reserved);
  return *this;
}

RecordsSketch& RecordsSketch::flow(std::uint64_t site, std::uint64_t time, std::uint64_t id, int role) {
  start(static_cast<unsigned char>(4 + role), site, time);
  extras_ += varint(id);
  return *this;
}

RecordsSketch& RecordsSketch::async_begin(std::uint64_t site, std::uint64_t time, std::uint64_t id,
                                          std::string_view values) {
  start(7, site, time);
  extras_ += varint(id);
  values_ += values;
  return *this;
}

RecordsSketch& RecordsSketch::async_end(std::uint64_t site, std::uint64_t time, std::uint64_t id) {
  start(8, site, time);
  extras_ += varint(id);
  return *this;
}

RecordsSketch& RecordsSketch::step(std::int64_t number, std::uint64_t from, std::uint64_t duration) {
  start(9, 0, from);
  durations_ += varint(duration);
  extras_ += zigzagged(number);
  return *this;
}

RecordsSketch& RecordsSketch::span_on(std::uint64_t track, std::uint64_t site, std::uint64_t from,
                                      std::uint64_t duration, std::uint64_t correlation, std::string_view values) {
  start(10, site, from);
  durations_ += varint(duration);
  extras_ += varint(track) + varint(correlation);
  values_ += values;
  return *this;
}

RecordsSketch& RecordsSketch::begin_on(std::uint64_t track, std::uint64_t site, std::uint64_t time,
                                       std::uint64_t correlation, std::string_view values) {
  start(11, site, time);
  extras_ += varint(track) + varint(correlation);
  values_ += values;
  return *this;
}

RecordsSketch& RecordsSketch::end_on(std::uint64_t track, std::uint64_t time) {
  start(12, 0, time);
  extras_ += varint(track);
  return *this;
}

RecordsSketch& RecordsSketch::odd(unsigned char type) {
  start(type, 1, own_time_);
  return *this;
}

std::string RecordsSketch::payload() const {
  std::string bytes = varint(track_) + varint(types_.size()) + varint(before_);
  for (const std::string* column : {&types_, &sites_, &times_, &durations_, &extras_, &values_}) bytes += text(*column);
  return bytes;
}

TellSketch::TellSketch(std::uint16_t major_version, std::uint16_t minor_version)
    : bytes_("\x89TELL\r\n\n" + fixed(major_version, 2) + fixed(minor_version, 2) + fixed(0, 4)),
      boundaries_{bytes_.size()} {}

TellSketch& TellSketch::append(int kind, int codec, std::string_view stored, std::size_t raw_bytes) {
  std::string header = "CHNK" + fixed(static_cast<std::uint64_t>(kind), 2) + static_cast<char>(codec) + '\0' +
                       fixed(stored.size(), 4) + fixed(raw_bytes, 4) + fixed(sequence_++, 8) +
                       fixed(slow_crc32c(stored), 4);
  header += fixed(slow_crc32c(header), 4);
  bytes_ += header;
  bytes_ += stored;
  boundaries_.push_back(bytes_.size());
  return *this;
}

TellSketch& TellSketch::chunk(int kind, std::string_view payload) { return append(kind, 0, payload, payload.size()); }

TellSketch& TellSketch::compressed_chunk(int kind, std::string_view payload) {
  std::string stored(ZSTD_compressBound(payload.size()), '\0');
  stored.resize(ZSTD_compress(stored.data(), stored.size(), payload.data(), payload.size(), 3));
  return append(kind, 1, stored, payload.size());
}

TellSketch& TellSketch::session(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string payload = varint(pairs.size());
  for (const auto& [key, value] : pairs) payload += text(key) + text(value);
  return chunk(1, payload);
}

std::uint64_t TellSketch::string(const std::string& value) {
  if (value.empty()) return 0;
  const auto [known, is_new] = strings_.emplace(value, strings_.size() + 1);
  if (is_new) chunk(2, varint(known->second) + varint(1) + text(value));
  return known->second;
}

std::uint64_t TellSketch::site(const std::string& name, const SiteWords& words) {
  std::string site = varint(string(name));
  for (const std::string* word : {&words.category, &words.file, &words.function}) site += varint(string(*word));
  site += varint(static_cast<std::uint64_t>(words.line)) + static_cast<char>(words.kind) + varint(words.fields.size());
  for (const FieldSketch& field : words.fields) site += varint(string(field.name)) + static_cast<char>(field.type);
  chunk(3, varint(++sites_) + varint(1) + site);
  return sites_;
}

TellSketch& TellSketch::track(std::uint64_t number, int type, std::int64_t native_id, const std::string& name,
                              std::int64_t device, int clock, std::int64_t order) {
  const std::uint64_t text_number = string(name);
  return chunk(4, varint(1) + varint(number) + static_cast<char>(type) + static_cast<char>(clock) + zigzagged(device) +
                      zigzagged(native_id) + varint(text_number) + zigzagged(order));
}

TellSketch& TellSketch::records(const RecordsSketch& records) {
  record_count_ += records.count();
  return chunk(5, records.payload());
}

TellSketch& TellSketch::calibrations(const std::vector<Reading>& readings) {
  std::string payload = varint(readings.size());
  for (const Reading& reading : readings)
    payload += fixed(reading.ticks, 8) + fixed(reading.monotonic, 8) + fixed(reading.realtime, 8);
  return chunk(6, payload);
}

TellSketch& TellSketch::losses(const std::vector<std::pair<int, std::uint64_t>>& losses) {
  std::string payload = varint(losses.size());
  for (const auto& [reason, records] : losses) payload += static_cast<char>(reason) + varint(records);
  return chunk(7, payload);
}

TellSketch& TellSketch::open_scopes(std::uint64_t track, std::uint64_t ticks,
                                    const std::vector<std::pair<std::uint64_t, std::uint64_t>>& sites_and_starts) {
  std::string payload = varint(track) + fixed(ticks, 8) + varint(sites_and_starts.size());
  for (const auto& [site, start] : sites_and_starts) payload += varint(site) + fixed(start, 8);
  return chunk(8, payload);
}

TellSketch& TellSketch::end(std::uint64_t ticks) {
  return chunk(9, std::string(1, '\0') + varint(record_count_) + fixed(ticks, 8));
}

TellSketch& TellSketch::trailer() {
  const std::size_t index = bytes_.size();
  chunk(10, varint(0) + varint(0));
  bytes_ += fixed(index, 8) + "TELLEND\n";
  return *this;
}

TellSketch simple_recording() {
  TellSketch sketch;
  sketch.session({{"version", "0.1.0"},
                  {"pid", "42"},
                  {"process", "server"},
                  {"clock", "monotonic"},
                  {"epoch_ns", "1700000000000000000"},
                  {"start_ns", "1000"},
                  {"flush_ns", "25000000"}});
  return sketch;
}

}  // namespace telltale::tell::testing
