// The projection as its definition says it, in double precision, one number at a time: what the fast loops
// are compared with.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "dp/synthesis/rap/projection.h"

namespace curator::dp {

// The point of the simplex nearest to `z` (Martins, Astudillo 2016, proposition 1): by sorting.
inline std::vector<double> ReferenceSparseMax(const std::vector<double>& z) {
  std::vector<double> sorted = z;
  std::sort(sorted.rbegin(), sorted.rend());
  double sum = 0;
  double threshold = 0;
  for (size_t k = 1; k <= sorted.size(); ++k) {
    sum += sorted[k - 1];
    if (1 + static_cast<double>(k) * sorted[k - 1] > sum) threshold = (sum - 1) / static_cast<double>(k);
  }
  std::vector<double> shares;
  for (const double value : z) shares.push_back(std::max(value - threshold, 0.0));
  return shares;
}

inline std::vector<double> ReferenceSoftmax(const std::vector<double>& z) {
  const double largest = *std::max_element(z.begin(), z.end());
  std::vector<double> shares;
  for (const double value : z) shares.push_back(std::exp(value - largest));
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

// shares[row][column]
inline std::vector<std::vector<double>> ReferenceShares(const RelaxedRows& rows, Relaxation relaxation) {
  const RelaxedLayout& layout = rows.layout;
  std::vector<std::vector<double>> shares(layout.rows());
  for (size_t row = 0; row < layout.rows(); ++row) {
    for (size_t i = 0; i < layout.sizes().size(); ++i) {
      std::vector<double> z;
      for (size_t code = 0; code < layout.sizes()[i]; ++code) {
        z.push_back(
            static_cast<double>(rows.parameters[layout.ElementAt(row, layout.first_columns()[i] + code)]));
      }
      const std::vector<double> of_attribute =
          relaxation == Relaxation::kSoftmax ? ReferenceSoftmax(z) : ReferenceSparseMax(z);
      shares[row].insert(shares[row].end(), of_attribute.begin(), of_attribute.end());
    }
  }
  return shares;
}

// The average over the rows of a marginal's cell.
inline double ReferenceCell(const RelaxedLayout& layout, const std::vector<std::vector<double>>& shares,
                            const std::vector<size_t>& positions, size_t cell) {
  std::vector<size_t> columns;
  for (size_t i = positions.size(); i-- > 0;) {
    columns.push_back(layout.first_columns()[positions[i]] + cell % layout.sizes()[positions[i]]);
    cell /= layout.sizes()[positions[i]];
  }
  double sum = 0;
  for (const auto& row : shares) {
    double product = 1;
    for (const size_t column : columns) product *= row[column];
    sum += product;
  }
  return sum / static_cast<double>(shares.size());
}

inline double ReferencePolynomial(const std::vector<std::vector<double>>& shares,
                                  const PolynomialAnswer& polynomial) {
  double sum = 0;
  for (const auto& row : shares) {
    sum += static_cast<double>(polynomial.constant);
    for (const ProductTerm& term : polynomial.terms) {
      auto product = static_cast<double>(term.coefficient);
      for (const uint32_t column : term.columns) product *= term.complemented ? 1 - row[column] : row[column];
      sum += product;
    }
  }
  return sum / static_cast<double>(shares.size());
}

inline double ReferenceLoss(const ProjectionProblem& problem, const RelaxedRows& rows,
                            Relaxation relaxation) {
  const auto shares = ReferenceShares(rows, relaxation);
  double loss = 0;
  for (const MarginalAnswer& marginal : problem.marginals) {
    for (size_t cell = 0; cell < marginal.answers.size(); ++cell) {
      const double error = ReferenceCell(rows.layout, shares, marginal.positions, cell) -
                           static_cast<double>(marginal.answers[cell]);
      loss += static_cast<double>(marginal.weight) * error * error;
    }
  }
  for (const PolynomialAnswer& polynomial : problem.polynomials) {
    const double error = ReferencePolynomial(shares, polynomial) - static_cast<double>(polynomial.answer);
    loss += static_cast<double>(polynomial.weight) * error * error;
  }
  return loss;
}

}  // namespace curator::dp
