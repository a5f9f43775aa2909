// A library with a recorder of its own.
#include "telltale/telltale.h"

extern "C" {

__attribute__((visibility("default"))) int plugin_start(const char* path) {
  telltale_options options;
  telltale_default_options(&options, sizeof options);
  options.path = path;
  return telltale_start(&options);
}

__attribute__((visibility("default"))) int plugin_work() {
  static telltale_site site = {"plugin work", "", "", "", nullptr, 0, 0, TELLTALE_KIND_SCOPE, 0};
  return telltale_instant(&site, nullptr);
}

}  // extern "C"
