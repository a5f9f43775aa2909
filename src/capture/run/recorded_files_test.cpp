#include "capture/run/recorded_files.h"

#include <gtest/gtest.h>

#include <fstream>

namespace telltale::capture {
namespace {

namespace fs = std::filesystem;

std::tm noon() {
  std::tm time{};
  time.tm_year = 126;
  time.tm_mon = 10;
  time.tm_mday = 15;
  time.tm_hour = 12;
  return time;
}

class RecordedFiles : public testing::Test {
 protected:
  RecordedFiles() {
    std::string name = testing::TempDir() + "recorded_files_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~RecordedFiles() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text = "\"cpu_op\"") const {
    std::ofstream(folder_ / name) << text;
  }
  std::vector<RecordedFile> all() const { return gathered(folder_, "run"); }

  fs::path folder_;
};

using Names = std::vector<std::string>;

TEST_F(RecordedFiles, is_named_after_the_script) {
  EXPECT_EQ(default_stem({"python", "-u", "src/train.py", "--lr", "1"}, noon()), "telltale_train_20261115-120000");
  EXPECT_EQ(default_stem({"torchrun", "--nproc-per-node", "2", "fit.py"}, noon()), "telltale_fit_20261115-120000");
  EXPECT_EQ(default_stem({"python", "-m", "my.trainer"}, noon()), "telltale_my_trainer_20261115-120000");
  EXPECT_EQ(default_stem({"/opt/bin/serve it"}, noon()), "telltale_serve_it_20261115-120000");
}

TEST_F(RecordedFiles, takes_its_name_apart) {
  const auto name = output_name(folder_ / "night.v2.json.gz", "unused", ".tell");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->stem, "night.v2");
  EXPECT_EQ(name->extension, ".json.gz");
  EXPECT_EQ(name->path_of(7, "", true), folder_ / "night.v2.json.gz");
  EXPECT_EQ(name->path_of(7, ".1", true), folder_ / "night.v2.1.json.gz");
  EXPECT_EQ(name->path_of(7, ".1", false), folder_ / "night.v2_7.1.json.gz");
}

TEST_F(RecordedFiles, goes_into_a_folder_under_its_own_name) {
  const auto name = output_name(folder_, "telltale_train", ".tell");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->path(), folder_ / "telltale_train.tell");
  EXPECT_EQ(output_name(folder_.string() + "/./", "telltale_train", ".tell")->folder, folder_);
  EXPECT_EQ(output_name("", "a", ".json")->path(), fs::current_path() / "a.json");
}

TEST_F(RecordedFiles, refuses_names_that_say_nothing) {
  for (const char* output : {"run", "run.pftrace", ".tell", "nowhere/run.tell"})
    EXPECT_FALSE(output_name(output, "a", ".tell")) << output;
}

TEST_F(RecordedFiles, knows_what_each_file_is) {
  EXPECT_EQ(recognized("/r/run_12.tell", "run")->pid, 12);
  EXPECT_EQ(recognized("/r/run_12.3.tell", "run")->cycle, ".3");
  EXPECT_TRUE(recognized("/r/run_12.json.tmp", "run")->is_cut_off);
  EXPECT_TRUE(recognized("/r/run_time_12.json", "run")->is_stand_in);
  for (const char* other : {"/r/run.tell", "/r/run_x.tell", "/r/run_12.txt", "/r/other_12.tell", "/r/run_12.tell.tmp",
                            "/r/run_12.x.tell", "/r/run_99999999999999.tell", "/r/run_.tell", "/r/run_2_12.tell"})
    EXPECT_FALSE(recognized(other, "run")) << other;
}

TEST_F(RecordedFiles, keeps_one_file_a_process_and_cycle) {
  for (const char* name : {"run_12.tell", "run_12.1.tell", "run_7.json", "run_7.json.tmp", "run_8.json.tmp",
                           "run_time_7.json", "run_time_9.json", "other_1.tell", "run.tell"})
    write(name);
  write("run_10.json.tmp", "");
  write("run_9.json.tmp");
  write("run_11.json.tmp", "{\"schemaVersion\": 1,");
  EXPECT_EQ(all().size(), 10u);
  EXPECT_TRUE(fs::exists(folder_ / "run_time_7.json"));
  Names names;
  for (const RecordedFile& file : kept_files(all())) names.push_back(file.path.filename());
  EXPECT_EQ(names, (Names{"run_7.json", "run_8.json.tmp", "run_time_9.json", "run_12.tell", "run_12.1.tell"}));
  EXPECT_FALSE(fs::exists(folder_ / "run_time_7.json"));
  EXPECT_FALSE(fs::exists(folder_ / "run_10.json.tmp"));
  EXPECT_FALSE(fs::exists(folder_ / "run_11.json.tmp"));
  EXPECT_TRUE(fs::exists(folder_ / "other_1.tell"));
}

}  // namespace
}  // namespace telltale::capture
