// Emits from constructors and destructors of static objects.
#include "telltale/telltale.hpp"

namespace {

struct Early {
  Early() { TELLTALE_SCOPE("constructor"); }
  ~Early() { TELLTALE_SCOPE("destructor"); }
};
const Early kEarly;

}  // namespace

int main() { TELLTALE_SCOPE("main"); }
