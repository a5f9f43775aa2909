// An open file, or standard output, as a ByteSink.
#pragma once

#include <string>

#include "formats/output/byte_sink.h"

namespace telltale {

class FileSink : public ByteSink {
 public:
  // Writes through a descriptor of its own. `name` is for messages.
  static Result<std::unique_ptr<FileSink>> onto(int descriptor, std::string name);
  ~FileSink() override;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  Result<void> write(std::string_view bytes) override;
  // Closes the file; some file systems say only then that the disk is full.
  Result<void> finish() override;

  // Whether writing failed because whoever read the other end of the pipe has gone, as in `| head`.
  bool has_lost_its_reader() const { return has_lost_its_reader_; }

 private:
  FileSink(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}

  int descriptor_;
  std::string name_;
  bool has_lost_its_reader_ = false;
};

}  // namespace telltale
