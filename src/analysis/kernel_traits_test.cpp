#include "analysis/kernel_traits.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

constexpr KernelTraits kPlainFp32{Precision::kFp32, false};
constexpr KernelTraits kTf32{Precision::kTf32, true};
constexpr KernelTraits kBf16{Precision::kBf16, true};
constexpr KernelTraits kFp16{Precision::kFp16, true};

// The names are those of recorded kernels; what they compute in is known from the program that was recorded.
TEST(KernelTraits, of_fp32_products_tell_whether_tf32_was_allowed) {
  for (const std::string_view name :
       {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute",
        "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nt_align1>(cutlass_80_simt_sgemm::Params)",
        "ampere_sgemm_128x64_tn", "volta_sgemm_32x128_nn",
        "void gemmSN_TN_kernel<float, 128, 16, 2, 4, 8, 9, false, cublasGemvTensorStridedBatched<float const>>"}) {
    EXPECT_EQ(traits_of_kernel(name, R"(["float","float"])"), kPlainFp32) << name;
  }
  for (const std::string_view name :
       {"sm90_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel",
        "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x256_32x3_nt_align1>(cutlass_80_tensorop::Params)",
        "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw", "nvjet_sss_128x256_64x4_TNT"}) {
    EXPECT_EQ(traits_of_kernel(name, R"(["float","float"])"), kTf32) << name;
  }
}

TEST(KernelTraits, of_products_in_16_bits_are_read_from_their_names) {
  for (const std::string_view name :
       {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "nvjet_tst_64x8_64x16_2x4_h_bz_NNT",
        "nvjet_sm90_tss_64x64_64x13_1x1_h_bz_TNT",
        "void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1>(cutlass_75::Params)",
        "sm90_xmma_dgrad_implicit_gemm_indexed_bf16bf16_bf16f32_f32_nhwckrsc_nhwc",
        "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nn", "Cijk_Ailk_Bljk_BBS_BH_MT128x128x32_MI32x32x8x1",
        "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t>>"}) {
    EXPECT_EQ(traits_of_kernel(name, ""), kBf16) << name;
  }
  for (const std::string_view name :
       {"nvjet_sm90_hsh_64x24_64x16_2x4_h_bz_NNT", "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn",
        "sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc",
        "void pytorch_flash::flash_bwd_kernel<Flash_bwd_kernel_traits<64, 128, 128, 8, cutlass::half_t>>"}) {
    EXPECT_EQ(traits_of_kernel(name, ""), kFp16) << name;
  }
}

TEST(KernelTraits, of_products_in_fp64_are_read_from_their_names) {
  for (const std::string_view name :
       {"void cutlass::Kernel2<cutlass_80_tensorop_d884gemm_64x32_16x4_tn_align1>(cutlass_80_tensorop::Params)",
        "sm90_xmma_gemm_f64f64_f64f64_f64_nt_n_tilesize64x64x32_stage3_warpsize2x2x1_tensor16x8x16_execute_kernel"}) {
    EXPECT_EQ(traits_of_kernel(name, ""), (KernelTraits{Precision::kFp64, true})) << name;
  }
}

TEST(KernelTraits, of_products_in_8_bits_are_read_from_their_names) {
  for (const std::string_view name : {"nvjet_qqtst_128x256_128x6_2x1_2cta_v_bz_TNT", "nvjet_sm90_rqtst_64x64",
                                      "cutlass3x_sm90_tensorop_s64x128x32gemm_e4m3_e4m3_f32_bf16_bf16"}) {
    EXPECT_EQ(traits_of_kernel(name, ""), (KernelTraits{Precision::kFp8, true})) << name;
  }
  EXPECT_EQ(traits_of_kernel("cutlass_80_tensorop_i16832gemm_s8_256x128_64x3_tn_align16", ""),
            (KernelTraits{Precision::kInt8, true}));
}

TEST(KernelTraits, of_amd_are_read_from_the_letters_behind_the_indices) {
  struct Expected {
    std::string_view name;
    KernelTraits traits;
  };
  for (const auto& [name, traits] : {
           Expected{"Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1_SN_LDSB1", kBf16},
           Expected{"Cijk_Ailk_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT128x256x32_MI16x16x1_SN_LDSB1", kBf16},
           Expected{"Custom_Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_shortname0", kBf16},
           Expected{"Cijk_Alik_Bljk_HHS_BH_Bias_AS_SAV_UserArgs_MT64x16x32_MI16x16x1_SN", kFp16},
           Expected{"Cijk_Ailk_Bljk_HB_MT64x64x16_MI16x16x16x1_SN", kFp16},
           Expected{"Cijk_Ailk_Bljk_S_B_Bias_HA_S_SAV_UserArgs_MT16x16x128_MI16x16x1_SN", {Precision::kFp32, true}},
           Expected{"Cijk_Ailk_Bjlk_SB_Bias_AS_SAV_UserArgs_MT64x16x16_MI16x16x1_SN", {Precision::kFp32, true}},
           Expected{"Cijk_Ailk_Bljk_SB_MT32x32x8_SE_K1", kPlainFp32},
           Expected{"Cijk_Alik_Bljk_S_MX_B_Bias_HA_S_SAV_UserArgs_MT128x128x32_MI16x16x1_SN", kTf32},
           Expected{"Cijk_Alik_Bljk_F8BS_BH_Bias_SHB_HA_S_SAB_SAV_UserArgs_MT16x16x512_MI16x16x1",
                    {Precision::kFp8, true}},
           Expected{"Cijk_Ailk_Bljk_I8II_BH_MT128x128x64_MI32x32x16x1_SN", {Precision::kInt8, true}},
           Expected{"Cijk_Ailk_Bljk_DB_MT64x64x16_MI16x16x4x1_SN", {Precision::kFp64, true}},
           Expected{"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2", kBf16},
           Expected{"igemm_wrw_gtcx2_nhwc_fp16_bx0_ex1_bt64x64x64_wt32x32x8_ws1x1", kFp16},
           Expected{"_ZN7ck_tile6kentryILi1ENS_13FmhaFwdKernelINS_17BlockFmhaPipelineINS_8ProblemIDF16bDF16bf", kBf16},
       }) {
    EXPECT_EQ(traits_of_kernel(name, ""), traits) << name;
  }
  EXPECT_EQ(traits_of_kernel("attn_fwd", R"(["c10::Half","c10::Half"])"), kFp16);
  EXPECT_EQ(traits_of_kernel("_ZN2ck16tensor_operation6device39kernel_grouped_conv_fwd_xdl_cshuffle_v3INS_28Gridwise",
                             R"(["c10::BFloat16"])"),
            kBf16);
  EXPECT_EQ(traits_of_kernel("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16E", ""),
            (KernelTraits{Precision::kBf16, false}));
}

TEST(KernelTraits, of_attention_tell_both_kinds_of_16_bits_apart_by_the_types) {
  constexpr std::string_view kCudnn =
      "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_cga1x1x1_kernel0_0";
  EXPECT_EQ(traits_of_kernel(kCudnn, R"(["c10::BFloat16","c10::BFloat16"])"), kBf16);
  EXPECT_EQ(traits_of_kernel(kCudnn, R"(["c10::Half"])"), kFp16);
}

TEST(KernelTraits, of_attention_in_fp32_are_fp32_on_tensor_cores) {
  EXPECT_EQ(traits_of_kernel("fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<float>)",
                             R"(["float"])"),
            (KernelTraits{Precision::kFp32, true}));
}

TEST(KernelTraits, of_other_kernels_are_those_of_their_first_type) {
  const auto precision = [](std::string_view name) {
    const KernelTraits traits = traits_of_kernel(name, "");
    EXPECT_FALSE(traits.uses_tensor_cores) << name;
    return traits.precision;
  };
  EXPECT_EQ(precision("void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16>>"),
            Precision::kBf16);
  EXPECT_EQ(precision("void at::native::batch_norm_backward_kernel<c10::BFloat16, float, float, int>"),
            Precision::kBf16);
  EXPECT_EQ(precision("void multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>, float const*, double, double>"),
            Precision::kFp32);
  EXPECT_EQ(precision("void implicit_convolve_sgemm<__half, __half, 1024, 5, 5, 3, 3, 3, 1, false, false, true>"),
            Precision::kFp16);
  EXPECT_EQ(precision("void at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)"), Precision::kBf16);
}

TEST(KernelTraits, come_from_the_operators_types_where_the_name_says_nothing) {
  EXPECT_EQ(traits_of_kernel("triton_poi_fused_add_0", R"(["Scalar","long int","c10::Half"])").precision,
            Precision::kFp16);
  EXPECT_EQ(traits_of_kernel("triton_poi_fused_add_0", "").precision, Precision::kUnknown);
  EXPECT_EQ(traits_of_kernel("", "no list").precision, Precision::kUnknown);
  EXPECT_EQ(traits_of_kernel("nvjet_", "").precision, Precision::kUnknown);
  EXPECT_EQ(traits_of_kernel("nvjet_sm90", "").precision, Precision::kUnknown);
}

TEST(KernelTraits, know_the_sizes_of_torchs_types) {
  EXPECT_EQ(bytes_of_type("float"), 4);
  EXPECT_EQ(bytes_of_type("c10::BFloat16"), 2);
  EXPECT_EQ(bytes_of_type("c10::Float8_e4m3fn"), 1);
  EXPECT_EQ(bytes_of_type("long int"), 8);
  EXPECT_EQ(bytes_of_type("bool"), 1);
  EXPECT_EQ(bytes_of_type("Scalar"), 0);
  EXPECT_EQ(bytes_of_type("TensorList"), 0);
}

TEST(KernelTraits, have_a_word_for_each_precision) {
  EXPECT_EQ(name_of(Precision::kUnknown), "unknown");
  EXPECT_EQ(name_of(Precision::kTf32), "tf32");
  EXPECT_EQ(name_of(Precision::kInt8), "int8");
}

}  // namespace
}  // namespace telltale
