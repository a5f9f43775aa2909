#include "analysis/step_timing.h"

#include <gtest/gtest.h>
