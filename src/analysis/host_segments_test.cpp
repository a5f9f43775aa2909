#include "analysis/host_segments.h"

#include <gtest/gtest.h>
