#include "income_classifier.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace curator::bench {
namespace {

class LogisticRegression {
 public:
  explicit LogisticRegression(std::span<const int64_t> sizes) {
    size_t first = 1;  // 0 is the constant
    for (size_t i = 0; i + 1 < sizes.size(); ++i) {
      first_.push_back(first);
      first += static_cast<size_t>(sizes[i]);
    }
    weights_.assign(first, 0.0);
  }

  double Score(const std::vector<uint32_t>& row) const {
    double score = weights_[0];
    for (size_t i = 0; i < first_.size(); ++i) score += weights_[first_[i] + row[i]];
    return score;
  }

  void Learn(const std::vector<uint32_t>& row, double rate) {
    constexpr double kRidge = 1e-5;
    const double error = row.back() - 1 / (1 + std::exp(-Score(row)));
    weights_[0] += rate * error;
    for (size_t i = 0; i < first_.size(); ++i) {
      double& weight = weights_[first_[i] + row[i]];
      weight += rate * (error - kRidge * weight);
    }
  }

 private:
  std::vector<size_t> first_;
  std::vector<double> weights_;
};

}  // namespace

double Misclassification(const CodedRows& training, const CodedRows& test, std::span<const int64_t> sizes) {
  LogisticRegression model(sizes);
  std::vector<size_t> order(training.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::mt19937_64 random(1);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t row : order) model.Learn(training[row], 0.05 / (1 + round));
  }
  const auto wrong = std::ranges::count_if(
      test, [&](const auto& row) { return (model.Score(row) > 0 ? 1U : 0U) != row.back(); });
  return static_cast<double>(wrong) / static_cast<double>(test.size());
}

double MisclassificationByGuess(const CodedRows& test) {
  const auto ones = std::ranges::count_if(test, [](const auto& row) { return row.back() == 1; });
  const double share = static_cast<double>(ones) / static_cast<double>(test.size());
  return std::min(share, 1 - share);
}

}  // namespace curator::bench
