// Memory straight from the kernel: zeroed, without malloc, whose locks the host may hold when it calls us.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace telltale::record {

inline void* map_pages(std::size_t bytes) {
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

inline void unmap_pages(void* pages, std::size_t bytes) {
  if (pages != nullptr) munmap(pages, bytes);
}

}  // namespace telltale::record
