#include "advise/patterns/prepared_tensors.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "advise/patterns/copied_tensors.h"
#include "analysis/operator_arguments.h"
#include "trace/shapes.h"

namespace telltale {
namespace {

// What computes a tensor of as many elements, and could as well on the device.
constexpr auto kComputing = std::to_array<std::string_view>({
    "aten::abs",   "aten::add",        "aten::add_",  "aten::addcdiv",   "aten::addcmul",   "aten::bitwise_and",
    "aten::clamp", "aten::clamp_",     "aten::clone", "aten::clamp_max", "aten::clamp_min", "aten::contiguous",
    "aten::cos",   "aten::div",        "aten::div_",  "aten::exp",       "aten::flip",      "aten::log",
    "aten::log10", "aten::log1p",      "aten::log2",  "aten::mul",       "aten::mul_",      "aten::neg",
    "aten::pow",   "aten::reciprocal", "aten::relu",  "aten::roll",      "aten::round",     "aten::rsqrt",
    "aten::rsub",  "aten::sigmoid",    "aten::sin",   "aten::sqrt",      "aten::square",    "aten::sub",
    "aten::sub_",  "aten::tanh",       "aten::to",    "aten::where",
});
// What computes one of another number of elements, and could as well on the device.
constexpr auto kResizing = std::to_array<std::string_view>({
    "aten::constant_pad_nd",
    "aten::fft_fft",
    "aten::fft_fft2",
    "aten::fft_rfft",
    "aten::fft_rfft2",
    "aten::pad",
    "aten::stft",
    "aten::upsample_bicubic2d",
    "aten::upsample_bilinear2d",
    "aten::upsample_nearest2d",
});
// What leaves the numbers as they are, and where they are.
constexpr auto kPassing = std::to_array<std::string_view>({
    "aten::alias",
    "aten::detach",
    "aten::detach_",
    "aten::is_pinned",
    "aten::lift_fresh",
    "aten::movedim",
    "aten::permute",
    "aten::pin_memory",
    "aten::reshape",
    "aten::squeeze",
    "aten::transpose",
    "aten::unsqueeze",
    "aten::view",
});

enum class Role : std::uint8_t { kOther, kComputes, kResizes, kPasses, kFills };

std::vector<Role> role_by_name(const Trace& trace) {
  const auto is_one_of = [](const auto& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  std::vector<Role> roles(trace.strings.size(), Role::kOther);
  for (StringId name = 0; name < roles.size(); ++name) {
    const std::string_view op = trace.strings[name];
    if (is_one_of(kComputing, op)) roles[name] = Role::kComputes;
    if (is_one_of(kResizing, op)) roles[name] = Role::kResizes;
    if (is_one_of(kPassing, op)) roles[name] = Role::kPasses;
    if (fills_tensor(op)) roles[name] = Role::kFills;
  }
  return roles;
}

// The largest tensor among the arguments of an operator.
struct Argument {
  Elements elements = 0;
  double bytes = 0;
};

Argument largest_argument(const Trace& trace, EventId op) {
  const OperatorArguments arguments(texts_of(trace, op));
  Argument largest;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (const Elements elements = elements_of(arguments.shape(i));
        !arguments.shape(i).empty() && elements > largest.elements)
      largest = {elements, elements * arguments.element_bytes(i)};
  return largest;
}

// Goes over the calls of one thread, and follows what the host computes, by the number of its elements: that stays
// through views and other layouts. What an operator has made of another number of elements is what is read next.
class Search {
 public:
  Search(const Facts& facts, std::vector<PreparedTensor>& found)
      : facts_(facts), roles_(role_by_name(facts.trace)), found_(found) {}

  void walk(const std::vector<TensorCall>& calls) {
    forget();
    for (const TensorCall& call : calls) {
      if (call.copy != kNoEvent)
        take_copy(call);
      else
        take_operator(call);
    }
  }

 private:
  struct Chain {
    std::vector<PreparingOperator> work;
    bool is_filled = false;  // by the host, which is cpu_built_tensor's to say
  };

  void forget() {
    chains_.clear();
    resized_.reset();
  }

  void take_operator(const TensorCall& call) {
    if (!facts_.launched.of_range(call.call, call.end).empty()) return forget();  // the device has come between
    const Role role = roles_[facts_.trace.events.name[call.call]];
    if (role == Role::kPasses) return;
    const Argument argument = largest_argument(facts_.trace, call.call);
    if ((role == Role::kComputes || role == Role::kResizes) && argument.elements > 0) {
      Chain& chain = chain_of(argument.elements);
      chain.work.push_back({call.call, argument.bytes});
      if (role == Role::kComputes) return;
      resized_ = std::move(chain);
      chains_.erase(argument.elements);
      return;
    }
    // What else makes such a tensor, or writes into it, is the host's; what computes on it later may still move.
    const Shape shape = shape_in(facts_.trace, call);
    if (!shape.empty()) chains_.insert_or_assign(elements_of(shape), Chain{{}, role == Role::kFills});
  }

  void take_copy(const TensorCall& call) {
    const Shape shape = shape_in(facts_.trace, call);
    if (shape.empty()) return;
    auto [work, is_filled] = std::move(chain_of(elements_of(shape)));
    chains_.erase(elements_of(shape));
    const CopyInfo* const copied = facts_.trace.copies.find(call.copy);
    const bool is_long = std::ranges::any_of(work, [&](const PreparingOperator& each) { return is_computed(each.op); });
    if (copied != nullptr && copied->bytes > 0 && is_long && !is_filled)
      found_.push_back({std::move(work), call.call, call.copy, static_cast<double>(copied->bytes)});
  }

  // Labels, lengths and the like, which are handled beside a batch, have fewer elements.
  static constexpr Elements kLeastResized = 65'536;

  // That of a tensor that is read now: nobody knows of it yet where it has just been made.
  Chain& chain_of(Elements elements) {
    const auto [chain, is_new] = chains_.try_emplace(elements);
    if (is_new && resized_ && elements >= kLeastResized) chain->second = *std::exchange(resized_, std::nullopt);
    return chain->second;
  }

  // No mere dispatch, itself or within.
  bool is_computed(EventId op) const {
    for (EventId event = op; event < subtree_end(facts_.trace, op); ++event)
      if (facts_.computes_on_host(event)) return true;
    return false;
  }

  const Facts& facts_;
  std::vector<Role> roles_;  // by name
  std::vector<PreparedTensor>& found_;
  std::map<Elements, Chain> chains_;
  std::optional<Chain> resized_;
};

}  // namespace

std::vector<PreparedTensor> prepared_tensors(const Facts& facts) {
  std::vector<PreparedTensor> found;
  Search search(facts, found);
  for (const std::vector<TensorCall>& calls : tensor_calls(facts)) search.walk(calls);
  return found;
}

}  // namespace telltale
