#include "serve/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <csignal>
#include <list>
#include <utility>

namespace telltale::serve {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

// Enough for a thousand tracks and for the cookies of all other servers at 127.0.0.1.
constexpr std::uint32_t kMostHeadBytes = 32 << 10;
constexpr std::size_t kMostConnections = 64;
// From the moment at which we wait for a request until its last byte, however it trickles in; for sending an answer;
// and for what somebody still sends who was refused.
constexpr std::chrono::seconds kRequestTime{5}, kSendTime{60}, kDrainTime{2};
constexpr std::chrono::milliseconds kTick{200};
// Of slow answers, most wait for the same analysis.
constexpr std::size_t kQuickThreads = 3, kSlowThreads = 6;

constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

boost::string_view as_boost(std::string_view text) { return {text.data(), text.size()}; }

constexpr std::string_view kNoBody = "Requests have no body here.";

using Clock = std::chrono::steady_clock;
using Parser = http::request_parser<http::empty_body>;

void set_limits(Parser& parser) {
  parser.header_limit(kMostHeadBytes);
  parser.body_limit(std::uint64_t{0});
}

// Why bytes that came in are no request; nothing where the connection itself has ended.
std::optional<Reply> refusal_of(error_code error) {
  const auto& of_http = http::make_error_code(http::error::end_of_stream).category();
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return refusal("", 431, "The request is too long.");
  if (error == http::error::body_limit) return refusal("", 413, kNoBody);
  if (error.category() != of_http || error == http::error::end_of_stream || error == http::error::partial_message)
    return std::nullopt;
  return refusal("", 400, "The request is not HTTP/1.1 as browsers speak it.");
}

RequestHead head_of(const http::request<http::empty_body>& request) {
  RequestHead head{.method = std::string(request.method_string()), .target = std::string(request.target())};
  for (const auto& field : request) {
    std::string name(field.name_string());
    std::ranges::transform(name, name.begin(), [](char letter) {
      return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    head.fields.emplace_back(std::move(name), std::string(field.value()));
  }
  return head;
}

http::response<http::string_body> message(Reply reply, bool has_body, bool keeps_alive) {
  http::response<http::string_body> response(http::status(reply.status), 11);
  response.set(http::field::content_type, as_boost(reply.type));
  response.set(http::field::cache_control, "no-store");
  response.set("Content-Security-Policy", as_boost(kPolicy));
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Referrer-Policy", "no-referrer");
  response.set("Cross-Origin-Opener-Policy", "same-origin");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  for (const auto& [name, value] : reply.fields) response.set(as_boost(name), as_boost(value));
  response.content_length(reply.body.size());
  response.keep_alive(keeps_alive);
  if (has_body) response.body() = std::move(reply.body);
  return response;
}

// One browser's connection: a request, its answer, and the next.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, const Server::Receive& receive, asio::thread_pool& quick, asio::thread_pool& slow)
      : stream_(std::move(socket)), receive_(receive), quick_(quick), slow_(slow) {}

  void read() {
    state_ = State::kWaiting;
    parser_.emplace();
    set_limits(*parser_);
    stream_.expires_after(kRequestTime);
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = shared_from_this()](error_code error, std::size_t) { self->answer(error); });
  }

  // Whether nothing is being answered, so that it may be closed in favor of another.
  bool is_waiting() const { return state_ == State::kWaiting; }

  // Since when somebody takes an answer, who perhaps does not read at all.
  std::optional<Clock::time_point> sending_since() const {
    return state_ == State::kSending ? std::optional(sending_since_) : std::nullopt;
  }

  void close() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

 private:
  void answer(error_code error) {
    state_ = State::kAnswering;
    if (auto refused = refusal_of(error)) return send(*std::move(refused), true, false);
    if (error) return close();
    if (!parser_->is_done()) return send(refusal("", 413, kNoBody), true, false);

    const auto& request = parser_->get();
    const bool has_body = request.method() != http::verb::head;
    const bool keeps_alive = request.keep_alive();
    Handling handling = receive_(head_of(request));
    if (handling.reply) return send(*std::move(handling.reply), has_body, keeps_alive);
    stream_.expires_never();
    watch();
    // What belongs to the connection also goes on its own thread, not here: it is handed back, not shared.
    asio::post(handling.is_slow ? slow_ : quick_,
               [self = shared_from_this(), later = std::move(handling.later), has_body, keeps_alive]() mutable {
                 const auto executor = self->stream_.get_executor();
                 if (self->is_gone_) return asio::post(executor, [self = std::move(self)] { self->close(); });
                 asio::post(executor, [self = std::move(self), reply = later(), has_body, keeps_alive]() mutable {
                   self->send(std::move(reply), has_body, keeps_alive);
                 });
               });
  }

  // Notices when nobody waits for the answer any more, so that it need not be begun. What can be read without a byte
  // being there is the end, unless the answer was sent and the bytes of the next request are read already.
  void watch() {
    stream_.socket().async_wait(tcp::socket::wait_read,
                                [self = shared_from_this(), watched = answers_sent_](error_code error) {
                                  if (watched != self->answers_sent_) return;
                                  if (error || self->stream_.socket().available(error) == 0) self->is_gone_ = true;
                                });
  }

  void send(Reply reply, bool has_body, bool keeps_alive) {
    answers_sent_ += 1;
    state_ = State::kSending;
    sending_since_ = Clock::now();
    response_ = message(std::move(reply), has_body, keeps_alive);
    stream_.expires_after(kSendTime);
    http::async_write(stream_, response_, [self = shared_from_this(), keeps_alive](error_code error, std::size_t) {
      if (error) return self->close();
      self->response_ = {};
      if (keeps_alive) return self->read();
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, error);
      self->stream_.expires_after(kDrainTime);
      self->drain();
    });
  }

  // Reads what still comes and forgets it: who is cut off while sending never sees the answer.
  void drain() {
    state_ = State::kWaiting;
    buffer_.clear();
    stream_.async_read_some(
        buffer_.prepare(kMostHeadBytes),
        [self = shared_from_this()](error_code error, std::size_t) { return error ? self->close() : self->drain(); });
  }

  beast::tcp_stream stream_;
  const Server::Receive& receive_;
  asio::thread_pool &quick_, &slow_;
  beast::flat_buffer buffer_{kMostHeadBytes};
  std::optional<Parser> parser_;
  http::response<http::string_body> response_;
  enum class State : std::uint8_t { kWaiting, kAnswering, kSending };
  State state_ = State::kWaiting;
  Clock::time_point sending_since_;
  std::uint64_t answers_sent_ = 0;
  std::atomic<bool> is_gone_ = false;  // asked by those who answer
};

std::string why_not_listening(std::uint16_t port, error_code error) {
  if (error == asio::error::address_in_use)
    return fmt::format("port {} is in use; choose another one, or leave --port out for one that is free", port);
  if (error == asio::error::access_denied)
    return fmt::format("port {} is not for everybody; choose one above 1023, or leave --port out", port);
  return fmt::format("cannot listen at port {}: {}", port, error.message());
}

}  // namespace

std::expected<RequestHead, unsigned> read_head(std::string_view bytes) {
  Parser parser;
  set_limits(parser);
  error_code error;
  parser.put(asio::buffer(bytes.data(), bytes.size()), error);
  if (error == http::error::need_more) return std::unexpected(0U);
  if (const auto refused = refusal_of(error)) return std::unexpected(refused->status);
  if (!parser.is_done()) return std::unexpected(parser.is_header_done() ? 413U : 0U);
  return head_of(parser.get());
}

// Threads are joined before what they post to is gone.
struct Server::Parts {
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer timer{context}, pause{context};
  asio::signal_set signals{context};
  std::list<std::weak_ptr<Connection>> connections;
  asio::thread_pool quick{kQuickThreads}, slow{kSlowThreads};

  void accept(const Receive& receive) {
    acceptor.async_accept([this, &receive](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
      if (error) return accept_later(receive);
      if (has_room()) {
        auto connection = std::make_shared<Connection>(std::move(socket), receive, quick, slow);
        connections.push_back(connection);
        connection->read();
      }
      accept(receive);
    });
  }

  // The kernel has no more descriptors or memory: that will not change at once.
  void accept_later(const Receive& receive) {
    pause.expires_after(kTick);
    pause.async_wait([this, &receive](error_code error) {
      if (!error) accept(receive);
    });
  }

  // Where there are too many, closes the connection that came first among those that wait for a request, or else the
  // one that has been taking its answer for the longest: whoever reads has it in moments.
  bool has_room() {
    connections.remove_if([](const auto& each) { return each.expired(); });
    if (connections.size() < kMostConnections) return true;
    std::shared_ptr<Connection> slowest;
    for (const auto& each : connections) {
      auto connection = each.lock();
      if (!connection) continue;
      if (connection->is_waiting()) return close(*connection);
      const auto since = connection->sending_since();
      if (since && (!slowest || *since < *slowest->sending_since())) slowest = std::move(connection);
    }
    return slowest && close(*slowest);
  }

  bool close(Connection& connection) {
    connection.close();
    connections.remove_if([&](const auto& each) { return each.lock().get() == &connection; });
    return true;
  }

  void tick(const std::function<bool()>& goes_on) {
    timer.expires_after(kTick);
    timer.async_wait([this, &goes_on](error_code error) {
      if (error) return;
      if (goes_on()) return tick(goes_on);
      stop();
    });
  }

  void stop() {
    error_code ignored;
    acceptor.close(ignored);
    timer.cancel();
    signals.cancel(ignored);
    for (const auto& each : connections)
      if (const auto connection = each.lock()) connection->close();
    context.stop();
  }

  // Whoever started us may want a signal ignored: nohup, or a shell that runs us in the background.
  void watch_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction before{};
      if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) signals.add(signal);
    }
    signals.async_wait([this](error_code error, int) {
      if (!error) stop();
    });
  }
};

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Server::Server(Server&&) noexcept = default;
Server::~Server() = default;

Result<Server> Server::listen(std::uint16_t port) {
  auto parts = std::make_unique<Parts>();
  const tcp::endpoint here(asio::ip::address_v4::loopback(), port);
  error_code error;
  parts->acceptor.open(here.protocol(), error);
  if (!error) parts->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) parts->acceptor.bind(here, error);
  if (!error) parts->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return failure(why_not_listening(port, error));
  return Server(std::move(parts));
}

std::uint16_t Server::port() const { return parts_->acceptor.local_endpoint().port(); }

void Server::run(const Receive& receive, const std::function<bool()>& goes_on) {
  parts_->watch_signals();
  parts_->accept(receive);
  parts_->tick(goes_on);
  parts_->context.run();
}

}  // namespace telltale::serve
