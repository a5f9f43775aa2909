#include "analysis/host_work.h"

#include <gtest/gtest.h>
