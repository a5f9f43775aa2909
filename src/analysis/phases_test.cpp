#include "analysis/phases.h"

#include <gtest/gtest.h>
