#include "bindings/core/torch_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "bindings/core/torch_extras.h"
#include "formats/kineto/event_arguments.h"

namespace telltale::python {
namespace {

bool is_numbered(Kind kind) {
  return kind == Kind::kOperator || kind == Kind::kAnnotation || kind == Kind::kPython || kind == Kind::kModule;
}

bool is_of_record_function(Kind kind) { return kind == Kind::kOperator || kind == Kind::kAnnotation; }

// The members of an object, without its brackets.
std::string_view inside(std::string_view object) {
  return object.size() > 2 ? object.substr(1, object.size() - 2) : std::string_view();
}

class Numbering {
 public:
  explicit Numbering(Trace& trace) : trace_(trace), numbers_(kineto_numbers(trace)) {}

  void apply() {
    SideTable<StringId> all;
    SideTableWalk<StringId> before(trace_.other_arguments);
    for (EventId event = 0; event < trace_.events.size(); ++event) {
      const StringId* const known = before.find(event);
      if (is_numbered(trace_.events.kind[event])) {
        const std::string text = with_numbers(event, known == nullptr ? std::string_view() : trace_.strings[*known]);
        all.append(event, trace_.strings.intern(text));
      } else if (known != nullptr) {
        all.append(event, *known);
      }
    }
    trace_.other_arguments = std::move(all);
  }

 private:
  // `others` is an object, or a value that stands alone and stays as it is.
  std::string with_numbers(EventId event, std::string_view others) {
    if (!others.empty() && !others.starts_with('{')) return std::string(others);
    const auto extras = torch_extras(others);
    std::string members(extras ? extras->before : inside(others));
    const auto add = [&](std::string_view more) {
      if (more.empty()) return;
      if (!members.empty()) members += ',';
      members += more;
    };
    if (extras) {
      add(inside(extras->keywords));
      if (!extras->overload.empty())
        trace_.events.name[event] = trace_.strings.intern(fmt::format("{}.{}", trace_.name(event), extras->overload));
    }
    const Kind kind = trace_.events.kind[event];
    if (kind == Kind::kAnnotation)
      add(fmt::format(R"("External id":{})", external_id(event)));  // operators have theirs
    if (is_of_record_function(kind))
      add(fmt::format(R"("Record function id":{})", extras ? extras->record_function : "0"));
    add(fmt::format(R"("Ev Idx":{})", numbers_[event]));
    return fmt::format("{{{}}}", members);
  }

  Trace& trace_;
  std::vector<std::size_t> numbers_;
};

}  // namespace

std::uint64_t external_id(EventId event) { return kineto::link_number(event); }

std::vector<std::size_t> kineto_numbers(const Trace& trace) {
  const std::vector<Kind>& kinds = trace.events.kind;
  std::vector<EventId> by_start(kinds.size());
  std::iota(by_start.begin(), by_start.end(), EventId{0});
  std::erase_if(by_start, [&](EventId event) { return !is_numbered(kinds[event]); });
  std::ranges::stable_sort(by_start, {}, [&](EventId event) {
    return std::pair(!is_of_record_function(kinds[event]), trace.events.start[event]);
  });
  std::vector<std::size_t> numbers(kinds.size());
  for (std::size_t i = 0; i < by_start.size(); ++i) numbers[by_start[i]] = i;
  return numbers;
}

void add_kineto_numbers(Trace& trace) { Numbering(trace).apply(); }

}  // namespace telltale::python
