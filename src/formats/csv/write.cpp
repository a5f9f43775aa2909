#include "formats/csv/write.h"

#include <string>

#include "formats/output/argument_text.h"
#include "formats/output/json_parts.h"
#include "formats/output/left_out_of_trace.h"
#include "trace/attributes.h"

namespace telltale::csv {
namespace {

constexpr EventId kEventsBetweenReports = 1 << 14;

class TextSink : public ByteSink {
 public:
  Result<void> write(std::string_view bytes) override {
    text.append(bytes);
    return {};
  }
  Result<void> finish() override { return {}; }

  std::string text;
};

class Lines {
 public:
  Lines(const Trace& trace, TextWriter& out)
      : trace_(trace),
        out_(out),
        json_(trace.strings),
        arguments_(trace, json_, name_of),
        categories_(trace.categories),
        argument_out_(argument_text_) {
    for (const Track& track : trace.tracks) places_.push_back(place_of(track));
  }

  void write(EventId event) {
    const Events& events = trace_.events;
    const StringId* category = categories_.find(event);
    const StepId step = trace_.step_of(event);
    out_ << event << ',' << events.start[event] << ',' << events.duration[event] << ',' << InCsv{trace_.name(event)}
         << ',' << name_of(events.kind[event]) << ',';
    if (category != nullptr) out_ << InCsv{trace_.strings[*category]};
    out_ << places_[events.track[event]];
    if (events.parent[event] != kNoEvent) out_ << events.parent[event];
    out_ << ',';
    if (events.cause[event] != kNoEvent) out_ << events.cause[event];
    out_ << ',';
    if (step != kNoStep) out_ << trace_.steps[static_cast<std::size_t>(step)].index;
    out_ << ',';
    write_arguments(event);
    out_ << kCsvLineEnd;
  }

  std::uint64_t unwritable() const { return arguments_.unwritable(); }

 private:
  // Everything between the category and the parent, which is the same for all events of a track.
  std::string place_of(const Track& track) const {
    const Process& process = trace_.processes[track.process];
    std::string text = ",";
    append_csv_field(text, trace_.strings[process.name]);
    text.append(",").append(std::to_string(process.native_id)).append(",");
    append_csv_field(text, trace_.strings[track.name]);
    text.append(",").append(std::to_string(track.native_id)).append(",");
    if (track.device != kHost) text += std::to_string(track.device);
    return text += ',';
  }

  void write_arguments(EventId event) {
    if (const std::string_view value = arguments_.bare_value(event); !value.empty()) {
      out_ << InCsv{value};
      return;
    }
    argument_text_.text.clear();
    {
      ObjectText object(argument_out_, {});
      arguments_.write_host_side(event, object);
      arguments_.write_rest(event, object);
    }
    argument_out_.flush();
    if (!argument_text_.text.empty()) out_ << InCsv{argument_text_.text};
  }

  const Trace& trace_;
  TextWriter& out_;
  CheckedJson json_;
  ArgumentText arguments_;
  SideTableWalk<StringId> categories_;
  std::vector<std::string> places_;  // by track
  TextSink argument_text_;
  TextWriter argument_out_;
};

}  // namespace

LeftOutList write(const Trace& trace, TextWriter& out, const WriteProgress& progress) {
  out << "id,start_ns,duration_ns,name,kind,category,process,pid,track,tid,device,parent,cause,step,args"
      << kCsvLineEnd;
  Lines lines(trace, out);
  for (EventId event = 0; event < trace.events.size() && !out.has_failed(); ++event) {
    lines.write(event);
    if (progress && event % kEventsBetweenReports == 0)
      progress(static_cast<double>(event) / static_cast<double>(trace.events.size()));
  }
  LeftOutList left_out;
  constexpr std::string_view kWhy = "only events have a line in the table";
  left_out.add(lines.unwritable(), "argument", "arguments", "not JSON");
  leave_out_all_but_events(trace, left_out, kWhy);
  left_out.add(trace.metadata.size(), "value about the recording", "values about the recording", kWhy);
  leave_out_anomalies(trace, left_out);
  return left_out;
}

}  // namespace telltale::csv
