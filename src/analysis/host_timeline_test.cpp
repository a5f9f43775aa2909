#include "analysis/host_timeline.h"

#include <gtest/gtest.h>
