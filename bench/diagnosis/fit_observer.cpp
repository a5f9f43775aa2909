// Fits what recording an event costs, on traces whose unprofiled step is known, and says how far off the fit is for a
// trace that was left out of it:
//
//   fit_observer FOLDER…     folders with truth.json, or with the pairs.jsonl that measure_observer.py writes
//   fit_observer FOLDER… --only "$(bench/diagnosis/halves.py fit FOLDER…)"
//
// Every combination of costs on a grid is tried on every trace. Traces with and without Python calls are fitted apart.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/host_work.h"
#include "analysis/step_timing.h"
#include "formats/read_trace.h"
#include "replay/edit.h"
#include "replay/step_graph.h"

namespace telltale::bench {
namespace {

struct Pair {
  std::string name, path;
  double unprofiled_ms = 0;
};

std::vector<Pair> pairs_in(const std::filesystem::path& folder) {
  std::vector<Pair> pairs;
  if (std::ifstream truth(folder / "truth.json"); truth) {
    const nlohmann::json document = nlohmann::json::parse(truth);
    for (const nlohmann::json& row : document.at("cases")) {
      const std::string name = row.at("case");
      pairs.push_back({name, folder / (name + ".json.gz"), row.at("step_ms")});
      if (row.contains("nostack_step_ms"))
        pairs.push_back({name + " (no stacks)", folder / (name + ".nostack.json.gz"), row.at("nostack_step_ms")});
    }
  }
  if (std::ifstream lines(folder / "pairs.jsonl"); lines) {
    for (std::string line; std::getline(lines, line);) {
      const auto row = nlohmann::json::parse(line);
      const std::string name = row.at("case").get<std::string>() + "." + row.at("option").get<std::string>();
      pairs.push_back({name, folder / (name + ".json.gz"), row.at("step_ms")});
    }
  }
  return pairs;
}

// The grids, in nanoseconds an event and as a share.
std::vector<ObserverCost> costs_with_python() {
  std::vector<ObserverCost> costs;
  for (const double share : {0.0, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6})
    for (const double python : {0, 500, 1000, 2000, 4000, 6000})
      for (const double op : {0, 500, 1000, 1500, 2000, 3000, 5000})
        for (double api = 0; api <= 4000; api += 1000) costs.push_back({python, op, api, share});
  return costs;
}
std::vector<ObserverCost> costs_without_python() {
  std::vector<ObserverCost> costs;
  for (double share = 0; share <= 0.4; share += 0.1)
    for (double op = 0; op <= 5000; op += 500)
      for (double api = 0; api <= 8000; api += 2000) costs.push_back({0, op, api, share});
  return costs;
}

// One bad measurement must not decide the fit.
constexpr double kLargestError = 0.4;

class Fit {
 public:
  explicit Fit(std::vector<ObserverCost> costs) : costs_(std::move(costs)), errors_(costs_.size()) {}

  void add(const Pair& pair, const StepGraph& graph) {
    names_.push_back(pair.name);
    for (std::size_t i = 0; i < costs_.size(); ++i) {
      Edit edit;
      edit.observer = costs_[i];
      errors_[i].push_back(std::log(static_cast<double>(graph.replay(edit).period) / 1e6 / pair.unprofiled_ms));
    }
  }

  void print(std::string_view title) const {
    if (names_.empty()) return;
    const std::size_t best = best_without(names_.size());
    fmt::print("{}: {} traces, best {}\n", title, names_.size(), words(best));
    std::size_t close = 0;
    for (std::size_t trace = 0; trace < names_.size(); ++trace) {
      const std::size_t others = best_without(trace);
      const double left_out = std::expm1(errors_[others][trace]);
      close += std::abs(left_out) <= 0.1 ? 1 : 0;
      fmt::print("  {:40} {:+6.1f} %   left out {:+6.1f} %  ({})\n", names_[trace],
                 100 * std::expm1(errors_[best][trace]), 100 * left_out, words(others));
    }
    fmt::print("  left out, within 10 %: {} of {}\n", close, names_.size());
  }

 private:
  std::string words(std::size_t i) const {
    return fmt::format("python {:.1f} µs, operator {:.1f}, API call {:.1f}, share {:.2f}", costs_[i].python_call / 1e3,
                       costs_[i].operator_call / 1e3, costs_[i].api_call / 1e3, costs_[i].share);
  }

  // The costs with the least sum of errors over all traces but one.
  std::size_t best_without(std::size_t left_out) const {
    std::size_t best = 0;
    double least = INFINITY;
    for (std::size_t i = 0; i < costs_.size(); ++i) {
      double sum = 0;
      for (std::size_t trace = 0; trace < names_.size(); ++trace)
        if (trace != left_out) sum += std::min(std::abs(errors_[i][trace]), kLargestError);
      if (sum >= least) continue;
      least = sum;
      best = i;
    }
    return best;
  }

  std::vector<ObserverCost> costs_;
  std::vector<std::string> names_;
  std::vector<std::vector<double>> errors_;  // by cost, by trace: logarithm of predicted over measured
};

int run(const std::vector<std::string>& folders, const std::set<std::string>& only) {
  Fit with_python(costs_with_python()), without_python(costs_without_python());
  for (const std::string& folder : folders) {
    for (const Pair& pair : pairs_in(folder)) {
      if (!only.empty() && !only.contains(pair.name.substr(0, pair.name.find_first_of(" .")))) continue;
      const Result<Trace> trace = read_trace(pair.path);
      if (!trace) {
        std::cerr << to_string(trace.error()) << '\n';
        return 2;
      }
      const StepTiming timing = step_timing(*trace);
      const StepGraph graph(*trace, timing, host_work_by_event(*trace));
      const bool has_python = observer_cost(*trace).share > 0;
      (has_python ? with_python : without_python).add(pair, graph);
    }
  }
  with_python.print("with Python calls");
  without_python.print("without");
  return 0;
}

}  // namespace
}  // namespace telltale::bench

int main(int argc, char** argv) {
  CLI::App app("Fits what recording costs, and prints how far off the fit is for traces left out of it");
  std::vector<std::string> folders;
  std::string only;
  app.add_option("FOLDER", folders, "Folders with truth.json or pairs.jsonl and traces")->required();
  app.add_option("--only", only, "Fit on these programs alone, with spaces between their names");
  CLI11_PARSE(app, argc, argv);
  try {
    std::istringstream words(only);
    return telltale::bench::run(folders, {std::istream_iterator<std::string>(words), {}});
  } catch (const std::exception& error) {
    std::cerr << "fit_observer: " << error.what() << '\n';
    return 2;
  }
}
