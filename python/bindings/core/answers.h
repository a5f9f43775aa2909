// An answer for Python: one class, whatever was asked.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "report/palette.h"

namespace telltale::python {

// The views of an answer. Each is made when it is asked for; the page may be absent.
struct Answer {
  std::function<std::string()> json;             // what --json prints
  std::function<std::string(std::size_t)> text;  // what a terminal of that width without colors shows
  std::function<std::string()> page;             // HTML, complete
};

template <typename Views>
Answer answer_of(Views views) {
  const auto shared = std::make_shared<const Views>(std::move(views));
  Answer answer;
  answer.json = [shared] { return shared->json(); };
  answer.text = [shared](std::size_t width) { return shared->terminal(TextStyle{width, false}); };
  if constexpr (requires { shared->html(); }) answer.page = [shared] { return shared->html(); };
  return answer;
}

// What a function of src/answers says to a request. May be called without the GIL.
template <typename Views, typename Request>
Result<Answer> answered(Result<Views> (*ask)(const Request&), const Request& request) {
  Result<Views> views = ask(request);
  if (!views) return std::unexpected(std::move(views).error());
  return answer_of(*std::move(views));
}

}  // namespace telltale::python
