// The buffers that CUPTI fills: a fixed number, handed out, taken back full, decoded, and handed out again.
//
// When all are in use, CUPTI drops records and counts them: memory stays bounded, and the loss is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace telltale::capture {

struct FullBuffer {
  std::uint8_t* data = nullptr;
  std::size_t valid_bytes = 0;
  void* context = nullptr;  // CUPTI's, for asking what was dropped
  std::uint32_t stream = 0;
};

class ActivityBuffers {
 public:
  // Small ones: CUPTI gives back a buffer when the last work in it has ended, and what it holds by then is lost when
  // the process is killed.
  static constexpr std::size_t kBytes = std::size_t{64} << 10;

  // CUPTI has been attached anew: what it still gives back of before is no longer read, since its numbers begin anew.
  void begin();
  // So many there may be from now on, and all memory to keep track of them is there: CUPTI calls from C, through which
  // no exception may go.
  void allow(std::size_t bytes);
  // Frees all that nobody holds.
  void end();

  // For CUPTI; null when all are in use.
  std::uint8_t* hand_out();
  void take_back(const FullBuffer& buffer);

  // Since it was asked last; as long as it is not asked again. For one thread.
  std::span<const FullBuffer> full();
  void reuse(const FullBuffer& buffer);

 private:
  std::mutex mutex_;
  std::size_t most_ = 0;
  std::vector<std::unique_ptr<std::uint8_t[]>> all_;
  std::vector<std::uint8_t*> free_;
  std::vector<FullBuffer> full_, read_;
  std::vector<std::unique_ptr<std::uint8_t[]>> of_before_;  // which CUPTI may still write to
};

}  // namespace telltale::capture
