#include "record/paused_steps.h"

#include "record/emit.h"

namespace telltale::record {
namespace {

constinit telltale_site unrecorded_step = {.name = "UnrecordedStep", .kind = TELLTALE_KIND_ANNOTATION};

}  // namespace

void PausedSteps::emit_all() const {
  for (std::size_t i = 0; i < count_; ++i) {
    SpanRecord record{
        {0, tell::RecordType::kSpan, 0, sizeof(SpanRecord) / kWordBytes}, spans_[i].start, spans_[i].duration};
    emit(sizeof record, [&](unsigned char* at) {
      record.head.site = number_of(&unrecorded_step);
      store(at, record);
    });
  }
}

}  // namespace telltale::record
