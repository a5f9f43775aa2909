// Whole files, as write_trace() leaves them on the disk, opened again by other means than our own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "compression.h"
#include "formats/output/testing/sinks.h"
#include "formats/write_trace.h"
#include "round_trip.h"
#include "traces_on_disk.h"

namespace telltale {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMuch = std::size_t{1} << 30;

class WrittenFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("telltale_written_" + std::to_string(getpid()));
    fs::create_directory(folder_);
    trace_ = trace_of_text(oracle::text_of_file(oracle::bundled_traces().front()));
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string in_folder(const std::string& name) const { return (folder_ / name).string(); }
  Result<LeftOutList> write(const std::string& name) const {
    return write_trace(trace_, *format_of_file(name), in_folder(name));
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
  Trace trace_;
};

TEST_F(WrittenFiles, compressed_ones_hold_the_same_text) {
  for (const char* name : {"a.json", "a.json.gz", "a.json.zst"}) ASSERT_TRUE(write(name)) << name;
  const std::string text = oracle::bytes_of(in_folder("a.json"));
  EXPECT_EQ(text, as_json(trace_).text);
  const std::string gzip = oracle::bytes_of(in_folder("a.json.gz")), zstd = oracle::bytes_of(in_folder("a.json.zst"));
  EXPECT_LT(gzip.size(), text.size() / 5);
  EXPECT_LT(zstd.size(), text.size() / 5);
  EXPECT_EQ(oracle::whole_gzip_text(gzip, kMuch), text);
  EXPECT_EQ(oracle::whole_zstd_text(zstd, kMuch), text);
  EXPECT_EQ(files(), 3u);
}

TEST_F(WrittenFiles, every_format_writes_a_trace_of_nothing) {
  trace_ = Trace();
  for (const OutputFormat& format : output_formats()) {
    const std::string name = "empty" + std::string(format.extensions.front());
    EXPECT_TRUE(write_trace(trace_, format, in_folder(name))) << name;
    EXPECT_TRUE(fs::exists(in_folder(name))) << name;
  }
}

TEST_F(WrittenFiles, nothing_is_left_behind_where_the_folder_is_missing) {
  const auto written = write("no/such/folder/a.json");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "cannot be written: its folder does not exist");
  EXPECT_EQ(files(), 0u);
}

TEST_F(WrittenFiles, what_is_there_is_only_replaced_when_asked_to) {
  std::ofstream(in_folder("a.csv")) << "mine";
  ASSERT_FALSE(write("a.csv"));
  EXPECT_EQ(oracle::bytes_of(in_folder("a.csv")), "mine");
  const WriteOptions replace{.existing = PendingFile::Existing::kReplace};
  ASSERT_TRUE(write_trace(trace_, *format_named("csv"), in_folder("a.csv"), replace));
  EXPECT_TRUE(oracle::bytes_of(in_folder("a.csv")).starts_with("id,start_ns,"));
  EXPECT_EQ(files(), 1u);
}

TEST_F(WrittenFiles, a_full_disk_is_reported) {
  const auto written = write_trace(trace_, *format_named("kineto"), "/dev/full");
  ASSERT_FALSE(written);
  EXPECT_EQ(to_string(written.error()), "/dev/full: could not be written: No space left on device");
}

TEST_F(WrittenFiles, progress_rises_from_nothing_to_the_whole) {
  for (const OutputFormat& format : output_formats()) {
    std::vector<double> shares;
    WriteOptions options;
    options.progress = [&](double share) { shares.push_back(share); };
    ASSERT_TRUE(write_trace(trace_, format, in_folder("p" + std::string(format.extensions.front())), options));
    EXPECT_TRUE(std::ranges::is_sorted(shares)) << format.name;
    for (const double share : shares) EXPECT_TRUE(share >= 0 && share <= 1) << format.name;
  }
}

TEST(OutputFormats, are_found_by_the_ending_of_a_file) {
  const auto name = [](std::string_view path) {
    const OutputFormat* format = format_of_file(path);
    return format == nullptr ? "none" : format->name;
  };
  EXPECT_EQ(name("train.json"), "kineto");
  EXPECT_EQ(name("a/b.c/train.pt.trace.json.gz"), "kineto");
  EXPECT_EQ(name("train.speedscope.json"), "speedscope");
  EXPECT_EQ(name("train.speedscope.json.zst"), "speedscope");
  EXPECT_EQ(name("train.pftrace"), "perfetto");
  EXPECT_EQ(name("train.perfetto-trace"), "perfetto");
  EXPECT_EQ(name("train.folded"), "collapsed");
  EXPECT_EQ(name("train.collapsed.gz"), "collapsed");
  EXPECT_EQ(name("train.csv"), "csv");
  EXPECT_EQ(name("snapshot.pickle.zst"), "memory_snapshot");
  EXPECT_EQ(name("train.tell"), "tell");
  EXPECT_EQ(name("train"), "none");
  EXPECT_EQ(name("train.gz"), "none");
  EXPECT_EQ(name("json"), "none");
}

TEST(CompressingSinks, report_a_disk_that_is_full) {
  std::string noise;
  for (unsigned i = 0, state = 1; i < 4'000'000; ++i)
    noise += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  for (const Compression compression : {Compression::kGzip, Compression::kZstd, Compression::kNone}) {
    FullDisk disk(1'000'000);
    const auto sink = compressing_sink(compression, disk);
    Result<void> written = sink->write(noise);
    if (written) written = sink->finish();
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().message, "could not be written: No space left on device");
  }
}

TEST(CompressingSinks, compress_nothing_to_a_whole_file) {
  for (const Compression compression : {Compression::kGzip, Compression::kZstd}) {
    MemorySink memory;
    EXPECT_TRUE(compressing_sink(compression, memory)->finish());
    const auto text = compression == Compression::kGzip ? oracle::whole_gzip_text(memory.text, kMuch)
                                                        : oracle::whole_zstd_text(memory.text, kMuch);
    EXPECT_EQ(text, "");
    EXPECT_EQ(memory.finishes, 1);
  }
}

}  // namespace
}  // namespace telltale
