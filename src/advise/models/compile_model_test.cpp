#include "advise/models/compile_model.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr double kClose = 0.01;  // milliseconds

// Draws what each of three steps does.
KnownTrace known(const std::function<void(ProgramSketch&, int)>& draw_step) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    draw_step(program, step);
  }
  return KnownTrace(program.build());
}

// An operator that costs the host 100 µs, and what it launches.
void compute(ProgramSketch& program, std::string_view kernel, Nanoseconds duration = 10 * kMicrosecond,
             std::string_view shapes = {}) {
  const auto op = program.open(Kind::kOperator, "aten::op");
  if (!shapes.empty()) program.sketch().set_inputs(op, shapes);
  program.spend(95 * kMicrosecond);
  program.launch("cudaLaunchKernel", Kind::kKernel, kernel, duration);
  program.close();
}

void compute_all(ProgramSketch& program, int count, std::string_view kernel = "gemm") {
  for (int i = 0; i < count; ++i) compute(program, kernel);
}

std::vector<std::string> names_of(const Trace& trace, const std::vector<EventId>& events) {
  std::vector<std::string> names;
  for (const EventId event : events) names.emplace_back(trace.name(event));
  return names;
}

// Without stacks only the step's mark tells of the Python between operators. Of eleven operators of 100 µs and ten
// stretches of 50 between them, half remains, and guards take 100 µs; 300 µs at once are work of the program's own.
TEST(CompileModel, what_passes_between_operators_goes_where_no_stacks_tell_of_it) {
  ProgramSketch program;
  program.sketch().trace().metadata.emplace_back("recorded", "{}");
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.spend(300 * kMicrosecond);
    for (int i = 0; i < 10; ++i) {
      compute(program, "gemm");
      program.spend(50 * kMicrosecond);
    }
    compute(program, "gemm");
  }
  const KnownTrace known(program.build());
  const CompileModel model(known.facts);
  EXPECT_NEAR(known.period_ms(known.facts.unobserved), 1.9, kClose);
  EXPECT_NEAR(known.period_ms(model.compiled()), (1.1 + 0.5) / 2 + 0.3 + 0.1, kClose);
  EXPECT_NEAR(known.period_ms(model.compiled_with_graphs()), 0.3 + 0.1, kClose);
}

// A sum of two tensors of 2^28 numbers with 2 and 4 bytes into one of 4: 2.68 GB, for which 0.8 of 4.8 TB/s take 0.70
// ms, and not the 5 ms of torch's kernel. Of the other kernel, as long as its tensors need, 0.12 remain.
TEST(CompileModel, kernels_that_are_slower_than_their_tensors_need_get_faster) {
  ProgramSketch program;
  program.sketch().trace().devices.push_back({0, "NVIDIA H200"});
  program.begin_step();
  program.kernel({.op = "aten::add",
                  .name = "elementwise_kernel<add>",
                  .duration = 5 * kMillisecond,
                  .shapes = "[[64,2048,2048],[64,2048,2048],[]]",
                  .types = R"(["c10::BFloat16","float",""])"});
  program.kernel({.op = "aten::mul",
                  .name = "vectorized_elementwise_kernel<mul>",
                  .duration = 600 * kMicrosecond,
                  .shapes = "[[64,2048,2048],[]]",
                  .types = R"(["float",""])"});
  program.wait();
  const KnownTrace trace(program.build());
  const CompileModel model(trace.facts);
  ASSERT_EQ(model.chains().size(), 1);
  EXPECT_NEAR(static_cast<double>(model.chains()[0].fused) / 1e6, 0.9 * 0.699 + 0.12 * 0.559, kClose);
}

// Unobserved, an operator and its launch cost the host 92 µs.
TEST(CompileModel, halves_the_hosts_time_and_adds_its_guards) {
  const KnownTrace inference = known([](ProgramSketch& program, int) { compute_all(program, 20); });
  const CompileModel model(inference.facts);
  EXPECT_TRUE(model.applies());
  EXPECT_FALSE(model.has_backward());
  EXPECT_NEAR(inference.period_ms(model.compiled()), 20 * 0.046 + 0.1, kClose);
  EXPECT_NEAR(inference.period_ms(model.compiled_with_graphs()), 20 * 0.0103, kClose);
  EXPECT_NEAR(inference.period_ms(model.fused()), 20 * 0.092, kClose);
  EXPECT_EQ(model.saved(), inference.facts.saved_by(model.compiled()));
  EXPECT_EQ(model.saved_with_graphs(), inference.facts.saved_by(model.compiled_with_graphs()));
  EXPECT_TRUE(model.may_want_graphs());
}

TEST(CompileModel, takes_shapes_that_no_tensor_has) {
  const KnownTrace trace = known([](ProgramSketch& program, int) {
    for (int i = 0; i < 2; ++i)
      compute(program, "elementwise_kernel", 10 * kMicrosecond, "[[9000000000000,9000000000000]]");
  });
  const CompileModel model(trace.facts);
  ASSERT_EQ(model.chains().size(), 1);  // nothing computes between them
  EXPECT_EQ(model.chains()[0].kernels.size(), 6);
}

TEST(CompileModel, guards_and_graphs_cost_a_training_more) {
  const KnownTrace training = known([](ProgramSketch& program, int) {
    program.open(Kind::kAnnotation, "forward");
    compute_all(program, 20);
    program.close();
    program.open(Kind::kAnnotation, "backward");
    compute_all(program, 20);
    program.close();
  });
  const CompileModel model(training.facts);
  EXPECT_TRUE(model.has_backward());
  EXPECT_NEAR(training.period_ms(model.compiled()), 40 * 0.046 + 0.5, kClose);
  EXPECT_NEAR(training.period_ms(model.compiled_with_graphs()), 0.9, kClose);
}

TEST(CompileModel, graphs_pay_only_where_the_host_is_still_busy) {
  const KnownTrace busy_device =
      known([](ProgramSketch& program, int) { compute(program, "gemm", 10 * kMillisecond); });
  EXPECT_FALSE(CompileModel(busy_device.facts).may_want_graphs());
}

TEST(CompileModel, compiles_the_model_where_the_program_has_one) {
  const KnownTrace inference = known([](ProgramSketch& program, int) {
    program.open(Kind::kModule, "nn.Module: Model_0");
    compute_all(program, 10);
    program.close();
    program.open(Kind::kAnnotation, "forward");  // the loss, outside of the model
    compute_all(program, 10);
    program.close();
  });
  EXPECT_NEAR(inference.period_ms(CompileModel(inference.facts).compiled()), 10 * (0.046 + 0.092) + 0.1, kClose);
}

TEST(CompileModel, compiles_the_whole_forward_pass_where_layers_are_called_one_by_one) {
  const KnownTrace inference = known([](ProgramSketch& program, int) {
    for (int layer = 0; layer < 10; ++layer) {
      program.open(Kind::kModule, "nn.Module: Linear_" + std::to_string(layer));
      compute(program, "gemm");
      program.close();
      program.open(Kind::kAnnotation, "forward");
      compute(program, "gemm");
      program.close();
    }
  });
  EXPECT_NEAR(inference.period_ms(CompileModel(inference.facts).compiled()), 20 * 0.046 + 0.1, kClose);
}

TEST(CompileModel, long_work_on_the_cpu_stays) {
  const KnownTrace inference = known([](ProgramSketch& program, int) {
    compute_all(program, 10);
    program.run(Kind::kOperator, "aten::sort", 500 * kMicrosecond);
  });
  EXPECT_NEAR(inference.period_ms(CompileModel(inference.facts).compiled()), 10 * 0.046 + 0.497 + 0.1, kClose);
}

TEST(CompileModel, the_users_own_python_stays) {
  const KnownTrace inference = known([](ProgramSketch& program, int) {
    program.open(Kind::kModule, "nn.Module: Model_0");
    program.run(Kind::kPython, "model.py(8): weights", 500 * kMicrosecond);
    compute_all(program, 10);
    program.close();
  });
  // A kernel costs the host 50 µs when it is compiled, guards 0.1 ms.
  EXPECT_NEAR(inference.period_ms(CompileModel(inference.facts).compiled()), 10 * 0.05 + 0.5 + 0.1, 0.02);
}

// Five tokens a step, each with a longer cache than the one before.
TEST(CompileModel, is_of_no_use_where_every_call_has_other_shapes) {
  const auto decoding = [](bool grows) {
    return known([grows](ProgramSketch& program, int) {
      for (int token = 0; token < 5; ++token) {
        program.open(Kind::kModule, "nn.Module: Decoder_0");
        compute(program, "gemm", 10 * kMicrosecond, "[[1,8," + std::to_string(grows ? token : 64) + ",64]]");
        program.close();
      }
    });
  };
  EXPECT_FALSE(CompileModel(decoding(true).facts).applies());
  EXPECT_TRUE(CompileModel(decoding(false).facts).applies());
}

TEST(CompileModel, recurrent_networks_stay) {
  const KnownTrace inference = known([](ProgramSketch& program, int) {
    program.open(Kind::kOperator, "aten::lstm");
    compute_all(program, 10);
    program.close();
  });
  EXPECT_NEAR(inference.period_ms(CompileModel(inference.facts).compiled()), 10 * 0.092 + 0.1, kClose);
}

TEST(CompileModel, chains_run_between_products_on_tensors_of_one_size) {
  const KnownTrace inference = known([](ProgramSketch& program, int) {
    compute(program, "elementwise_a", kMillisecond, "[[8,8]]");
    compute(program, "reduce_kernel_b", 2 * kMillisecond, "[[8,8],[1]]");
    compute(program, "elementwise_of_another_size", kMillisecond, "[[8,4]]");
    compute(program, "nchwToNhwcKernel", kMillisecond, "[[8,8]]");
    compute(program, "elementwise_c", 3 * kMillisecond, "[[4,16]]");
    compute(program, "gemm", kMillisecond, "[[8,8],[8,8]]");
    compute(program, "elementwise_d", kMillisecond, "[[8,8]]");
  });
  const CompileModel model(inference.facts);
  ASSERT_EQ(static_cast<double>(model.chains().size()), inference.facts.steps());
  EXPECT_EQ(names_of(inference.trace, model.chains()[0].kernels),
            (std::vector<std::string>{"elementwise_a", "reduce_kernel_b", "elementwise_c"}));
  EXPECT_EQ(model.chains()[0].total, 6 * kMillisecond);
  EXPECT_NEAR(static_cast<double>(model.chains()[0].fused), (0.9 * 3 + 0.12 * 3) * kMillisecond, 2);
}

// A convolution between two conversions; the device takes 12 ms.
KnownTrace convolving(std::string_view shapes) {
  return known([=](ProgramSketch& program, int) {
    program.kernel({.op = "aten::cudnn_convolution", .name = "nchwToNhwcKernel", .duration = kMillisecond});
    program.kernel({.op = "aten::cudnn_convolution",
                    .name = "sm90_xmma_fprop_implicit_gemm",
                    .duration = 10 * kMillisecond,
                    .shapes = shapes});
    program.kernel({.op = "aten::cudnn_convolution", .name = "nhwcToNchwKernel", .duration = kMillisecond});
    program.wait();
  });
}

TEST(CompileModel, some_networks_keep_their_layout) {
  const auto saved = [](std::string_view shapes) {
    const KnownTrace trace = convolving(shapes);
    return static_cast<double>(CompileModel(trace.facts).saved()) / 1e6;
  };
  constexpr double kSaved = 2 + 10 * 0.2;
  EXPECT_NEAR(saved("[[16,96,64,64],[96,96,3,3],[]]"), kSaved, 0.2);
  EXPECT_NEAR(saved("[[16,192,64,64],[96,192,1,1],[]]"), kSaved, 0.2);
  EXPECT_NEAR(saved("[[16,96,64,64],[96,1,3,3],[]]"), kSaved, 0.2);  // one channel a group
  EXPECT_NEAR(saved("[[16,192,64,64],[96,192,3,3],[]]"), 0, 0.2);    // to half of the channels
  EXPECT_NEAR(saved("[[16,96,64,64],[96,24,3,3],[]]"), 0, 0.2);      // four groups
  EXPECT_NEAR(saved("[[16,64,64,64],[64,64,3,3],[]]"), 0, 0.2);      // few channels
}

TEST(CompileModel, convolutions_get_the_layout_that_they_want) {
  const KnownTrace inference = known([](ProgramSketch& program, int) {
    compute(program, "nchwToNhwcKernel", 2 * kMillisecond);
    compute(program, "sm80_xmma_fprop_implicit_gemm_bf16", 10 * kMillisecond);
    program.wait();
  });
  // Both launches go on while the device works; the first one's is felt, and so are the guards.
  EXPECT_NEAR(inference.period_ms(CompileModel(inference.facts).compiled()), 8 + 2 * 0.046 + 0.1, 0.02);
}

TEST(CompileModel, without_conversions_convolutions_have_their_layout) {
  const KnownTrace inference = known([](ProgramSketch& program, int) {
    compute(program, "sm80_xmma_fprop_implicit_gemm_bf16", 10 * kMillisecond);
    program.wait();
  });
  EXPECT_NEAR(inference.period_ms(CompileModel(inference.facts).compiled()), 10 + 0.046 + 0.1, 0.02);
}

TEST(CompileModel, does_not_apply_to_what_is_compiled_already) {
  const KnownTrace compiled =
      known([](ProgramSketch& program, int) { compute_all(program, 5, "triton_poi_fused_add_0"); });
  EXPECT_TRUE(CompileModel(compiled.facts).is_compiled());
  EXPECT_FALSE(CompileModel(compiled.facts).applies());
  EXPECT_EQ(CompileModel(compiled.facts).saved(), 0);
}

TEST(CompileModel, a_few_kernels_in_triton_make_no_compiled_program) {
  const KnownTrace eager = known([](ProgramSketch& program, int) {
    compute_all(program, 9);
    compute(program, "triton_poi_fused_add_0");
  });
  EXPECT_TRUE(CompileModel(eager.facts).applies());
}

TEST(CompileModel, does_not_apply_where_waits_cut_the_forward_pass_to_pieces) {
  const auto waiting = [](int waits) {
    return [waits](ProgramSketch& program, int) {
      compute_all(program, 5);
      for (int i = 0; i < waits; ++i) program.wait();
      compute_all(program, 5);
    };
  };
  EXPECT_FALSE(CompileModel(known(waiting(2)).facts).is_broken_by_waits());
  EXPECT_TRUE(CompileModel(known(waiting(3)).facts).is_broken_by_waits());
}

TEST(CompileModel, waits_between_two_forward_passes_cut_neither) {
  const KnownTrace inference = known([](ProgramSketch& program, int) {
    compute_all(program, 10);
    for (int i = 0; i < 5; ++i) program.wait();
  });
  EXPECT_FALSE(CompileModel(inference.facts).is_broken_by_waits());
}

TEST(CompileModel, does_not_apply_where_the_collector_takes_much_of_the_time) {
  const auto collecting = [](Nanoseconds duration) {
    return [duration](ProgramSketch& program, int) {
      compute_all(program, 10);
      program.run(Kind::kPython, "<built-in function collect>", duration);
    };
  };
  EXPECT_TRUE(CompileModel(known(collecting(50 * kMicrosecond)).facts).applies());
  EXPECT_FALSE(CompileModel(known(collecting(500 * kMicrosecond)).facts).applies());
}

// Each length would be a graph of its own.
TEST(CompileModel, graphs_are_not_for_steps_that_all_have_other_shapes) {
  const auto with_lengths = [](const std::array<int, 3>& lengths) {
    return [lengths](ProgramSketch& program, int step) {
      for (int i = 0; i < 10; ++i)
        compute(program, "gemm", 10 * kMicrosecond,
                "[[8," + std::to_string(lengths[static_cast<std::size_t>(step)]) + "]]");
    };
  };
  EXPECT_TRUE(CompileModel(known(with_lengths({64, 64, 64})).facts).may_want_graphs());
  EXPECT_TRUE(CompileModel(known(with_lengths({64, 64, 32})).facts).may_want_graphs()) << "a smaller last batch";
  EXPECT_FALSE(CompileModel(known(with_lengths({64, 72, 80})).facts).may_want_graphs());
}

TEST(CompileModel, of_a_trace_without_device_or_events_does_no_harm) {
  const KnownTrace nothing(TraceSketch().build());
  EXPECT_TRUE(CompileModel(nothing.facts).chains().empty());
  const KnownTrace host_only =
      known([](ProgramSketch& program, int) { program.run(Kind::kOperator, "aten::mm", kMillisecond); });
  EXPECT_TRUE(CompileModel(host_only.facts).chains().empty());
}

}  // namespace
}  // namespace telltale
