/* record FILE.tell: ten scopes with a value, an instant and two values of a counter. */
#include <stdio.h>
#include <string.h>
#include <telltale/telltale.h>

int main(int count, char** words) {
  static const telltale_field fields[] = {{"round", TELLTALE_FIELD_TYPE_INTEGER, 0}};
  static telltale_site work = {"work", "", __FILE__, "main", fields, 1, __LINE__, TELLTALE_KIND_SCOPE, 0};
  static telltale_site done = TELLTALE_SITE("done");
  static telltale_site depth = TELLTALE_SITE("depth");
  telltale_options options;
  telltale_statistics statistics;
  char version[32];
  int round;

  snprintf(version, sizeof version, "%d.%d.%d", TELLTALE_VERSION_MAJOR, TELLTALE_VERSION_MINOR, TELLTALE_VERSION_PATCH);
  if (count != 2 || strcmp(telltale_version(), version) != 0) return 1;
  telltale_default_options(&options, sizeof options);
  options.path = words[1];
  if (telltale_start(&options) != TELLTALE_STATUS_OK) {
    fprintf(stderr, "%s\n", telltale_error_text());
    return 1;
  }
  for (round = 0; round < 10; ++round) {
    const telltale_scope scope = telltale_begin(&work);
    telltale_value value;
    value.integer = round;
    telltale_end_with(&scope, &value);
  }
  telltale_instant(&done, NULL);
  telltale_counter(&depth, 1.5);
  telltale_counter(&depth, 2.5);
  if (telltale_stop() != TELLTALE_STATUS_OK) return 1;
  telltale_get_statistics(&statistics, sizeof statistics);
  return statistics.recorded == 13 && statistics.dropped == 0 ? 0 : 1;
}
