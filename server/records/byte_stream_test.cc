#include "records/byte_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "records/testing/stored_datasets.h"

namespace curator::records {
namespace {

using testing::Gzipped;
using ::testing::HasSubstr;

// What comes out when `bytes` go in by pieces of one size.
absl::StatusOr<std::string> Unpacked(std::string_view bytes, size_t piece) {
  std::string out;
  const auto stream = GzipStream([&out](std::string_view part) {
    out += part;
    return absl::OkStatus();
  });
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    if (absl::Status status = stream->Append(bytes.substr(0, piece)); !status.ok()) return status;
  }
  if (absl::Status status = stream->Finish(); !status.ok()) return status;
  return out;
}

std::string RandomText(size_t size) {
  std::mt19937_64 random(11);
  std::string text;
  for (size_t i = 0; i < size; ++i) text += static_cast<char>('a' + random() % 26);
  return text;
}

TEST(GzipStream, GivesBackWhatWasCompressedWhateverThePieces) {
  const std::string text = RandomText(200'000);
  const std::string compressed = Gzipped(text);
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{1000}, compressed.size()}) {
    EXPECT_EQ(Unpacked(compressed, piece).value(), text);
  }
  EXPECT_EQ(Unpacked(Gzipped(""), 1).value(), "");
}

TEST(GzipStream, ReadsOneMemberAfterAnother) {
  EXPECT_EQ(Unpacked(Gzipped("one,") + Gzipped("") + Gzipped("two"), 7).value(), "one,two");
}

TEST(GzipStream, SaysThatDataEndsEarly) {
  const std::string compressed = Gzipped("some text");
  for (size_t length = 1; length < compressed.size(); ++length) {
    EXPECT_THAT(Unpacked(compressed.substr(0, length), 100).status().message(),
                HasSubstr("the gzip data ends early"));
  }
}

TEST(GzipStream, RefusesOtherBytesDamageAndBytesAfterTheEnd) {
  EXPECT_THAT(Unpacked("sex,age\nF,3\n", 100).status().message(), HasSubstr("csv: is not gzip"));
  std::string damaged = Gzipped(RandomText(1000));
  damaged[500] = static_cast<char>(damaged[500] ^ 1);
  EXPECT_FALSE(Unpacked(damaged, 100).ok());
  EXPECT_FALSE(Unpacked(Gzipped("text") + "more", 100).ok());
}

TEST(GzipStream, HandsOnWhatLiesBeforeDamageWhateverThePieces) {
  std::string damaged = Gzipped("some text");
  damaged[damaged.size() - 8] = static_cast<char>(damaged[damaged.size() - 8] ^ 1);  // its checksum
  for (const size_t piece : {size_t{1}, damaged.size()}) {
    std::string out;
    const auto stream = GzipStream([&out](std::string_view part) {
      out += part;
      return absl::OkStatus();
    });
    absl::Status status;
    for (size_t at = 0; status.ok() && at < damaged.size(); at += piece)
      status = stream->Append(damaged.substr(at, piece));
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(out, "some text");
  }
}

TEST(GzipStream, HandsOnSmallPiecesOfAFileThatIsHugeWhenUnpacked) {
  const std::string compressed = Gzipped(std::string(50'000'000, ' '));
  ASSERT_LT(compressed.size(), 60'000u);
  size_t largest = 0;
  size_t total = 0;
  const auto stream = GzipStream([&](std::string_view part) {
    largest = std::max(largest, part.size());
    total += part.size();
    return absl::OkStatus();
  });
  ASSERT_TRUE(stream->Append(compressed).ok());
  ASSERT_TRUE(stream->Finish().ok());
  EXPECT_EQ(total, 50'000'000u);
  EXPECT_LE(largest, size_t{1} << 16);
}

TEST(GzipStream, StopsWhenTheSinkRefuses) {
  int calls = 0;
  const auto stream = GzipStream([&calls](std::string_view) {
    ++calls;
    return absl::CancelledError("enough");
  });
  EXPECT_EQ(stream->Append(Gzipped(std::string(1'000'000, 'x'))).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace curator::records
