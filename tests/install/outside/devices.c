/* devices FILE.tell: what record.c does, beside a device that may not be there; prints why CUDA is not recorded. */
#include <stdio.h>
#include <telltale/devices.h>

int main(int count, char** words) {
  static telltale_site work = TELLTALE_SITE("work");
  static telltale_site done = TELLTALE_SITE("done");
  static telltale_site depth = TELLTALE_SITE("depth");
  telltale_options options;
  telltale_cuda_options cuda;
  telltale_status started;
  int round;

  if (count != 2) return 1;
  telltale_default_options(&options, sizeof options);
  options.path = words[1];
  if (telltale_start(&options) != TELLTALE_STATUS_OK) return 1;
  telltale_default_cuda_options(&cuda, sizeof cuda);
  started = telltale_cuda_start(&cuda);
  printf("%s\n", telltale_devices_error_text());
  for (round = 0; round < 10; ++round) {
    const telltale_scope scope = telltale_begin(&work);
    telltale_end(&scope);
  }
  telltale_instant(&done, NULL);
  telltale_counter(&depth, 1.5);
  telltale_counter(&depth, 2.5);
  if (started == TELLTALE_STATUS_OK && telltale_cuda_stop() != TELLTALE_STATUS_OK) return 1;
  return telltale_stop() == TELLTALE_STATUS_OK ? 0 : 1;
}
