#include "formats/kineto/argument_keys.h"

#include <gtest/gtest.h>

#include <string>

namespace telltale::kineto {
namespace {

ArgumentKey key_of(const std::string& name) {
  const std::string padded = name + std::string(kPaddingBytes, kPadding);
  return argument_key({padded.data(), padded.data() + name.size(), true});
}

TEST(ArgumentKeys, knows_the_arguments_of_kineto) {
  EXPECT_EQ(key_of("External id"), ArgumentKey::kExternalId);
  EXPECT_EQ(key_of("Input Dims"), ArgumentKey::kInputShapes);
  EXPECT_EQ(key_of("est. achieved occupancy %"), ArgumentKey::kOccupancy);
  EXPECT_EQ(key_of("Process Group Description"), ArgumentKey::kGroupDescription);
  EXPECT_EQ(key_of("Ev Idx"), ArgumentKey::kEventIndex);
}

TEST(ArgumentKeys, tells_names_apart_that_differ_in_case_or_by_a_letter) {
  EXPECT_EQ(key_of("Bytes"), ArgumentKey::kMemoryBytes);
  EXPECT_EQ(key_of("bytes"), ArgumentKey::kBytes);
  for (const char* name : {"", "B", "byte", "bytes ", "EXTERNAL ID", "grix", "External ie"})
    EXPECT_EQ(key_of(name), ArgumentKey::kUnknown) << name;
}

TEST(ArgumentKeys, have_names_by_which_they_are_found_again) {
  EXPECT_EQ(name_of(ArgumentKey::kExternalId), "External id");
  EXPECT_EQ(name_of(ArgumentKey::kInputShapes), "Input Dims");
  for (std::size_t i = 0; i + 1 < kArgumentKeyCount; ++i) {
    const auto key = static_cast<ArgumentKey>(i);
    EXPECT_EQ(key_of(std::string(name_of(key))), key) << name_of(key);
  }
}

}  // namespace
}  // namespace telltale::kineto
