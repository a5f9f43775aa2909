// A small classifier: three dense layers and a softmax, in plain loops.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <telltale/telltale.hpp>
#include <vector>

// Numbers in memory that the recording knows of.
class Buffer {
 public:
  explicit Buffer(std::size_t size) : values_(size) { telltale::allocated(values_.data(), bytes(), -1, pool()); }
  ~Buffer() { telltale::freed(values_.data(), bytes(), -1, pool()); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  float* at(std::size_t index) { return values_.data() + index; }
  const float* at(std::size_t index) const { return values_.data() + index; }

 private:
  std::int64_t bytes() const { return static_cast<std::int64_t>(values_.size() * sizeof(float)); }
  static std::uint32_t pool() {
    static const std::uint32_t number = telltale_intern("activations");
    return number;
  }

  std::vector<float> values_;
};

class Model {
 public:
  static constexpr std::size_t kInputs = 512, kHidden = 1536, kClasses = 16;

  explicit Model(unsigned seed) {
    std::mt19937 random(seed);
    for (auto [inputs, outputs] : {std::pair(kInputs, kHidden), {kHidden, kHidden}, {kHidden, kClasses}}) {
      std::normal_distribution<float> weight(0, 1 / std::sqrt(static_cast<float>(inputs)));
      layers_.push_back({inputs, outputs, std::vector<float>(inputs * outputs)});
      for (float& each : layers_.back().weights) each = weight(random);
    }
  }

  // The likeliest class of each of `batch` rows of kInputs numbers. Any number of threads may ask at once.
  std::vector<int> classify(const Buffer& inputs, std::size_t batch) const {
    TELLTALE_FUNCTION();
    Buffer first(batch * kHidden), second(batch * kHidden), scores(batch * kClasses);
    apply(layers_[0], inputs, first, batch);
    apply(layers_[1], first, second, batch);
    apply(layers_[2], second, scores, batch);

    TELLTALE_SCOPE("softmax");
    std::vector<int> classes;
    for (std::size_t i = 0; i < batch; ++i) {
      float *begin = scores.at(i * kClasses), *end = begin + kClasses;
      const float largest = *std::max_element(begin, end);
      float sum = 0;
      for (float* score = begin; score < end; ++score) sum += * score = std::exp(*score - largest);
      for (float* score = begin; score < end; ++score) *score /= sum;
      classes.push_back(static_cast<int>(std::max_element(begin, end) - begin));
    }
    return classes;
  }

 private:
  struct Layer {
    std::size_t inputs, outputs;
    std::vector<float> weights;  // a row of `outputs` for each input
  };

  // A row of weights serves the whole batch while it is in the cache: that is what makes batching worthwhile.
  static void apply(const Layer& layer, const Buffer& from, Buffer& to, std::size_t batch) {
    TELLTALE_SCOPE("layer", batch, layer.inputs, layer.outputs);
    for (std::size_t input = 0; input < layer.inputs; ++input) {
      const float* weights = layer.weights.data() + input * layer.outputs;
      for (std::size_t i = 0; i < batch; ++i) {
        const float value = std::max(0.0F, *from.at(i * layer.inputs + input));
        float* row = to.at(i * layer.outputs);
        for (std::size_t output = 0; output < layer.outputs; ++output) row[output] += value * weights[output];
      }
    }
  }

  std::vector<Layer> layers_;
};
