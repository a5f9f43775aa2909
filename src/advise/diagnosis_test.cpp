#include "advise/diagnosis.h"

#include <gtest/gtest.h>
