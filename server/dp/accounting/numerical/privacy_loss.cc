#include "dp/accounting/numerical/privacy_loss.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "dp/accounting/event.h"
#include "dp/accounting/units.h"

namespace curator::dp {
namespace {

constexpr double kMostAtoms = 1 << 20;
// Epsilons above have no use, and their exponentials no double.
constexpr double kMostEpsilon = 600;
// Discrete Gaussian noise beyond this many sigmas goes to infinity (less than 1e-60 of it).
constexpr double kMostSigmas = 17;

PrivacyLoss RandomizedResponse(double epsilon, double delta) {
  PrivacyLoss loss;
  const double likelier = 1 / (1 + std::exp(-epsilon));
  loss.atoms = {{epsilon, (1 - delta) * likelier}, {-epsilon, (1 - delta) * std::exp(-epsilon) * likelier}};
  loss.infinity_mass = delta;
  loss.least = -epsilon;
  loss.largest = epsilon;
  loss.rough_mean = epsilon * std::tanh(epsilon / 2);
  return loss;
}

PrivacyLoss ContinuousLaplace(double epsilon) {
  PrivacyLoss loss;
  loss.atoms = {{epsilon, 0.5}, {-epsilon, std::exp(-epsilon) / 2}};
  loss.piece = ExponentialPiece{-epsilon, epsilon, std::exp(-epsilon / 2) / 4};
  loss.least = -epsilon;
  loss.largest = epsilon;
  loss.rough_mean = epsilon + std::expm1(-epsilon);
  return loss;
}

PrivacyLoss BoundedRange(double range) {
  PrivacyLoss loss;
  loss.piece = ExponentialPiece{-range, range, 1 / (4 * std::sinh(range / 2))};
  loss.least = -range;
  loss.largest = range;
  loss.rough_mean = range * range / 8;
  return loss;
}

PrivacyLoss ContinuousGaussian(double mu) {
  PrivacyLoss loss;
  loss.gaussian_mu = mu;
  loss.least = -std::numeric_limits<double>::infinity();
  loss.largest = std::numeric_limits<double>::infinity();
  loss.rough_mean = mu * mu / 2;
  return loss;
}

// Discrete Laplace noise on one coordinate that shifts by `shift`; rate = 1/scale, rounded up.
PrivacyLoss ShiftedDiscreteLaplace(double rate, int64_t shift) {
  PrivacyLoss loss;
  const double q = std::exp(-rate);
  const double outer = 1 / (1 + q);
  const double inner = -std::expm1(-rate) * outer;
  for (int64_t y = 0; y <= shift; ++y) {
    const double decay = std::exp(-rate * static_cast<double>(y));
    const bool is_end = y == 0 || y == shift;
    loss.atoms.push_back({static_cast<double>(shift - 2 * y) * rate, decay * (is_end ? outer : inner)});
  }
  const double epsilon = static_cast<double>(shift) * rate;
  loss.least = -epsilon;
  loss.largest = epsilon;
  loss.rough_mean = epsilon + std::expm1(-epsilon);
  return loss;
}

// Discrete Gaussian noise on one coordinate that shifts by 1; variance is sigma^2.
PrivacyLoss UnitShiftDiscreteGaussian(double variance) {
  const auto most = static_cast<int64_t>(std::ceil(kMostSigmas * std::sqrt(variance))) + 1;
  PrivacyLoss loss;
  double whole = 0;
  for (int64_t y = most; y >= -most; --y) {
    const auto at = static_cast<double>(y);
    const double weight = std::exp(-at * at / (2 * variance));
    whole += weight;
    loss.atoms.push_back({(1 - 2 * at) / (2 * variance), weight});
  }
  for (LossAtom& atom : loss.atoms) atom.mass /= whole;
  loss.infinity_mass = 1e-60;
  loss.least = (1 - 2 * static_cast<double>(most)) / (2 * variance);
  loss.largest = (1 + 2 * static_cast<double>(most)) / (2 * variance);
  loss.rough_mean = 1 / (2 * variance);
  return loss;
}

// Gathers losses, merging equal ones.
class Gathering {
 public:
  explicit Gathering(int64_t most_atoms) : atoms_left_(most_atoms) {}

  absl::Status Add(const Event& mechanism, int64_t count) {
    return std::visit(
        Overloaded{
            [&](const PureEvent& e) {
              return Put(RandomizedResponse(Interval::Of(e.epsilon).Upper(), 0), count);
            },
            [&](const ApproximateEvent& e) {
              return Put(RandomizedResponse(Interval::Of(e.epsilon).Upper(), Interval::Of(e.delta).Upper()),
                         count);
            },
            [&](const LaplaceEvent&) { return Put(ContinuousLaplace(EpsilonOf(mechanism)->Upper()), count); },
            [&](const DiscreteLaplaceEvent& e) { return AddDiscreteLaplace(e, count); },
            [&](const ExponentialMechanismEvent& e) {
              if (e.range.units() == 0) return absl::OkStatus();
              attained_ = Attained::kNo;
              return Put(BoundedRange(Interval::Of(e.range).Upper()), count);
            },
            [&](const GaussianEvent&) {
              squared_mu_ = squared_mu_ + Interval(count) * *SquaredMuOf(mechanism);
              return absl::OkStatus();
            },
            [&](const DiscreteGaussianEvent& e) { return AddDiscreteGaussian(e, count); },
            [&](const auto&) -> absl::Status {
              return absl::FailedPreconditionError("no dominating pair is known for " + Describe(mechanism));
            }},
        mechanism.what);
  }

  ScheduledLosses Take() && {
    if (squared_mu_.CertainlyAbove(Interval(0))) losses_[ContinuousGaussian(Sqrt(squared_mu_).Upper())] = 1;
    ScheduledLosses scheduled;
    scheduled.attained = attained_;
    for (const auto& [loss, count] : losses_) scheduled.losses.push_back({loss, count});
    return scheduled;
  }

 private:
  absl::Status AddDiscreteLaplace(const DiscreteLaplaceEvent& e, int64_t count) {
    const double rate = Quotient({e.scale.denominator}, {e.scale.numerator}).Upper();
    if (e.linf_sensitivity == 1) {
      ASSIGN_OR_RETURN(const int64_t times, CheckedMultiply(count, e.l1_sensitivity));
      return Put(RandomizedResponse(rate, 0), times);
    }
    RETURN_IF_ERROR(ReserveAtoms(static_cast<double>(e.l1_sensitivity) + 1));
    if (e.linf_sensitivity < e.l1_sensitivity) attained_ = Attained::kNo;
    return Put(ShiftedDiscreteLaplace(rate, e.l1_sensitivity), count);
  }

  absl::Status AddDiscreteGaussian(const DiscreteGaussianEvent& e, int64_t count) {
    if (!HasUnitShifts(e)) {
      return absl::FailedPreconditionError("no dominating pair is known for " + Describe(Event{e}));
    }
    const double variance = Interval::Of(e.sigma_squared).Lower();
    RETURN_IF_ERROR(ReserveAtoms(2 * kMostSigmas * std::sqrt(variance) + 5));
    ASSIGN_OR_RETURN(const int64_t times, CheckedMultiply(count, e.l2_sensitivity_squared));
    return Put(UnitShiftDiscreteGaussian(variance), times);
  }

  // Room for the atoms of one mechanism.
  absl::Status ReserveAtoms(double atoms) {
    if (!(atoms <= kMostAtoms)) {
      return absl::OutOfRangeError("a mechanism's loss has more than 2^20 atoms");
    }
    atoms_left_ -= static_cast<int64_t>(atoms);
    if (atoms_left_ >= 0) return absl::OkStatus();
    return absl::OutOfRangeError("not computed here: the mechanisms' losses have too many atoms together");
  }

  absl::Status Put(PrivacyLoss loss, int64_t count) {
    if (loss.largest == 0 && loss.infinity_mass == 0) return absl::OkStatus();
    if (!(loss.largest <= kMostEpsilon)) return absl::OutOfRangeError("a mechanism's epsilon is above 600");
    int64_t& sum = losses_[std::move(loss)];
    ASSIGN_OR_RETURN(sum, CheckedAdd(sum, count));
    return absl::OkStatus();
  }

  struct Less {
    bool operator()(const PrivacyLoss& a, const PrivacyLoss& b) const { return (a <=> b) < 0; }
  };
  std::map<PrivacyLoss, int64_t, Less> losses_;
  int64_t atoms_left_;
  Interval squared_mu_{0};
  Attained attained_ = Attained::kYes;
};

}  // namespace

absl::StatusOr<ScheduledLosses> LossesOf(const Schedule& schedule, int64_t most_atoms) {
  Gathering gathering(most_atoms);
  for (const CountedEvent& part : schedule) RETURN_IF_ERROR(gathering.Add(part.event, part.count));
  return std::move(gathering).Take();
}

}  // namespace curator::dp
