// The user's browser, where there is one on this machine.
#pragma once

#include <string>

namespace telltale::cli {

// Whether a browser would show up where the user sits: there is a display, and it is not that of an ssh session.
bool has_display();

// Asks the desktop to open the address. Whether that works is not known; a desktop without a browser has none to open.
void open_browser(const std::string& address);

}  // namespace telltale::cli
