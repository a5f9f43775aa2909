#include "analysis/gpu_peaks.h"

#include <gtest/gtest.h>
