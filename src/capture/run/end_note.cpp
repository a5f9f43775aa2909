#include "capture/run/end_note.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "tell/crc32c.h"
#include "tell/layout.h"
#include "tell/varint.h"

namespace telltale::capture {
namespace {

constexpr std::string_view kKey = "ended_by";

// A file that nobody else writes to.
class OwnedFile {
 public:
  explicit OwnedFile(const std::filesystem::path& path)
      : descriptor_(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)) {
    if (descriptor_ >= 0 && flock(descriptor_, LOCK_EX | LOCK_NB) != 0) release();
  }
  ~OwnedFile() { release(); }
  OwnedFile(const OwnedFile&) = delete;
  OwnedFile& operator=(const OwnedFile&) = delete;

  bool is_there() const { return descriptor_ >= 0; }
  std::uint64_t size() const { return static_cast<std::uint64_t>(std::max<off_t>(lseek(descriptor_, 0, SEEK_END), 0)); }
  template <typename T>
  bool read_at(std::uint64_t offset, T& value) const {
    return pread(descriptor_, &value, sizeof value, static_cast<off_t>(offset)) == static_cast<ssize_t>(sizeof value);
  }
  // In place of whatever stands there.
  bool append(std::uint64_t offset, const std::string& bytes) const {
    return ftruncate(descriptor_, static_cast<off_t>(offset)) == 0 &&
           pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset)) ==
               static_cast<ssize_t>(bytes.size());
  }

 private:
  void release() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }

  int descriptor_;
};

bool is_sound(const tell::ChunkHeader& header) {
  return header.mark == tell::kChunkMark &&
         header.header_crc == tell::crc32c(&header, offsetof(tell::ChunkHeader, header_crc));
}

// Behind the last whole chunk of a recording without an end.
struct Place {
  std::uint64_t offset = 0;
  std::uint64_t sequence = 0;
};

std::optional<Place> place_for_note(const OwnedFile& file) {
  tell::FileHeader start{};
  if (!file.read_at(0, start) || std::memcmp(start.magic, tell::kMagic, sizeof start.magic) != 0) return std::nullopt;
  Place place{sizeof start, 0};
  const std::uint64_t size = file.size();
  tell::ChunkHeader header{};
  while (file.read_at(place.offset, header) && is_sound(header)) {
    const auto kind = static_cast<tell::ChunkKind>(header.kind);
    if (kind == tell::ChunkKind::kEnd || kind == tell::ChunkKind::kTable) return std::nullopt;
    const std::uint64_t next = place.offset + sizeof header + header.stored_bytes;
    if (next > size) break;
    place = {next, header.sequence + 1};
  }
  return place;
}

void put_text(std::string& payload, std::string_view text) {
  unsigned char length[tell::kMaxVarintBytes];
  payload.append(reinterpret_cast<char*>(length), tell::put_varint(length, text.size()) - length);
  payload.append(text);
}

std::string session_chunk(std::uint64_t sequence, std::string_view key, std::string_view value) {
  std::string payload(1, '\1');  // one pair
  put_text(payload, key);
  put_text(payload, value);
  tell::ChunkHeader header{};
  header.mark = tell::kChunkMark;
  header.kind = static_cast<std::uint16_t>(tell::ChunkKind::kSession);
  header.codec = static_cast<std::uint8_t>(tell::Codec::kStored);
  header.stored_bytes = header.raw_bytes = static_cast<std::uint32_t>(payload.size());
  header.sequence = sequence;
  header.payload_crc = tell::crc32c(payload.data(), payload.size());
  header.header_crc = tell::crc32c(&header, offsetof(tell::ChunkHeader, header_crc));
  std::string chunk(sizeof header, '\0');
  std::memcpy(chunk.data(), &header, sizeof header);
  return chunk + payload;
}

}  // namespace

std::string how_it_ended(const Ending& ending, bool was_stopped_by_us) {
  if (ending.signal == 0) return fmt::format("exit code {}", ending.exit_code);
  if (was_stopped_by_us && ending.signal == SIGTERM) return "SIGTERM from telltale record";
  return fmt::format("signal {} ({})", ending.signal, strsignal(ending.signal));
}

bool note_end(const std::filesystem::path& recording, const std::string& how) {
  const OwnedFile file(recording);
  if (!file.is_there()) return false;
  const auto place = place_for_note(file);
  return place && file.append(place->offset, session_chunk(place->sequence, kKey, how));
}

}  // namespace telltale::capture
