#include "client/cli/syntax/calc_schedule.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "client/cli/output/files.h"
#include "dp/accounting/event.h"
#include "rpc/convert_event.h"

namespace curator::cli {
namespace {

// One event as written on the command line, not yet interpreted.
struct WrittenEvent {
  std::string where;  // "events[1]"
  std::string mechanism;
  std::map<std::string, std::string> values;

  bool Has(const std::string& key) const { return values.contains(key); }
  std::string FieldOf(const std::string& key) const { return where + "." + key; }
  // The value, or `otherwise` when it is not written.
  std::string Text(const std::string& key, const std::string& otherwise) const {
    const auto found = values.find(key);
    return found == values.end() ? otherwise : found->second;
  }
  absl::StatusOr<dp::Rational> Number(const std::string& key, const std::string& otherwise) const {
    return ParsePositive(Text(key, otherwise), FieldOf(key));
  }
  absl::StatusOr<int64_t> Integer(const std::string& key, const std::string& otherwise) const {
    ASSIGN_OR_RETURN(const dp::Rational number, Number(key, otherwise));
    if (number.denominator != 1) {
      return absl::InvalidArgumentError(FieldOf(key) + ": must be a whole number");
    }
    return number.numerator;
  }
};

absl::StatusOr<dp::Rational> Square(const dp::Rational& number, const std::string& field) {
  const absl::StatusOr<int64_t> numerator = dp::CheckedMultiply(number.numerator, number.numerator);
  const absl::StatusOr<int64_t> denominator = dp::CheckedMultiply(number.denominator, number.denominator);
  if (!numerator.ok() || !denominator.ok()) {
    return absl::InvalidArgumentError(field + ": its square has too many digits; at most nine are possible");
  }
  return dp::Rational{*numerator, *denominator};
}

absl::StatusOr<dp::Rational> Variance(const WrittenEvent& written) {
  if (written.Has("sigma") == written.Has("sigma_squared")) {
    return absl::InvalidArgumentError(written.where + ": takes one of sigma and sigma_squared");
  }
  if (written.Has("sigma_squared")) return written.Number("sigma_squared", "");
  ASSIGN_OR_RETURN(const dp::Rational sigma, written.Number("sigma", ""));
  return Square(sigma, written.FieldOf("sigma"));
}

absl::StatusOr<dp::Event> MakeLaplace(const WrittenEvent& written) {
  ASSIGN_OR_RETURN(const dp::Rational scale, written.Number("scale", ""));
  ASSIGN_OR_RETURN(const dp::Rational l1, written.Number("l1", "1"));
  return dp::Event{dp::LaplaceEvent{scale, l1}};
}

absl::StatusOr<dp::Event> MakeDiscreteLaplace(const WrittenEvent& written) {
  ASSIGN_OR_RETURN(const dp::Rational scale, written.Number("scale", ""));
  ASSIGN_OR_RETURN(const int64_t l1, written.Integer("l1", "1"));
  ASSIGN_OR_RETURN(const int64_t linf, written.Integer("linf", absl::StrCat(l1)));
  return dp::Event{dp::DiscreteLaplaceEvent{scale, l1, linf}};
}

absl::StatusOr<dp::Event> MakeGaussian(const WrittenEvent& written) {
  ASSIGN_OR_RETURN(const dp::Rational variance, Variance(written));
  ASSIGN_OR_RETURN(const dp::Rational l2, written.Number("l2", "1"));
  ASSIGN_OR_RETURN(const dp::Rational l2_squared, Square(l2, written.FieldOf("l2")));
  return dp::Event{dp::GaussianEvent{variance, l2_squared}};
}

absl::StatusOr<dp::Event> MakeDiscreteGaussian(const WrittenEvent& written) {
  ASSIGN_OR_RETURN(const dp::Rational variance, Variance(written));
  ASSIGN_OR_RETURN(const int64_t l2_squared, written.Integer("l2_squared", "1"));
  if (!written.Has("linf")) return dp::Event{dp::DiscreteGaussianEvent{variance, l2_squared}};
  ASSIGN_OR_RETURN(const int64_t linf, written.Integer("linf", "1"));
  return dp::Event{dp::DiscreteGaussianEvent{variance, l2_squared, linf}};
}

absl::StatusOr<dp::Event> MakeExponential(const WrittenEvent& written) {
  ASSIGN_OR_RETURN(const auto range, dp::Epsilon::Parse(written.Text("range", ""), written.FieldOf("range")));
  return dp::Event{dp::ExponentialMechanismEvent{range}};
}

absl::StatusOr<dp::Event> MakePure(const WrittenEvent& written) {
  ASSIGN_OR_RETURN(const auto epsilon,
                   dp::Epsilon::Parse(written.Text("epsilon", ""), written.FieldOf("epsilon")));
  return dp::Event{dp::PureEvent{epsilon}};
}

absl::StatusOr<dp::Event> MakeApproximate(const WrittenEvent& written) {
  ASSIGN_OR_RETURN(const auto epsilon,
                   dp::Epsilon::Parse(written.Text("epsilon", ""), written.FieldOf("epsilon")));
  ASSIGN_OR_RETURN(const auto delta, dp::Delta::Parse(written.Text("delta", ""), written.FieldOf("delta")));
  return dp::Event{dp::ApproximateEvent{epsilon, delta}};
}

absl::StatusOr<dp::Event> MakeZcdp(const WrittenEvent& written) {
  ASSIGN_OR_RETURN(const auto rho, dp::Rho::Parse(written.Text("rho", ""), written.FieldOf("rho")));
  return dp::Event{dp::ZcdpEvent{rho}};
}

struct Mechanism {
  std::string name;
  std::vector<std::string> required;
  std::vector<std::string> others;  // besides count and group
  absl::StatusOr<dp::Event> (*make)(const WrittenEvent&);
};

const std::vector<Mechanism>& Mechanisms() {
  static const std::vector<Mechanism> mechanisms = {
      {"laplace", {"scale"}, {"l1"}, &MakeLaplace},
      {"discrete-laplace", {"scale"}, {"l1", "linf"}, &MakeDiscreteLaplace},
      {"gaussian", {}, {"sigma", "sigma_squared", "l2"}, &MakeGaussian},
      {"discrete-gaussian", {}, {"sigma", "sigma_squared", "l2_squared", "linf"}, &MakeDiscreteGaussian},
      {"exponential", {"range"}, {}, &MakeExponential},
      {"pure", {"epsilon"}, {}, &MakePure},
      {"approximate", {"epsilon", "delta"}, {}, &MakeApproximate},
      {"zcdp", {"rho"}, {}, &MakeZcdp}};
  return mechanisms;
}

absl::Status UnknownMechanism(const WrittenEvent& written) {
  const std::string known = absl::StrJoin(
      Mechanisms(), ", ", [](std::string* out, const Mechanism& m) { absl::StrAppend(out, m.name); });
  return absl::InvalidArgumentError(
      absl::StrCat(written.where, ": '", written.mechanism, "' is none of ", known));
}

absl::Status CheckKeys(const WrittenEvent& written, const Mechanism& mechanism) {
  for (const std::string& key : mechanism.required) {
    if (!written.Has(key)) return absl::InvalidArgumentError(written.FieldOf(key) + ": is missing");
  }
  std::vector<std::string> known = mechanism.required;
  known.insert(known.end(), mechanism.others.begin(), mechanism.others.end());
  known.insert(known.end(), {"count", "group"});
  for (const auto& [key, value] : written.values) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat(written.FieldOf(key), ": ", mechanism.name, " takes ", absl::StrJoin(known, ", ")));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<dp::CountedEvent> EventOf(const WrittenEvent& written) {
  const auto mechanism = std::find_if(Mechanisms().begin(), Mechanisms().end(),
                                      [&](const Mechanism& m) { return m.name == written.mechanism; });
  if (mechanism == Mechanisms().end()) return UnknownMechanism(written);
  RETURN_IF_ERROR(CheckKeys(written, *mechanism));
  ASSIGN_OR_RETURN(dp::Event event, mechanism->make(written));
  ASSIGN_OR_RETURN(const int64_t count, written.Integer("count", "1"));
  ASSIGN_OR_RETURN(const int64_t group, written.Integer("group", "1"));
  if (group > 1) event = dp::Event{dp::GroupEvent{{event}, group}};
  if (absl::Status valid = dp::ValidateEvent(event); !valid.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(written.where, ".", std::string(valid.message())));
  }
  return dp::CountedEvent{std::move(event), count};
}

absl::StatusOr<dp::Schedule> ScheduleOfWritten(const std::vector<WrittenEvent>& written) {
  if (written.empty()) return absl::InvalidArgumentError("events: there are none");
  dp::ComposedEvent all;
  for (const WrittenEvent& one : written) {
    ASSIGN_OR_RETURN(dp::CountedEvent event, EventOf(one));
    all.parts.push_back(std::move(event));
  }
  return dp::ScheduleOf({std::move(all)});
}

// "gaussian:sigma=10,count=20"
absl::StatusOr<WrittenEvent> SplitEvent(const std::string& text, const std::string& where) {
  const size_t colon = std::min(text.find(':'), text.size());
  WrittenEvent written{where, text.substr(0, colon), {}};
  for (size_t start = colon + 1; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    const std::string pair = text.substr(start, end - start);
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": '", pair, "' is not KEY=VALUE"));
    }
    if (!written.values.emplace(pair.substr(0, equals), pair.substr(equals + 1)).second) {
      return absl::InvalidArgumentError(written.FieldOf(pair.substr(0, equals)) + ": is given twice");
    }
    start = end + 1;
  }
  return written;
}

}  // namespace

absl::StatusOr<dp::Schedule> ParseEvents(const std::vector<std::string>& events) {
  std::vector<WrittenEvent> written;
  for (const std::string& event : events) {
    ASSIGN_OR_RETURN(WrittenEvent one, SplitEvent(event, absl::StrCat("events[", written.size(), "]")));
    written.push_back(std::move(one));
  }
  return ScheduleOfWritten(written);
}

absl::StatusOr<dp::Schedule> ReadSchedule(const std::string& path) {
  ASSIGN_OR_RETURN(const v1::Event message, ReadEvent(path));
  const absl::StatusOr<dp::AskedEvent> event = rpc::FromProto(message);
  const absl::StatusOr<dp::Schedule> schedule =
      event.ok() ? dp::ScheduleOf(event->as_asked()) : event.status();
  if (schedule.ok()) return schedule;
  return absl::Status(schedule.status().code(),
                      absl::StrCat(path, ": ", std::string(schedule.status().message())));
}

namespace {

absl::Status MustBePositive(const std::string& field) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": must be positive"));
}

}  // namespace

absl::StatusOr<dp::Rational> ParsePositive(const std::string& text, const std::string& field) {
  ASSIGN_OR_RETURN(const dp::Epsilon number, dp::Epsilon::Parse(text, field));  // twelve places
  if (number.units() == 0) return MustBePositive(field);
  return dp::Reduced({number.units(), dp::kEpsilonUnitsPerOne});
}

absl::StatusOr<dp::Delta> ParseDelta(const std::string& text) {
  ASSIGN_OR_RETURN(const dp::Delta delta, dp::Delta::Parse(text, "delta"));
  if (delta.units() == 0 || delta.units() >= dp::kDeltaUnitsPerOne) {
    return absl::InvalidArgumentError("delta: must lie between 0 and 1");
  }
  return delta;
}

absl::StatusOr<dp::Epsilon> ParseEpsilon(const std::string& text) {
  absl::StatusOr<dp::Epsilon> epsilon = dp::Epsilon::Parse(text, "epsilon");
  if (epsilon.ok() && epsilon->units() == 0) return MustBePositive("epsilon");
  return epsilon;
}

absl::StatusOr<dp::Rho> ParseRho(const std::string& text) {
  absl::StatusOr<dp::Rho> rho = dp::Rho::Parse(text, "rho");
  if (rho.ok() && rho->units() == 0) return MustBePositive("rho");
  return rho;
}

}  // namespace curator::cli
