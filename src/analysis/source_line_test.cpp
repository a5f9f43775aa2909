#include "analysis/source_line.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

TEST(ShortPlace, has_no_folders_and_no_line_that_is_not_known) {
  EXPECT_EQ(short_place({"/home/me/train.py", 12, "step"}), "train.py:12");
  EXPECT_EQ(short_place({"train.py", 0, "step"}), "train.py");
}

TEST(SourceLine, is_read_from_the_name_of_a_python_call) {
  EXPECT_EQ(parsed_frame("planting/workload.py(54): train_step"),
            (SourceLine{"planting/workload.py", 54, "train_step"}));
  EXPECT_EQ(parsed_frame("/home/me (old)/run(2).py(7): <lambda>"),
            (SourceLine{"/home/me (old)/run(2).py", 7, "<lambda>"}));
  EXPECT_EQ(parsed_frame("\n  a.py(1): f"), (SourceLine{"a.py", 1, "f"}));
}

TEST(SourceLine, is_not_read_from_what_is_no_line) {
  for (const std::string_view name : {"", "<built-in method item of Tensor object at 0x7f>", "nn.Module: Linear_3",
                                      "aten::mm", "f(x): g", "(12): f", "a.py(12)", "a.py(99999999999999): f"}) {
    EXPECT_EQ(parsed_frame(name), std::nullopt) << name;
  }
}

TEST(SourceLine, knows_torch_and_the_standard_library_without_their_folders) {
  for (const std::string_view file :
       {"torch/nn/modules/module.py", "triton/runtime/jit.py", "numpy/core/numeric.py", "contextlib.py", "threading.py",
        "multiprocessing/queues.py", "<frozen os>", "<string>", "/usr/lib/python3.11/glob.py",
        "anyio/_backends/_asyncio.py", "uvicorn/server.py", "/opt/env/lib/python3.10/site-packages/torch/optim/adam.py",
        R"(C:\Python311\Lib\code.py)", R"(torch\nn\modules\linear.py)",
        "/tmp/torchinductor_root/ob/cobzdol67u26clxj7cmct37q3ycemgui7rjdzmrhxnfrtmeq56gf.py"}) {
    EXPECT_EQ(owner_of(file), CodeOwner::kLibrary) << file;
  }
}

TEST(SourceLine, knows_installed_packages_that_bring_models) {
  for (const std::string_view file :
       {"transformers/models/gpt2/modeling_gpt2.py", "torchvision/models/resnet.py",
        "/opt/env/lib/python3.10/site-packages/our_models/net.py", "/usr/lib/python3/dist-packages/timm/layers.py"}) {
    EXPECT_EQ(owner_of(file), CodeOwner::kPackage) << file;
    EXPECT_TRUE(is_library_frame({std::string(file), 1, "f"})) << file;
  }
}

TEST(SourceLine, takes_everything_else_for_the_users_own) {
  for (const std::string_view file :
       {"train.py", "planting/cases/copies.py", "/home/me/torch_experiments/run.py", "code/train.py", "json_reader.py",
        "my_transformers/model.py", "<ipython-input-3-1a2b>", "/tmp/ipykernel_12/34.py",
        "/data/ob/cobzdol67u26.py"}) {  // too short for a hash
    EXPECT_EQ(owner_of(file), CodeOwner::kUser) << file;
    EXPECT_FALSE(is_library_frame({std::string(file), 1, "f"})) << file;
  }
}

// A step of the user's that calls a model of transformers, which calls torch, which calls an operator.
struct NestedCalls {
  NestedCalls() {
    thread = sketch.thread("main");
    step = sketch.event(thread, Kind::kPython, "train.py(10): step", 0, 100);
    model = sketch.event(thread, Kind::kPython, "transformers/modeling_gpt2.py(300): forward", 10, 90);
    module = sketch.event(thread, Kind::kModule, "nn.Module: Linear_0", 20, 80);
    torch = sketch.event(thread, Kind::kPython, "torch/nn/functional.py(5): linear", 21, 79);
    builtin = sketch.event(thread, Kind::kPython, "<built-in function linear>", 22, 78);
    op = sketch.op(thread, "aten::linear", 30, 60);
    launch = sketch.event(thread, Kind::kRuntime, "cudaLaunchKernel", 40, 50);
  }
  TraceSketch sketch;
  TrackId thread = 0;
  TraceSketch::Handle step = 0, model = 0, module = 0, torch = 0, builtin = 0, op = 0, launch = 0;
};

const SourceLine kStep{"train.py", 10, "step"};
const SourceLine kModel{"transformers/modeling_gpt2.py", 300, "forward"};

TEST(SourceLine, of_a_host_event_is_the_deepest_frame_outside_of_libraries) {
  NestedCalls calls;
  const Trace trace = calls.sketch.build();
  EXPECT_EQ(source_line(trace, calls.sketch.id(calls.op)), kModel);
  EXPECT_EQ(source_line(trace, calls.sketch.id(calls.step)), kStep);
}

// The function around the module spends its own time at line 12, and calls it from line 14.
TEST(SourceLine, of_a_module_is_where_its_operators_say_that_it_was_called) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.event(thread, Kind::kPython, "serve.py(12): write", 0, 100);
  const auto module = sketch.event(thread, Kind::kModule, "nn.Module: Net_0", 10, 90);
  const auto op = sketch.op(thread, "aten::linear", 20, 80);
  sketch.set_call_stack(op, "nn.Module: Linear_3;net.py(40): forward;nn.Module: Net_0;serve.py(14): write");
  const Trace trace = sketch.build();
  EXPECT_EQ(source_line(trace, sketch.id(module)), (SourceLine{"serve.py", 14, "write"}));
  EXPECT_EQ(source_line(trace, sketch.id(op)), (SourceLine{"net.py", 40, "forward"}));
}

TEST(SourceLine, of_a_comprehension_is_that_of_the_function_around_it) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.event(thread, Kind::kPython, "train.py(10): step", 0, 100);
  sketch.event(thread, Kind::kPython, "log.py(60): write_now", 1, 99);
  sketch.event(thread, Kind::kPython, "<built-in function sum>", 2, 98);
  sketch.event(thread, Kind::kPython, "log.py(61): <genexpr>", 3, 97);
  const auto item = sketch.op(thread, "aten::item", 10, 20);
  sketch.event(thread, Kind::kPython, "other.py(4): <listcomp>", 30, 40);
  const auto mean = sketch.op(thread, "aten::mean", 31, 39);
  const Trace trace = sketch.build();
  EXPECT_EQ(source_line(trace, sketch.id(item)), (SourceLine{"log.py", 60, "write_now"}));
  EXPECT_EQ(source_line(trace, sketch.id(mean)), (SourceLine{"other.py", 4, "<listcomp>"}));
}

TEST(SourceLine, of_device_work_is_that_of_its_launch) {
  NestedCalls calls;
  const auto kernel = calls.sketch.event(calls.sketch.stream(0, 7), Kind::kKernel, "gemm", 60, 200);
  calls.sketch.set_cause(kernel, calls.launch);
  const Trace trace = calls.sketch.build();
  EXPECT_EQ(source_line(trace, calls.sketch.id(kernel)), kModel);
}

TEST(SourceLine, of_a_backward_kernel_is_that_of_the_forward_operator) {
  NestedCalls calls;
  const TrackId autograd = calls.sketch.thread("pt_autograd_0");
  const auto node = calls.sketch.op(autograd, "autograd::engine::evaluate_function: AddmmBackward0", 200, 300);
  const auto backward = calls.sketch.op(autograd, "AddmmBackward0", 210, 290);
  calls.sketch.set_cause(backward, calls.op);
  const auto mm = calls.sketch.op(autograd, "aten::mm", 220, 280);
  const auto launch = calls.sketch.event(autograd, Kind::kRuntime, "cudaLaunchKernel", 230, 240);
  const auto kernel = calls.sketch.event(calls.sketch.stream(0, 7), Kind::kKernel, "gemm", 250, 400);
  calls.sketch.set_cause(kernel, launch);
  const Trace trace = calls.sketch.build();
  EXPECT_EQ(source_line(trace, calls.sketch.id(mm)), kModel);
  EXPECT_EQ(source_line(trace, calls.sketch.id(kernel)), kModel);
  EXPECT_EQ(source_line(trace, calls.sketch.id(node)), std::nullopt);  // nothing leads from it to a forward operator
}

TEST(SourceLine, is_found_in_the_stack_that_an_operator_carries_as_text) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  const auto outer = sketch.op(thread, "aten::linear", 0, 100);
  sketch.set_call_stack(outer, "torch/nn/functional.py(5): linear;model.py(31): forward;train.py(10): step");
  const auto inner = sketch.op(thread, "aten::addmm", 10, 90);
  const Trace trace = sketch.build();
  const SourceLine expected{"model.py", 31, "forward"};
  EXPECT_EQ(source_line(trace, sketch.id(outer)), expected);
  EXPECT_EQ(source_line(trace, sketch.id(inner)), expected);
}

TEST(SourceLine, is_the_place_that_was_compiled_in_before_any_stack) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  const auto scope = sketch.event(thread, Kind::kAnnotation, "batch", 0, 100);
  const auto op = sketch.op(thread, "aten::linear", 10, 90);
  sketch.set_call_stack(op, "model.py(31): forward");
  const auto loose = sketch.op(thread, "aten::add", 95, 99);
  InternedStrings& strings = sketch.trace().strings;
  sketch.trace().source_locations = {{strings.intern("src/server.cpp"), strings.intern("serve"), 42},
                                     {strings.intern("src/linear.cpp"), strings.intern("linear"), 7}};
  Trace trace = sketch.build();
  trace.sources.append(sketch.id(scope), 0);
  trace.sources.append(sketch.id(op), 1);
  EXPECT_EQ(source_line(trace, sketch.id(op)), (SourceLine{"src/linear.cpp", 7, "linear"}));
  EXPECT_EQ(source_line(trace, sketch.id(loose)), (SourceLine{"src/server.cpp", 42, "serve"}));
}

// The function around a wait spends its own time elsewhere; the stack of the wait says where it was called from.
TEST(SourceLine, of_a_wait_inside_a_library_is_the_line_that_its_own_stack_tells) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  const auto step = sketch.event(thread, Kind::kPython, "train.py(10): step", 0, 100);
  sketch.event(thread, Kind::kPython, "threading.py(300): wait", 10, 90);
  const auto wait = sketch.event(thread, Kind::kPython, "<waits for lock>", 20, 80);
  sketch.set_call_stack(wait, "threading.py(302): wait;train.py(17): step");
  InternedStrings& strings = sketch.trace().strings;
  sketch.trace().source_locations = {{strings.intern("train.py"), strings.intern("step"), 12},
                                     {strings.intern("threading.py"), strings.intern("wait"), 302}};
  Trace trace = sketch.build();
  trace.sources.append(sketch.id(step), 0);
  trace.sources.append(sketch.id(wait), 1);
  EXPECT_EQ(source_line(trace, sketch.id(wait)), (SourceLine{"train.py", 17, "step"}));
  EXPECT_EQ(source_line(trace, sketch.id(step)), (SourceLine{"train.py", 12, "step"}));
}

TEST(SourceLine, is_absent_where_there_are_no_stacks) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  const auto op = sketch.op(thread, "aten::mm", 0, 10);
  const auto library = sketch.event(thread, Kind::kPython, "torch/optim/adam.py(3): step", 20, 30);
  const auto kernel = sketch.event(sketch.stream(0, 7), Kind::kKernel, "gemm", 5, 20);
  const Trace trace = sketch.build();
  for (const auto event : {op, library, kernel}) EXPECT_EQ(source_line(trace, sketch.id(event)), std::nullopt);
}

TEST(SourceLine, is_not_lost_behind_a_call_whose_return_was_not_seen) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  sketch.event(thread, Kind::kPython, "run.py(1): record", 0, 1000);
  sketch.event(thread, Kind::kPython, "train.py(10): step", 10, 500);
  const auto apply = sketch.event(thread, Kind::kPython, "<built-in method apply of FunctionMeta object>", 20, 1000);
  const auto op = sketch.op(thread, "CompiledFunction", 30, 100);
  Trace trace = sketch.build();
  trace.lanes.append(sketch.id(apply), 1);
  EXPECT_EQ(source_line(trace, sketch.id(op)), kStep);
}

// A chain of causes that comes back to where it began must end.
TEST(SourceLine, ends_when_causes_go_round_in_a_circle) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  const auto one = sketch.op(thread, "aten::mm", 0, 10);
  const auto two = sketch.op(thread, "aten::mm", 20, 30);
  sketch.set_cause(one, two);
  sketch.set_cause(two, one);
  const Trace trace = sketch.build();
  EXPECT_EQ(source_line(trace, sketch.id(one)), std::nullopt);
}

}  // namespace
}  // namespace telltale
