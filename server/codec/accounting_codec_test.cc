#include "codec/accounting_codec.h"

#include <gtest/gtest.h>

#include <random>

#include "base/canonical_bytes.h"
#include "dp/accounting/testing/random_events.h"

namespace curator::codec {
namespace {

using dp::testing::RandomEvents;

dp::Event AnyTree(RandomEvents& events, int depth) {
  events.LeaveOutParallelParts();
  return events.Tree(depth, [&] { return events.Mechanism(); });
}

bool IsRefused(std::string_view bytes) {
  return DecodeEvent(bytes).status().code() == absl::StatusCode::kDataLoss;
}

std::string Document(std::initializer_list<int64_t> integers, int64_t version = 1) {
  CanonicalWriter out("curator.event", version);
  for (const int64_t integer : integers) out.Integer(integer);
  return std::move(out).Take();
}

TEST(EventCodec, EveryEventSurvivesItsBytes) {
  RandomEvents events(1);
  for (int i = 0; i < 3000; ++i) {
    const dp::Event event = AnyTree(events, 1 + i % 6);
    const std::string bytes = EncodeEvent(event);
    const absl::StatusOr<dp::Event> decoded = DecodeEvent(bytes);
    ASSERT_TRUE(decoded.ok()) << dp::Describe(event) << ": " << decoded.status();
    ASSERT_EQ(*decoded, event) << dp::Describe(event);
    ASSERT_EQ(EncodeEvent(*decoded), bytes);
  }
}

TEST(EventCodec, EqualQuotientsHaveTheSameBytes) {
  EXPECT_EQ(EncodeEvent({dp::DiscreteGaussianEvent{{640, 2}, 1}}),
            EncodeEvent({dp::DiscreteGaussianEvent{{320, 1}, 1}}));
  EXPECT_TRUE(IsRefused(Document({2, 640, 2, 1})));
  EXPECT_TRUE(DecodeEvent(Document({2, 320, 1, 1})).ok());
}

TEST(EventCodec, TheStoredFormIsPinned) {
  const dp::Event event{dp::ComposedEvent{{{{dp::PureEvent{dp::Epsilon(5)}}, 3}}}};
  EXPECT_EQ(EncodeEvent(event), Document({9, 1, 3, 6, 5}));
  EXPECT_EQ(EncodeEvent({dp::CertifiedEvent{{event}, dp::Epsilon(7), dp::Delta(8)}}),
            Document({12, 7, 8, 1, 9, 1, 3, 6, 5}));
  EXPECT_EQ(EncodeEvent({dp::DiscreteGaussianEvent{{320, 1}, 36}}), Document({2, 320, 1, 36}));
  EXPECT_EQ(EncodeEvent({dp::DiscreteGaussianEvent{{320, 1}, 36, 1}}), Document({13, 320, 1, 36, 1}));
}

TEST(EventCodec, UnknownVersionsAndKindsAreRefused) {
  EXPECT_TRUE(DecodeEvent(Document({6, 5})).ok());
  EXPECT_TRUE(IsRefused(Document({6, 5}, 2)));
  EXPECT_TRUE(IsRefused(Document({6, 5}, 0)));
  for (const int64_t kind : {int64_t{0}, int64_t{14}, int64_t{-1}, std::numeric_limits<int64_t>::max()}) {
    EXPECT_TRUE(IsRefused(Document({kind, 5}))) << kind;
  }
  CanonicalWriter other("curator.rule", 1);
  other.Integer(6);
  other.Integer(5);
  EXPECT_TRUE(IsRefused(std::move(other).Take()));
}

TEST(EventCodec, EveryCutAndEveryExtraByteIsRefused) {
  RandomEvents events(2);
  for (int i = 0; i < 60; ++i) {
    const std::string bytes = EncodeEvent(AnyTree(events, 3));
    for (size_t length = 0; length < bytes.size(); ++length) ASSERT_TRUE(IsRefused(bytes.substr(0, length)));
    ASSERT_TRUE(IsRefused(bytes + '\0'));
    ASSERT_TRUE(IsRefused(bytes + bytes));
  }
}

// Their cost depends on the neighbours, which no rule knows: a history that holds one is not counted.
TEST(EventCodec, ParallelPartsAreNotRead) {
  const dp::Event pure{dp::PureEvent{dp::Epsilon(5)}};
  for (const dp::Event& event : {dp::Event{dp::ParallelEvent{}}, dp::Event{dp::ParallelEvent{{pure, pure}}},
                                 dp::Event{dp::ComposedEvent{{{dp::Event{dp::ParallelEvent{{pure}}}, 2}}}}}) {
    EXPECT_TRUE(IsRefused(EncodeEvent(event))) << dp::Describe(event);
  }
  EXPECT_TRUE(IsRefused(Document({10, 2, 6, 5, 6, 5})));
}

TEST(EventCodec, NumbersOutOfRangeAreRefused) {
  EXPECT_TRUE(IsRefused(Document({6, -5})));                 // epsilon below zero
  EXPECT_TRUE(IsRefused(Document({2, 0, 1, 1})));            // no variance
  EXPECT_TRUE(IsRefused(Document({2, 1, 0, 1})));            // a denominator of zero
  EXPECT_TRUE(IsRefused(Document({2, -3, -1, 1})));          // both negative
  EXPECT_TRUE(IsRefused(Document({1, 1, 1, 1, 2})));         // Linf above L1
  EXPECT_TRUE(IsRefused(Document({9, 1, 0, 6, 5})));         // a count of zero
  EXPECT_TRUE(IsRefused(Document({12, -1, 8, 1, 6, 5})));    // a certified epsilon below zero
  EXPECT_TRUE(IsRefused(Document({12, 7, 8, 0})));           // a certificate of nothing
  EXPECT_TRUE(IsRefused(Document({13, 320, 1, 36, 0})));     // would be written without its Linf
  EXPECT_TRUE(IsRefused(Document({13, 320, 1, 36, 7})));     // Linf above the root of L2^2
  EXPECT_TRUE(IsRefused(Document({9, -1})));                 // fewer than no parts
  EXPECT_TRUE(IsRefused(Document({11, 3, 2, 6, 5, 6, 5})));  // a group of two events
  EXPECT_TRUE(IsRefused(Document({9, std::numeric_limits<int64_t>::max(), 1, 6, 5})));
}

TEST(EventCodec, DeepNestingIsRefusedWithoutDescending) {
  const auto nested = [](int depth) {
    CanonicalWriter out("curator.event", 1);
    for (int i = 1; i < depth; ++i) {
      out.Integer(11);
      out.Integer(1);
      out.Integer(1);
    }
    out.Integer(6);
    out.Integer(5);
    return std::move(out).Take();
  };
  EXPECT_TRUE(DecodeEvent(nested(dp::kMaxEventDepth)).ok());
  EXPECT_TRUE(IsRefused(nested(dp::kMaxEventDepth + 1)));
  EXPECT_TRUE(IsRefused(nested(1'000'000)));
}

TEST(EventCodec, MoreNodesThanAllowedAreRefused) {
  CanonicalWriter out("curator.event", 1);
  out.Integer(10);
  out.Integer(dp::kMaxEventNodes);
  for (int64_t i = 0; i < dp::kMaxEventNodes; ++i) {
    out.Integer(6);
    out.Integer(5);
  }
  EXPECT_TRUE(IsRefused(std::move(out).Take()));
}

// What is accepted is canonical, whatever the bytes were.
void ExpectCanonicalIfAccepted(const std::string& bytes) {
  const absl::StatusOr<dp::Event> decoded = DecodeEvent(bytes);
  if (!decoded.ok()) return;
  ASSERT_TRUE(dp::ValidateEvent(*decoded).ok());
  ASSERT_EQ(EncodeEvent(*decoded), bytes);
}

TEST(EventCodec, RandomAndDamagedBytesAreRefusedOrCanonical) {
  std::mt19937_64 random(3);
  RandomEvents events(3);
  const std::string start = Document({});
  for (int i = 0; i < 5000; ++i) {
    std::string noise = start;
    for (size_t n = random() % 80; n > 0; --n) {
      noise += static_cast<char>(n % 8 == 0 ? random() % 12 : (random() % 4 == 0 ? random() : 0));
    }
    ExpectCanonicalIfAccepted(noise);
    std::string damaged = EncodeEvent(AnyTree(events, 3));
    damaged[random() % damaged.size()] ^= static_cast<char>(1 << (random() % 8));
    ExpectCanonicalIfAccepted(damaged);
  }
}

}  // namespace
}  // namespace curator::codec
