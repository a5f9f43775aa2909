#include "analysis/kernel_summary.h"

#include <gtest/gtest.h>
