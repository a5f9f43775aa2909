#include "capture/kineto/client_list.h"

#include <gtest/gtest.h>

#include <set>

namespace telltale::capture {
namespace {

using std::chrono::seconds;

class Clients : public testing::Test {
 protected:
  ClientList list(CapturePlan plan) {
    plan.log_file = "/runs/a.json";
    return {plan, [this](const std::string& path) { return files_.contains(path); }};
  }
  static ConfigurationRequest from(int pid, bool can_record = true) { return {can_record, 0, {pid, 1}}; }
  static bool is_by_steps(const std::string& text) { return text.find("ACTIVITIES_ITERATIONS=") != std::string::npos; }

  const CapturePlan by_steps_{.steps = StepWindow{}};
  const CapturePlan by_time_{.duration = std::chrono::milliseconds(500)};
  const CapturePlan either_{.steps = StepWindow{}, .duration = std::chrono::milliseconds(500), .patience = seconds(10)};
  const ClientList::TimePoint start_;
  std::set<std::string> files_;
};

TEST_F(Clients, a_process_is_told_again_until_its_file_is_there) {
  ClientList clients = list(by_steps_);
  EXPECT_TRUE(is_by_steps(clients.answer(from(7), start_)));
  EXPECT_TRUE(is_by_steps(clients.answer(from(7), start_ + seconds(100))));
  EXPECT_EQ(clients.clients().size(), 1u);
  files_.insert("/runs/a_7.json");
  EXPECT_EQ(clients.answer(from(7), start_ + seconds(101)), "");
  EXPECT_EQ(clients.clients()[0].state, ClientState::kDone);
}

TEST_F(Clients, a_process_that_is_done_is_left_alone_even_when_its_file_is_moved) {
  ClientList clients = list(by_steps_);
  files_.insert("/runs/a_7.json");
  clients.answer(from(7), start_);
  files_.clear();
  EXPECT_EQ(clients.answer(from(7), start_), "");
}

TEST_F(Clients, a_busy_process_is_left_alone) {
  ClientList clients = list(by_time_);
  EXPECT_FALSE(is_by_steps(clients.answer(from(7), start_)));
  EXPECT_EQ(clients.answer(from(7, false), start_), "");
  EXPECT_EQ(clients.clients()[0].state, ClientState::kRecording);
}

TEST_F(Clients, each_process_has_its_own_state) {
  ClientList clients = list(by_steps_);
  clients.answer(from(7), start_);
  files_.insert("/runs/a_7.json");
  EXPECT_NE(clients.answer(from(8), start_), "");
  EXPECT_FALSE(clients.all_are_recorded(start_));
  files_.insert("/runs/a_8.json");
  EXPECT_TRUE(clients.all_are_recorded(start_));
  clients.look_for_files();
  EXPECT_EQ(clients.clients()[0].state, ClientState::kDone);
  EXPECT_EQ(clients.clients()[1].state, ClientState::kDone);
}

TEST_F(Clients, nobody_is_not_everybody) { EXPECT_FALSE(list(by_steps_).all_are_recorded(start_)); }

TEST_F(Clients, time_stands_in_for_steps_that_do_not_come_and_gives_way_to_them) {
  ClientList clients = list(either_);
  EXPECT_TRUE(is_by_steps(clients.answer(from(7), start_)));
  EXPECT_TRUE(is_by_steps(clients.answer(from(7), start_ + seconds(9))));
  const std::string stand_in = clients.answer(from(7), start_ + seconds(10));
  EXPECT_FALSE(is_by_steps(stand_in));
  EXPECT_TRUE(stand_in.starts_with("ACTIVITIES_LOG_FILE=/runs/a_time.json\n"));
  files_.insert("/runs/a_time_7.json");
  EXPECT_FALSE(clients.all_are_recorded(start_ + seconds(39)));
  EXPECT_TRUE(clients.all_are_recorded(start_ + seconds(40)));
  EXPECT_TRUE(is_by_steps(clients.answer(from(7), start_ + seconds(11))));
  EXPECT_EQ(clients.clients()[0].state, ClientState::kAsked);
}

TEST_F(Clients, where_steps_were_asked_for_nothing_stands_in) {
  ClientList clients = list(by_steps_);
  EXPECT_TRUE(is_by_steps(clients.answer(from(7), start_)));
  EXPECT_TRUE(is_by_steps(clients.answer(from(7), start_ + seconds(1000))));
}

}  // namespace
}  // namespace telltale::capture
