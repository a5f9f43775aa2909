#include "analysis/copy_summary.h"

#include <gtest/gtest.h>
