// Which devices a trace has: those that its header describes, and those that streams stand on.
#pragma once

#include "trace/trace.h"

namespace telltale {

// Completes `devices`, which holds what the header describes, and orders it by id. Needs tracks and processes.
//
// Header and events may number devices differently: HIP's tracers count the processors in, so that the first GPU is
// device 2. So a device that no header describes is one that it does describe and that nothing stands on, as long as
// all that are described are alike. A device that is still without a name has that of its process's label ("MTIA 9" is
// an MTIA), but for "GPU 0", which names none.
void list_devices(Trace& trace);

}  // namespace telltale
