#include "capture/run/attachment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "capture/kineto/endpoint.h"

namespace telltale::capture {
namespace {

namespace fs = std::filesystem;

TEST(WorkFolder, is_short_and_goes_with_it) {
  fs::path path;
  {
    const WorkFolder folder;
    path = folder.path();
    EXPECT_TRUE(fs::is_directory(path));
    EXPECT_LE(path.string().size(), kMaxFolderLength);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Attachment, goes_before_what_stands_in_pythonpath) {
  setenv("PYTHONPATH", "/home/me/lib", 1);
  const auto variables = attachment_variables({.package = "/opt/python"});
  EXPECT_EQ(std::ranges::count(variables, "PYTHONPATH=/opt/python/telltale/_inject:/home/me/lib"), 1);
  unsetenv("PYTHONPATH");
  EXPECT_EQ(attachment_variables({.package = "/opt/python"})[1], "PYTHONPATH=/opt/python/telltale/_inject");
}

TEST(WorkFolder, keeps_marks_of_each_kind_and_process_apart) {
  const WorkFolder folder;
  folder.set_mark(Mark::kTold, 12, true);
  EXPECT_TRUE(folder.has_mark(Mark::kTold, 12));
  EXPECT_FALSE(folder.has_mark(Mark::kTold, 1));
  EXPECT_FALSE(folder.has_mark(Mark::kRecording, 12));
  EXPECT_TRUE(folder.has_mark_of_any_process(Mark::kTold));
  EXPECT_FALSE(folder.has_mark_of_any_process(Mark::kTorch));
  EXPECT_EQ(folder.text_of_mark(Mark::kTold, 12), "");
  folder.set_mark(Mark::kTold, 12, false);
  EXPECT_FALSE(folder.has_mark_of_any_process(Mark::kTold));
}

TEST(WorkFolder, reads_what_a_process_wrote_into_its_mark) {
  const WorkFolder folder;
  std::ofstream(folder.path() / "torch_4711") << "3";
  EXPECT_EQ(folder.text_of_mark(Mark::kTorch, 4711), "3");
  EXPECT_EQ(folder.text_of_mark(Mark::kTorch, 4712), "");
}

}  // namespace
}  // namespace telltale::capture
