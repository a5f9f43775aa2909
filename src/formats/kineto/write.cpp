#include "formats/kineto/write.h"

#include "formats/kineto/event_list_text.h"
#include "formats/kineto/header_text.h"
#include "formats/output/left_out_of_trace.h"

namespace telltale::kineto {

LeftOutList write(const Trace& trace, TextWriter& out, const WriteProgress& progress) {
  LeftOutList left_out;
  out << "{\n";
  write_header(trace, out, left_out);
  out << "\"traceEvents\": [";
  EventListText(trace, out).write(progress, left_out);
  out << "\n]\n}\n";
  leave_out_anomalies(trace, left_out);
  return left_out;
}

}  // namespace telltale::kineto
