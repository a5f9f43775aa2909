// record FILE.tell: what record.c does, in C++.
#include <telltale/telltale.hpp>

int main(int count, char** words) {
  if (count != 2) return 1;
  {
    const telltale::Session session(words[1]);
    if (!session.is_recording()) return 1;
    for (int round = 0; round < 10; ++round) {
      TELLTALE_SCOPE("work", round);
    }
    TELLTALE_INSTANT("done");
    TELLTALE_COUNTER("depth", 1.5);
    TELLTALE_COUNTER("depth", 2.5);
  }
  const telltale_statistics statistics = telltale::statistics();
  return statistics.recorded == 13 && statistics.dropped == 0 ? 0 : 1;
}
