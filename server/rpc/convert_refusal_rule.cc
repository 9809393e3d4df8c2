#include "rpc/convert_refusal_rule.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/rule.h"
#include "dp/accounting/units.h"

namespace curator::rpc {
namespace {

using google::protobuf::util::TimeUtil;

constexpr std::pair<v1::RefusalRule::Kind, int64_t> kRuledKinds[] = {
    {v1::RefusalRule::WORKLOAD, codec::kRuledWorkload},
    {v1::RefusalRule::SYNTHESIS, codec::kRuledSynthesis},
    {v1::RefusalRule::RESERVATION, codec::kRuledReservation}};

absl::StatusOr<int64_t> KindsIn(const v1::RefusalRule& proto) {
  int64_t kinds = 0;
  for (int i = 0; i < proto.kinds_size(); ++i) {
    const auto* const found =
        std::ranges::find(kRuledKinds, proto.kinds(i), [](const auto& each) { return each.first; });
    if (found == std::end(kRuledKinds)) {
      return InvalidField(absl::StrCat("kinds[", i, "]"), "must be WORKLOAD, SYNTHESIS or RESERVATION");
    }
    kinds |= found->second;
  }
  return kinds;
}

// An amount finer than a unit of its counter is refused: no cost lies between two units.
absl::StatusOr<codec::PriceAbove> PriceIn(const v1::RefusalRule::Price& proto) {
  if (proto.counter().empty()) return InvalidField("price_above.counter", "must not be empty");
  codec::PriceAbove price{.counter = proto.counter()};
  constexpr char kField[] = "price_above.amount";
  if (price.counter == "delta") {
    ASSIGN_OR_RETURN(const dp::Delta amount, dp::Delta::Parse(proto.amount(), kField));
    price.amount = amount.units();
  } else {
    ASSIGN_OR_RETURN(const dp::Epsilon amount, dp::Epsilon::Parse(proto.amount(), kField));
    price.amount = amount.units();
  }
  return price;
}

absl::StatusOr<int64_t> RuleTimeIn(const google::protobuf::Timestamp& time, std::string_view field) {
  const bool is_time = time.seconds() > 0 && time.seconds() <= TimeUtil::kTimestampMaxSeconds &&
                       time.nanos() >= 0 && time.nanos() < 1'000'000'000;
  if (!is_time) return InvalidField(field, "must be a time after 1970");
  return TimeUtil::TimestampToMicroseconds(time);
}

}  // namespace

absl::StatusOr<codec::RefusalRule> FromProto(const v1::RefusalRule& proto) {
  codec::RefusalRule rule{.name = proto.name(),
                          .principals = {proto.principals().begin(), proto.principals().end()},
                          .attributes = {proto.attributes().begin(), proto.attributes().end()},
                          .note = proto.note()};
  ASSIGN_OR_RETURN(rule.kinds, KindsIn(proto));
  if (proto.has_price_above()) {
    ASSIGN_OR_RETURN(rule.price_above, PriceIn(proto.price_above()));
  }
  if (proto.has_start_time()) {
    ASSIGN_OR_RETURN(rule.start_us, RuleTimeIn(proto.start_time(), "start_time"));
  }
  if (proto.has_end_time()) {
    ASSIGN_OR_RETURN(rule.end_us, RuleTimeIn(proto.end_time(), "end_time"));
  }
  return rule;
}

v1::RefusalRule ToProto(const codec::RefusalRule& rule) {
  v1::RefusalRule proto;
  proto.set_name(rule.name);
  for (const std::string& principal : rule.principals) proto.add_principals(principal);
  for (const auto& [kind, bit] : kRuledKinds) {
    if ((rule.kinds & bit) != 0) proto.add_kinds(kind);
  }
  for (const std::string& attribute : rule.attributes) proto.add_attributes(attribute);
  if (rule.price_above) {
    const auto& [counter, amount] = *rule.price_above;
    proto.mutable_price_above()->set_counter(counter);
    proto.mutable_price_above()->set_amount(dp::FormatCounter(counter, amount));
  }
  if (rule.start_us != 0) *proto.mutable_start_time() = TimeUtil::MicrosecondsToTimestamp(rule.start_us);
  if (rule.end_us != 0) *proto.mutable_end_time() = TimeUtil::MicrosecondsToTimestamp(rule.end_us);
  proto.set_note(rule.note);
  return proto;
}

}  // namespace curator::rpc
