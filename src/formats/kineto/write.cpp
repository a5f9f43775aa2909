#include "formats/kineto/write.h"

#include "formats/kineto/event_list_text.h"
#include "formats/kineto/header_text.h"
#include "formats/output/left_out_of_trace.h"

namespace telltale::kineto {

namespace {

LeftOutList write_document(const Trace& trace, TextWriter& out, const WriteProgress& progress, bool with_window) {
  LeftOutList left_out;
  out << "{\n";
  write_header(trace, out, left_out);
  out << "\"traceEvents\": [";
  EventListText events(trace, out);
  events.write(progress, left_out);
  if (with_window) events.write_window();
  out << "\n]\n}\n";
  leave_out_anomalies(trace, left_out);
  return left_out;
}

}  // namespace

LeftOutList write(const Trace& trace, TextWriter& out, const WriteProgress& progress) {
  return write_document(trace, out, progress, false);
}

LeftOutList write_with_window(const Trace& trace, TextWriter& out, const WriteProgress& progress) {
  return write_document(trace, out, progress, true);
}

}  // namespace telltale::kineto
