#include "trace/reference_chains.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace telltale {
namespace {

using nlohmann::json;

constexpr std::size_t kMostLinks = 20, kLongestLink = 500;

std::optional<ReferenceChain> chain_in(const json& value) {
  if (!value.is_object()) return std::nullopt;
  const auto address = value.find("address"), links = value.find("chain");
  if (address == value.end() || !address->is_number_unsigned() || links == value.end() || !links->is_array() ||
      links->size() > kMostLinks)
    return std::nullopt;
  ReferenceChain chain{.address = address->get<std::uint64_t>(), .links = {}, .graph = {}};
  for (const json& link : *links) {
    if (!link.is_string() || link.get_ref<const std::string&>().size() > kLongestLink) return std::nullopt;
    chain.links.push_back(link.get<std::string>());
  }
  const auto graph = value.find("graph");
  if (graph == value.end() || !graph->is_array()) return chain;
  for (const json& row : *graph) {
    const bool is_row = row.is_array() && row.size() == 2 && row[0].is_number_integer() && row[1].is_number_integer();
    if (is_row) chain.graph.emplace_back(row[0].get<std::int64_t>(), row[1].get<std::int64_t>());
  }
  return chain;
}

}  // namespace

bool ReferenceChain::keeps_graph_of(std::int64_t sequence) const {
  return std::ranges::any_of(graph, [&](const auto& row) { return row.first <= sequence && sequence <= row.second; });
}

std::optional<std::vector<ReferenceChain>> reference_chains(const Trace& trace) {
  const std::string* const text = trace.metadata_named("referrers");
  if (text == nullptr) return std::nullopt;
  json value = json::parse(*text, nullptr, false);
  // Recorders write values of their own as text.
  if (value.is_string()) value = json::parse(value.get_ref<const std::string&>(), nullptr, false);
  std::vector<ReferenceChain> chains;
  if (!value.is_array()) return chains;
  for (const json& each : value)
    if (auto chain = chain_in(each)) chains.push_back(std::move(*chain));
  return chains;
}

}  // namespace telltale
