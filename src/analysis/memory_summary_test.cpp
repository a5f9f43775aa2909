#include "analysis/memory_summary.h"

#include <gtest/gtest.h>
