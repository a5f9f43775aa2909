#include "record/thread_state.h"

namespace telltale::record {

constinit thread_local ThreadState* current_thread __attribute__((tls_model("initial-exec"))) = nullptr;

}  // namespace telltale::record
