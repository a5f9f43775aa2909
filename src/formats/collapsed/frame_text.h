// How the name of a frame is written in collapsed stacks.
#pragma once

#include <string>
#include <string_view>

namespace telltale::collapsed {

// In UTF-8; ";", which separates frames, becomes ",", and a line break or another control character a space.
std::string frame_text(std::string_view name);

}  // namespace telltale::collapsed
