#include "formats/kineto/argument_keys.h"

#include <gtest/gtest.h>

namespace telltale::kineto {
namespace {

TEST(ArgumentKeys, knows_the_arguments_of_kineto) {
  EXPECT_EQ(argument_key("External id"), ArgumentKey::kExternalId);
  EXPECT_EQ(argument_key("Input Dims"), ArgumentKey::kInputShapes);
  EXPECT_EQ(argument_key("est. achieved occupancy %"), ArgumentKey::kOccupancy);
  EXPECT_EQ(argument_key("Process Group Description"), ArgumentKey::kGroupDescription);
  EXPECT_EQ(argument_key("Ev Idx"), ArgumentKey::kRedundant);
}

TEST(ArgumentKeys, tells_names_apart_that_differ_in_case_or_by_a_letter) {
  EXPECT_EQ(argument_key("Bytes"), ArgumentKey::kMemoryBytes);
  EXPECT_EQ(argument_key("bytes"), ArgumentKey::kBytes);
  for (const char* name : {"", "B", "byte", "bytes ", "EXTERNAL ID", "grix", "External ie"})
    EXPECT_EQ(argument_key(name), ArgumentKey::kUnknown) << name;
}

}  // namespace
}  // namespace telltale::kineto
