// The session object of C++ tells the truth about sessions that it does not own.
#include "hostile_test.h"
#include "telltale/telltale.hpp"

namespace telltale {
namespace {

class SessionObjectTest : public HostileTest {
 protected:
  Options quiet(const std::string& file) const {
    Options options(file.c_str());
    options.quiet = 1;
    return options;
  }
};

TEST_F(SessionObjectTest, that_never_started_says_why_when_it_is_stopped) {
  const std::string nowhere = path("no/such/folder/run.tell");
  Session session(quiet(nowhere));
  EXPECT_EQ(session.stop(), TELLTALE_STATUS_CANNOT_OPEN);
  EXPECT_EQ(session.status(), TELLTALE_STATUS_CANNOT_OPEN);
}

TEST_F(SessionObjectTest, that_came_second_leaves_the_first_one_alone) {
  const std::string first_path = path("first.tell"), second_path = path("second.tell");
  Session first(quiet(first_path));
  {
    Session second(quiet(second_path));
    EXPECT_EQ(second.stop(), TELLTALE_STATUS_ALREADY_STARTED);
  }
  TELLTALE_INSTANT("mark");
  EXPECT_EQ(first.stop(), TELLTALE_STATUS_OK);
  EXPECT_EQ(first.stop(), TELLTALE_STATUS_OK) << "what became of its file does not change";
  EXPECT_EQ(count_of(read_recording(first_path), "mark"), 1u);
  EXPECT_EQ(files(), std::vector<std::string>{"first.tell"});
}

}  // namespace
}  // namespace telltale
