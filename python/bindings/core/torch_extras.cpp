#include "bindings/core/torch_extras.h"

#include "base/json_text.h"

namespace telltale::python {

std::optional<TorchExtras> torch_extras(std::string_view other_arguments) {
  // The three stand together at the end. A text inside of a text has its quotation marks escaped: none looks like
  // these.
  constexpr std::string_view kNumber = R"("Execution trace id":)", kOverload = R"(,"Overload name":")",
                             kKeywords = R"(","Keyword inputs":")", kEnd = R"("})";
  const std::size_t number = other_arguments.find(kNumber), overload = other_arguments.find(kOverload),
                    keywords = other_arguments.find(kKeywords);
  const bool is_ordered = number < overload && overload < keywords && keywords != std::string_view::npos;
  if (!is_ordered || !other_arguments.ends_with(kEnd)) return std::nullopt;
  const auto between = [&](std::size_t from, std::size_t to) { return other_arguments.substr(from, to - from); };
  Repairs repairs;
  TorchExtras extras;
  extras.before = between(1, number > 1 ? number - 1 : 1);
  extras.record_function = between(number + kNumber.size(), overload);
  extras.overload = unescaped(between(overload + kOverload.size(), keywords), repairs);
  extras.keywords = unescaped(between(keywords + kKeywords.size(), other_arguments.size() - kEnd.size()), repairs);
  return extras;
}

}  // namespace telltale::python
