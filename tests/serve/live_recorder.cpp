// live_recorder FILE: records as many scopes as each line of standard input says, says when they are in the file, and
// ends the recording with its input.
#include <telltale/telltale.h>

#include <cstdio>
#include <iostream>

int main(int count, char** words) {
  static telltale_site work = TELLTALE_SITE("work");
  telltale_options options;
  telltale_default_options(&options, sizeof options);
  options.path = words[count - 1];
  if (telltale_start(&options) != TELLTALE_STATUS_OK) {
    std::fprintf(stderr, "%s\n", telltale_error_text());
    return 1;
  }
  for (int scopes = 0; std::cin >> scopes;) {
    for (int i = 0; i < scopes; ++i) {
      const telltale_scope scope = telltale_begin(&work);
      telltale_end(&scope);
    }
    telltale_flush();
    std::cout << "recorded" << std::endl;
  }
  return telltale_stop() == TELLTALE_STATUS_OK ? 0 : 1;
}
