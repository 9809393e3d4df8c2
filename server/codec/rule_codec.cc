#include "codec/rule_codec.h"

#include <functional>
#include <mutex>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/status_macros.h"
#include "base/canonical_bytes.h"
#include "codec/rational_codec.h"

namespace curator::codec {
namespace {

constexpr std::string_view kRuleDocument = "curator.rule";
constexpr int64_t kRuleVersion = 1;

constexpr int64_t kAbsent = 0;
constexpr int64_t kPresent = 1;

// Whether an optional field follows.
bool ReadPresence(CanonicalReader& in) {
  const int64_t presence = in.Integer();
  if (presence != kAbsent && presence != kPresent) in.Refuse();
  return presence == kPresent;
}

// The bytes of rules that were found to have limits: finding out takes a search, and every request decodes
// the rules of all accounts it concerns. Thread-safe.
class UsableRules {
 public:
  bool Has(std::string_view bytes) {
    const std::scoped_lock lock(mutex_);
    return known_.count(bytes) > 0;
  }
  void Add(std::string_view bytes) {
    constexpr size_t kMost = 10'000;
    const std::scoped_lock lock(mutex_);
    if (known_.size() >= kMost) known_.clear();
    known_.emplace(bytes);
  }

 private:
  std::mutex mutex_;
  std::set<std::string, std::less<>> known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

std::string EncodeRule(const dp::RuleSpec& rule) {
  CanonicalWriter out(kRuleDocument, kRuleVersion);
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
  CanonicalReader in(bytes, kRuleDocument, kRuleVersion);
  dp::RuleSpec rule;
  const absl::StatusOr<dp::RuleKind> kind = dp::RuleFromName(in.Text());
  rule.epsilon = dp::Epsilon(in.Integer());
  rule.delta = dp::Delta(in.Integer());
  if (ReadPresence(in)) rule.order = ReadRational(in);
  if (ReadPresence(in)) rule.delta_slack = dp::Delta(in.Integer());
  if (!kind.ok()) in.Refuse();
  RETURN_IF_ERROR(in.Finish());
  rule.kind = *kind;
  static UsableRules usable_rules;
  if (usable_rules.Has(bytes)) return rule;
  const absl::Status usable = dp::LimitsOf(rule).status();
  if (!usable.ok()) {
    return absl::DataLossError("malformed " + std::string(kRuleDocument) + ": " +
                               std::string(usable.message()));
  }
  usable_rules.Add(bytes);
  return rule;
}

}  // namespace curator::codec
