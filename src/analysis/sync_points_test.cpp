#include "analysis/sync_points.h"

#include <gtest/gtest.h>
