#include "rpc/convert_refusal_rule.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/errors.h"
#include "dp/accounting/rule.h"
#include "dp/accounting/units.h"

namespace curator::rpc {
namespace {

v1::RefusalRule RuleIn(const std::string& text) {
  v1::RefusalRule proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return proto;
}

std::string FieldRefusedIn(const std::string& text) {
  const auto violation = FieldViolationOf(FromProto(RuleIn(text)).status());
  return violation ? violation->field : std::string();
}

TEST(ConvertRefusalRule, ARuleComesBackAsItWasSent) {
  const v1::RefusalRule proto = RuleIn(
      "name: 'night' principals: 'ana' kinds: WORKLOAD kinds: RESERVATION attributes: 'age' "
      "price_above { counter: 'rho' amount: '0.05' } start_time { seconds: 1800000000 nanos: 5000 } "
      "end_time { seconds: 1900000000 } note: 'by day'");
  const auto rule = FromProto(proto);
  ASSERT_TRUE(rule.ok()) << rule.status();
  EXPECT_EQ(rule->kinds, codec::kRuledWorkload | codec::kRuledReservation);
  EXPECT_EQ(rule->price_above, (codec::PriceAbove{"rho", dp::kRhoUnitsPerOne / 20}));
  EXPECT_EQ(rule->start_us, 1'800'000'000'000'005);
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(ToProto(*rule), proto));
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(ToProto(*FromProto(RuleIn("name: 'a'"))),
                                                                 RuleIn("name: 'a'")));
}

// Of all counters of all rules of composition, in their own units.
TEST(ConvertRefusalRule, AnAmountIsReadInTheUnitsOfItsCounter) {
  for (const std::string counter : {"epsilon", "epsilon_squared", "rho", "rdp", "delta"}) {
    const auto rule =
        FromProto(RuleIn("name: 'a' price_above { counter: '" + counter + "' amount: '1e-7' }"));
    ASSERT_TRUE(rule.ok()) << counter << ": " << rule.status();
    EXPECT_EQ(dp::FormatCounter(counter, rule->price_above->amount), "1e-7") << counter;
  }
}

TEST(ConvertRefusalRule, WhatIsNoKindNoAmountAndNoTimeIsRefusedByItsField) {
  EXPECT_EQ(FieldRefusedIn("kinds: WORKLOAD kinds: KIND_UNSPECIFIED"), "kinds[1]");
  EXPECT_EQ(FieldRefusedIn("price_above { amount: '1' }"), "price_above.counter");
  EXPECT_EQ(FieldRefusedIn("price_above { counter: 'rho' amount: '-1' }"), "price_above.amount");
  EXPECT_EQ(FieldRefusedIn("price_above { counter: 'rho' amount: '1e-13' }"), "price_above.amount");
  EXPECT_EQ(FieldRefusedIn("price_above { counter: 'rho' }"), "price_above.amount");
  EXPECT_EQ(FieldRefusedIn("start_time {}"), "start_time");
  EXPECT_EQ(FieldRefusedIn("end_time { seconds: 5 nanos: -1 }"), "end_time");
}

}  // namespace
}  // namespace curator::rpc
