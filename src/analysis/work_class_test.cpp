#include "analysis/work_class.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

// Names of recorded kernels, shortened; what they do is known from the operators that launched them.
TEST(WorkClass, of_a_kernel_is_read_from_its_name) {
  struct Expected {
    std::string_view name;
    WorkClass work;
  };
  for (const auto& [name, work] : {
           Expected{"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", WorkClass::kMatmul},
           Expected{"void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nt_align1>", WorkClass::kMatmul},
           Expected{"void cublasLt::splitKreduce_kernel<32, 16, int, float, float>", WorkClass::kMatmul},
           Expected{"void gemv2T_kernel_val<int, int, float, float, float, float, 128>", WorkClass::kMatmul},
           Expected{"sm90_xmma_wgrad_indexed_implicit_gemm_bf16bf16_bf16f32_f32", WorkClass::kConvolution},
           Expected{"void cudnn::cnn::reduce_wgrad_nchw_helper<float, float>", WorkClass::kConvolution},
           Expected{"void cudnn::engines_precompiled::nchwToNhwcKernel<float, float, float>", WorkClass::kCopy},
           Expected{"fmha_cutlassF_f32_aligned_64x64_rf_sm80", WorkClass::kAttention},
           Expected{"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26", WorkClass::kAttention},
           Expected{"void cudnn::fusion::convert_dq_to_16bits<true>", WorkClass::kAttention},
           Expected{"void cudnn::fusion::compute_dot_do_o_specialized<true, 64>", WorkClass::kAttention},
           Expected{"void at::native::batch_norm_backward_kernel<c10::BFloat16, float>", WorkClass::kNormalization},
           Expected{"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 128>", WorkClass::kNormalization},
           Expected{"void at::native::GammaBetaBackwardCUDAKernelTemplate<float>", WorkClass::kNormalization},
           Expected{"void at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>",
                    WorkClass::kElementwise},
           Expected{"void at::native::unrolled_elementwise_kernel<direct_copy_kernel_cuda>", WorkClass::kCopy},
           Expected{"void at::native::CatArrayBatchedCopy<float>", WorkClass::kCopy},
           Expected{"void at::native::cunn_SoftMaxForward<4, float, float, float>", WorkClass::kReduction},
           Expected{"void at::native::reduce_kernel<512, 1, ReduceOp<float>>", WorkClass::kReduction},
           Expected{"ncclDevKernel_AllReduce_Sum_bf16_RING_LL", WorkClass::kCommunication},
           Expected{"Custom_Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_MT256x256x64_MI16x16x1", WorkClass::kMatmul},
           Expected{"ck_moe_stage1_kernel<BF16, 128, 128>", WorkClass::kMatmul},
           Expected{"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32", WorkClass::kConvolution},
           Expected{"miopenSp3AsmConv_v30_3_1_gfx9_fp16_dot2_edc", WorkClass::kConvolution},
           Expected{"_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3",
                    WorkClass::kConvolution},
           Expected{"batched_transpose_32x32_half", WorkClass::kCopy},
           Expected{"attn_fwd.kd", WorkClass::kAttention},
           Expected{"_ZN7ck_tile6kentryILi1ENS_13FmhaFwdKernelINS_17BlockFmhaPipeline", WorkClass::kAttention},
           Expected{"void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16>", WorkClass::kAttention},
           Expected{"void vllm::reshape_and_cache_flash_kernel<__hip_bfloat16, __hip_bfloat16>", WorkClass::kCopy},
           Expected{"_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipeline", WorkClass::kNormalization},
           Expected{"MIOpenBatchNormFwdTrainSpatial", WorkClass::kNormalization},
           Expected{"aclnnMm_MatMulCommon_MatMulV2", WorkClass::kMatmul},
           Expected{"aclnnMm_TransData_TransData", WorkClass::kCopy},
           Expected{"Conv2DBackpropFilter6_MemSet", WorkClass::kCopy},
           Expected{"Conv2DBackpropFilter6", WorkClass::kConvolution},
           Expected{"aclnnLogSoftmax_LogSoftmaxAiCore_LogSoftmaxV2", WorkClass::kReduction},
           Expected{"aclnnAdd_AddAiCore_Add", WorkClass::kElementwise},
           Expected{"void at::native::max_pool_forward_nchw<float, int>", WorkClass::kOther},
           Expected{"", WorkClass::kOther},
       }) {
    EXPECT_EQ(class_of_kernel_name(name), work) << name;
  }
}

TEST(WorkClass, of_a_fused_kernel_is_how_it_goes_about_it) {
  EXPECT_EQ(class_of_kernel_name("triton_poi_fused__to_copy_add_convolution_0"), WorkClass::kElementwise);
  EXPECT_EQ(class_of_kernel_name("triton_per_fused__to_copy_sum_3"), WorkClass::kReduction);
  EXPECT_EQ(class_of_kernel_name("triton_red_fused__to_copy_gelu_native_layer_norm_3"), WorkClass::kNormalization);
  EXPECT_EQ(class_of_kernel_name("triton_tem_fused_addmm_relu_1"), WorkClass::kMatmul);
  EXPECT_EQ(class_of_kernel_name("triton_tem_fused_convolution_1"), WorkClass::kConvolution);
}

class WorkClassifierTest : public ::testing::Test {
 protected:
  WorkClass classified(std::string_view kernel, std::string_view op) {
    sketch_.op(thread_, op, 10, 90);
    const auto launch = sketch_.event(thread_, Kind::kRuntime, "cudaLaunchKernel", 20, 30);
    const auto work = sketch_.work(stream_, Kind::kKernel, kernel, 40, 50, launch);
    const Trace trace = sketch_.build();
    return WorkClassifier(trace)(sketch_.id(work));
  }

  TraceSketch sketch_;
  TrackId thread_ = sketch_.thread("main"), stream_ = sketch_.stream(0, 7);
};

TEST_F(WorkClassifierTest, takes_the_operator_where_the_kernels_name_tells_nothing) {
  EXPECT_EQ(classified("kernel_17", "aten::_softmax"), WorkClass::kReduction);
}

TEST_F(WorkClassifierTest, knows_products_by_their_operators) {
  EXPECT_EQ(classified("fc-dtype_Float", "aten::addmm"), WorkClass::kMatmul);
}

TEST_F(WorkClassifierTest, takes_a_product_within_a_convolution_for_one) {
  EXPECT_EQ(classified("nvjet_sm90_tst_256x128", "aten::cudnn_convolution"), WorkClass::kConvolution);
}

TEST_F(WorkClassifierTest, leaves_a_product_of_its_own_a_product) {
  EXPECT_EQ(classified("nvjet_sm90_tst_256x128", "aten::mm"), WorkClass::kMatmul);
}

TEST_F(WorkClassifierTest, gives_everything_that_an_optimizer_launches_to_it) {
  sketch_.event(thread_, Kind::kAnnotation, "Optimizer.step#AdamW.step", 0, 100);
  EXPECT_EQ(classified("void at::native::vectorized_elementwise_kernel<4>", "aten::mul_"), WorkClass::kOptimizer);
}

TEST_F(WorkClassifierTest, knows_fused_optimizers_by_their_operators) {
  EXPECT_EQ(classified("void multi_tensor_apply_kernel<float>", "aten::_fused_adamw_"), WorkClass::kOptimizer);
}

TEST_F(WorkClassifierTest, knows_copies_fills_and_collectives_by_their_kinds) {
  const auto copy = sketch_.event(stream_, Kind::kMemcpy, "Memcpy HtoD", 0, 1);
  const auto fill = sketch_.event(stream_, Kind::kMemset, "Memset", 2, 3);
  const auto collective = sketch_.event(stream_, Kind::kCollective, "x", 4, 5);
  const auto marked = sketch_.event(stream_, Kind::kKernel, "x", 6, 7);
  sketch_.set_collective(marked, {});
  const auto lost = sketch_.event(stream_, Kind::kKernel, "x", 8, 9);
  const Trace trace = sketch_.build();
  WorkClassifier class_of(trace);
  EXPECT_EQ(class_of(sketch_.id(copy)), WorkClass::kCopy);
  EXPECT_EQ(class_of(sketch_.id(fill)), WorkClass::kCopy);
  EXPECT_EQ(class_of(sketch_.id(collective)), WorkClass::kCommunication);
  EXPECT_EQ(class_of(sketch_.id(marked)), WorkClass::kCommunication);
  EXPECT_EQ(class_of(sketch_.id(lost)), WorkClass::kOther);
}

TEST(WorkClass, has_a_word_for_each) {
  EXPECT_EQ(name_of(WorkClass::kMatmul), "matmul");
  EXPECT_EQ(name_of(WorkClass::kOther), "other");
}

}  // namespace
}  // namespace telltale
