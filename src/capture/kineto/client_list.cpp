#include "capture/kineto/client_list.h"

#include <algorithm>
#include <utility>

namespace telltale::capture {
namespace {

// A program may load data and compile for a while before its first step: that a stand-in is there does not mean that
// steps will not come.
constexpr int kPatienceBeyond = 4;

}  // namespace

std::string stand_in_log_file(const std::string& log_file) {
  std::string path = log_file;
  return path.insert(path.rfind(".json"), "_time");
}

ClientList::ClientList(CapturePlan plan, std::function<bool(const std::string&)> is_trace)
    : plan_(std::move(plan)), is_trace_(std::move(is_trace)) {}

Client& ClientList::client_of(int pid, TimePoint now) {
  const auto known = std::ranges::find(clients_, pid, &Client::pid);
  if (known != clients_.end()) return *known;
  return clients_.emplace_back(Client{pid, ClientState::kAsked, now});
}

bool ClientList::has_file(const Client& client) const {
  return is_trace_(written_log_file(plan_.log_file, client.pid));
}

bool ClientList::has_stand_in(const Client& client) const {
  return is_trace_(written_log_file(stand_in_log_file(plan_.log_file), client.pid));
}

bool ClientList::is_stand_in_wanted(const Client& client, TimePoint now) const {
  return plan_.duration && now - client.first_asked >= plan_.patience && !has_stand_in(client);
}

KinetoRequest ClientList::request_by_steps() const {
  return {plan_.log_file, plan_.steps, {}, plan_.with_shapes, plan_.with_stacks, plan_.with_memory};
}

KinetoRequest ClientList::request_by_time(const std::string& log_file) const {
  return {log_file, std::nullopt, *plan_.duration, plan_.with_shapes, plan_.with_stacks, plan_.with_memory};
}

std::string ClientList::answer(const ConfigurationRequest& request, TimePoint now) {
  Client& client = client_of(request.pids.front(), now);
  if (has_file(client)) client.state = ClientState::kDone;
  if (client.state == ClientState::kDone) return {};
  client.state = request.can_record ? ClientState::kAsked : ClientState::kRecording;
  if (!request.can_record) return {};
  if (!plan_.steps) return configuration_text(request_by_time(plan_.log_file));
  if (is_stand_in_wanted(client, now)) return configuration_text(request_by_time(stand_in_log_file(plan_.log_file)));
  return configuration_text(request_by_steps());
}

void ClientList::look_for_files() {
  for (Client& client : clients_)
    if (client.state != ClientState::kDone && has_file(client)) client.state = ClientState::kDone;
}

bool ClientList::all_are_recorded(TimePoint now) const {
  return !clients_.empty() && std::ranges::all_of(clients_, [&](const Client& client) {
    if (client.state == ClientState::kDone || has_file(client)) return true;
    return now - client.first_asked >= kPatienceBeyond * plan_.patience && has_stand_in(client);
  });
}

}  // namespace telltale::capture
