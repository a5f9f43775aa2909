// Which files are shown, and that no others can be reached.
#include "answers/view_source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/testing/program_sketch.h"
#include "answers/source_files.h"
#include "answers/testing/view_of.h"

namespace telltale::answers {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> found_in(const std::vector<std::string>& folders, const std::string& path) {
  const auto found = SourceIndex(folders).find(path);
  return found ? std::optional(*found) : std::nullopt;
}
using nlohmann::json;

class ViewSource : public testing::Test {
 protected:
  ViewSource() {
    std::string name = (fs::temp_directory_path() / "telltale_source_XXXXXX").string();
    root = mkdtemp(name.data());
    write("project/train.py", "import torch\ndef step():\n  pass\n");
    write("project/models/net.py", "class Net:\r\n  pass");
    write("secret.txt", "secret");
  }
  ~ViewSource() override { fs::remove_all(root); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }

  // Two steps of 2 ms at line 2 of each of the files.
  std::shared_ptr<const View> view_of(const std::vector<std::string>& files, bool is_allowed = true) const {
    ProgramSketch program;
    for (int step = 0; step < 2; ++step) {
      program.begin_step();
      for (const std::string& file : files) program.run(Kind::kPython, file + "(2): step", 2 * kMillisecond);
    }
    return answers::view_of(program.build(),
                            is_allowed ? std::vector{(root / "project").string()} : std::vector<std::string>());
  }

  json asked(const View& view, const std::string& file) const {
    const auto answer = source(view, {.file = number_of_file(file)});
    return answer ? json::parse(answer->json()) : json(answer.error().message);
  }

  fs::path root;
};

TEST_F(ViewSource, lists_files_with_their_time) {
  const auto view = view_of({"/home/me/model/train.py", "/home/me/model/other.py"});
  const json files = json::parse(source(*view, {})->json())["files"];
  ASSERT_EQ(files.size(), 2u);
  for (const json& file : files) {
    EXPECT_EQ(file["host_ns"], 2 * kMillisecond);
    EXPECT_EQ(file["owner"], "user");
    EXPECT_EQ(file["is_readable"], file["file"] == "/home/me/model/train.py");
    EXPECT_EQ(file["id"], number_of_file(file["file"].get<std::string>()));
    EXPECT_LT(file["id"].get<std::uint64_t>(), std::uint64_t{1} << 53);
  }
}

TEST_F(ViewSource, shows_all_lines_with_the_time_beside_them) {
  const json shown = asked(*view_of({"/home/me/model/train.py"}), "/home/me/model/train.py");
  EXPECT_TRUE(shown["problem"].is_null());
  ASSERT_EQ(shown["lines"].size(), 3u);
  EXPECT_EQ(shown["lines"][0], json({{"line", 1},
                                     {"text", "import torch"},
                                     {"host_ns", 0},
                                     {"device_ns", 0},
                                     {"calls", 0},
                                     {"example", nullptr}}));
  EXPECT_EQ(shown["lines"][1]["text"], "def step():");
  EXPECT_EQ(shown["lines"][1]["host_ns"], 2 * kMillisecond);
  EXPECT_EQ(shown["lines"][1]["calls"], 1);
  EXPECT_EQ(shown["mean_of"], 2);
}

TEST_F(ViewSource, without_permission_shows_times_and_names_the_flag) {
  const json shown = asked(*view_of({"/home/me/model/train.py"}, false), "/home/me/model/train.py");
  EXPECT_NE(shown["problem"].get<std::string>().find("--source"), std::string::npos);
  ASSERT_EQ(shown["lines"].size(), 1u);
  EXPECT_EQ(shown["lines"][0]["line"], 2);
  EXPECT_TRUE(shown["lines"][0]["text"].is_null());
}

TEST_F(ViewSource, says_that_a_file_is_not_there) {
  const json shown = asked(*view_of({"elsewhere.py"}), "elsewhere.py");
  EXPECT_NE(shown["problem"].get<std::string>().find("There is no such file in "), std::string::npos);
  const auto view = view_of({"elsewhere.py"});
  EXPECT_EQ(source(*view, {.file = 7}).error().message, "there is no file 7 in these steps");
}

TEST_F(ViewSource, finds_the_file_that_ends_in_most_components) {
  write("project/net.py", "wrong");
  const std::vector<std::string> folders = {(root / "project").string()};
  EXPECT_EQ(found_in(folders, "/x/models/net.py"), (root / "project/models/net.py").string());
  EXPECT_EQ(found_in(folders, "C:\\x\\models\\net.py"), (root / "project/models/net.py").string());
  EXPECT_EQ(found_in(folders, "/x/other/net.py"), (root / "project/net.py").string());
  EXPECT_EQ(read_lines((root / "project/models/net.py").string()).value(),
            (std::vector<std::string>{"class Net:", "  pass"}));
}

TEST_F(ViewSource, finds_files_below_its_folders_where_only_one_fits) {
  const std::vector<std::string> folders = {root.string()};
  EXPECT_EQ(found_in(folders, "net.py"), (root / "project/models/net.py").string());
  EXPECT_EQ(found_in(folders, "/x/models/net.py"), (root / "project/models/net.py").string());
  write("project/.hidden/train.py", "not looked at");
  EXPECT_EQ(found_in(folders, "train.py"), (root / "project/train.py").string());
  write("project/other/train.py", "another");
  EXPECT_EQ(found_in(folders, "other/train.py"), (root / "project/other/train.py").string());
  EXPECT_EQ(SourceIndex(folders).find("train.py").error().message,
            "2 files below " + root.string() + " have that name; give --source the folder that the program stands in.");
}

TEST_F(ViewSource, never_leaves_its_folders) {
  fs::create_symlink(root / "secret.txt", root / "project/link.py");
  fs::create_symlink(root, root / "project/up");
  fs::create_symlink(root / "project/train.py", root / "project/same.py");
  const std::vector<std::string> folders = {(root / "project").string()};
  EXPECT_EQ(found_in(folders, "link.py"), std::nullopt);
  EXPECT_EQ(found_in(folders, "up/secret.txt"), std::nullopt);
  EXPECT_EQ(found_in(folders, "../secret.txt"), std::nullopt);
  EXPECT_EQ(found_in(folders, "models/../../secret.txt"), std::nullopt);
  EXPECT_EQ(found_in(folders, (root / "secret.txt").string()), std::nullopt);
  EXPECT_EQ(found_in(folders, std::string("train.py\0.txt", 13)), std::nullopt);
  EXPECT_EQ(found_in(folders, ""), std::nullopt);
  EXPECT_EQ(found_in(folders, "models"), std::nullopt);
  EXPECT_EQ(found_in(folders, "same.py"), (root / "project/train.py").string());
}

TEST_F(ViewSource, shows_only_regular_files_of_a_decent_size) {
  ASSERT_EQ(mkfifo((root / "project/pipe.py").c_str(), 0600), 0);
  EXPECT_EQ(found_in({(root / "project").string()}, "pipe.py"), std::nullopt);
  EXPECT_EQ(read_lines((root / "project/pipe.py").string()).error().message, "Only regular files are shown.");
  write("project/large.py", std::string(5'000'001, 'x'));
  EXPECT_EQ(read_lines((root / "project/large.py").string()).error().message,
            "The file is larger than 5 MB, and is not shown.");
  EXPECT_EQ(read_lines((root / "project/none.py").string()).error().message, "The file cannot be read.");
}

}  // namespace
}  // namespace telltale::answers
