// Texts are written for GPUs; where a trace is of an NPU or an MTIA they speak of a device (see device_word()). They
// are written for steps, too; those of a server are requests.
//
// Pure and thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace telltale {

// A text that speaks of GPUs, with another word for them: "The GPU waits for 2 GPUs" becomes "The device waits for 2
// devices". CUDA graphs are graphs there.
std::string with_device_word(std::string text, std::string_view word);

// "A step makes 2 copies in 5 steps" becomes "A request makes 2 copies in 5 requests", where `serves`; options such as
// --steps stay.
std::string in_words_of_requests(std::string text, bool serves);

}  // namespace telltale
