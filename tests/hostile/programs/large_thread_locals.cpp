// Records to the path that it is given. Each of its threads has more thread-local variables than the writer's stack
// would have room for by itself.
#include <cstdio>

#include "telltale/telltale.h"

thread_local volatile char large[700 << 10];

int main(int /*argc*/, char** argv) {
  large[0] = 1;
  telltale_options options;
  telltale_default_options(&options, sizeof options);
  options.path = argv[1];
  static telltale_site site = {"large", "", "", "", nullptr, 0, 0, TELLTALE_KIND_SCOPE, 0};
  const bool is_recorded = telltale_start(&options) == TELLTALE_STATUS_OK &&
                           telltale_instant(&site, nullptr) == TELLTALE_STATUS_OK &&
                           telltale_stop() == TELLTALE_STATUS_OK;
  if (!is_recorded) std::fprintf(stderr, "%s\n", telltale_error_text());
  return is_recorded ? 0 : 1;
}
