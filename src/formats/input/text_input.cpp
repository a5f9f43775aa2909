#include "formats/input/text_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/amounts.h"
#include "formats/input/compressed_input.h"
#include "formats/input/file_bytes.h"

namespace telltale {
namespace {

constexpr std::size_t kWindowBytes = 1 << 18;
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
constexpr std::size_t kLongestMagic = 4;

class PlainInput : public TextInput {
 public:
  PlainInput(FileBytes file, std::string first_bytes) : file_(std::move(file)), first_bytes_(std::move(first_bytes)) {}

  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t known = std::min(into.size(), first_bytes_.size());
    std::memcpy(into.data(), first_bytes_.data(), known);
    first_bytes_.erase(0, known);
    const auto more = file_.read(into.subspan(known));
    if (!more) return std::unexpected(more.error());
    return known + *more;
  }
  std::uint64_t file_bytes_read() const override { return file_.bytes_read(); }
  std::uint64_t file_bytes() const override { return file_.size(); }

 private:
  FileBytes file_;
  std::string first_bytes_;
};

class ResumedInput : public TextInput {
 public:
  ResumedInput(std::string first_bytes, std::unique_ptr<TextInput> rest)
      : first_bytes_(std::move(first_bytes)), rest_(std::move(rest)) {}

  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t known = std::min(into.size(), first_bytes_.size());
    std::memcpy(into.data(), first_bytes_.data(), known);
    first_bytes_.erase(0, known);
    const auto more = rest_->read(into.subspan(known));
    if (!more) return std::unexpected(more.error());
    return known + *more;
  }
  bool was_cut() const override { return rest_->was_cut(); }
  std::uint64_t file_bytes_read() const override { return rest_->file_bytes_read(); }
  std::uint64_t file_bytes() const override { return rest_->file_bytes(); }

 private:
  std::string first_bytes_;
  std::unique_ptr<TextInput> rest_;
};

class StoppableInput : public TextInput {
 public:
  StoppableInput(std::unique_ptr<TextInput> input, const std::atomic<bool>& stop)
      : input_(std::move(input)), stop_(stop) {}

  Result<std::size_t> read(std::span<char> into) override {
    return stop_ ? failure("was not read to its end: somebody stopped it") : input_->read(into);
  }
  bool was_cut() const override { return input_->was_cut(); }
  std::uint64_t file_bytes_read() const override { return input_->file_bytes_read(); }
  std::uint64_t file_bytes() const override { return input_->file_bytes(); }

 private:
  std::unique_ptr<TextInput> input_;
  const std::atomic<bool>& stop_;
};

}  // namespace

Result<FileBytes> FileBytes::open(const std::string& path) {
  if (path == "-") return FileBytes("standard input", ::dup(STDIN_FILENO), 0);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    if (errno == ENOENT) return failure("there is no such file", path);
    return failure(std::string("cannot be opened: ") + std::strerror(errno), path);
  }
  struct stat status{};
  if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    return failure("is a folder; name a trace file in it", path);
  }
  return FileBytes(path, descriptor, S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0);
}

FileBytes::~FileBytes() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::size_t> FileBytes::read(std::span<char> into) {
  std::size_t filled = 0;
  while (filled < into.size()) {
    const ssize_t got = ::read(descriptor_, into.data() + filled, into.size() - filled);
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      return failure(std::string("cannot be read: ") + std::strerror(errno), path_, bytes_read_);
    }
    filled += static_cast<std::size_t>(got);
    bytes_read_ += static_cast<std::size_t>(got);
  }
  return filled;
}

CompressedInput::CompressedInput(FileBytes file, std::string first_bytes, std::uint64_t max_text_bytes)
    : file_(std::move(file)), window_(first_bytes.begin(), first_bytes.end()), max_text_bytes_(max_text_bytes) {}

Result<bool> CompressedInput::refill() {
  window_.resize(kWindowBytes);
  window_used_ = 0;
  const auto got = file_.read(window_);
  window_.resize(got ? *got : 0);
  if (!got) return std::unexpected(got.error());
  return *got > 0;
}

Result<std::size_t> CompressedInput::read(std::span<char> into) {
  std::size_t filled = 0;
  while (filled < into.size() && !was_cut_) {
    if (compressed().empty() && !may_hold_text_) {
      const auto more = refill();
      if (!more) return std::unexpected(more.error());
      if (!*more) {
        if (!is_at_boundary()) mark_cut();
        break;
      }
    }
    const std::span<char> room = into.subspan(filled);
    const std::size_t written = decompress(room);
    may_hold_text_ = written == room.size();
    filled += written;
  }
  text_bytes_ += filled;
  if (text_bytes_ > max_text_bytes_)
    return failure("decompresses to more than " + format_bytes(max_text_bytes_) +
                       ", which is refused as a mistake or an attack; raise the limit with --max-text",
                   file_.path());
  return filled;
}

std::unique_ptr<TextInput> put_back(std::string first_bytes, std::unique_ptr<TextInput> rest) {
  return std::make_unique<ResumedInput>(std::move(first_bytes), std::move(rest));
}

std::unique_ptr<TextInput> stoppable(std::unique_ptr<TextInput> input, const std::atomic<bool>& stop) {
  return std::make_unique<StoppableInput>(std::move(input), stop);
}

Result<std::unique_ptr<TextInput>> open_text(const std::string& path, std::uint64_t max_text_bytes) {
  auto file = FileBytes::open(path);
  if (!file) return std::unexpected(file.error());
  std::string first_bytes(kLongestMagic, '\0');
  const auto got = file->read(first_bytes);
  if (!got) return std::unexpected(got.error());
  first_bytes.resize(*got);
  if (first_bytes.empty()) return failure("is empty", file->path());
  if (first_bytes.starts_with(kGzipMagic))
    return make_gzip_input(std::move(*file), std::move(first_bytes), max_text_bytes);
  if (first_bytes.starts_with(kZstdMagic))
    return make_zstd_input(std::move(*file), std::move(first_bytes), max_text_bytes);
  return std::make_unique<PlainInput>(std::move(*file), std::move(first_bytes));
}

}  // namespace telltale
