// A library with a scope of its own.
#include "telltale/telltale.hpp"

extern "C" __attribute__((visibility("default"))) void plugin_work() { TELLTALE_SCOPE("plugin work"); }
