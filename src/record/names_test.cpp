#include "record/names.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace telltale::record {
namespace {

telltale_site site_named(const char* name, std::uint32_t line = 1) {
  return {name, "", "file.cpp", "function", nullptr, 0, line, TELLTALE_KIND_SCOPE, 0};
}

std::string text(const Names& names, std::uint32_t number) {
  const Text& known = names.texts()[number - 1];
  return {known.data, known.size};
}

class NamesTest : public testing::Test {
 protected:
  Losses losses_;
  MemoryBudget budget_;
  std::unique_ptr<Names> names_ = std::make_unique<Names>(losses_, budget_);
};

TEST_F(NamesTest, give_equal_texts_one_number_and_keep_a_copy) {
  std::string changing = "first";
  const std::uint32_t first = names_->intern(changing.c_str());
  changing = "other";
  const std::uint32_t other = names_->intern(changing.c_str());
  EXPECT_NE(first, other);
  EXPECT_EQ(names_->intern("first"), first);
  EXPECT_EQ(text(*names_, first), "first");
  EXPECT_EQ(names_->intern(""), 0u);
  EXPECT_EQ(names_->intern(nullptr), 0u);
}

TEST_F(NamesTest, find_every_text_again_after_growing) {
  for (int i = 0; i < 20000; ++i) names_->intern(("name " + std::to_string(i)).c_str());
  const std::uint32_t count = names_->texts().size();
  for (int i = 0; i < 20000; ++i) {
    const std::string name = "name " + std::to_string(i);
    EXPECT_EQ(text(*names_, names_->intern(name.c_str())), name);
  }
  EXPECT_EQ(names_->texts().size(), count);
}

TEST_F(NamesTest, give_equal_sites_one_number_even_from_different_memory) {
  const telltale_site one = site_named("scope"), same = site_named("scope"), elsewhere = site_named("scope", 2);
  EXPECT_EQ(names_->number_of(one), names_->number_of(same));
  EXPECT_NE(names_->number_of(one), names_->number_of(elsewhere));
}

TEST_F(NamesTest, tell_sites_apart_by_their_fields) {
  const telltale_field integer[] = {{"n", TELLTALE_FIELD_TYPE_INTEGER, 0}},
                       number[] = {{"n", TELLTALE_FIELD_TYPE_FLOAT, 0}};
  telltale_site one = site_named("scope"), other = site_named("scope");
  one.fields = integer;
  other.fields = number;
  one.field_count = other.field_count = 1;
  const std::uint32_t with_integer = names_->number_of(one);
  EXPECT_NE(with_integer, names_->number_of(other));
  EXPECT_NE(with_integer, names_->number_of(site_named("scope")));
  EXPECT_EQ(with_integer, names_->number_of(one));
}

TEST_F(NamesTest, give_the_same_handle_for_the_same_description) {
  const telltale_field fields[] = {{"n", TELLTALE_FIELD_TYPE_INTEGER, 0}, {"t", TELLTALE_FIELD_TYPE_TEXT, 0}};
  telltale_site description = site_named("dynamic");
  description.fields = fields;
  description.field_count = 2;
  telltale_site* handle = names_->handle_of(description);
  EXPECT_EQ(names_->handle_of(description), handle);
  EXPECT_EQ(handle->id, names_->number_of(description));
  ASSERT_EQ(handle->field_count, 2u);
  EXPECT_EQ(handle->fields[1].type, static_cast<std::uint32_t>(TELLTALE_FIELD_TYPE_TEXT));
}

TEST_F(NamesTest, put_what_is_too_much_under_one_name) {
  budget_.begin_session(std::size_t{1} << 30);
  std::uint32_t last = 0;
  for (int i = 0; i < 300'000; ++i) last = names_->number_of(site_named("", static_cast<std::uint32_t>(i)));
  EXPECT_EQ(text(*names_, names_->site(last)->name), "(too many names)");
  EXPECT_EQ(names_->number_of(site_named("one more", 1'000'000)), last);
  // A place for each kind is for what the others of that kind share; there is one kind here.
  EXPECT_EQ(names_->sites().size(), names_->sites().kCapacity - kKinds + 1);
  EXPECT_EQ(losses_.count(tell::LossReason::kNameNotKept), 300'001 - (names_->sites().kCapacity - kKinds));
}

TEST_F(NamesTest, leave_what_is_too_much_its_kind) {
  budget_.begin_session(std::size_t{1} << 30);
  telltale_site kernel = site_named("");
  kernel.kind = TELLTALE_KIND_KERNEL;
  for (int i = 0; i < 300'000; ++i) {
    kernel.line = static_cast<std::uint32_t>(i);
    names_->number_of(kernel);
  }
  const Site* shared = names_->site(names_->handle_of(kernel)->id);
  EXPECT_EQ(text(*names_, shared->name), "(too many names)");
  EXPECT_EQ(shared->kind, static_cast<std::uint32_t>(TELLTALE_KIND_KERNEL));
  const Site* scope = names_->site(names_->number_of(site_named("another")));
  EXPECT_EQ(text(*names_, scope->name), "(too many names)");
  EXPECT_EQ(scope->kind, static_cast<std::uint32_t>(TELLTALE_KIND_SCOPE));
}

TEST_F(NamesTest, keep_the_fields_of_many_sites_once) {
  budget_.begin_session(std::size_t{1} << 30);
  std::vector<telltale_field> few, many;
  for (const char* name : {"grid", "block", "registers", "graph"}) many.push_back({name, TELLTALE_FIELD_TYPE_SHAPE, 0});
  few.assign(many.begin(), many.begin() + 2);
  for (std::uint32_t i = 0; i < 200'000; ++i) {
    telltale_site site = site_named("kernel", i);
    const std::vector<telltale_field>& fields = i % 2 == 0 ? few : many;
    site.fields = fields.data();
    site.field_count = static_cast<std::uint32_t>(fields.size());
    const Site* known = names_->site(names_->handle_of(site)->id);
    ASSERT_EQ(known->line, i) << "there is room for all";
    ASSERT_EQ(known->field_count, fields.size());
    for (std::uint32_t field = 0; field < known->field_count; ++field)
      ASSERT_EQ(text(*names_, names_->fields()[known->first_field + field].name), fields[field].name);
  }
  EXPECT_LE(names_->fields().size(), few.size() + many.size());
  EXPECT_EQ(losses_.count(tell::LossReason::kNameNotKept), 0u);
}

TEST_F(NamesTest, keep_within_the_budget_and_count_what_has_no_room) {
  budget_.begin_session(1 << 20);
  constexpr std::size_t kLimit = 256 << 10;  // a quarter of it, of which threads have a quarter to themselves
  const std::string padding(1000, 'x');
  std::size_t kept = 0, bytes = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = std::to_string(i) + padding;
    telltale_site* handle = names_->handle_of(site_named(name.c_str()));
    if (text(*names_, names_->site(handle->id)->name) != name) continue;
    ++kept;
    bytes += name.size();
  }
  EXPECT_GT(bytes, kLimit * 3 / 4 * 8 / 10) << "most of it is for the texts";
  EXPECT_LE(bytes, kLimit * 3 / 4);
  EXPECT_LE(budget_.peak(), kLimit * 3 / 4);
  EXPECT_EQ(losses_.count(tell::LossReason::kNameNotKept), 1000 - kept);
  EXPECT_EQ(names_->intern(padding.c_str()), 0u);
  EXPECT_TRUE(budget_.take_for_thread(kLimit / 4)) << "names leave room for threads";
  budget_.begin_session(4 << 20);
  EXPECT_NE(names_->intern(padding.c_str()), 0u) << "the limit of another session may be higher";
}

}  // namespace
}  // namespace telltale::record
