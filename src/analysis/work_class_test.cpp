#include "analysis/work_class.h"

#include <gtest/gtest.h>
