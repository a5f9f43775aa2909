/* load LIBRARY FILE.tell: what record.c does, in a program that only finds the library when it runs. */
#include <dlfcn.h>
#include <stdio.h>
#include <telltale/telltale.h>

/* C99 has no cast from the object pointer of dlsym() to a function pointer. */
#define LOAD(function) (*(void**)(&function) = dlsym(library, "telltale_" #function))

int main(int count, char** words) {
  void (*default_options)(telltale_options*, size_t);
  telltale_status (*start)(const telltale_options*);
  telltale_status (*stop)(void);
  uint64_t (*scope_begin)(telltale_site*);
  telltale_status (*scope_end_with)(telltale_site*, uint64_t, const telltale_value*);
  telltale_status (*instant)(telltale_site*, const telltale_value*);
  telltale_status (*counter)(telltale_site*, double);
  static const telltale_field fields[] = {{"round", TELLTALE_FIELD_TYPE_INTEGER, 0}};
  static telltale_site work = {"work", "", __FILE__, "main", fields, 1, __LINE__, TELLTALE_KIND_SCOPE, 0};
  static telltale_site done = TELLTALE_SITE("done");
  static telltale_site depth = TELLTALE_SITE("depth");
  telltale_options options;
  void* library;
  const uint32_t* recording;
  int round;

  if (count != 3) return 1;
  library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  recording = (const uint32_t*)dlsym(library, "telltale_recording");
  if (recording == NULL || !LOAD(default_options) || !LOAD(start) || !LOAD(stop) || !LOAD(scope_begin) ||
      !LOAD(scope_end_with) || !LOAD(instant) || !LOAD(counter))
    return 1;

  default_options(&options, sizeof options);
  options.path = words[2];
  if (*recording != 0 || start(&options) != TELLTALE_STATUS_OK || *recording == 0) return 1;
  for (round = 0; round < 10; ++round) {
    const uint64_t begin = scope_begin(&work);
    telltale_value value;
    value.integer = round;
    if (scope_end_with(&work, begin, &value) != TELLTALE_STATUS_OK) return 1;
  }
  instant(&done, NULL);
  counter(&depth, 1.5);
  counter(&depth, 2.5);
  if (stop() != TELLTALE_STATUS_OK || *recording != 0) return 1;
  return dlclose(library);
}
