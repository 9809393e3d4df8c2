#include "codec/rule_codec.h"

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "codec/canonical_bytes.h"
#include "codec/rational_codec.h"

namespace curator::codec {
namespace {

constexpr std::string_view kDocument = "curator.rule";
constexpr int64_t kVersion = 1;

constexpr int64_t kAbsent = 0;
constexpr int64_t kPresent = 1;

// Whether an optional field follows.
bool ReadPresence(CanonicalReader& in) {
  const int64_t presence = in.Integer();
  if (presence != kAbsent && presence != kPresent) in.Refuse();
  return presence == kPresent;
}

}  // namespace

std::string EncodeRule(const dp::RuleSpec& rule) {
  CanonicalWriter out(kDocument, kVersion);
  out.Text(dp::RuleName(rule.kind));
  out.Integer(rule.epsilon.units());
  out.Integer(rule.delta.units());
  out.Integer(rule.order ? kPresent : kAbsent);
  if (rule.order) WriteRational(*rule.order, out);
  out.Integer(rule.delta_slack ? kPresent : kAbsent);
  if (rule.delta_slack) out.Integer(rule.delta_slack->units());
  return std::move(out).Take();
}

absl::StatusOr<dp::RuleSpec> DecodeRule(std::string_view bytes) {
  CanonicalReader in(bytes, kDocument, kVersion);
  dp::RuleSpec rule;
  const absl::StatusOr<dp::RuleKind> kind = dp::RuleFromName(in.Text());
  rule.epsilon = dp::Epsilon(in.Integer());
  rule.delta = dp::Delta(in.Integer());
  if (ReadPresence(in)) rule.order = ReadRational(in);
  if (ReadPresence(in)) rule.delta_slack = dp::Delta(in.Integer());
  if (!kind.ok()) in.Refuse();
  RETURN_IF_ERROR(in.Finish());
  rule.kind = *kind;
  const absl::Status usable = dp::LimitsOf(rule).status();
  if (!usable.ok()) {
    return absl::DataLossError("malformed " + std::string(kDocument) + ": " + std::string(usable.message()));
  }
  return rule;
}

}  // namespace curator::codec
