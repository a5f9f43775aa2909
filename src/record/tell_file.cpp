#include "record/tell_file.h"

#include <cerrno>
#include <cstring>
#if defined(TELLTALE_HAS_ZSTD)
#include <zstd.h>
#endif

#include "record/file_access.h"
#include "record/pages.h"
#include "tell/crc32c.h"
#include "tell/varint.h"

namespace telltale::record {
namespace {

using tell::ChunkKind;

constexpr std::size_t kOutputBytes = 1 << 20;
// Written as soon as so much waits, so that the largest chunk still fits behind it.
constexpr std::size_t kCommitBytes = 256 << 10;
constexpr std::size_t kWorthCompressing = 128;

}  // namespace

constinit std::uint64_t TellFile::last_description = 0;

bool TellFile::prepare(int compression) {
  output_ = static_cast<unsigned char*>(map_pages(kOutputBytes));
  scratch_ = static_cast<unsigned char*>(map_pages(kScratchBytes));
  pending_ = static_cast<Pending*>(map_pages(kMaxPending * sizeof(Pending)));
  index_ = static_cast<Pending*>(map_pages(kIndexCapacity * sizeof(Pending)));
  compression_ = compression;
#if defined(TELLTALE_HAS_ZSTD)
  if (compression_ != 0) compressor_ = ZSTD_createCCtx();
#endif
  return output_ != nullptr && scratch_ != nullptr && pending_ != nullptr && index_ != nullptr;
}

void TellFile::discard() {
  unmap_pages(output_, kOutputBytes);
  unmap_pages(scratch_, kScratchBytes);
  unmap_pages(pending_, kMaxPending * sizeof(Pending));
  unmap_pages(index_, kIndexCapacity * sizeof(Pending));
  output_ = scratch_ = nullptr;
  pending_ = index_ = nullptr;
#if defined(TELLTALE_HAS_ZSTD)
  ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(compressor_));
  compressor_ = nullptr;
#endif
}

int TellFile::open(const char* path, Losses& losses) {
  losses_ = &losses;
  output_size_ = pending_count_ = index_count_ = 0;
  offset_ = sequence_ = records_ = last_index_ = losses_written_ = 0;
  is_deleted_ = false;
  is_whole_ = true;
  is_index_whole_ = is_undescribed_ = true;
  first_description_ = ++last_description;
  error_ = file_access->open(path, &file_);
  if (error_ != 0) {
    file_ = -1;
    return error_;
  }
  tell::FileHeader header{};
  std::memcpy(header.magic, tell::kMagic, sizeof header.magic);
  header.major_version = tell::kMajorVersion;
  header.minor_version = tell::kMinorVersion;
  error_ = file_access->write(file_, &header, sizeof header, 0);
  offset_ = sizeof header;
  if (error_ != 0) {
    file_access->close(file_);
    file_ = -1;
  }
  return error_;
}

std::size_t TellFile::store_payload(const unsigned char* payload, std::size_t size, unsigned char* to,
                                    tell::Codec& codec) {
#if defined(TELLTALE_HAS_ZSTD)
  if (compressor_ != nullptr && size >= kWorthCompressing) {
    const std::size_t packed =
        ZSTD_compressCCtx(static_cast<ZSTD_CCtx*>(compressor_), to, size - 1, payload, size, compression_);
    if (ZSTD_isError(packed) == 0) {
      codec = tell::Codec::kZstd;
      return packed;
    }
  }
#endif
  codec = tell::Codec::kStored;
  std::memcpy(to, payload, size);
  return size;
}

void TellFile::add_chunk(const unsigned char* payload, std::size_t size, Pending about) {
  const bool has_room = output_size_ + sizeof(tell::ChunkHeader) + size <= kOutputBytes && pending_count_ < kMaxPending;
  if (!has_room) write_pending();
  unsigned char* at = output_ + output_size_;
  tell::ChunkHeader header{};
  tell::Codec codec{};
  const std::size_t stored = store_payload(payload, size, at + sizeof header, codec);
  header.mark = tell::kChunkMark;
  header.kind = static_cast<std::uint16_t>(about.kind);
  header.codec = static_cast<std::uint8_t>(codec);
  header.stored_bytes = static_cast<std::uint32_t>(stored);
  header.raw_bytes = static_cast<std::uint32_t>(size);
  header.sequence = sequence_++;
  header.payload_crc = tell::crc32c(at + sizeof header, stored);
  header.header_crc = tell::crc32c(&header, offsetof(tell::ChunkHeader, header_crc));
  std::memcpy(at, &header, sizeof header);
  about.offset = offset_ + output_size_;
  pending_[pending_count_++] = about;
  output_size_ += sizeof header + stored;
  if (output_size_ >= kCommitBytes) write_pending();
}

void TellFile::write_pending() {
  if (output_size_ == 0) return;
  int error = file_ < 0 ? error_ : file_access->check(file_);
  if (error == ESTALE && !is_deleted_) {
    is_deleted_ = true;
    losses_->add(tell::LossReason::kWriteFailed, records_);
    records_ = 0;
  }
  if (error == 0) {
    error = file_access->write(file_, output_, output_size_, offset_);
    if (error != 0) file_access->truncate(file_, offset_);
  }
  if (error != 0) {
    error_ = error;
    take_back();
    return;
  }
  offset_ += output_size_;
  for (std::size_t i = 0; i < pending_count_; ++i) {
    records_ += pending_[i].records;
    if (pending_[i].kind == ChunkKind::kIndex) {
      last_index_ = pending_[i].offset;
      index_count_ = 0;
    } else if (index_count_ < kIndexCapacity) {
      index_[index_count_++] = pending_[i];
    } else {
      is_index_whole_ = false;
    }
  }
  output_size_ = pending_count_ = 0;
  if (index_count_ >= kIndexCapacity / 2) add_index();
}

// Nothing of what waited is in the file: its records count as lost.
void TellFile::take_back() {
  for (std::size_t i = 0; i < pending_count_; ++i) {
    if (pending_[i].owner == nullptr) continue;
    pending_[i].owner->records_in_file -= pending_[i].records;
    losses_->add(tell::LossReason::kWriteFailed, pending_[i].records);
  }
  sequence_ -= pending_count_;
  output_size_ = pending_count_ = 0;
  is_undescribed_ = true;
  losses_written_ = UINT64_MAX;
  ++last_description;
}

void TellFile::add_index() {
  unsigned char* at = tell::put_varint(scratch_, last_index_);
  at = tell::put_varint(at, index_count_);
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < index_count_; ++i) {
    const Pending& chunk = index_[i];
    at = tell::put_varint(at, static_cast<std::uint64_t>(chunk.kind));
    at = tell::put_varint(at, chunk.offset - before);
    before = chunk.offset;
    if (chunk.kind != ChunkKind::kRecords) continue;
    at = tell::put_varint(at, chunk.track);
    at = tell::put_varint(at, chunk.records);
    at = tell::put_fixed64(at, chunk.earliest);
    at = tell::put_fixed64(at, chunk.latest);
  }
  add_chunk(ChunkKind::kIndex, at);
}

void TellFile::finish(tell::EndReason reason) {
  const int error_before = error_;
  error_ = file_ < 0 ? error_ : 0;
  add_losses();
  write_pending();
  // Where the last records do not fit, their number and the end may.
  const int error_of_records = error_ != 0 ? error_ : error_before;
  error_ = file_ < 0 ? error_ : 0;
  if (is_undescribed_ && session_count_ > 0) repeat_session();
  add_losses();
  *scratch_ = static_cast<unsigned char>(reason);
  unsigned char* at = tell::put_varint(scratch_ + 1, records_);
  add_chunk(ChunkKind::kEnd, tell::put_fixed64(at, ticks_now()));
  write_pending();
  add_index();
  write_pending();
  is_whole_ = error_ == 0;
  if (is_whole_) error_ = error_of_records;
  if (file_ < 0) return;
  tell::Trailer trailer{last_index_, {}};
  std::memcpy(trailer.magic, tell::kTrailerMagic, sizeof trailer.magic);
  if (is_index_whole_ && last_index_ != 0 && file_access->check(file_) == 0)
    file_access->write(file_, &trailer, sizeof trailer, offset_);
  file_access->close(file_);
  file_ = -1;
}

void TellFile::remove(const char* path) {
  if (file_ < 0) return;
  if (file_access->check(file_) == 0) file_access->remove(path);
  file_access->close(file_);
  file_ = -1;
}

void TellFile::leave_to_parent() {
  if (file_ >= 0) file_access->leave(file_);
  file_ = -1;
  if (compressor_ != nullptr) parents_compressor_ = compressor_;
  compressor_ = nullptr;
  discard();
}

}  // namespace telltale::record
