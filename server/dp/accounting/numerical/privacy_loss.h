// Privacy loss distributions of single mechanisms: the distribution of the loss ln(P/Q) under P, of a
// dominating pair (P, Q).
//
// A pair dominates a mechanism when its hockey-stick divergence is at least the mechanism's at every epsilon,
// for all neighbours; domination survives adaptive composition (Zhu, Dong, Wang 2022, Thm 10). Each loss here
// is symmetric: the pair (Q, P) has the same.
//
//   Pure epsilon           randomised response: atoms at +-epsilon (Kairouz, Oh, Viswanath 2015).
//   (epsilon, delta)       the same with mass delta at infinity.
//   Laplace                atoms at +-epsilon and the density e^((l - epsilon)/2)/4 between. A vector whose
//                          L1 sensitivity is split over coordinates is dominated by one coordinate taking
//                          all: with shifts b <= a and loss L <= b of the second,
//                          delta_{a,b}(eps) = E[delta_a(eps - L)] <= delta_a(eps - b) = delta_{a+b}(eps).
//   Discrete Laplace       atoms; the same lemma holds on integers. With Linf = 1, L1 coordinates that shift
//                          by 1, each randomised response. Otherwise one coordinate that shifts by L1; no
//                          lower bound from it where Linf < L1.
//   Exponential mechanism  bounded range eta: the density e^((eta + l)/2)/(2 (e^eta - 1)) on [-eta, eta],
//                          the canonical pair of the profile (e^(eta/2) - e^(eps/2))^2/(e^eta - 1)
//                          (Dong, Durfee, Rogers 2020). No mechanism attains it at every epsilon: there is
//                          no lower bound from it.
//   Gaussian               normal with mean mu^2/2 and variance mu^2; several are one.
//   Discrete Gaussian      atoms at (1 - 2y)/(2 sigma^2), integer y, for each coordinate that shifts by 1.
//                          With Linf = 1, or a squared L2 sensitivity of at most 3, at most that many
//                          coordinates shift. Other shifts are not comparable: refused.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/calculators/schedule.h"

namespace curator::dp {

struct LossAtom {
  double loss = 0;
  double mass = 0;
  auto operator<=>(const LossAtom&) const = default;
};

// The density coefficient * e^(loss/2) between low and high.
struct ExponentialPiece {
  double low = 0;
  double high = 0;
  double coefficient = 0;
  auto operator<=>(const ExponentialPiece&) const = default;
};

// Numbers are within 1e-14 of the true ones, relatively; epsilons and mus are rounded up.
struct PrivacyLoss {
  std::vector<LossAtom> atoms;
  std::optional<ExponentialPiece> piece;
  std::optional<double> gaussian_mu;
  double infinity_mass = 0;
  // The least and the largest finite loss; infinite for a Gaussian.
  double least = 0;
  double largest = 0;
  // Roughly the Kullback-Leibler divergence: an estimate, not a bound.
  double rough_mean = 0;
  auto operator<=>(const PrivacyLoss&) const = default;
};

struct CountedLoss {
  PrivacyLoss loss;
  int64_t count = 1;
};

// Whether the composition of the pairs is attained, and so bounds the true privacy loss from below too.
enum class Attained { kYes, kNo };

struct ScheduledLosses {
  std::vector<CountedLoss> losses;  // sorted: the order of the schedule does not matter
  Attained attained = Attained::kYes;
};

// The losses of a schedule, equal ones and all continuous Gaussians merged. Errors: FAILED_PRECONDITION for
// mechanisms without a dominating pair here (zCDP mechanisms, discrete Gaussians whose coordinates may shift
// by more than 1); OUT_OF_RANGE for a mechanism of more than 2^20 atoms, and for more than `most_atoms` in
// all, before they are made.
absl::StatusOr<ScheduledLosses> LossesOf(const Schedule& schedule,
                                         int64_t most_atoms = std::numeric_limits<int64_t>::max());

}  // namespace curator::dp
