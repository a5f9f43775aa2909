#include "analysis/module_times.h"

#include <gtest/gtest.h>
