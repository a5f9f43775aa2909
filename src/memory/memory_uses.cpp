#include "memory/memory_uses.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/memory_map.h"
#include "analysis/memory_summary.h"
#include "analysis/torch_memory.h"
#include "memory/constants_of_forward.h"
#include "memory/growing_caches.h"
#include "memory/made_block.h"
#include "memory/product_workspaces.h"
#include "memory/unfinished_backward.h"

namespace telltale {
namespace {

constexpr Nanoseconds kNever = UsedBlock::kNever;

// What a note's role says, for torch's categories and for ours.
struct Role {
  std::string_view name;
  MemoryCategory category;
  MemoryUse use;
};
constexpr Role kRoles[] = {
    {"parameter", MemoryCategory::kParameter, MemoryUse::kParameters},
    {"buffer", MemoryCategory::kUnknown, MemoryUse::kParameters},
    {"gradient", MemoryCategory::kGradient, MemoryUse::kGradients},
    {"optimizer_state", MemoryCategory::kOptimizerState, MemoryUse::kOptimizerState},
    {"input", MemoryCategory::kInput, MemoryUse::kInputs},
    {"kv_cache", MemoryCategory::kUnknown, MemoryUse::kKvCache},
};
const Role* role_named(std::string_view name) {
  const auto* const role = std::ranges::find(kRoles, name, &Role::name);
  return role == std::end(kRoles) ? nullptr : role;
}

// The notes of one device, and which rows of Trace::noted_tensors they are.
struct Notes {
  std::vector<TensorNote> notes;
  std::vector<std::size_t> rows;
};
Notes notes_of(const Trace& trace, DeviceId device) {
  Notes found;
  for (std::size_t row = 0; row < trace.noted_tensors.size(); ++row) {
    const NotedTensor& tensor = trace.noted_tensors[row];
    const Role* const role = role_named(trace.strings[tensor.role]);
    if (tensor.device != device || role == nullptr) continue;
    found.notes.push_back({tensor.time, tensor.address, tensor.bytes, role->category});
    found.rows.push_back(row);
  }
  return found;
}

// What the allocator's log adds to the blocks of a device: stacks, and the private pools that they come from.
class Log {
 public:
  Log(const Trace& trace, DeviceId device) : trace_(trace), device_(device) {
    for (const AllocatorEvent& event : trace.allocator_events)
      if (event.device == device && event.call_stack != kEmptyString) has_stacks_ = true;
  }

  bool has_stacks() const { return has_stacks_; }

  // Of a block that was allocated then; those asked for come by time.
  const AllocatorEvent* allocation(std::uint64_t address, Nanoseconds time) {
    const auto& events = trace_.allocator_events;
    while (next_ < events.size() && (!is_allocation(next_) || events[next_].time < time)) ++next_;
    for (std::size_t at = next_; at < events.size() && events[at].time <= time; ++at)
      if (is_allocation(at) && events[at].address == address) return &events[at];
    return nullptr;
  }

 private:
  bool is_allocation(std::size_t at) const {
    const AllocatorEvent& event = trace_.allocator_events[at];
    return event.device == device_ && event.action == AllocatorAction::kAllocate;
  }

  const Trace& trace_;
  DeviceId device_;
  std::size_t next_ = 0;
  bool has_stacks_ = false;
};

class Uses {
 public:
  Uses(const Trace& trace, DeviceId device, const std::vector<Phase>& phases)
      : trace_(trace), phases_(phases), part_of_name_(trace.strings.size()), log_(trace, device) {
    collect(device);
    drop_foreign_inputs(device);
    add_blocks_before(device);
    for (MadeBlock& made : all_) made.part = part_of(made);
    find_starts();
    for (const std::size_t index : product_workspaces(trace, all_, last_)) all_[index].part = StackPart::kWorkspace;
    for (const AllocatorEvent& event : trace.allocator_events)
      if (event.device == device && event.action == AllocatorAction::kOutOfMemory) ran_out_ = event.time;
  }

  std::vector<UsedBlock> decided() {
    for (MadeBlock& made : all_)
      if (!made.block.is_noted) made.block.use = use_of(made);
    if (backward_.empty())
      for (const std::size_t index : growing_caches(trace_, all_)) all_[index].block.use = MemoryUse::kKvCache;
    settle_unfinished_backward();
    if (optimizer_.empty()) settle_gradients_of_no_optimizer();
    std::set<std::int64_t> gradient_sizes;
    for (const MadeBlock& made : all_)
      if (made.block.use == MemoryUse::kGradients) gradient_sizes.insert(made.block.bytes);
    for (const std::size_t index : constants_of_forward(trace_, all_, forward_, backward_)) {
      UsedBlock& block = all_[index].block;
      // Those of a copy of the model, as a running mean of its weights or a teacher.
      const bool is_like_parameter = block.allocated < backward_.front() && gradient_sizes.contains(block.bytes);
      block.use = is_like_parameter ? MemoryUse::kParameters : MemoryUse::kOther;
    }
    std::vector<UsedBlock> blocks;
    for (MadeBlock& made : all_) {
      const bool fits = gradient_sizes.empty() || gradient_sizes.contains(made.block.bytes);
      if (!made.block.is_noted && may_be_parameter(made) && fits) made.block.use = MemoryUse::kParameters;
      blocks.push_back(made.block);
    }
    std::ranges::stable_sort(blocks, {}, &UsedBlock::allocated);
    return blocks;
  }

 private:
  void collect(DeviceId device) {
    const Notes notes = notes_of(trace_, device);
    for (const CategorizedBlock& each : categorized_blocks(trace_, device, notes.notes)) {
      MadeBlock made{.block = {each.address, each.bytes, each.allocated, each.freed, each.event, each.freeing_event},
                     .category = each.category};
      if (!each.was_there_before()) {
        if (const AllocatorEvent* const logged = log_.allocation(each.address, each.allocated)) {
          made.block.call_stack = logged->call_stack;
          made.pool = logged->pool;
        }
      }
      if (each.note != CategorizedBlock::kNoNote) take_note(trace_.noted_tensors[notes.rows[each.note]], made.block);
      all_.push_back(made);
    }
  }

  // Batches that nobody allocates, as those which a loader's workers hand over in shared memory, may have been there
  // before the trace; where more is noted than was allocated then, they are not the allocator's.
  void drop_foreign_inputs(DeviceId device) {
    const auto was_there = [](const MadeBlock& made) { return made.block.allocated == UsedBlock::kBeforeTheTrace; };
    const auto is_input = [&](const MadeBlock& made) {
      return was_there(made) && made.block.is_noted && made.block.use == MemoryUse::kInputs &&
             made.block.freed == kNever;
    };
    if (std::ranges::none_of(all_, is_input)) return;
    const std::vector<DeviceMemory> devices = memory_by_device(trace_);
    const auto memory = std::ranges::find(devices, device, &DeviceMemory::device);
    if (memory == devices.end()) return;
    std::int64_t noted = 0;
    for (const MadeBlock& made : all_)
      if (was_there(made)) noted += made.block.bytes;
    if (noted > memory->allocated_before) std::erase_if(all_, is_input);
  }

  void take_note(const NotedTensor& tensor, UsedBlock& block) const {
    block.is_noted = true;
    block.name = tensor.name;
    block.use = role_named(trace_.strings[tensor.role])->use;
  }

  // What the program held when the log begins, with the stacks that the allocator knows. Blocks that await their free
  // are the program's no more.
  void add_blocks_before(DeviceId device) {
    std::unordered_map<std::uint64_t, std::size_t> known;  // in all_
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (all_[i].block.allocated == UsedBlock::kBeforeTheTrace) known.emplace(all_[i].block.address, i);
    for (const MemoryBlock& held : trace_.memory_blocks) {
      const MemorySegment& segment = trace_.memory_segments[held.segment];
      if (segment.device != device || held.state != BlockState::kAllocated) continue;
      const auto [place, is_new] = known.try_emplace(held.address, all_.size());
      if (is_new) all_.push_back({.block = {.address = held.address, .bytes = held.bytes}});
      MadeBlock& made = all_[place->second];
      made.block.call_stack = held.call_stack;
      made.pool = segment.pool;
    }
  }

  StackPart part_of_frame_named(StringId name) {
    std::optional<StackPart>& part = part_of_name_[name];
    if (!part) part = part_of_frame(trace_.strings[name]);
    return *part;
  }

  StackPart part_of_text(StringId stack) {
    const auto [place, is_new] = part_of_text_.try_emplace(stack);
    if (is_new) place->second = part_of_stack(trace_.strings[stack]);
    return place->second;
  }

  StackPart part_by_frames(const UsedBlock& block) {
    constexpr int kMostLooks = 1000;
    StackPart part = StackPart::kUnknown;
    if (block.call_stack != kEmptyString) part = part_of_text(block.call_stack);
    EventId at = block.event;
    for (int looks = 0; at != kNoEvent && looks < kMostLooks; ++looks, at = trace_.events.parent[at]) {
      const Kind kind = trace_.events.kind[at];
      if (kind == Kind::kPython) part = std::min(part, part_of_frame_named(trace_.events.name[at]));
      if (kind != Kind::kOperator) continue;
      if (trace_.name(at).starts_with("c10d::")) part = std::min(part, StackPart::kCommunication);
      const OperatorStack* const stack = trace_.operator_stacks.find(at);
      if (stack != nullptr && stack->call_stack != kEmptyString) part = std::min(part, part_of_text(stack->call_stack));
    }
    return part;
  }

  // Phases are told by operators; what they call "other", or everything where nothing runs backward, frames tell.
  StackPart part_of(const MadeBlock& made) {
    const StackPart by_frames = part_by_frames(made.block);
    if (by_frames < StackPart::kOptimizer) return by_frames;
    const Phase phase = made.block.event == kNoEvent ? Phase::kOther : phases_[made.block.event];
    if (phase == Phase::kBackward) return StackPart::kBackward;
    if (phase == Phase::kOptimizer) return StackPart::kOptimizer;
    if (by_frames < StackPart::kForward) return by_frames;
    if (phase == Phase::kForward) return StackPart::kForward;
    if (phase == Phase::kData || phase == Phase::kCopy) return StackPart::kData;
    // Autograd's threads have no Python; all others have.
    const bool has_no_frames = made.block.event == kNoEvent && made.block.call_stack == kEmptyString;
    return has_no_frames && log_.has_stacks() ? StackPart::kBackward : by_frames;
  }

  void add_start(StackPart part, Nanoseconds time, Nanoseconds end) {
    if (part == StackPart::kBackward) {
      backward_.push_back(time);
      backward_ends_.push_back(end);
    }
    if (part == StackPart::kOptimizer) optimizer_.push_back(time);
    if (part == StackPart::kForward) forward_.push_back(time);
  }

  void find_starts() {
    constexpr auto part_of_phase = [](Phase phase) {
      return phase == Phase::kBackward    ? StackPart::kBackward
             : phase == Phase::kOptimizer ? StackPart::kOptimizer
             : phase == Phase::kForward   ? StackPart::kForward
                                          : StackPart::kUnknown;
    };
    for (EventId event = 0; event < trace_.events.size(); ++event) {
      const EventId parent = trace_.events.parent[event];
      if (is_on_device(trace_.events.kind[event]) || (parent != kNoEvent && phases_[parent] == phases_[event]))
        continue;
      add_start(part_of_phase(phases_[event]), trace_.events.start[event], trace_.events.end(event));
    }
    for (const MadeBlock& made : all_)
      if (made.block.event == kNoEvent && made.block.allocated != UsedBlock::kBeforeTheTrace)
        add_start(made.part, made.block.allocated, made.block.allocated);
    std::ranges::sort(backward_ends_);
    for (std::vector<Nanoseconds>* const starts : {&backward_, &optimizer_, &forward_}) {
      std::ranges::sort(*starts);
      if (!starts->empty()) last_ = std::max(last_, starts->back());
    }
  }

  static Nanoseconds next(const std::vector<Nanoseconds>& starts, Nanoseconds time) {
    const auto found = std::ranges::upper_bound(starts, time);
    return found == starts.end() ? kNever : *found;
  }

  // Whether a block is still there when the last of all passes has begun: what is freed behind that goes because the
  // program ends.
  bool stays(const UsedBlock& block) const { return block.freed > last_; }

  // Whether a block is still there when the next of these begins; where none does, when the last has begun.
  bool outlives(const UsedBlock& block, Nanoseconds next_start) const {
    return next_start == kNever ? stays(block) : block.freed > next_start;
  }

  MemoryUse use_of(const MadeBlock& made) const {
    const UsedBlock& block = made.block;
    if (made.pool != kEmptyString) return MemoryUse::kCudaGraphs;
    const bool is_from_before = block.allocated == UsedBlock::kBeforeTheTrace;
    if (is_from_before && block.call_stack == kEmptyString) return MemoryUse::kBefore;
    switch (made.part) {
      case StackPart::kWorkspace:
        return MemoryUse::kWorkspace;
      case StackPart::kCommunication:
        return MemoryUse::kCommunication;
      case StackPart::kKvCache:
        return MemoryUse::kKvCache;
      case StackPart::kConstruction:
        return stays(block) ? MemoryUse::kParameters : MemoryUse::kTemporaries;
      default:
        break;
    }
    if (made.category == MemoryCategory::kTemporary) return MemoryUse::kTemporaries;
    const Nanoseconds made_at = block.allocated;
    switch (made.part) {
      case StackPart::kOptimizer:
        return outlives(block, std::min(next(forward_, made_at), next(backward_, made_at))) ? MemoryUse::kOptimizerState
                                                                                            : MemoryUse::kTemporaries;
      case StackPart::kBackward:
        return outlives(block, std::min(next(forward_, made_at), next(optimizer_, made_at))) ? MemoryUse::kGradients
                                                                                             : MemoryUse::kTemporaries;
      case StackPart::kForward: {
        const Nanoseconds backward = next(backward_, made_at);
        if (backward != kNever && block.freed > backward) return MemoryUse::kActivations;
        // Where memory ran out in the forward pass, nothing ran backward any more.
        if (backward == kNever && ran_out_ && block.lives_at(*ran_out_) && may_run_backward(block))
          return MemoryUse::kActivations;
        return block.freed == kNever ? MemoryUse::kOther : MemoryUse::kTemporaries;
      }
      case StackPart::kData:
        return MemoryUse::kInputs;
      default:
        if (made.category == MemoryCategory::kInput) return MemoryUse::kInputs;
        // What the program computes beside its model, as a metric.
        return is_from_before || outlives(block, next(backward_, made_at)) ? MemoryUse::kOther
                                                                           : MemoryUse::kTemporaries;
    }
  }

  std::set<std::int64_t> parameter_sizes() const {
    std::set<std::int64_t> sizes;
    for (const MadeBlock& made : all_)
      if (made.block.use == MemoryUse::kParameters || may_be_parameter(made)) sizes.insert(made.block.bytes);
    return sizes;
  }

  // What is still there when its backward pass is done was not made for that pass alone.
  void settle_gradients_of_no_optimizer() {
    const std::set<std::int64_t> sizes = parameter_sizes();
    for (MadeBlock& made : all_) {
      UsedBlock& block = made.block;
      if (made.part != StackPart::kBackward || block.use != MemoryUse::kTemporaries || block.is_noted) continue;
      const auto pass_ends = std::ranges::lower_bound(backward_ends_, next(forward_, block.allocated));
      if (pass_ends == backward_ends_.begin() || block.freed <= *std::prev(pass_ends)) continue;
      if (sizes.empty() || sizes.contains(block.bytes)) block.use = MemoryUse::kGradients;
    }
  }

  void settle_unfinished_backward() {
    const std::vector<Nanoseconds>& ends = optimizer_.empty() ? forward_ : optimizer_;
    for (const std::size_t index : unfinished_temporaries(all_, ends, parameter_sizes()))
      all_[index].block.use = MemoryUse::kTemporaries;
  }

  // Whether the program has run backward before, or autograd has numbered the operator, as it does where it keeps what
  // it needs for that.
  bool may_run_backward(const UsedBlock& block) const {
    if (!backward_.empty()) return true;
    const EventId op = block.event == kNoEvent ? kNoEvent : trace_.operator_at(block.event);
    const OperatorInfo* const info = op == kNoEvent ? nullptr : trace_.operators.find(op);
    return info != nullptr && info->sequence != OperatorInfo::kNoSequence;
  }

  // Made before anything is computed, and never freed. What computes nothing has none.
  bool may_be_parameter(const MadeBlock& made) const {
    const UsedBlock& block = made.block;
    if (!stays(block) || block.allocated == UsedBlock::kBeforeTheTrace) return false;
    if (block.use != MemoryUse::kInputs && block.use != MemoryUse::kOther) return false;
    const Nanoseconds computes = std::min(next(forward_, INT64_MIN), next(backward_, INT64_MIN));
    return computes != kNever && block.allocated < computes;
  }

  const Trace& trace_;
  const std::vector<Phase>& phases_;
  std::vector<std::optional<StackPart>> part_of_name_;
  std::unordered_map<StringId, StackPart> part_of_text_;
  Log log_;
  std::vector<MadeBlock> all_;
  std::vector<Nanoseconds> forward_, backward_, optimizer_;  // when they begin, ascending
  std::vector<Nanoseconds> backward_ends_;                   // when those operators end that begin it, ascending
  Nanoseconds last_ = INT64_MIN;                             // of these
  std::optional<Nanoseconds> ran_out_;                       // when memory did, the last time
};

struct UseNames {
  std::string_view name, words, short_words;
};
constexpr std::array<UseNames, kMemoryUseCount> kNames = {
    {{"parameters", "parameters", "parameters"},
     {"gradients", "gradients", "gradients"},
     {"optimizer_state", "optimizer state", "optimizer state"},
     {"activations", "activations kept for backward", "activations"},
     {"temporaries", "temporaries", "temporaries"},
     {"inputs", "inputs", "inputs"},
     {"communication", "communication buffers", "communication"},
     {"workspace", "workspace of libraries", "workspace"},
     {"kv_cache", "KV cache", "KV cache"},
     {"cuda_graphs", "pools of CUDA graphs", "CUDA graphs"},
     {"outside_pytorch", "outside PyTorch", "outside PyTorch"},
     {"before", "from before the recording", "from before"},
     {"left_behind", "left behind by earlier steps", "left behind"},
     {"other", "other", "other"}}};

}  // namespace

std::string_view name_of(MemoryUse use) { return kNames[static_cast<std::size_t>(use)].name; }
std::string_view words_for(MemoryUse use) { return kNames[static_cast<std::size_t>(use)].words; }
std::string_view short_words_for(MemoryUse use) { return kNames[static_cast<std::size_t>(use)].short_words; }

std::vector<UsedBlock> used_blocks(const Trace& trace, DeviceId device, const std::vector<Phase>& phases) {
  return Uses(trace, device, phases).decided();
}

}  // namespace telltale
