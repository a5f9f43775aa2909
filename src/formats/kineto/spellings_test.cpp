#include "formats/kineto/spellings.h"

#include <gtest/gtest.h>

#include <string>

namespace telltale::kineto {
namespace {

Attribute key_of(const std::string& name) {
  const std::string padded = name + std::string(kPaddingBytes, kPadding);
  return attribute_of({padded.data(), padded.data() + name.size(), true});
}

TEST(Spellings, knows_the_arguments_of_kineto) {
  EXPECT_EQ(key_of("External id"), Attribute::kExternalId);
  EXPECT_EQ(key_of("Input Dims"), Attribute::kInputShapes);
  EXPECT_EQ(key_of("est. achieved occupancy %"), Attribute::kOccupancy);
  EXPECT_EQ(key_of("Process Group Description"), Attribute::kGroupDescription);
  EXPECT_EQ(key_of("Ev Idx"), Attribute::kEventIndex);
}

TEST(Spellings, tells_names_apart_that_differ_in_case_or_by_a_letter) {
  EXPECT_EQ(key_of("Bytes"), Attribute::kMemoryBytes);
  EXPECT_EQ(key_of("bytes"), Attribute::kBytes);
  for (const char* name : {"", "B", "byte", "bytes ", "EXTERNAL ID", "grix", "External ie"})
    EXPECT_EQ(key_of(name), Attribute::kUnknown) << name;
}

TEST(Spellings, have_names_by_which_they_are_found_again) {
  EXPECT_EQ(spelling_of(Attribute::kExternalId), "External id");
  EXPECT_EQ(spelling_of(Attribute::kInputShapes), "Input Dims");
  for (std::size_t i = 0; i + 1 < kAttributeCount; ++i) {
    const auto key = static_cast<Attribute>(i);
    EXPECT_EQ(key_of(std::string(spelling_of(key))), key) << spelling_of(key);
  }
}

}  // namespace
}  // namespace telltale::kineto
