// The peer that says how fast JSON can be read at all: simdjson's On-Demand parser looks at name, cat, ph,
// ts, dur, pid and tid of each event and keeps nothing.
//
// Prints {"load_s":[…],"walk_s":[…],"events":n,…}: each run loads the file (from the page cache) and then
// walks it. The parser is used again from run to run, as simdjson's authors advise.
#include <simdjson.h>

#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "stopwatch.h"

namespace {

namespace ondemand = simdjson::ondemand;

// What was seen, so that no compiler can leave the looking out.
struct Seen {
  std::uint64_t events = 0;
  std::uint64_t text_bytes = 0;
  double microseconds = 0;
  std::int64_t ids = 0;
};

void see_text(ondemand::value value, Seen& seen) {
  std::string_view text;
  if (!value.get_string().get(text)) seen.text_bytes += text.size();
}

void see_time(ondemand::value value, Seen& seen) {
  double time = 0;
  if (!value.get_double().get(time)) seen.microseconds += time;
}

// A pid or tid: nearly always a number.
void see_id(ondemand::value value, Seen& seen) {
  std::int64_t number = 0;
  if (value.get_int64().get(number)) {
    see_text(value, seen);
  } else {
    seen.ids += number;
  }
}

Seen walk(ondemand::parser& parser, const simdjson::padded_string& text) {
  Seen seen;
  ondemand::document document = parser.iterate(text);
  for (auto element : document["traceEvents"].get_array()) {
    ++seen.events;
    for (auto field : element.get_object()) {
      const ondemand::raw_json_string key = field.key();
      if (key == "name" || key == "cat" || key == "ph") {
        see_text(field.value(), seen);
      } else if (key == "ts" || key == "dur") {
        see_time(field.value(), seen);
      } else if (key == "pid" || key == "tid") {
        see_id(field.value(), seen);
      }
    }
  }
  return seen;
}

int run(const char* path, int runs) {
  ondemand::parser parser;
  std::vector<double> load_seconds, walk_seconds;
  Seen seen;
  for (int i = 0; i < runs; ++i) {
    telltale::bench::Stopwatch stopwatch;
    const simdjson::padded_string text = simdjson::padded_string::load(path);
    load_seconds.push_back(stopwatch.lap());
    seen = walk(parser, text);
    walk_seconds.push_back(stopwatch.lap());
  }
  std::cout << '{';
  telltale::bench::print_seconds(std::cout, "load_s", load_seconds);
  std::cout << ',';
  telltale::bench::print_seconds(std::cout, "walk_s", walk_seconds);
  std::cout << ",\"events\":" << seen.events << ",\"text_bytes\":" << seen.text_bytes
            << ",\"microseconds\":" << seen.microseconds << ",\"ids\":" << seen.ids << ",\"version\":\""
            << simdjson::SIMDJSON_VERSION_MAJOR << '.' << simdjson::SIMDJSON_VERSION_MINOR << '.'
            << simdjson::SIMDJSON_VERSION_REVISION << "\"}\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: simdjson_walk FILE RUNS\n";
    return 2;
  }
  try {
    return run(argv[1], std::stoi(argv[2]));
  } catch (const std::exception& error) {
    std::cerr << "simdjson_walk: " << argv[1] << ": " << error.what() << '\n';
    return 2;
  }
}
