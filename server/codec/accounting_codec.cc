#include "codec/accounting_codec.h"

#include <functional>
#include <mutex>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "dp/accounting/event.h"
#include "dp/accounting/units.h"

namespace curator::codec {
namespace {

constexpr std::string_view kDocument = "curator.event";
constexpr int64_t kVersion = 1;

// Kinds of events in the stored form. A number never changes its meaning.
enum class Kind : int64_t {
  kDiscreteLaplace = 1,
  kDiscreteGaussian = 2,
  kLaplace = 3,
  kGaussian = 4,
  kExponentialMechanism = 5,
  kPure = 6,
  kApproximate = 7,
  kZcdp = 8,
  kComposed = 9,
  kParallel = 10,  // never read: what it costs depends on the neighbours, which no rule knows
  kGroup = 11,
  kCertified = 12,
  kBoundedDiscreteGaussian = 13,  // with the sensitivity of one coordinate
};

// The shortest event: a kind and one more integer.
constexpr int64_t kLeastEventBytes = 16;

void WriteRational(dp::Rational value, CanonicalWriter& out) {
  const dp::Rational reduced = dp::Reduced(value);
  out.Integer(reduced.numerator);
  out.Integer(reduced.denominator);
}

// Refuses the document when the rational is out of range or not in lowest terms.
dp::Rational ReadRational(CanonicalReader& in) {
  dp::Rational value;
  value.numerator = in.Integer();
  value.denominator = in.Integer();
  const bool in_range = value.numerator >= 0 && value.denominator > 0;
  if (!in_range || dp::Reduced(value).denominator != value.denominator) in.Refuse();
  return value;
}

class EventWriter {
 public:
  explicit EventWriter(CanonicalWriter& out) : out_(out) {}

  void operator()(const dp::DiscreteLaplaceEvent& e) const {
    Begin(Kind::kDiscreteLaplace);
    WriteRational(e.scale, out_);
    out_.Integer(e.l1_sensitivity);
    out_.Integer(e.linf_sensitivity);
  }
  void operator()(const dp::DiscreteGaussianEvent& e) const {
    Begin(e.linf_sensitivity == 0 ? Kind::kDiscreteGaussian : Kind::kBoundedDiscreteGaussian);
    WriteRational(e.sigma_squared, out_);
    out_.Integer(e.l2_sensitivity_squared);
    if (e.linf_sensitivity != 0) out_.Integer(e.linf_sensitivity);
  }
  void operator()(const dp::LaplaceEvent& e) const {
    Begin(Kind::kLaplace);
    WriteRational(e.scale, out_);
    WriteRational(e.l1_sensitivity, out_);
  }
  void operator()(const dp::GaussianEvent& e) const {
    Begin(Kind::kGaussian);
    WriteRational(e.sigma_squared, out_);
    WriteRational(e.l2_sensitivity_squared, out_);
  }
  void operator()(const dp::ExponentialMechanismEvent& e) const {
    Begin(Kind::kExponentialMechanism);
    out_.Integer(e.range.units());
  }
  void operator()(const dp::PureEvent& e) const {
    Begin(Kind::kPure);
    out_.Integer(e.epsilon.units());
  }
  void operator()(const dp::ApproximateEvent& e) const {
    Begin(Kind::kApproximate);
    out_.Integer(e.epsilon.units());
    out_.Integer(e.delta.units());
  }
  void operator()(const dp::ZcdpEvent& e) const {
    Begin(Kind::kZcdp);
    out_.Integer(e.rho.units());
  }
  void operator()(const dp::ComposedEvent& e) const {
    Begin(Kind::kComposed);
    out_.Integer(static_cast<int64_t>(e.parts.size()));
    for (const dp::CountedEvent& part : e.parts) {
      out_.Integer(part.count);
      std::visit(*this, part.event.what);
    }
  }
  void operator()(const dp::ParallelEvent&) const { Begin(Kind::kParallel); }
  void operator()(const dp::GroupEvent& e) const {
    Begin(Kind::kGroup);
    out_.Integer(e.group_size);
    out_.Integer(static_cast<int64_t>(e.event.size()));
    for (const dp::Event& event : e.event) std::visit(*this, event.what);
  }
  void operator()(const dp::CertifiedEvent& e) const {
    Begin(Kind::kCertified);
    out_.Integer(e.epsilon.units());
    out_.Integer(e.delta.units());
    out_.Integer(static_cast<int64_t>(e.schedule.size()));
    for (const dp::Event& event : e.schedule) std::visit(*this, event.what);
  }

 private:
  void Begin(Kind kind) const { out_.Integer(static_cast<int64_t>(kind)); }

  CanonicalWriter& out_;
};

// Reads nodes until the first one that no writer would have written; then the reader is not ok().
class EventReader {
 public:
  explicit EventReader(CanonicalReader& in) : in_(in) {}

  dp::Event Read(int depth) {
    if (!in_.ok()) return {};
    if (depth > dp::kMaxEventDepth || ++nodes_ > dp::kMaxEventNodes) {
      in_.Refuse();
      return {};
    }
    const auto kind = static_cast<Kind>(in_.Integer());
    switch (kind) {
      case Kind::kComposed:
        return ReadComposed(depth);
      case Kind::kGroup:
        return ReadGroup(depth);
      case Kind::kCertified:
        return ReadCertified(depth);
      default:
        return ReadMechanism(kind);
    }
  }

 private:
  dp::Event ReadMechanism(Kind kind) {
    switch (kind) {
      case Kind::kDiscreteLaplace: {
        const dp::Rational scale = ReadRational(in_);
        const int64_t l1 = in_.Integer();
        return {dp::DiscreteLaplaceEvent{scale, l1, in_.Integer()}};
      }
      case Kind::kDiscreteGaussian: {
        const dp::Rational sigma_squared = ReadRational(in_);
        return {dp::DiscreteGaussianEvent{sigma_squared, in_.Integer()}};
      }
      case Kind::kBoundedDiscreteGaussian: {
        const dp::Rational sigma_squared = ReadRational(in_);
        const int64_t l2_squared = in_.Integer();
        const int64_t linf = in_.Integer();
        if (linf == 0) in_.Refuse();  // would have been encoded without it
        return {dp::DiscreteGaussianEvent{sigma_squared, l2_squared, linf}};
      }
      case Kind::kLaplace: {
        const dp::Rational scale = ReadRational(in_);
        return {dp::LaplaceEvent{scale, ReadRational(in_)}};
      }
      case Kind::kGaussian: {
        const dp::Rational sigma_squared = ReadRational(in_);
        return {dp::GaussianEvent{sigma_squared, ReadRational(in_)}};
      }
      case Kind::kExponentialMechanism:
        return {dp::ExponentialMechanismEvent{dp::Epsilon(in_.Integer())}};
      case Kind::kPure:
        return {dp::PureEvent{dp::Epsilon(in_.Integer())}};
      case Kind::kApproximate: {
        const dp::Epsilon epsilon(in_.Integer());
        return {dp::ApproximateEvent{epsilon, dp::Delta(in_.Integer())}};
      }
      case Kind::kZcdp:
        return {dp::ZcdpEvent{dp::Rho(in_.Integer())}};
      default:
        in_.Refuse();
        return {};
    }
  }

  dp::Event ReadComposed(int depth) {
    dp::ComposedEvent event;
    const int64_t parts = in_.Count(8 + kLeastEventBytes);
    for (int64_t i = 0; i < parts && in_.ok(); ++i) {
      const int64_t count = in_.Integer();
      event.parts.push_back({Read(depth + 1), count});
    }
    return {std::move(event)};
  }

  dp::Event ReadGroup(int depth) {
    dp::GroupEvent event;
    event.group_size = in_.Integer();
    if (in_.Count(kLeastEventBytes) != 1) in_.Refuse();
    event.event.push_back(Read(depth + 1));
    return {std::move(event)};
  }

  dp::Event ReadCertified(int depth) {
    dp::CertifiedEvent event;
    event.epsilon = dp::Epsilon(in_.Integer());
    event.delta = dp::Delta(in_.Integer());
    if (in_.Count(kLeastEventBytes) != 1) in_.Refuse();
    event.schedule.push_back(Read(depth + 1));
    return {std::move(event)};
  }

  CanonicalReader& in_;
  int64_t nodes_ = 0;
};

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

// Caches the bytes of rules that are known to have limits: checking takes a search, and every request decodes
// the rules of all accounts that it posts to. Thread-safe.
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

std::string EncodeEvent(const dp::Event& event) {
  CanonicalWriter out(kDocument, kVersion);
  std::visit(EventWriter(out), event.what);
  return std::move(out).Take();
}

absl::StatusOr<dp::Event> DecodeEvent(std::string_view bytes) {
  CanonicalReader in(bytes, kDocument, kVersion);
  dp::Event event = EventReader(in).Read(1);
  RETURN_IF_ERROR(in.Finish());
  const absl::Status valid = dp::ValidateEvent(event);
  if (!valid.ok()) {
    return absl::DataLossError("malformed " + std::string(kDocument) + ": " + std::string(valid.message()));
  }
  return event;
}

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
