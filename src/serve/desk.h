// Where requests are answered: the gate first, then the page's files, the state, and the table of questions.
//
// Knows nothing of sockets. receive() is called by one thread; what it leaves to do later may be done by any.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "serve/gate.h"
#include "serve/handling.h"
#include "serve/opened_trace.h"
#include "serve/reply.h"
#include "serve/request_head.h"

namespace telltale::serve {

class Desk {
 public:
  struct Facts {
    std::string version;
    bool has_source = false;
  };
  Desk(Gate& gate, const OpenedTrace& trace, Facts facts) : gate_(gate), trace_(trace), facts_(std::move(facts)) {}

  Handling receive(const RequestHead& head);

  using Clock = std::chrono::steady_clock;
  // When somebody who may ask has last been answered; nothing where nobody has come.
  std::optional<Clock::time_point> last_visit() const;
  // Whether a page has been told that the trace cannot be read.
  bool has_told_failure() const { return has_told_failure_; }

 private:
  Reply state();
  Handling opening(const RequestHead& head);
  Handling question(const RequestHead& head);
  void note_visit();

  Gate& gate_;
  const OpenedTrace& trace_;
  const Facts facts_;
  std::atomic<bool> has_told_failure_ = false;
  std::atomic<int> in_progress_ = 0;
  std::atomic<bool> was_visited_ = false;
  std::atomic<Clock::time_point> last_visit_ = Clock::time_point();
};

}  // namespace telltale::serve
