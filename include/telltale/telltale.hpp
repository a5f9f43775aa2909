// Telltale's recorder for C++17 and later: macros and a few types over telltale.h. Header-only.
//
//   void serve(const Request& request) {
//     TELLTALE_FUNCTION();
//     const auto tokens = request.tokens();
//     TELLTALE_SCOPE("forward", tokens);       // the value's name is its expression
//     …
//   }
//   int main() {
//     telltale::Session session("run.tell");
//     …
//   }
//
// A scope lasts until the end of its block, also when an exception leaves it. Its values (integers, floating-point
// numbers, bools, enums, strings, and vectors, arrays or spans of int64_t as shapes) are taken when it begins, and only
// while something is recorded; a string or shape that is not a temporary must live as long as the scope. Names must be
// literals.
//
// With TELLTALE_DISABLED defined, all macros are empty.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "telltale/telltale.h"

namespace telltale {

struct Schedule : telltale_schedule {
  Schedule() : telltale_schedule() { telltale_default_schedule(this, sizeof(telltale_schedule)); }
};

struct Options : telltale_options {
  Options() : telltale_options() { telltale_default_options(this, sizeof(telltale_options)); }
  explicit Options(const char* file) : Options() { path = file; }
};

// Records from its construction to its end. A program that records nothing, because the file cannot be opened, goes on
// all the same; that is said on standard error, unless options.quiet is set, and by status().
class Session {
 public:
  explicit Session(const char* path) : Session(Options(path)) {}
  explicit Session(const Options& options) : status_(telltale_start(&options)) {
    if (status_ != TELLTALE_STATUS_OK && options.quiet == 0) std::fprintf(stderr, "telltale: %s\n", error_text());
  }
  ~Session() { stop(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool is_recording() const { return status_ == TELLTALE_STATUS_OK && !is_stopped_; }
  // What became of its start or, once it was stopped, of its file.
  telltale_status status() const { return status_; }
  // The last error of the calling thread.
  static const char* error_text() { return telltale_error_text(); }

  telltale_status step() { return telltale_step(); }
  // Ends it, once, and returns status(): also of a session that never started, where there is nothing to end.
  telltale_status stop() {
    if (!is_recording()) return status_;
    is_stopped_ = true;
    return status_ = telltale_stop();
  }

 private:
  telltale_status status_;
  bool is_stopped_ = false;
};

inline telltale_statistics statistics() {
  telltale_statistics result;
  telltale_get_statistics(&result, sizeof result);
  return result;
}

// Tells of memory got or given back. `pool` is from telltale_intern().
inline telltale_status allocated(const void* address, std::int64_t bytes, std::int32_t device = -1,
                                 std::uint32_t pool = 0) {
  if (!telltale_is_recording()) return TELLTALE_STATUS_NOT_RECORDING;
  const telltale_memory event = {reinterpret_cast<std::uintptr_t>(address), bytes, device, pool, -1, -1};
  return telltale_allocation(&event);
}
inline telltale_status freed(const void* address, std::int64_t bytes, std::int32_t device = -1,
                             std::uint32_t pool = 0) {
  return allocated(address, -bytes, device, pool);
}

namespace detail {

// Values: their types, and how they are kept until a scope ends.
template <typename T, typename = void>
struct IsShape : std::false_type {};
template <typename T>
struct IsShape<T,
               std::enable_if_t<std::is_convertible_v<decltype(std::declval<const T&>().data()), const std::int64_t*>>>
    : std::true_type {};

template <typename T>
constexpr std::uint32_t field_type() {
  using Plain = std::remove_cv_t<std::remove_reference_t<T>>;
  if constexpr (std::is_floating_point_v<Plain>) {
    return TELLTALE_FIELD_TYPE_FLOAT;
  } else if constexpr (std::is_integral_v<Plain> || std::is_enum_v<Plain>) {
    return TELLTALE_FIELD_TYPE_INTEGER;
  } else if constexpr (std::is_convertible_v<const Plain&, std::string_view>) {
    return TELLTALE_FIELD_TYPE_TEXT;
  } else {
    static_assert(IsShape<Plain>::value, "a value is a number, a string, or a vector, array or span of int64_t");
    return TELLTALE_FIELD_TYPE_SHAPE;
  }
}

// A lasting string or shape is referred to, a temporary one is kept; numbers are copied.
template <typename T>
struct Kept {
  using Plain = std::remove_cv_t<std::remove_reference_t<T>>;
  static constexpr bool kIsNumber =
      field_type<T>() == TELLTALE_FIELD_TYPE_INTEGER || field_type<T>() == TELLTALE_FIELD_TYPE_FLOAT;
  using Type = std::conditional_t<kIsNumber || !std::is_lvalue_reference_v<T>, std::decay_t<T>, const Plain&>;
};
template <typename... T>
using KeptValues = std::tuple<typename Kept<T>::Type...>;

template <typename... T>
KeptValues<T&&...> kept(T&&... values) {
  return KeptValues<T&&...>(std::forward<T>(values)...);
}

template <typename T>
telltale_value value_of(const T& value) {
  telltale_value result{};
  if constexpr (field_type<T>() == TELLTALE_FIELD_TYPE_FLOAT) {
    result.number = static_cast<double>(value);
  } else if constexpr (field_type<T>() == TELLTALE_FIELD_TYPE_INTEGER) {
    result.integer = static_cast<std::int64_t>(value);
  } else if constexpr (field_type<T>() == TELLTALE_FIELD_TYPE_TEXT) {
    const std::string_view text = value;
    result.text.data = text.data();
    result.text.size = text.size();
  } else {
    result.shape.dims = value.data();
    result.shape.rank = static_cast<std::size_t>(value.size());
  }
  return result;
}

// Names of values: "batch, size(a, b)" becomes "batch" and "size(a, b)" at compile time.
template <std::size_t kTextSize, std::size_t kNames>
struct SplitNames {
  std::array<char, kTextSize + kNames> text{};
  std::array<std::size_t, kNames> begins{};

  constexpr explicit SplitNames(const char (&list)[kTextSize]) {
    std::size_t at = 0, name = 0;
    int depth = 0;
    bool is_at_begin = true, is_in_quotes = false;
    for (std::size_t i = 0; i + 1 < kTextSize; ++i) {
      const char c = list[i];
      if (is_at_begin && c == ' ') continue;
      is_at_begin = false;
      if (c == '"' && (i == 0 || list[i - 1] != '\\')) is_in_quotes = !is_in_quotes;
      if (!is_in_quotes && (c == '(' || c == '[' || c == '{')) ++depth;
      if (!is_in_quotes && (c == ')' || c == ']' || c == '}')) --depth;
      if (c == ',' && depth == 0 && !is_in_quotes && name + 1 < kNames) {
        text[at++] = '\0';
        begins[++name] = at;
        is_at_begin = true;
      } else {
        text[at++] = c;
      }
    }
  }
};

template <typename Values>
struct FieldTypes;
template <typename... T>
struct FieldTypes<std::tuple<T...>> {
  static constexpr std::size_t kCount = sizeof...(T);
  static constexpr std::array<std::uint32_t, kCount> kTypes = {field_type<T>()...};
  static constexpr bool kAreAllNumbers = (Kept<T>::kIsNumber && ...);
};

template <typename Values, std::size_t kTextSize>
constexpr auto fields_of(const SplitNames<kTextSize, std::tuple_size_v<Values>>& names) {
  std::array<telltale_field, std::tuple_size_v<Values>> fields{};
  for (std::size_t i = 0; i < fields.size(); ++i)
    fields[i] = {names.text.data() + names.begins[i], FieldTypes<Values>::kTypes[i], 0};
  return fields;
}

template <typename Values, std::size_t... kIndex>
std::array<telltale_value, sizeof...(kIndex)> raw_values(const Values& values, std::index_sequence<kIndex...> /*all*/) {
  return {value_of(std::get<kIndex>(values))...};
}
template <typename Values>
auto raw_values(const Values& values) {
  return raw_values(values, std::make_index_sequence<std::tuple_size_v<Values>>());
}

template <typename T>
std::uint64_t word_of(T value) {
  const telltale_value raw = value_of(value);
  std::uint64_t word = 0;
  std::memcpy(&word, &raw, sizeof word);
  return word;
}
template <typename Values, std::size_t... kIndex>
std::array<std::uint64_t, sizeof...(kIndex)> words_of(const Values& values, std::index_sequence<kIndex...> /*all*/) {
  return {word_of(std::get<kIndex>(values))...};
}

class Scope {
 public:
  explicit Scope(telltale_site& site) : scope_(telltale_begin(&site)) {}
  ~Scope() { telltale_end(&scope_); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  telltale_scope scope_;
};

// `Take` is called for the values, only while something is recorded.
template <typename Take>
class ScopeWithValues {
 public:
  using Values = decltype(std::declval<Take&>()());

  ScopeWithValues(telltale_site& site, Take take) : nothing() {
    if (!telltale_is_recording()) return;
    new (&values) Values(take());
    has_values_ = true;
    scope_ = {&site, telltale_scope_begin(&site)};
  }
  ~ScopeWithValues() {
    if (!has_values_) return;
    if constexpr (FieldTypes<Values>::kAreAllNumbers) {
      const auto words = words_of(values, std::make_index_sequence<std::tuple_size_v<Values>>());
      telltale_scope_end_words(scope_.site, scope_.start, words.data());
    } else {
      telltale_end_with(&scope_, raw_values(values).data());
    }
    values.~Values();
  }
  ScopeWithValues(const ScopeWithValues&) = delete;
  ScopeWithValues& operator=(const ScopeWithValues&) = delete;

 private:
  union {
    char nothing;
    Values values;
  };
  telltale_scope scope_ = {nullptr, 0};
  bool has_values_ = false;
};

// Never called: what TELLTALE_DISABLED leaves of a macro.
template <typename... T>
char ignored(const T&... values);

}  // namespace detail
}  // namespace telltale

#define TELLTALE_JOINED_(a, b) a##b
#define TELLTALE_JOIN_(a, b) TELLTALE_JOINED_(a, b)
// A name that several macros of one line may use: `id` is one __COUNTER__ for all names of a macro.
#define TELLTALE_UNIQUE_(name, id) TELLTALE_JOIN_(telltale_##name##_, id)

#if defined(TELLTALE_DISABLED)

// Looked at by the compiler, so that no variable seems unused, and by nobody else.
#define TELLTALE_NOTHING_(...) static_cast<void>(sizeof(::telltale::detail::ignored(__VA_ARGS__)))

#define TELLTALE_SCOPE(...) TELLTALE_NOTHING_(__VA_ARGS__)
#define TELLTALE_ANNOTATION(...) TELLTALE_NOTHING_(__VA_ARGS__)
#define TELLTALE_FUNCTION() static_cast<void>(0)
#define TELLTALE_INSTANT(...) TELLTALE_NOTHING_(__VA_ARGS__)
#define TELLTALE_COUNTER(name, value) TELLTALE_NOTHING_(name, value)
#define TELLTALE_FLOW_START(name, id) TELLTALE_NOTHING_(name, id)
#define TELLTALE_FLOW_STEP(name, id) TELLTALE_NOTHING_(name, id)
#define TELLTALE_FLOW_END(name, id) TELLTALE_NOTHING_(name, id)
#define TELLTALE_ASYNC_BEGIN(...) TELLTALE_NOTHING_(__VA_ARGS__)
#define TELLTALE_ASYNC_END(name, id) TELLTALE_NOTHING_(name, id)

#else

#define TELLTALE_PLAIN_SITE_(variable, name, kind) \
  static telltale_site variable = {name, "", __FILE__, __PRETTY_FUNCTION__, nullptr, 0, __LINE__, kind, 0}

// Declares `variable`, a site whose fields are the values that `take` returns and that are called as `...` is written.
#define TELLTALE_SITE_WITH_(id, variable, name, kind, take, ...)                                                      \
  using TELLTALE_UNIQUE_(Values, id) = decltype(take());                                                              \
  static constexpr ::telltale::detail::SplitNames<sizeof(#__VA_ARGS__),                                               \
                                                  std::tuple_size_v<TELLTALE_UNIQUE_(Values, id)>>                    \
      TELLTALE_UNIQUE_(names, id)(#__VA_ARGS__);                                                                      \
  static constexpr auto TELLTALE_UNIQUE_(fields, id) =                                                                \
      ::telltale::detail::fields_of<TELLTALE_UNIQUE_(Values, id), sizeof(#__VA_ARGS__)>(TELLTALE_UNIQUE_(names, id)); \
  static telltale_site variable = {name,                                                                              \
                                   "",                                                                                \
                                   __FILE__,                                                                          \
                                   __PRETTY_FUNCTION__,                                                               \
                                   TELLTALE_UNIQUE_(fields, id).data(),                                               \
                                   static_cast<std::uint32_t>(TELLTALE_UNIQUE_(fields, id).size()),                   \
                                   __LINE__,                                                                          \
                                   kind,                                                                              \
                                   0}

#define TELLTALE_PLAIN_SCOPE_(id, kind, name)                   \
  TELLTALE_PLAIN_SITE_(TELLTALE_UNIQUE_(site, id), name, kind); \
  const ::telltale::detail::Scope TELLTALE_UNIQUE_(scope, id)(TELLTALE_UNIQUE_(site, id))

#define TELLTALE_SCOPE_WITH_(id, kind, name, ...)                                                              \
  const auto TELLTALE_UNIQUE_(take, id) = [&] { return ::telltale::detail::kept(__VA_ARGS__); };               \
  TELLTALE_SITE_WITH_(id, TELLTALE_UNIQUE_(site, id), name, kind, TELLTALE_UNIQUE_(take, id), __VA_ARGS__);    \
  const ::telltale::detail::ScopeWithValues<decltype(TELLTALE_UNIQUE_(take, id))> TELLTALE_UNIQUE_(scope, id)( \
      TELLTALE_UNIQUE_(site, id), TELLTALE_UNIQUE_(take, id))

#define TELLTALE_PLAIN_INSTANT_(name)                                            \
  do {                                                                           \
    TELLTALE_PLAIN_SITE_(telltale_site_here, name, TELLTALE_KIND_OTHER);         \
    if (telltale_is_recording()) telltale_instant(&telltale_site_here, nullptr); \
  } while (false)

#define TELLTALE_INSTANT_WITH_(name, ...)                                                                 \
  do {                                                                                                    \
    const auto telltale_take = [&] { return ::telltale::detail::kept(__VA_ARGS__); };                     \
    TELLTALE_SITE_WITH_(here, telltale_site_here, name, TELLTALE_KIND_OTHER, telltale_take, __VA_ARGS__); \
    if (telltale_is_recording())                                                                          \
      telltale_instant(&telltale_site_here, ::telltale::detail::raw_values(telltale_take()).data());      \
  } while (false)

#define TELLTALE_PLAIN_ASYNC_(name, id)                                                  \
  do {                                                                                   \
    TELLTALE_PLAIN_SITE_(telltale_site_here, name, TELLTALE_KIND_SCOPE);                 \
    if (telltale_is_recording()) telltale_async_begin(&telltale_site_here, id, nullptr); \
  } while (false)

#define TELLTALE_ASYNC_WITH_(name, id, ...)                                                                  \
  do {                                                                                                       \
    const auto telltale_take = [&] { return ::telltale::detail::kept(__VA_ARGS__); };                        \
    TELLTALE_SITE_WITH_(here, telltale_site_here, name, TELLTALE_KIND_SCOPE, telltale_take, __VA_ARGS__);    \
    if (telltale_is_recording())                                                                             \
      telltale_async_begin(&telltale_site_here, id, ::telltale::detail::raw_values(telltale_take()).data()); \
  } while (false)

#define TELLTALE_FLOW_(name, id, role)                                         \
  do {                                                                         \
    TELLTALE_PLAIN_SITE_(telltale_site_here, name, TELLTALE_KIND_SCOPE);       \
    if (telltale_is_recording()) telltale_flow(&telltale_site_here, id, role); \
  } while (false)

// Chooses the plain form when there are no values.
#define TELLTALE_PICK_(_1, _2, _3, _4, _5, _6, _7, _8, _9, chosen, ...) chosen
#define TELLTALE_FORM_(with, plain, ...) \
  TELLTALE_PICK_(__VA_ARGS__, with, with, with, with, with, with, with, with, plain, plain)

// A named part of the work, until the end of the block: TELLTALE_SCOPE("name"), TELLTALE_SCOPE("name", value, …), up to
// eight values.
#define TELLTALE_SCOPE(...)                                                \
  TELLTALE_FORM_(TELLTALE_SCOPE_WITH_, TELLTALE_PLAIN_SCOPE_, __VA_ARGS__) \
  (__COUNTER__, TELLTALE_KIND_SCOPE, __VA_ARGS__)
// The same for phases that the user thinks in, such as "forward".
#define TELLTALE_ANNOTATION(...)                                           \
  TELLTALE_FORM_(TELLTALE_SCOPE_WITH_, TELLTALE_PLAIN_SCOPE_, __VA_ARGS__) \
  (__COUNTER__, TELLTALE_KIND_ANNOTATION, __VA_ARGS__)
// The function around it.
#define TELLTALE_FUNCTION() TELLTALE_PLAIN_SCOPE_(__COUNTER__, TELLTALE_KIND_FUNCTION, __func__)

// A mark: TELLTALE_INSTANT("name"), TELLTALE_INSTANT("name", value, …).
#define TELLTALE_INSTANT(...) TELLTALE_FORM_(TELLTALE_INSTANT_WITH_, TELLTALE_PLAIN_INSTANT_, __VA_ARGS__)(__VA_ARGS__)

// A value over time.
#define TELLTALE_COUNTER(name, value)                                                               \
  do {                                                                                              \
    TELLTALE_PLAIN_SITE_(telltale_site_here, name, TELLTALE_KIND_OTHER);                            \
    if (telltale_is_recording()) telltale_counter(&telltale_site_here, static_cast<double>(value)); \
  } while (false)

// An arrow between scopes, by name and id.
#define TELLTALE_FLOW_START(name, id) TELLTALE_FLOW_(name, id, TELLTALE_FLOW_ROLE_START)
#define TELLTALE_FLOW_STEP(name, id) TELLTALE_FLOW_(name, id, TELLTALE_FLOW_ROLE_STEP)
#define TELLTALE_FLOW_END(name, id) TELLTALE_FLOW_(name, id, TELLTALE_FLOW_ROLE_END)

// A span that belongs to no thread, by name and id: TELLTALE_ASYNC_BEGIN("request", id, value, …).
#define TELLTALE_ASYNC_PICK_(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, chosen, ...) chosen
#define TELLTALE_ASYNC_BEGIN(...)                                                                              \
  TELLTALE_ASYNC_PICK_(__VA_ARGS__, TELLTALE_ASYNC_WITH_, TELLTALE_ASYNC_WITH_, TELLTALE_ASYNC_WITH_,          \
                       TELLTALE_ASYNC_WITH_, TELLTALE_ASYNC_WITH_, TELLTALE_ASYNC_WITH_, TELLTALE_ASYNC_WITH_, \
                       TELLTALE_ASYNC_WITH_, TELLTALE_PLAIN_ASYNC_, TELLTALE_PLAIN_ASYNC_)                     \
  (__VA_ARGS__)
#define TELLTALE_ASYNC_END(name, id)                                          \
  do {                                                                        \
    TELLTALE_PLAIN_SITE_(telltale_site_here, name, TELLTALE_KIND_SCOPE);      \
    if (telltale_is_recording()) telltale_async_end(&telltale_site_here, id); \
  } while (false)

#endif
