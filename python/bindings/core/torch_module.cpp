#include "bindings/core/torch_module.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "analysis/call_tree.h"
#include "analysis/key_averages.h"
#include "analysis/torch_launches.h"
#include "analysis/torch_memory.h"
#include "bindings/core/errors.h"
#include "bindings/core/interruptible.h"
#include "bindings/core/loading.h"
#include "bindings/core/torch_events.h"
#include "bindings/core/torch_export.h"
#include "bindings/core/torch_numbers.h"
#include "trace/step_marks.h"

namespace telltale::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

constexpr const char* kStepName = "ProfilerStep*";  // as torch calls all of them together

nb::str text(std::string_view utf8) {
  PyObject* const decoded = PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "replace");
  if (decoded == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(decoded);
}

nb::list texts(const std::vector<std::string>& list) {
  nb::list result;
  for (const std::string& each : list) result.append(text(each));
  return result;
}

constexpr KindSet kTorchKinds = {Kind::kOperator, Kind::kAnnotation, Kind::kRuntime, Kind::kDriver,
                                 Kind::kKernel,   Kind::kMemcpy,     Kind::kMemset};

// Torch's own rows in torch's order: that of the first call. Annotations on devices are not among them.
KeyAverages torch_rows(const Trace& trace, Grouping grouping, std::size_t stack_depth) {
  KeyAverages averages = key_averages(
      trace, {.kinds = kTorchKinds, .grouping = grouping, .stack_depth = stack_depth, .annotations_launch = false});
  std::ranges::stable_sort(averages.rows, {}, &KeyAverage::first_start);
  return averages;
}

nb::object described_shapes(const KeyAverage& row) {
  if (!row.input_shapes) return nb::none();
  nb::list shapes;
  for (const Shape& shape : *row.input_shapes) shapes.append(nb::cast(shape));
  return shapes;
}

nb::tuple described(const KeyAverage& row) {
  return nb::make_tuple(text(row.name), row.first_start, row.kind == Kind::kAnnotation, row.calls,
                        row.cpu_ns.value_or(0), row.self_cpu_ns.value_or(0), row.cpu_memory_bytes.value_or(0),
                        row.self_cpu_memory_bytes.value_or(0), row.device_memory_bytes.value_or(0),
                        row.self_device_memory_bytes.value_or(0), row.flops.value_or(0), described_shapes(row),
                        row.stack ? nb::object(texts(*row.stack)) : nb::none(), is_device_work(row.kind),
                        row.device_ns.value_or(0), row.self_device_ns.value_or(0));
}

nb::list rows(const LoadedTrace& loaded, bool by_shape, std::size_t stack_depth) {
  const Grouping grouping = by_shape ? Grouping::kShape : stack_depth > 0 ? Grouping::kStack : Grouping::kName;
  const auto averages = interruptibly<KeyAverages>(
      [trace = loaded.trace, grouping, stack_depth] { return torch_rows(*trace, grouping, stack_depth); });
  nb::list result;
  for (const KeyAverage& row : averages.rows) result.append(described(row));
  return result;
}

// Names as Python's strings, each made once.
class Names {
 public:
  explicit Names(const Trace& trace) : trace_(trace) {}

  // The name that rows have, and the one that the trace has.
  std::pair<nb::str, nb::str> of(EventId event) {
    const StringId id = trace_.events.name[event];
    const auto known = known_.find(id);
    if (known != known_.end()) return known->second;
    const nb::str name = text(trace_.strings[id]);
    const bool is_step = is_step_name(trace_.strings[id]);
    return known_.emplace(id, std::pair(is_step ? nb::str(kStepName) : name, name)).first->second;
  }

 private:
  const Trace& trace_;
  std::unordered_map<StringId, std::pair<nb::str, nb::str>> known_;
};

// What Kineto calls it.
const char* activity_of(Kind kind) {
  switch (kind) {
    case Kind::kAnnotation:
      return "user_annotation";
    case Kind::kDeviceAnnotation:
      return "gpu_user_annotation";
    case Kind::kRuntime:
      return "cuda_runtime";
    case Kind::kDriver:
      return "cuda_driver";
    case Kind::kKernel:
      return "kernel";
    case Kind::kMemcpy:
      return "gpu_memcpy";
    case Kind::kMemset:
      return "gpu_memset";
    default:
      return "cpu_op";
  }
}

nb::tuple described(const TorchEvent& listed, const Trace& trace, Names& names) {
  const auto [name, trace_name] = names.of(listed.event);
  return nb::make_tuple(
      name, trace_name, trace.events.start[listed.event], trace.events.end(listed.event), listed.thread, listed.parent,
      trace.events.kind[listed.event] == Kind::kAnnotation, listed.is_backward, listed.is_async, listed.sequence,
      listed.forward_thread, listed.inputs == UINT32_MAX ? std::int64_t{-1} : std::int64_t{listed.inputs}, listed.stack,
      listed.memory.host, listed.memory.device, listed.flops, listed.extras, listed.number, external_id(listed.event),
      listed.arrow, listed.does_arrow_start, activity_of(trace.events.kind[listed.event]), listed.linked);
}

nb::tuple described(const TorchDeviceEvent& listed, const Trace& trace, Names& names) {
  const auto [name, trace_name] = names.of(listed.event);
  const Kind kind = listed.is_annotation ? Kind::kDeviceAnnotation : trace.events.kind[listed.event];
  return nb::make_tuple(name, trace_name, listed.span.begin, listed.span.end, listed.device, listed.stream,
                        listed.linked, activity_of(kind));
}

nb::list described_inputs(const Trace& trace) {
  nb::list result;
  for (const OperatorInputs& inputs : trace.operator_inputs) {
    result.append(nb::make_tuple(text(trace.strings[inputs.shapes]), text(trace.strings[inputs.strides]),
                                 text(trace.strings[inputs.types]), text(trace.strings[inputs.concrete])));
  }
  return result;
}

nb::tuple events(const LoadedTrace& loaded) {
  const auto listed = interruptibly<TorchEvents>([trace = loaded.trace] { return torch_events(*trace); });
  Names names(*loaded.trace);
  nb::list list;
  for (const TorchEvent& event : listed.events) list.append(described(event, *loaded.trace, names));
  nb::list stacks;
  for (const auto& stack : listed.stacks) stacks.append(texts(stack));
  nb::list extras;
  for (const auto& [overload, keywords] : listed.extras) extras.append(nb::make_tuple(text(overload), text(keywords)));
  nb::list on_devices;
  for (const TorchDeviceEvent& event : listed.on_devices) on_devices.append(described(event, *loaded.trace, names));
  return nb::make_tuple(list, described_inputs(*loaded.trace), stacks, extras, on_devices);
}

// Annotations on devices, those of one name together: how many, when first, and how long all of them are.
nb::list device_annotation_rows(const LoadedTrace& loaded) {
  const auto found = interruptibly<std::vector<DeviceAnnotation>>([trace = loaded.trace] {
    const CallTree tree = call_tree(*trace, {kTorchHostKinds, true});
    return device_annotations(*trace, TorchLaunches(*trace, tree, false));
  });
  struct Row {
    std::int64_t count = 0;
    Nanoseconds first = 0, took = 0;
  };
  std::vector<std::pair<std::string, Row>> rows;
  std::unordered_map<std::string, std::size_t> places;
  for (const DeviceAnnotation& each : found) {
    const std::string_view name = loaded.trace->name(each.annotation);
    const std::string key(is_step_name(name) ? kStepName : name);
    const auto [known, is_new] = places.try_emplace(key, rows.size());
    if (is_new) rows.push_back({key, {0, each.span.begin, 0}});
    Row& row = rows[known->second].second;
    ++row.count;
    row.took += each.span.length();
  }
  nb::list result;
  for (const auto& [name, row] : rows) result.append(nb::make_tuple(text(name), row.first, row.count, row.took));
  return result;
}

nb::list strays(const LoadedTrace& loaded) {
  const auto found = interruptibly<std::vector<StrayMemory>>([trace = loaded.trace] { return stray_memory(*trace); });
  nb::list result;
  for (const StrayMemory& stray : found)
    result.append(nb::make_tuple(stray.time, stray.thread, stray.change.host, stray.change.device));
  return result;
}

// Notes as an array of numbers, five each: when by the wall clock, on which device, where, how many bytes, what for.
std::vector<TensorNote> notes_in(const nb::bytes& numbers, const Trace& trace, DeviceId wanted) {
  constexpr std::size_t kNumbersEach = 5;
  std::vector<std::array<std::int64_t, kNumbersEach>> rows(numbers.size() / sizeof(std::int64_t) / kNumbersEach);
  if (!rows.empty()) std::memcpy(rows.data(), numbers.data(), rows.size() * sizeof rows[0]);
  std::vector<TensorNote> notes;
  for (const auto& [time, device, address, bytes, category] : rows) {
    if (device != wanted) continue;
    notes.push_back({time - trace.origin_epoch_ns, static_cast<std::uint64_t>(address), bytes,
                     static_cast<MemoryCategory>(std::clamp<std::int64_t>(category, 0, kMemoryCategoryCount - 1))});
  }
  return notes;
}

using Changes = std::vector<CategorizedChange>;

// Single changes, and the memory in use by category after each microsecond with a change; times by the wall clock.
nb::tuple memory(const LoadedTrace& loaded, const nb::bytes& numbers, DeviceId device) {
  const std::int64_t origin = loaded.trace->origin_epoch_ns;
  const auto changes = interruptibly<Changes>([trace = loaded.trace, notes = notes_in(numbers, *loaded.trace, device),
                                               device] { return memory_by_category(*trace, device, notes); });
  nb::list single, over_time;
  for (const CategorizedChange& change : changes)
    single.append(nb::make_tuple(origin + change.time, static_cast<int>(change.action), change.bytes,
                                 static_cast<int>(change.category)));
  for (const CategorizedMemory& point : memory_over_time(changes))
    over_time.append(
        nb::make_tuple(origin + point.time, nb::cast(std::vector(point.bytes.begin(), point.bytes.end()))));
  return nb::make_tuple(single, over_time);
}

std::string path_of(const nb::bytes& path) { return {path.c_str(), path.size()}; }

using Pairs = std::vector<std::pair<std::string, std::string>>;

void write_kineto(const nb::bytes& from, const nb::bytes& to, Pairs metadata, bool names_collections,
                  bool adjusts_steps) {
  value_or_raise(
      interruptibly<Result<void>>([from = path_of(from), to = path_of(to),
                                   wanted = TorchExport{std::move(metadata), names_collections, adjusts_steps}] {
        return export_as_torch(from, to, wanted);
      }));
}

}  // namespace

void bind_torch(nb::module_& module) {
  module.def("torch_rows", rows, "trace"_a, "by_shape"_a, "stack_depth"_a);
  module.def("torch_device_annotations", device_annotation_rows, "trace"_a);
  module.def("torch_events", events, "trace"_a);
  module.def("torch_stray_memory", strays, "trace"_a);
  module.def("torch_memory", memory, "trace"_a, "notes"_a, "device"_a);
  module.def("write_kineto", write_kineto, "source"_a, "target"_a, "metadata"_a, "names_collections"_a,
             "adjusts_steps"_a);
}

}  // namespace telltale::python
