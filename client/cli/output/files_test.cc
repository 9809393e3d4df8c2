#include "client/cli/output/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <sstream>

#include "tests/testing/scratch_folder.h"

namespace curator::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Files : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(Path(name), std::ios::binary) << content;
    return Path(name);
  }
  static std::string Read(const std::string& path) {
    std::ostringstream content;
    content << std::ifstream(path, std::ios::binary).rdbuf();
    return content.str();
  }
  size_t Count() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_.path()), {}));
  }

  const curator::testing::ScratchFolder folder_;
  std::ostringstream out_;
};

TEST_F(Files, AnOutputAppearsWhenItIsCommitted) {
  {
    const auto file = OutputFile::Create(Path("a.csv"), out_);
    ASSERT_TRUE(file.ok()) << file.status();
    (*file)->stream() << "age\n17\n";
    EXPECT_FALSE(std::filesystem::exists(Path("a.csv")));
    ASSERT_TRUE((*file)->Commit().ok());
  }
  EXPECT_EQ(Read(Path("a.csv")), "age\n17\n");
  EXPECT_EQ(Count(), 1u);
}

TEST_F(Files, AnOutputThatIsNotCommittedLeavesTheOldFileAndNothingElse) {
  Write("a.csv", "old");
  {
    const auto file = OutputFile::Create(Path("a.csv"), out_);
    ASSERT_TRUE(file.ok()) << file.status();
    (*file)->stream() << "half";
  }
  EXPECT_EQ(Read(Path("a.csv")), "old");
  EXPECT_EQ(Count(), 1u);
}

TEST_F(Files, ADashIsStandardOutput) {
  const auto file = OutputFile::Create("-", out_);
  ASSERT_TRUE(file.ok());
  (*file)->stream() << "x";
  ASSERT_TRUE((*file)->Commit().ok());
  EXPECT_EQ(out_.str(), "x");
}

TEST_F(Files, ADeviceIsWrittenNotReplaced) {
  const auto file = OutputFile::Create("/dev/null", out_);
  ASSERT_TRUE(file.ok()) << file.status();
  (*file)->stream() << "x";
  ASSERT_TRUE((*file)->Commit().ok());
  struct stat facts;
  ASSERT_EQ(stat("/dev/null", &facts), 0);
  EXPECT_TRUE(S_ISCHR(facts.st_mode));
}

TEST_F(Files, AFullDiskIsAnError) {
  const auto file = OutputFile::Create("/dev/full", out_);
  ASSERT_TRUE(file.ok()) << file.status();
  (*file)->stream() << "x";
  EXPECT_EQ((*file)->Commit().code(), absl::StatusCode::kInternal);
}

TEST_F(Files, AFolderThatDoesNotExistIsNamed) {
  const auto file = OutputFile::Create(Path("none/a.csv"), out_);
  EXPECT_EQ(file.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("none/a.csv"));
}

TEST_F(Files, OfAnOptionMayHaveTheExtensionsOfTheirForms) {
  const OutputOption option{"--out", "answers", {".csv", ".json"}};
  for (const char* name : {"a.csv", "a.CSV", "a.json", "a", "b.d/a"})
    EXPECT_TRUE(CheckExtension(option, name).ok()) << name;
  EXPECT_TRUE(CreateOutput(option, "-", out_).ok());
  EXPECT_EQ(CheckExtension(option, "a.parquet").message(),
            "--out a.parquet: answers are written as .csv or .json, not as .parquet");
  EXPECT_EQ(CreateOutput(option, Path("a.parquet"), out_).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Count(), 0u);
  EXPECT_TRUE(CheckExtension({"--out", "pages"}, "a.parquet").ok()) << "an option without extensions";
}

TEST_F(Files, OfAnOptionThatCannotBeMadeNameTheOption) {
  const auto file = CreateOutput({"--out", "answers", {".csv"}}, Path("none/a.csv"), out_);
  EXPECT_EQ(file.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(file.status().message()), StartsWith("--out " + Path("none/a.csv")));
}

TEST_F(Files, GzipIsToldByItsFirstByte) {
  EXPECT_EQ(OpenInput(Write("a", "\x1f\x8b..."))->compression, Client::Compression::kGzip);
  EXPECT_EQ(OpenInput(Write("b.gz", "age\n"))->compression, Client::Compression::kNone);
  const auto empty = OpenInput(Write("c", ""));
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE(empty->stream.good());
}

TEST_F(Files, AnInputThatIsAFolderOrAbsentIsRefused) {
  EXPECT_EQ(OpenInput(folder_.path()).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(OpenInput(Path("none")).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace curator::cli
