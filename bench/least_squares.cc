#include "least_squares.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace curator::bench {
namespace {

// The entries of a record's vector that are not 0.
struct Entry {
  Eigen::Index position = 0;
  double value = 0;
};

class Encoding {
 public:
  Encoding(const Predictors& predictors, size_t target) : predictors_(predictors), target_(target) {
    for (size_t i = 0; i < predictors.sizes.size(); ++i) {
      first_.push_back(length_);
      if (i != target) length_ += predictors.numbers.contains(i) ? 1 : predictors.sizes[i];
    }
  }

  Eigen::Index length() const { return length_; }

  std::vector<Entry> Of(const std::vector<uint32_t>& row) const {
    std::vector<Entry> entries = {{.position = 0, .value = 1}};
    for (size_t i = 0; i < row.size(); ++i) {
      if (i == target_) continue;
      if (predictors_.numbers.contains(i)) {
        entries.push_back(
            {.position = first_[i], .value = row[i] / static_cast<double>(predictors_.sizes[i])});
      } else {
        entries.push_back({.position = first_[i] + row[i], .value = 1});
      }
    }
    return entries;
  }

 private:
  const Predictors& predictors_;
  const size_t target_;
  Eigen::Index length_ = 1;  // 0 is the constant
  std::vector<Eigen::Index> first_;
};

Eigen::VectorXd Solve(const CodedRows& training, const Encoding& encoding, size_t target) {
  constexpr double kRidge = 1;  // settles what indicators leave open
  Eigen::MatrixXd products = Eigen::MatrixXd::Identity(encoding.length(), encoding.length()) * kRidge;
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(encoding.length());
  for (const auto& row : training) {
    const std::vector<Entry> entries = encoding.Of(row);
    for (const Entry& one : entries) {
      sums[one.position] += one.value * row[target];
      for (const Entry& other : entries) products(one.position, other.position) += one.value * other.value;
    }
  }
  return products.ldlt().solve(sums);
}

}  // namespace

double SquaredErrorOfLeastSquares(const CodedRows& training, const CodedRows& test,
                                  const Predictors& predictors, size_t target) {
  const Encoding encoding(predictors, target);
  const Eigen::VectorXd weights = Solve(training, encoding, target);
  double squares = 0;
  for (const auto& row : test) {
    double off = -static_cast<double>(row[target]);
    for (const Entry& entry : encoding.Of(row)) off += weights[entry.position] * entry.value;
    squares += off * off;
  }
  return squares / static_cast<double>(test.size());
}

double SquaredErrorOfMean(const CodedRows& training, const CodedRows& test, size_t target) {
  double mean = 0;
  for (const auto& row : training) mean += row[target] / static_cast<double>(training.size());
  double squares = 0;
  for (const auto& row : test) squares += (row[target] - mean) * (row[target] - mean);
  return squares / static_cast<double>(test.size());
}

}  // namespace curator::bench
