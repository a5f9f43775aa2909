#include "expectation.h"

#include <map>
#include <set>
#include <sstream>

#include "json_pieces.h"
#include "trace_facts.h"

namespace telltale::oracle {
namespace {

constexpr std::string_view kSeparator = " | ";

// "\n" and "\t" stand for what a line cannot hold, "\\" for a backslash.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    out += c == 'n' ? '\n' : c == 't' ? '\t' : c;
  }
  return out;
}

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> fields;
  for (;;) {
    const std::size_t bar = line.find(kSeparator);
    fields.push_back(unescaped(trimmed(line.substr(0, bar))));
    if (bar == std::string_view::npos) return fields;
    line.remove_prefix(bar + kSeparator.size());
  }
}

class Checker {
 public:
  Checker(const Trace& trace, std::string_view file_text) : trace_(trace), file_text_(file_text) {}

  void check(const Fact& fact) {
    line_ = fact.line;
    const std::string& subject = fact.fields[0];
    if (subject == "anomaly") return check_anomaly(fact.fields);
    if (subject == "flow") return check_flow(fact.fields);
    const auto known = facts_about(trace_, fact.fields);
    if (!known) return broken("there is no such " + subject + ": " + (fact.fields.size() > 1 ? fact.fields[1] : ""));
    // The fields that are not used up by naming the subject: "kind operator" asks for the fact "kind".
    for (std::size_t i = known->fields_used; i < fact.fields.size(); ++i)
      check_claim(subject, fact.fields[i], known->facts);
  }

  void finish() {
    for (const AnomalyCount& entry : trace_.anomalies.list())
      if (!foretold_.contains(entry.anomaly))
        sentences_.push_back("the anomaly " + std::string(name_of(entry.anomaly)) + " was not foretold");
  }

  std::vector<std::string> take() { return std::move(sentences_); }

 private:
  void broken(const std::string& sentence) { sentences_.push_back("line " + std::to_string(line_) + ": " + sentence); }

  // A claim is the longest name of a fact that it starts with, and the value behind that.
  void check_claim(const std::string& subject, const std::string& claim,
                   const std::map<std::string, std::string>& facts) {
    std::string name;
    for (const auto& [fact, value] : facts)
      if ((claim == fact || claim.starts_with(fact.empty() ? fact : fact + " ")) && fact.size() >= name.size())
        name = fact;
    const auto found = facts.find(name);
    if (found == facts.end()) return broken("a " + subject + " has nothing to say about \"" + claim + "\"");
    const std::string wanted = name.empty() ? claim : std::string(trimmed(claim.substr(name.size())));
    if (found->second != wanted)
      broken(subject + (name.empty() ? "" : ": " + name) + " is " + found->second + ", not " + wanted);
  }

  void check_anomaly(const std::vector<std::string>& fields) {
    for (int i = 0; i < kAnomalyCount; ++i) {
      const auto anomaly = static_cast<Anomaly>(i);
      if (fields.size() < 3 || name_of(anomaly) != fields[1]) continue;
      foretold_.insert(anomaly);
      const std::string count = std::to_string(trace_.anomalies.count(anomaly));
      if (count != fields[2]) broken(fields[1] + " was counted " + count + " times, not " + fields[2]);
      if (fields.size() > 3) check_place(anomaly, fields[3]);
      return;
    }
    broken("an anomaly needs the name of one and a count");
  }

  void check_place(Anomaly anomaly, const std::string& claim) {
    const std::size_t place = file_text_.find(claim.substr(std::string_view("at ").size()));
    if (place == std::string_view::npos) return broken("the file does not hold what stands behind \"at\"");
    for (const AnomalyCount& entry : trace_.anomalies.list())
      if (entry.anomaly == anomaly && entry.example.byte_offset != place)
        broken("the example stands at byte " + std::to_string(entry.example.byte_offset) + ", not " +
               std::to_string(place));
  }

  // Several flows may have one name: one of them must fit.
  void check_flow(const std::vector<std::string>& fields) {
    for (const Flow& flow : trace_.flows) {
      const auto end = [&](EventId event) { return event == kNoEvent ? "none" : std::string(trace_.name(event)); };
      if (fields.size() == 4 && trace_.strings[flow.name] == fields[1] && "from " + end(flow.from) == fields[2] &&
          "to " + end(flow.to) == fields[3])
        return;
    }
    broken("there is no such flow");
  }

  const Trace& trace_;
  std::string_view file_text_;
  int line_ = 0;
  std::set<Anomaly> foretold_;
  std::vector<std::string> sentences_;
};

}  // namespace

std::vector<Fact> parse_facts(std::string_view text) {
  std::vector<Fact> facts;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.empty() && line[0] != '#') facts.push_back({number, split(line)});
  }
  return facts;
}

std::vector<std::string> broken_facts(const std::vector<Fact>& facts, const Result<Trace>& result,
                                      std::string_view file_text) {
  const bool is_to_be_refused = facts.size() == 1 && facts[0].fields[0] == "refused";
  if (is_to_be_refused) {
    if (result) return {"the file was read, but should be refused"};
    const std::string sentence = to_string(result.error());
    if (sentence.empty() || sentence.find('\n') != std::string::npos) return {"an error is one sentence"};
    return {};
  }
  if (!result) return {"the file was refused: " + to_string(result.error())};
  Checker checker(*result, file_text);
  for (const Fact& fact : facts) checker.check(fact);
  checker.finish();
  return checker.take();
}

}  // namespace telltale::oracle
