// Every macro in each of its forms, for compilers to look at.
#include <cstdint>
#include <string>
#include <telltale/telltale.hpp>
#include <vector>

int use_all(const std::string& text, const std::vector<std::int64_t>& shape) {
  TELLTALE_FUNCTION();
  TELLTALE_SCOPE("plain");
  TELLTALE_SCOPE("values", 1, 2U, 3.5, true, 'c', text, shape, std::string("temporary"));
  // clang-format off
  TELLTALE_SCOPE("one"); TELLTALE_SCOPE("two"); TELLTALE_SCOPE("three, of one line", text);
  // clang-format on
  TELLTALE_ANNOTATION("phase");
  TELLTALE_ANNOTATION("phase with a value", text.size());
  TELLTALE_INSTANT("mark");
  TELLTALE_INSTANT("mark with values", text, shape);
  TELLTALE_COUNTER("counter", shape.size());
  TELLTALE_FLOW_START("arrow", 1);
  TELLTALE_FLOW_STEP("arrow", 1);
  TELLTALE_FLOW_END("arrow", 1);
  TELLTALE_ASYNC_BEGIN("request", 1);
  TELLTALE_ASYNC_BEGIN("request with values", 2, text, shape);
  TELLTALE_ASYNC_END("request", 1);
  return 0;
}
