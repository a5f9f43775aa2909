#include "analysis/breakdown.h"

#include <gtest/gtest.h>
