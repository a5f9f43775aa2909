// Recorders write the keys of an object in the same order and with the same white space every time. So the text
// between two values is compared, whole, with what stood there last time; only where it differs is it read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "formats/kineto/scan.h"

namespace telltale::kineto {

// For one kind of object: what followed the value of each key the last time. `Key` is an enumeration that ends with
// kUnknown.
template <typename Key>
class KeyPrediction {
 public:
  struct Guess {
    std::array<char, 48> text{};  // from behind a value to the next value
    std::array<Mask, 3> used{};   // the bytes of `text` that count, a bit each
    std::uint8_t length = 0;      // 0: nothing seen yet
    std::uint8_t key_begin = 0, key_end = 0;
    Key key{};
  };

  // What is expected behind a value of `previous`, or behind the opening bracket when there is none.
  Guess& after(Key previous) { return guesses_[static_cast<std::size_t>(previous)]; }
  Guess& at_start() { return guesses_.back(); }

  // Whether the text at `p` is the expected one.
  static bool is_right(const Guess& guess, const char* p) {
    for (unsigned i = 0; i < guess.used.size(); ++i) {
      const Mask used = guess.used[i];
      const Mask same = Window(p + 16 * i).equal_to(Window(guess.text.data() + 16 * i));
      if ((same & used) != used) return false;
      if (used != kWholeWindow) break;
    }
    // More white space than last time is no value.
    return guess.length > 0 && static_cast<unsigned char>(p[guess.length]) > ' ';
  }

  // Remembers what stands between `p` and `value`.
  static void learn(Guess& guess, const char* p, const StringToken& name, const char* value, Key key) {
    const auto length = static_cast<std::size_t>(value - p);
    if (length >= guess.text.size() || !name.is_plain) return;
    std::memcpy(guess.text.data(), p, length);
    for (unsigned i = 0; i < guess.used.size(); ++i) {
      const std::size_t bytes = length <= 16 * i ? 0 : length - 16 * i;
      guess.used[i] = bytes >= 16 ? kWholeWindow : (Mask{1} << bytes) - 1;
    }
    guess.length = static_cast<std::uint8_t>(length);
    guess.key_begin = static_cast<std::uint8_t>(name.begin - p);
    guess.key_end = static_cast<std::uint8_t>(name.end - p);
    guess.key = key;
  }

 private:
  static constexpr Mask kWholeWindow = 0xFFFF;
  std::array<Guess, static_cast<std::size_t>(Key::kUnknown) + 2> guesses_;
};

}  // namespace telltale::kineto
