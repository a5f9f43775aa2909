// What torch.compile would do to a program that was recorded without it.
//
// On the device: neighboring kernels that only move memory become one, odd widths are padded, and most networks'
// convolutions get the layout they want. On the host: a compiled region launches its kernels at a fixed lower cost, or,
// with CUDA graphs, at next to none. The region is the model where the program calls it as one, else the whole forward
// pass, and the backward pass of it.
#pragma once

#include <utility>
#include <vector>

#include "advise/facts.h"

namespace telltale {

// Kernels in a row that a compiler would make one.
struct FusedChain {
  std::vector<EventId> kernels;  // in order of start
  Nanoseconds total = 0;         // of their durations
  Nanoseconds fused = 0;         // of the one kernel
};

Fix compile_graphs_fix();

class CompileModel {
 public:
  // Of the kernels that become one, this share of the longest remains, and of the others; norms read their tensor more
  // than once, fused or not.
  static constexpr double kLongestLeft = 0.9, kOthersLeft = 0.12, kNormsLeft = 0.6;
  // What compiled kernels reach of the roofline, where torch's own are slower: those that broadcast and cast, 0.2 in
  // llama_eager_attention, whose plain ones reach 0.9; and batch norms with the channels first, whose compiled form
  // reads its tensor once more in either pass (from it the 64 % that nchw_half gained came out as 61).
  static constexpr double kReachedByFused = 0.8, kReachedByNorms = 0.4;
  // What remains of the host's time for operators, Python and launches in a compiled region: 0.36 to 0.67 of it in
  // seven programs whose host was the bottleneck.
  static constexpr float kHostLeft = 0.5F;
  // In percent of the step, for has_telling_chains().
  static constexpr double kLeastPercentOfChains = 5;

  // The facts must outlive the model.
  explicit CompileModel(const Facts& facts);

  // Not without a device, when it is compiled already, when waits for the device cut the forward pass into pieces, or
  // when the program spends much of its time collecting garbage.
  bool applies() const {
    return facts_.diagnosis.breakdown.has_device && !is_compiled_ && !is_broken_by_waits_ && !is_held_by_collector_ &&
           !is_compiled_anew_;
  }
  bool is_compiled() const { return is_compiled_; }
  bool is_broken_by_waits() const { return is_broken_by_waits_; }

  Edit compiled() const { return edited(kHostLeft, has_backward_ ? kGuardsOfTraining : kGuardsOfInference); }
  Edit compiled_with_graphs() const { return edited(0, has_backward_ ? kGraphsOfTraining : kGraphsOfInference); }
  // Fusing the chains alone.
  Edit fused() const;

  // What a step would take less after these edits; 0 where compiling does not apply.
  Nanoseconds saved() const { return saved_; }
  Nanoseconds saved_with_graphs() const { return saved_with_graphs_; }
  Nanoseconds saved_by_fusing() const { return saved_by_fusing_; }
  // Not where every step has other shapes.
  bool allows_graphs() const { return allows_graphs_; }
  // Whether they are allowed and, once compiled, the host is still so busy that graphs may pay.
  bool may_want_graphs() const { return may_want_graphs_; }

  const std::vector<FusedChain>& chains() const { return chains_; }
  // Whether fusing the chains alone is worth speaking of.
  bool has_telling_chains() const { return facts_.percent_of_step(saved_by_fusing_) >= kLeastPercentOfChains; }
  bool has_backward() const { return has_backward_; }

 private:
  // What checking guards and calling compiled code costs the host per step.
  static constexpr Nanoseconds kGuardsOfTraining = 500'000;
  static constexpr Nanoseconds kGuardsOfInference = 100'000;
  // What a step's graphs cost the host: inputs copied, graphs launched, autograd's bookkeeping around them.
  static constexpr Nanoseconds kGraphsOfTraining = 900'000;
  static constexpr Nanoseconds kGraphsOfInference = 100'000;

  void replay_edits();
  void find_region();
  bool has_single_model(const std::vector<EventId>& outermost) const;
  void find_chains();
  void find_obstacles();
  void find_layout();
  double waits_within_forward() const;
  bool has_changing_shapes() const;
  void add_chain(const std::vector<const DeviceCall*>& run);
  double compiled_alone(const DeviceCall& call) const;
  // With all within them; they must come in ascending order.
  void keep(const std::vector<EventId>& roots);
  bool is_shortened(EventId event) const;
  void find_unnamed_time();
  void fuse_chains(Edit& edit) const;
  Edit edited(float host_share, Nanoseconds added_host) const;

  const Facts& facts_;
  std::vector<bool> is_in_region_;  // by event of the host
  Nanoseconds saved_ = 0, saved_with_graphs_ = 0, saved_by_fusing_ = 0;
  bool allows_graphs_ = true, may_want_graphs_ = false;
  std::vector<bool> stays_;  // by event of the host: work that compiling does not remove
  // Marks of which a share of their time passes between calls that compiling shortens: where no stacks were recorded,
  // that is all that tells of the Python there.
  std::vector<std::pair<EventId, float>> unnamed_;
  std::vector<bool> is_conversion_;  // by name: kernels that change a layout
  std::vector<FusedChain> chains_;
  bool changes_layout_ = false;  // of convolutions
  bool is_compiled_ = false, is_broken_by_waits_ = false, is_held_by_collector_ = false, has_backward_ = false;
  bool is_compiled_anew_ = false;  // it would be, at every call
};

}  // namespace telltale
