// Gives a vector's memory back: `vector = {}` assigns an empty list, and keeps it.
#pragma once

#include <vector>

namespace telltale {

template <typename Value>
void release(std::vector<Value>& values) {
  std::vector<Value>().swap(values);
}

}  // namespace telltale
