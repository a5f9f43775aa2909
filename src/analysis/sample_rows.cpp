#include "analysis/sample_rows.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analysis/operator_arguments.h"

namespace telltale {
namespace {

// Which argument holds the samples, and how many dimensions it has with rows of them; rows come first.
struct Layer {
  std::string_view op;
  std::size_t input = 0;
  std::size_t dimensions = 2;
};

// Recurrent ones are missing: time comes first in them, unless they are told otherwise.
constexpr auto kLayers = std::to_array<Layer>({
    {"aten::linear"},
    {"aten::embedding", 1, 1},
    {"aten::conv1d", 0, 3},
    {"aten::conv2d", 0, 4},
    {"aten::conv3d", 0, 5},
    {"aten::layer_norm"},
    {"aten::batch_norm"},
    {"aten::matmul"},
    {"aten::addmm", 1},
    {"aten::mm"},
});

const Layer* layer_at(const Trace& trace, EventId event) {
  if (trace.events.kind[event] != Kind::kOperator) return nullptr;
  const auto layer = std::ranges::find(kLayers, trace.name(event), &Layer::op);
  return layer == kLayers.end() ? nullptr : &*layer;
}

Shape input_of(const Trace& trace, EventId event, const Layer& layer) {
  const OperatorInfo* const info = trace.operators.find(event);
  if (info == nullptr || info->inputs == OperatorInfo::kNoInputs) return {};
  return OperatorArguments({.shapes = trace.strings[trace.operator_inputs[info->inputs].shapes]}).shape(layer.input);
}

}  // namespace

std::optional<std::int64_t> sample_rows(const Trace& trace, EventId event) {
  const Layer* const layer = layer_at(trace, event);
  const Shape shape = layer == nullptr ? Shape{} : input_of(trace, event, *layer);
  if (shape.empty()) return std::nullopt;
  return shape.size() < layer->dimensions ? 1 : shape.front();
}

std::optional<std::int64_t> sequence_length(const Trace& trace, EventId event) {
  const Layer* const layer = layer_at(trace, event);
  if (layer == nullptr || layer->dimensions > 2) return std::nullopt;
  const Shape shape = input_of(trace, event, *layer);
  if (shape.size() == layer->dimensions + 1) return shape[1];
  const bool is_one_of_words = layer->dimensions == 1 && shape.size() == 1;
  return is_one_of_words ? std::optional(shape.front()) : std::nullopt;
}

}  // namespace telltale
