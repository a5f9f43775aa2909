// The lowest layer of the reader: finding the ends of JSON tokens, sixteen bytes at a time.
//
// All functions read from a text that is followed by kPaddingBytes bytes of kPadding. A quotation mark ends every kind
// of token, so no loop needs to look at where the text ends; a token that ends in the padding is incomplete, and the
// callers find that by comparing positions.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace telltale::kineto {

inline constexpr std::size_t kPaddingBytes = 64;
inline constexpr char kPadding = '"';

// Bytes of a sixteen-byte window, one bit each.
using Mask = std::uint32_t;

#if defined(__SSE2__)
class Window {
 public:
  explicit Window(const char* p) : bytes_(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))) {}
  Mask equal_to(char c) const { return mask(_mm_cmpeq_epi8(bytes_, _mm_set1_epi8(c))); }
  Mask equal_to(const Window& other) const { return mask(_mm_cmpeq_epi8(bytes_, other.bytes_)); }
  // Quotation marks, backslashes, control characters and everything beyond ASCII: as signed bytes the latter two are
  // smaller than a space.
  Mask string_stops() const {
    const __m128i quotes = _mm_cmpeq_epi8(bytes_, _mm_set1_epi8('"'));
    const __m128i escapes = _mm_cmpeq_epi8(bytes_, _mm_set1_epi8('\\'));
    return mask(_mm_or_si128(_mm_or_si128(quotes, escapes), _mm_cmplt_epi8(bytes_, _mm_set1_epi8(' '))));
  }
  // "[" and "{", "]" and "}" differ in one bit only.
  Mask opening_brackets() const { return without_case_bit('{'); }
  Mask closing_brackets() const { return without_case_bit('}'); }
  Mask above_space() const {
    const __m128i least = _mm_set1_epi8(' ' + 1);
    return mask(_mm_cmpeq_epi8(_mm_max_epu8(bytes_, least), bytes_));
  }

 private:
  static Mask mask(__m128i bytes) { return static_cast<Mask>(_mm_movemask_epi8(bytes)); }
  Mask without_case_bit(char c) const {
    return mask(_mm_cmpeq_epi8(_mm_or_si128(bytes_, _mm_set1_epi8(0x20)), _mm_set1_epi8(c)));
  }
  __m128i bytes_;
};
#else
class Window {
 public:
  explicit Window(const char* p) : p_(p) {}
  Mask equal_to(char c) const {
    return gather([c](char byte) { return byte == c; });
  }
  Mask equal_to(const Window& other) const {
    Mask mask = 0;
    for (unsigned i = 0; i < 16; ++i) mask |= static_cast<Mask>(p_[i] == other.p_[i]) << i;
    return mask;
  }
  Mask string_stops() const {
    return gather([](char byte) { return byte == '"' || byte == '\\' || static_cast<signed char>(byte) < ' '; });
  }
  Mask opening_brackets() const {
    return gather([](char byte) { return byte == '[' || byte == '{'; });
  }
  Mask closing_brackets() const {
    return gather([](char byte) { return byte == ']' || byte == '}'; });
  }
  Mask above_space() const {
    return gather([](char byte) { return static_cast<unsigned char>(byte) > ' '; });
  }

 private:
  template <typename Test>
  Mask gather(Test test) const {
    Mask mask = 0;
    for (unsigned i = 0; i < 16; ++i) mask |= static_cast<Mask>(test(p_[i])) << i;
    return mask;
  }
  const char* p_;
};
#endif

// The first byte that is not white space. Control characters count as white space.
inline const char* skip_space(const char* p) {
  if (static_cast<unsigned char>(p[0]) > ' ') return p;
  if (static_cast<unsigned char>(p[1]) > ' ') return p + 1;
  for (;; p += 16)
    if (const Mask found = Window(p).above_space()) return p + std::countr_zero(found);
}

struct StringToken {
  const char* begin = nullptr;  // the first byte after the opening quotation mark
  const char* end = nullptr;    // the closing quotation mark
  bool is_plain = true;         // neither escapes nor control characters nor bytes beyond ASCII
  bool is_bare = false;         // no string but another value: `begin` and `end` are its own

  std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

// The rest of a string of which everything before `p`, an escape or a special byte, is plain.
inline StringToken scan_string_slowly(const char* begin, const char* p) {
  for (;;) {
    const Window window(p);
    const Mask quotes = window.equal_to('"');
    const Mask escapes = window.equal_to('\\') & ((quotes & (~quotes + 1)) - 1);  // those before the first quote
    if (escapes) {
      p += std::countr_zero(escapes) + 2;  // the escaped byte cannot end the string
    } else if (quotes) {
      return {begin, p + std::countr_zero(quotes), false};
    } else {
      p += 16;
    }
  }
}

// `p` stands behind the opening quotation mark.
inline StringToken scan_string(const char* p) {
  for (const char* begin = p;; p += 16) {
    if (const Mask stops = Window(p).string_stops()) {
      p += std::countr_zero(stops);
      if (*p == '"') return {begin, p, true};
      return scan_string_slowly(begin, p);
    }
  }
}

// Behind the bracket that closes the object or array that opens at `p`. Brackets are counted, not matched by kind,
// and scalars are not looked at: the text between is checked later, once for each different text. Ends in the padding
// when the text ends first.
inline const char* skip_container(const char* p, const char* text_end) {
  int depth = 0;
  while (p < text_end) {
    const Window window(p);
    const Mask opening = window.opening_brackets();
    const Mask closing = window.closing_brackets();
    Mask stops = opening | closing | window.equal_to('"');
    const char* next = p + 16;
    while (stops) {
      const int at = std::countr_zero(stops);
      const Mask bit = Mask{1} << at;
      stops &= stops - 1;
      if (opening & bit) {
        ++depth;
      } else if (closing & bit) {
        if (--depth == 0) return p + at + 1;
      } else {
        const StringToken token = scan_string(p + at + 1);
        const char* behind = token.end + 1;
        if (behind >= p + 16) {
          next = behind;
          break;
        }
        stops &= ~Mask{0} << (behind - p);
      }
    }
    p = next;
  }
  return p;
}

// White space, commas, closing brackets and quotation marks.
inline constexpr std::array<bool, 256> kEndsBareWord = [] {
  std::array<bool, 256> ends{};
  for (unsigned c = 0; c <= ' '; ++c) ends[c] = true;
  for (const char c : {',', '}', ']', '"'}) ends[static_cast<unsigned char>(c)] = true;
  return ends;
}();

// Behind the value that starts at `p`, which is no white space.
inline const char* skip_value(const char* p, const char* text_end) {
  if (*p == '"') return scan_string(p + 1).end + 1;
  if (*p == '[' || *p == '{') return skip_container(p, text_end);
  while (!kEndsBareWord[static_cast<unsigned char>(*p)]) ++p;
  return p;
}

}  // namespace telltale::kineto
