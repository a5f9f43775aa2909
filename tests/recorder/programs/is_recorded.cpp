// Says by its exit code whether it is recorded, and whether it has the rights of another user than the one who started
// it.
#include <telltale/telltale.h>
#include <unistd.h>

int main() {
  const int is_recorded = telltale_is_recording() != 0 ? 1 : 0;
  const int is_privileged = getuid() != geteuid() ? 2 : 0;
  return is_recorded + is_privileged;
}
