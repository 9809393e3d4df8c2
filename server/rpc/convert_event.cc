#include "rpc/convert_event.h"

#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"

namespace curator::rpc {
namespace {

constexpr char kRationalForm[] = "must be an integer, a quotient of integers such as 1/3, or a decimal";

absl::StatusOr<int64_t> ParseInteger(std::string_view text, std::string_view field) {
  int64_t value = 0;
  const bool is_digits =
      !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (is_digits && absl::SimpleAtoi(std::string(text), &value)) return value;
  if (is_digits) {
    return InvalidField(field, absl::StrCat("has an integer above ", std::numeric_limits<int64_t>::max(),
                                            ", the largest: write both parts of the quotient shorter"));
  }
  return InvalidField(field, kRationalForm);
}

absl::StatusOr<dp::Event> Convert(const v1::Event& event, int depth);

absl::StatusOr<dp::Event> Convert(const v1::DiscreteLaplaceEvent& event) {
  dp::DiscreteLaplaceEvent result;
  ASSIGN_OR_RETURN(result.scale, ParseRational(event.scale(), "discrete_laplace.scale"));
  if (event.has_l1_sensitivity()) result.l1_sensitivity = event.l1_sensitivity();
  result.linf_sensitivity = event.has_linf_sensitivity() ? event.linf_sensitivity() : result.l1_sensitivity;
  return dp::Event{result};
}

absl::StatusOr<dp::Event> Convert(const v1::DiscreteGaussianEvent& event) {
  dp::DiscreteGaussianEvent result;
  ASSIGN_OR_RETURN(result.sigma_squared,
                   ParseRational(event.sigma_squared(), "discrete_gaussian.sigma_squared"));
  if (event.has_l2_sensitivity_squared()) result.l2_sensitivity_squared = event.l2_sensitivity_squared();
  if (event.has_linf_sensitivity()) {
    if (event.linf_sensitivity() < 1) {
      return InvalidField("discrete_gaussian.linf_sensitivity", "must be at least 1, or absent");
    }
    result.linf_sensitivity = event.linf_sensitivity();
  }
  return dp::Event{result};
}

absl::StatusOr<dp::Event> Convert(const v1::LaplaceEvent& event) {
  dp::LaplaceEvent result;
  ASSIGN_OR_RETURN(result.scale, ParseRational(event.scale(), "laplace.scale"));
  if (!event.l1_sensitivity().empty()) {
    ASSIGN_OR_RETURN(result.l1_sensitivity, ParseRational(event.l1_sensitivity(), "laplace.l1_sensitivity"));
  }
  return dp::Event{result};
}

absl::StatusOr<dp::Event> Convert(const v1::GaussianEvent& event) {
  dp::GaussianEvent result;
  ASSIGN_OR_RETURN(result.sigma_squared, ParseRational(event.sigma_squared(), "gaussian.sigma_squared"));
  if (!event.l2_sensitivity_squared().empty()) {
    ASSIGN_OR_RETURN(result.l2_sensitivity_squared,
                     ParseRational(event.l2_sensitivity_squared(), "gaussian.l2_sensitivity_squared"));
  }
  return dp::Event{result};
}

absl::StatusOr<dp::Event> Convert(const v1::ApproximateEvent& event) {
  dp::ApproximateEvent result;
  ASSIGN_OR_RETURN(result.epsilon, dp::Epsilon::Parse(event.epsilon(), "approximate.epsilon"));
  ASSIGN_OR_RETURN(result.delta, dp::Delta::Parse(event.delta(), "approximate.delta"));
  return dp::Event{result};
}

absl::StatusOr<dp::Event> Convert(const v1::ComposedEvent& event, int depth) {
  dp::ComposedEvent result;
  for (int i = 0; i < event.parts_size(); ++i) {
    absl::StatusOr<dp::Event> part = Convert(event.parts(i).event(), depth + 1);
    if (!part.ok()) return WithinField(absl::StrCat("composed.parts[", i, "].event"), part.status());
    if (event.parts(i).count() < 1)
      return InvalidField(absl::StrCat("composed.parts[", i, "].count"), "must be at least 1");
    result.parts.push_back({*std::move(part), event.parts(i).count()});
  }
  return dp::Event{std::move(result)};
}

absl::StatusOr<dp::Event> Convert(const v1::GroupEvent& event, int depth) {
  absl::StatusOr<dp::Event> inner = Convert(event.event(), depth + 1);
  if (!inner.ok()) return WithinField("group.event", inner.status());
  if (event.group_size() < 1) return InvalidField("group.group_size", "must be at least 1");
  return dp::Event{dp::GroupEvent{{*std::move(inner)}, event.group_size()}};
}

absl::StatusOr<dp::Event> Convert(const v1::CertifiedEvent& event, int depth) {
  if (depth != 1) return InvalidField("certified", "must be the whole event, not a part of one");
  absl::StatusOr<dp::Event> schedule = Convert(event.schedule(), depth + 1);
  if (!schedule.ok()) return WithinField("certified.schedule", schedule.status());
  ASSIGN_OR_RETURN(const dp::Delta delta, dp::Delta::Parse(event.delta(), "certified.delta"));
  if (delta.units() <= 0 || delta.units() >= dp::kDeltaUnitsPerOne)
    return InvalidField("certified.delta", "must lie between 0 and 1");
  return dp::Event{dp::CertifiedEvent{{*std::move(schedule)}, dp::Epsilon(0), delta}};
}

absl::StatusOr<dp::Event> ConvertKind(const v1::Event& event, int depth) {
  switch (event.what_case()) {
    case v1::Event::kDiscreteLaplace:
      return Convert(event.discrete_laplace());
    case v1::Event::kDiscreteGaussian:
      return Convert(event.discrete_gaussian());
    case v1::Event::kLaplace:
      return Convert(event.laplace());
    case v1::Event::kGaussian:
      return Convert(event.gaussian());
    case v1::Event::kExponentialMechanism: {
      ASSIGN_OR_RETURN(const dp::Epsilon range, dp::Epsilon::Parse(event.exponential_mechanism().range(),
                                                                   "exponential_mechanism.range"));
      return dp::Event{dp::ExponentialMechanismEvent{range}};
    }
    case v1::Event::kPure: {
      ASSIGN_OR_RETURN(const dp::Epsilon epsilon, dp::Epsilon::Parse(event.pure().epsilon(), "pure.epsilon"));
      return dp::Event{dp::PureEvent{epsilon}};
    }
    case v1::Event::kApproximate:
      return Convert(event.approximate());
    case v1::Event::kZcdp: {
      ASSIGN_OR_RETURN(const dp::Rho rho, dp::Rho::Parse(event.zcdp().rho(), "zcdp.rho"));
      return dp::Event{dp::ZcdpEvent{rho}};
    }
    case v1::Event::kComposed:
      return Convert(event.composed(), depth);
    case v1::Event::kGroup:
      return Convert(event.group(), depth);
    case v1::Event::kCertified:
      return Convert(event.certified(), depth);
    case v1::Event::WHAT_NOT_SET:
      break;
  }
  return InvalidField("", "must say what will be done: one of the kinds of curator.v1.Event");
}

// The name of the field that says what the event is ("laplace").
std::string KindOf(const v1::Event& event) {
  const auto* kinds = v1::Event::descriptor()->FindOneofByName("what");
  return v1::Event::GetReflection()->GetOneofFieldDescriptor(event, kinds)->name();
}

absl::StatusOr<dp::Event> Convert(const v1::Event& event, int depth) {
  if (depth > dp::kMaxEventDepth)
    return InvalidField("", absl::StrCat("is nested more than ", dp::kMaxEventDepth, " deep"));
  ASSIGN_OR_RETURN(dp::Event result, ConvertKind(event, depth));
  // What contains no events can be checked here, where its path is known.
  if (!event.has_composed() && !event.has_group() && !event.has_certified())
    RETURN_IF_ERROR(WithinField(KindOf(event), dp::ValidateEvent(result)));
  return result;
}

}  // namespace

absl::StatusOr<dp::AskedEvent> FromProto(const v1::Event& event) {
  ASSIGN_OR_RETURN(const dp::Event result, Convert(event, 1));
  RETURN_IF_ERROR(dp::ValidateEvent(result));
  return dp::AskedEvent(result);
}

absl::StatusOr<dp::Rational> ParseRational(std::string_view text, std::string_view field) {
  const size_t slash = text.find('/');
  dp::Rational result;
  if (slash != std::string_view::npos) {
    ASSIGN_OR_RETURN(result.numerator, ParseInteger(text.substr(0, slash), field));
    ASSIGN_OR_RETURN(result.denominator, ParseInteger(text.substr(slash + 1), field));
    if (result.denominator == 0) return InvalidField(field, kRationalForm);
    return dp::Reduced(result);
  }
  if (text.find_first_of(".eE") == std::string_view::npos) {
    ASSIGN_OR_RETURN(result.numerator, ParseInteger(text, field));
    return result;
  }
  if (text.find_first_not_of("0123456789.eE+-") != std::string_view::npos)
    return InvalidField(field, kRationalForm);
  // A decimal of at most twelve places, exactly.
  ASSIGN_OR_RETURN(const dp::Epsilon decimal, dp::Epsilon::Parse(text, field));
  return dp::Reduced({decimal.units(), dp::kEpsilonUnitsPerOne});
}

}  // namespace curator::rpc
