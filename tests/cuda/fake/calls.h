// What the two halves of the fake library share: which functions were called, and which fail.
#pragma once

#include <string>

namespace fake {

// Counts the call; what it shall return where it is to fail, else 0.
int entered(const std::string& function);
void reset_driver();
bool is_destroyed(void* context);
void mark_destroyed(void* context);

}  // namespace fake
