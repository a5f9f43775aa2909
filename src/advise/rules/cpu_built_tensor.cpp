// Noise, masks and constants that the host makes and copies to the device, which could make them itself.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "advise/facts.h"
#include "advise/patterns/copied_tensors.h"
#include "advise/rule.h"
#include "base/amounts.h"
#include "trace/shapes.h"

namespace telltale {
namespace {

// A tensor that the host fills with numbers of its own making, noise or constants, and then copies to the device.
struct HostBuilt {
  std::vector<EventId> made_by;  // operators, the filling one first, then those that computed on
  EventId copied_by = kNoEvent;  // the whole call that copies it, see copying_call()
  EventId copy = kNoEvent;       // on the device
};

// What computes on with such numbers, and could as well on the device. What writes other values into them (index_put_,
// copy_, cat) does not: those come from the host.
constexpr auto kComputingOn = std::to_array<std::string_view>({
    "aten::add",  "aten::add_", "aten::clamp", "aten::clamp_", "aten::cos",    "aten::div",       "aten::div_",
    "aten::eq",   "aten::exp",  "aten::ge",    "aten::gt",     "aten::le",     "aten::lt",        "aten::mul",
    "aten::mul_", "aten::neg",  "aten::pow",   "aten::sin",    "aten::sqrt",   "aten::sub",       "aten::sub_",
    "aten::to",   "aten::tril", "aten::triu",  "aten::view",   "aten::expand", "aten::unsqueeze", "aten::reshape",
});

enum class Role : std::uint8_t { kOther, kFills, kComputesOn };

std::vector<Role> role_by_name(const Trace& trace) {
  std::vector<Role> roles(trace.strings.size(), Role::kOther);
  for (StringId name = 0; name < roles.size(); ++name) {
    const std::string_view text = trace.strings[name];
    if (!text.starts_with("aten::")) continue;
    if (fills_tensor(text)) roles[name] = Role::kFills;
    if (std::ranges::find(kComputingOn, text) != kComputingOn.end()) roles[name] = Role::kComputesOn;
  }
  return roles;
}

// Goes over the operators of one thread, and keeps what was made and not yet copied.
class Search {
 public:
  Search(const Facts& facts, std::vector<HostBuilt>& found)
      : facts_(facts), trace_(facts.trace), found_(found), roles_(role_by_name(facts.trace)) {}

  void walk(const std::vector<TensorCall>& calls) {
    made_.clear();
    for (const TensorCall& call : calls) {
      if (call.copy != kNoEvent)
        take_copy(call);
      else
        take_operator(call);
    }
  }

 private:
  struct Made {
    Shape shape;
    std::vector<EventId> ops;
  };

  void take_operator(const TensorCall& op) {
    const Role role = roles_[trace_.events.name[op.call]];
    if (role == Role::kOther && made_.empty()) return;
    if (!facts_.launched.of_range(op.call, op.end).empty()) {
      made_.clear();  // the device has come in between
    } else if (role == Role::kFills) {
      made_.push_back({shape_in(trace_, op), {op.call}});
    } else if (const auto made = made_with(shape_in(trace_, op)); made != made_.end()) {
      if (role == Role::kComputesOn)
        made->ops.push_back(op.call);
      else
        made_.erase(made);
    }
  }

  void take_copy(const TensorCall& copy) {
    const auto made = made_with(shape_in(trace_, copy));
    if (made == made_.end()) return;
    found_.push_back({std::move(made->ops), copy.call, copy.copy});
    made_.erase(made);
  }

  // The last one of that shape; where a shape is not known, the last one.
  std::vector<Made>::iterator made_with(const Shape& shape) {
    for (auto made = made_.end(); made != made_.begin();) {
      --made;
      if (shape.empty() || made->shape.empty() || made->shape == shape) return made;
    }
    return made_.end();
  }

  const Facts& facts_;
  const Trace& trace_;
  std::vector<HostBuilt>& found_;
  std::vector<Role> roles_;  // by name
  std::vector<Made> made_;
};

// Within the steps, outside of data loaders, in the order of threads and time. Shapes tell which tensor is copied;
// without them, a copy is taken for that of what was made right before it.
std::vector<HostBuilt> host_built_tensors(const Facts& facts) {
  std::vector<HostBuilt> found;
  Search search(facts, found);
  for (const std::vector<TensorCall>& calls : tensor_calls(facts)) search.walk(calls);
  return found;
}

// What an operator costs the host that only launches a kernel.
constexpr float kLaunchingOperator = 10'000;
// Measured once; the steps of that program varied by 38 %.
constexpr double kUncertainty = 0.3;

// On the device a kernel takes the place of what the host did, and no copy is needed.
void build_on_device(const Facts& facts, const HostBuilt& tensor, Edit& edit) {
  for (const EventId op : tensor.made_by) {
    const auto taken = static_cast<float>(std::max<Nanoseconds>(facts.trace.events.duration[op], 1));
    edit.scale_subtree(facts.trace, facts.launched, op, std::min(1.0F, kLaunchingOperator / taken), 1);
  }
  edit.scale_subtree(facts.trace, facts.launched, tensor.copied_by, 0, 0);
}

std::vector<Finding> find(const Facts& facts) {
  std::vector<HostBuilt> tensors = host_built_tensors(facts);
  if (tensors.empty()) return {};
  const auto host_time = [&](const HostBuilt& tensor) {
    Nanoseconds time = 0;
    for (const EventId op : tensor.made_by) time += facts.trace.events.duration[op];
    return time;
  };
  std::ranges::stable_sort(tensors, std::ranges::greater{}, host_time);
  Edit edit = facts.unobserved;
  Nanoseconds making = 0;
  Finding finding;
  for (const HostBuilt& tensor : tensors) {
    build_on_device(facts, tensor, edit);
    making += host_time(tensor);
    finding.evidence.push_back(tensor.made_by.front());
    finding.evidence.push_back(tensor.copy);
  }
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  finding.title = "A tensor is made on the CPU and then copied to the GPU";
  finding.explanation =
      fmt::format("The CPU spends {} per recorded step making what is then copied to the GPU, mostly in {}.",
                  format_time(static_cast<Nanoseconds>(static_cast<double>(making) / facts.steps())),
                  facts.trace.name(tensors.front().made_by.front()));
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = facts.trace.recorded.shapes ? Confidence::kHigh : Confidence::kMedium;
  finding.source = source_line(facts.trace, tensors.front().made_by.front());
  finding.fix = {"build_on_device", "Create the tensor where it is needed: pass device= to the function that makes it.",
                 "- noise = torch.randn(x.shape).to(device)\n+ noise = torch.randn(x.shape, device=device)"};
  return {finding};
}

}  // namespace

Rule rules::cpu_built_tensor() {
  return {{.title = "Tensors made on the CPU",
           .looks_for = "Operators that fill a tensor on the CPU (randn, zeros, full, arange and the like) whose "
                        "result is then copied to the GPU.",
           .needs = "CPU and CUDA activities; shapes, to be sure which tensor is copied; stacks for the source line.",
           .cannot_do_without = {{Need::kDevice}},
           .saving = "The steps are replayed without the copies, and with operators that launch a kernel instead of "
                     "filling the tensor.",
           .held = "Predicted and measured savings, in percent of the step: 73 and 70 (noise_made_on_cpu).",
           .fixes = {"build_on_device"}},
          find};
}

}  // namespace telltale
