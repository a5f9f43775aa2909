#include "capture/cuda/activity_names.h"

#include <gtest/gtest.h>

namespace telltale::capture {
namespace {

TEST(ActivityNames, AreThoseOfPyTorchsProfiler) {
  EXPECT_EQ(
      copy_name(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, CUPTI_ACTIVITY_MEMORY_KIND_PINNED),
      "Memcpy DtoH (Device -> Pinned)");
  EXPECT_EQ(copy_name(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE,
                      CUPTI_ACTIVITY_MEMORY_KIND_DEVICE),
            "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(fill_name(CUPTI_ACTIVITY_MEMORY_KIND_DEVICE), "Memset (Device)");
}

TEST(ActivityNames, OfKernelsAreDemangledWhereTheyCanBe) {
  EXPECT_EQ(kernel_name("_Z4spinl"), "spin(long)");
  EXPECT_EQ(kernel_name("nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN"),
            "nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN");
  EXPECT_EQ(kernel_name("_Z"), "_Z");
  EXPECT_FALSE(kernel_name(nullptr).empty());
}

}  // namespace
}  // namespace telltale::capture
