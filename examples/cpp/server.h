// Requests wait in a queue; worker threads take several at once and answer them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <telltale/telltale.hpp>
#include <thread>
#include <vector>

#include "model.h"

using Clock = std::chrono::steady_clock;

struct Request {
  std::uint64_t id = 0;
  std::vector<float> input;
  Clock::time_point arrived;
};

class RequestQueue {
 public:
  RequestQueue(std::size_t max_batch, Clock::duration max_wait) : max_batch_(max_batch), max_wait_(max_wait) {}

  void push(Request request) {
    TELLTALE_SCOPE("enqueue");
    // A request is a span from here to its answer, whichever threads handle it; the arrow leads to the batch it is in.
    TELLTALE_ASYNC_BEGIN("request", request.id, request.input.size());
    TELLTALE_FLOW_START("queued", request.id);
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_.push_back(std::move(request));
    TELLTALE_COUNTER("queue depth", waiting_.size());
    changed_.notify_one();
  }

  // Waits until a batch is full or its first request has waited for long enough. Empty when the queue is closed and
  // nothing is left in it. No scope here: a thread that is in none is idle, and so is a worker that waits.
  std::vector<Request> next_batch() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return is_closed_ || !waiting_.empty(); });
      if (is_closed_ || waiting_.size() >= max_batch_) break;
      const auto deadline = waiting_.front().arrived + max_wait_;
      if (Clock::now() >= deadline) break;
      changed_.wait_until(lock, deadline);
    }
    std::vector<Request> batch;
    while (!waiting_.empty() && batch.size() < max_batch_) {
      batch.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    TELLTALE_COUNTER("queue depth", waiting_.size());
    if (!waiting_.empty()) changed_.notify_one();
    return batch;
  }

  void close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }

 private:
  const std::size_t max_batch_;
  const Clock::duration max_wait_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> waiting_;
  bool is_closed_ = false;
};

struct Served {
  std::uint64_t batches = 0;
  std::vector<double> latencies_ms;  // of each request, from its arrival to its answer
};

class Server {
 public:
  Server(const Model& model, RequestQueue& queue, int workers) : model_(model), queue_(queue) {
    for (int i = 0; i < workers; ++i) workers_.emplace_back([this, i] { work(i); });
  }
  ~Server() { finish(); }

  // Answers what is left in the queue, and nothing more.
  void finish() {
    queue_.close();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
  }

  Served served() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return served_;
  }

 private:
  void work(int number) {
    telltale_name_thread(("worker " + std::to_string(number)).c_str());
    for (auto batch = queue_.next_batch(); !batch.empty(); batch = queue_.next_batch()) serve(batch);
  }

  void serve(const std::vector<Request>& requests) {
    TELLTALE_SCOPE("batch", requests.size());
    for (const Request& request : requests) TELLTALE_FLOW_END("queued", request.id);
    Buffer inputs(requests.size() * Model::kInputs);
    {
      TELLTALE_SCOPE("gather");
      for (std::size_t i = 0; i < requests.size(); ++i)
        std::copy(requests[i].input.begin(), requests[i].input.end(), inputs.at(i * Model::kInputs));
    }
    const std::vector<int> answers = model_.classify(inputs, requests.size());
    answer(requests, answers);
  }

  // A real server would send the answers.
  void answer(const std::vector<Request>& requests, const std::vector<int>& answers) {
    TELLTALE_SCOPE("answer", answers.front());
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Request& request : requests) {
      TELLTALE_ASYNC_END("request", request.id);
      const std::chrono::duration<double, std::milli> latency = Clock::now() - request.arrived;
      served_.latencies_ms.push_back(latency.count());
    }
    ++served_.batches;
  }

  const Model& model_;
  RequestQueue& queue_;
  mutable std::mutex mutex_;
  Served served_;
  std::vector<std::thread> workers_;
};
