#include "base/canonical_bytes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "absl/strings/escaping.h"

namespace curator {
namespace {

std::string Document() {
  CanonicalWriter writer("test", 1);
  writer.Integer(-2);
  writer.Text("abc");
  writer.Real(0.1);
  return std::move(writer).Take();
}

absl::Status Read(std::string_view bytes) {
  CanonicalReader reader(bytes, "test", 1);
  reader.Integer();
  reader.Text();
  reader.Real();
  return reader.Finish();
}

TEST(CanonicalBytes, WhatIsWrittenIsReadBack) {
  const std::string bytes = Document();
  CanonicalReader reader(bytes, "test", 1);
  EXPECT_EQ(reader.Integer(), -2);
  EXPECT_EQ(reader.Text(), "abc");
  EXPECT_EQ(reader.Real(), 0.1);
  EXPECT_TRUE(reader.Finish().ok());
}

TEST(CanonicalBytes, TheEncodingIsTheSameForEver) {
  CanonicalWriter writer("t", 2);
  writer.Integer(258);
  EXPECT_EQ(absl::BytesToHexString(std::move(writer).Take()),
            "000000000000000174"
            "0000000000000002"
            "0000000000000102");
}

TEST(CanonicalBytes, EveryTruncationAndEveryTrailingByteIsRefused) {
  const std::string bytes = Document();
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(Read(std::string_view(bytes).substr(0, length)).code(), absl::StatusCode::kDataLoss) << length;
  }
  EXPECT_FALSE(Read(bytes + "x").ok());
  EXPECT_TRUE(Read(bytes).ok());
}

TEST(CanonicalBytes, AnotherTagOrVersionIsRefused) {
  EXPECT_FALSE(CanonicalReader(Document(), "other", 1).ok());
  EXPECT_FALSE(CanonicalReader(Document(), "test", 2).ok());
}

TEST(CanonicalBytes, ACountThatCannotBeTrueAllocatesNothing) {
  CanonicalWriter writer("test", 1);
  writer.Integer(std::numeric_limits<int64_t>::max());
  const std::string bytes = std::move(writer).Take();
  CanonicalReader reader(bytes, "test", 1);
  EXPECT_EQ(reader.Count(), 0);
  EXPECT_FALSE(reader.Finish().ok());
}

TEST(CanonicalBytes, Sha256IsTheStandardsOwn) {
  EXPECT_EQ(absl::BytesToHexString(Sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace curator
