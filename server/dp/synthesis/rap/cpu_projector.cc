#include "dp/synthesis/rap/cpu_projector.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/synthesis/rap/relaxed_answers.h"

namespace curator::dp {
namespace {

// Cells that one task computes answers for, at least.
constexpr size_t kCellsPerTask = size_t{1} << 15;

absl::Status CheckMarginal(const MarginalAnswer& marginal, const RelaxedLayout& layout) {
  if (marginal.positions.empty() || marginal.positions.size() > kMostFactors)
    return absl::InvalidArgumentError("a measured marginal has 1 to 16 attributes");
  size_t cells = 1;
  for (size_t i = 0; i < marginal.positions.size(); ++i) {
    if (marginal.positions[i] >= layout.sizes().size() ||
        (i > 0 && marginal.positions[i] <= marginal.positions[i - 1])) {
      return absl::InvalidArgumentError("the positions of a measured marginal must rise within the layout");
    }
    cells *= layout.sizes()[marginal.positions[i]];
    if (cells > marginal.answers.size()) break;
  }
  if (cells != marginal.answers.size())
    return absl::InvalidArgumentError("a measured marginal has not one answer for each of its cells");
  return absl::OkStatus();
}

absl::Status CheckPolynomial(const PolynomialAnswer& polynomial, const RelaxedLayout& layout) {
  for (const ProductTerm& term : polynomial.terms) {
    if (term.columns.empty() || term.columns.size() > kMostFactors)
      return absl::InvalidArgumentError("a term has 1 to 16 columns");
    for (const uint32_t column : term.columns) {
      if (column >= layout.columns())
        return absl::InvalidArgumentError(
            absl::StrCat("column ", column, " is not one of the ", layout.columns()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckProblem(const ProjectionProblem& problem, const RelaxedRows& rows) {
  if (rows.parameters.size() != rows.layout.elements())
    return absl::InvalidArgumentError("the parameters do not fill their layout");
  for (const MarginalAnswer& marginal : problem.marginals)
    RETURN_IF_ERROR(CheckMarginal(marginal, rows.layout));
  for (const PolynomialAnswer& polynomial : problem.polynomials)
    RETURN_IF_ERROR(CheckPolynomial(polynomial, rows.layout));
  return absl::OkStatus();
}

// Runs task(0), ..., task(count - 1), in any order, on the cores that are free.
void RunTasks(Executor& executor, size_t count, const std::function<void(size_t)>& task) {
  constexpr size_t kMostThreads = 64;
  if (count == 1) return task(0);
  std::atomic<size_t> next = 0;
  executor.RunOnFreeCores(static_cast<int>(std::min(count, kMostThreads)), [&](int) {
    for (size_t i = next++; i < count; i = next++) task(i);
  });
}

// One problem at one relaxed dataset after another.
class Descent {
 public:
  Descent(const ProjectionProblem& problem, const RelaxedLayout& layout, Relaxation relaxation,
          const ProjectionLoops& loops, Executor& executor)
      : problem_(problem),
        layout_(layout),
        relaxation_(relaxation),
        loops_(loops),
        executor_(executor),
        mask_(RowMask(layout)),
        shares_(layout.elements()),
        gradient_(layout.elements()) {
    for (const MarginalAnswer& marginal : problem.marginals)
      indexes_.emplace_back(layout, marginal.positions);
    ListProducts();
  }

  // The loss at `parameters`, and its gradient by their shares.
  absl::StatusOr<double> Evaluate(const AlignedFloats& parameters, Pacer& pacer) {
    RETURN_IF_ERROR(CountAhead(layout_.elements(), pacer));
    ComputeShares(parameters);
    double loss = 0;
    for (size_t first = 0; first < problem_.marginals.size();) {
      size_t end = first;
      size_t cells = 0;
      while (end < problem_.marginals.size() && (end == first || cells < CellsPerLook()))
        cells += indexes_[end++].cells();
      RETURN_IF_ERROR(CountAhead(cells * layout_.blocks(), pacer));
      loss += FollowMarginals(first, end);
      first = end;
    }
    ASSIGN_OR_RETURN(const double of_polynomials, FollowPolynomials(pacer));
    loss += of_polynomials;
    return loss;
  }

  // Turns the gradient by the shares into that by the parameters.
  void FollowRelaxation() {
    OnAllCores(layout_.blocks(), [&](size_t block) {
      const FlushToZero flush;
      const auto turn =
          relaxation_ == Relaxation::kSoftmax ? loops_.softmax_gradient : loops_.sparsemax_gradient;
      for (size_t i = 0; i < layout_.sizes().size(); ++i) {
        const size_t start = block * layout_.block_elements() + layout_.first_columns()[i] * Rows();
        turn(shares_.data() + start, layout_.sizes()[i], Rows(), gradient_.data() + start);
      }
    });
  }

  AlignedFloats& gradient() { return gradient_; }
  AlignedFloats& shares() { return shares_; }

  // Turns parameters into shares, and forgets the gradient.
  void ComputeShares(const AlignedFloats& parameters) {
    const auto relax = relaxation_ == Relaxation::kSoftmax ? loops_.softmax : loops_.sparsemax;
    OnAllCores(layout_.blocks(), [&](size_t block) {
      const FlushToZero flush;
      for (size_t i = 0; i < layout_.sizes().size(); ++i) {
        const size_t start = block * layout_.block_elements() + layout_.first_columns()[i] * Rows();
        relax(parameters.data() + start, MaskOf(block), layout_.sizes()[i], Rows(), shares_.data() + start);
      }
      std::fill_n(gradient_.data() + block * layout_.block_elements(), layout_.block_elements(), 0.0F);
    });
  }

 private:
  void OnAllCores(size_t count, const std::function<void(size_t)>& task) { RunTasks(executor_, count, task); }
  size_t Rows() const { return layout_.block_rows(); }
  const float* MaskOf(size_t block) const { return mask_.data() + block * Rows(); }
  const float* SharesOf(size_t block) const { return shares_.data() + block * layout_.block_elements(); }

  // Steps are a cell in a block of rows, or a parameter.
  static absl::Status CountAhead(size_t steps, Pacer& pacer) {
    return pacer.InPieces(steps, [](size_t, size_t) {});
  }
  size_t CellsPerLook() const {
    return std::max<size_t>(1, static_cast<size_t>(Pacer::kMostSteps) / layout_.blocks());
  }

  // 2 weight (answer - given), given the sum over the rows; adds to the loss.
  float SlopeOf(double sum, float given, float weight, double& loss) const {
    const double error = sum / static_cast<double>(layout_.rows()) - static_cast<double>(given);
    loss += static_cast<double>(weight) * error * error;
    return 2 * weight * static_cast<float>(error);
  }

  // Answers, loss and gradient of the marginals first..end-1.
  double FollowMarginals(size_t first, size_t end) {
    struct Piece {
      size_t marginal;
      MarginalTable table;
    };
    std::vector<Piece> pieces;
    std::vector<std::vector<double>> sums(end - first);
    std::vector<AlignedFloats> slopes;
    size_t widest = 0;
    for (size_t i = first; i < end; ++i) {
      const MarginalTable whole = indexes_[i].table();
      const size_t stride = std::max<size_t>(1, kCellsPerTask / whole.inner_size);
      for (size_t tuple = 0; tuple < whole.outer_tuples; tuple += stride) {
        MarginalTable part = whole;
        part.outer_tuples = std::min(stride, whole.outer_tuples - tuple);
        part.outer_columns += tuple * whole.outer;
        part.outer_cells += tuple;
        pieces.push_back({i, part});
      }
      sums[i - first].resize(indexes_[i].cells());
      slopes.emplace_back(indexes_[i].cells());
      widest = std::max(widest, whole.inner_size);
    }
    OnAllCores(pieces.size(), [&](size_t task) {
      const FlushToZero flush;
      const Piece& piece = pieces[task];
      AlignedFloats work = MarginalWork(layout_, piece.table.inner_size);
      for (size_t block = 0; block < layout_.blocks(); ++block) {
        loops_.sum_marginal(SharesOf(block), MaskOf(block), Rows(), piece.table, work.data(),
                            sums[piece.marginal - first].data());
      }
    });
    double loss = 0;
    for (size_t i = first; i < end; ++i) {
      const MarginalAnswer& given = problem_.marginals[i];
      for (size_t cell = 0; cell < given.answers.size(); ++cell)
        slopes[i - first][cell] = SlopeOf(sums[i - first][cell], given.answers[cell], given.weight, loss);
    }
    OnAllCores(layout_.blocks(), [&](size_t block) {
      const FlushToZero flush;
      AlignedFloats work = MarginalWork(layout_, widest);
      for (size_t i = first; i < end; ++i) {
        loops_.add_marginal_gradient(SharesOf(block), MaskOf(block), Rows(), indexes_[i].table(),
                                     slopes[i - first].data(), work.data(),
                                     gradient_.data() + block * layout_.block_elements());
      }
    });
    return loss;
  }

  // All terms of all polynomials, those of equal first columns beside each other.
  void ListProducts() {
    size_t terms = 0;
    for (const PolynomialAnswer& polynomial : problem_.polynomials) terms += polynomial.terms.size();
    terms_.reserve(terms);
    for (size_t i = 0; i < problem_.polynomials.size(); ++i) {
      for (const ProductTerm& term : problem_.polynomials[i].terms)
        terms_.push_back({.polynomial = i, .term = &term});
    }
    products_.reserve(terms_.size());
    std::ranges::stable_sort(terms_, [](const Term& a, const Term& b) {
      return std::ranges::lexicographical_compare(a.term->columns, b.term->columns);
    });
    for (const Term& each : terms_) {
      products_.push_back({.columns = each.term->columns.data(),
                           .factors = each.term->columns.size(),
                           .complemented = each.term->complemented});
    }
    shards_ = products_.size() > kShardedProducts ? 1 : kMostShards;
    lanes_ = AlignedFloats(shards_ * products_.size() * AlignedFloats::kLine);
    slopes_.resize(products_.size());
  }

  // Blocks are summed by shards, each in the order of its blocks, so that two cores add in the same order as
  // one. One shard where their sums would take much memory.
  static constexpr size_t kMostShards = 4;
  static constexpr size_t kShardedProducts = size_t{1} << 18;

  // Calls work(first, end) on all products, so many at a time that a look at the pacer comes in time. Each
  // product has sums of its own, and gradients are added in the order of the products: how many are taken
  // together does not change a bit.
  template <typename Work>
  absl::Status InRangesOfProducts(Pacer& pacer, Work work) {
    for (size_t first = 0; first < products_.size(); first += CellsPerLook()) {
      const size_t end = std::min(products_.size(), first + CellsPerLook());
      RETURN_IF_ERROR(CountAhead((end - first) * layout_.blocks(), pacer));
      work(first, end);
    }
    return absl::OkStatus();
  }

  std::span<const ColumnProduct> Products(size_t first, size_t end) const {
    return std::span(products_).subspan(first, end - first);
  }

  void SumProducts(size_t from, size_t to) {
    OnAllCores(shards_, [&](size_t shard) {
      const FlushToZero flush;
      float* const lanes = lanes_.data() + (shard * products_.size() + from) * AlignedFloats::kLine;
      std::fill_n(lanes, (to - from) * AlignedFloats::kLine, 0.0F);
      const size_t end = (shard + 1) * layout_.blocks() / shards_;
      for (size_t block = shard * layout_.blocks() / shards_; block < end; ++block)
        loops_.add_products(SharesOf(block), MaskOf(block), Rows(), Products(from, to), lanes);
    });
  }

  void AddProductGradients(size_t first, size_t end) {
    OnAllCores(layout_.blocks(), [&](size_t block) {
      const FlushToZero flush;
      loops_.add_product_gradients(SharesOf(block), MaskOf(block), Rows(), Products(first, end),
                                   slopes_.data() + first,
                                   gradient_.data() + block * layout_.block_elements());
    });
  }

  // Answers, loss and gradient of all polynomials.
  absl::StatusOr<double> FollowPolynomials(Pacer& pacer) {
    if (problem_.polynomials.empty()) return 0.0;
    RETURN_IF_ERROR(InRangesOfProducts(pacer, [&](size_t first, size_t end) { SumProducts(first, end); }));
    std::vector<double> sums;
    for (const PolynomialAnswer& polynomial : problem_.polynomials)
      sums.push_back(static_cast<double>(polynomial.constant) * static_cast<double>(layout_.rows()));
    const size_t size = products_.size() * AlignedFloats::kLine;
    for (size_t i = 0; i < terms_.size(); ++i) {
      for (size_t shard = 0; shard < shards_; ++shard) {
        const float* lanes = lanes_.data() + shard * size + i * AlignedFloats::kLine;
        sums[terms_[i].polynomial] +=
            static_cast<double>(terms_[i].term->coefficient) * static_cast<double>(loops_.sum_lanes(lanes));
      }
    }
    double loss = 0;
    std::vector<float> slopes(sums.size());
    for (size_t i = 0; i < sums.size(); ++i) {
      const PolynomialAnswer& given = problem_.polynomials[i];
      slopes[i] = SlopeOf(sums[i], given.answer, given.weight, loss);
    }
    for (size_t i = 0; i < terms_.size(); ++i)
      slopes_[i] = slopes[terms_[i].polynomial] * terms_[i].term->coefficient;
    RETURN_IF_ERROR(
        InRangesOfProducts(pacer, [&](size_t first, size_t end) { AddProductGradients(first, end); }));
    return loss;
  }

  struct Term {
    size_t polynomial;
    const ProductTerm* term;
  };

  const ProjectionProblem& problem_;
  const RelaxedLayout& layout_;
  const Relaxation relaxation_;
  const ProjectionLoops& loops_;
  Executor& executor_;
  std::vector<MarginalIndex> indexes_;
  std::vector<Term> terms_;
  std::vector<ColumnProduct> products_;  // of the terms
  size_t shards_ = 1;
  AlignedFloats lanes_;        // 16 sums for each product, shard after shard
  std::vector<float> slopes_;  // of the products
  AlignedFloats mask_;
  AlignedFloats shares_;
  AlignedFloats gradient_;
};

// Adam on all parameters, with its memory of earlier gradients.
class Optimizer {
 public:
  Optimizer(const RelaxedLayout& layout, const ProjectionRule& rule, const ProjectionLoops& loops,
            Executor& executor)
      : layout_(layout),
        rule_(rule),
        loops_(loops),
        executor_(executor),
        first_(layout.elements()),
        second_(layout.elements()) {}

  void Step(const AlignedFloats& gradient, AlignedFloats& parameters) {
    constexpr double kFirstDecay = 0.9;
    constexpr double kSecondDecay = 0.999;
    first_power_ *= kFirstDecay;
    second_power_ *= kSecondDecay;
    const double done = static_cast<double>(steps_++) / static_cast<double>(rule_.most_steps);
    const double rate =
        static_cast<double>(rule_.rate) * (1 - done * (1 - static_cast<double>(rule_.last_rate)));
    const AdamStep step{.rate = static_cast<float>(rate * std::sqrt(1 - second_power_) / (1 - first_power_)),
                        .first_decay = static_cast<float>(kFirstDecay),
                        .second_decay = static_cast<float>(kSecondDecay),
                        .least_root = 1e-8F,
                        .bound = rule_.bound};
    RunTasks(executor_, layout_.blocks(), [&](size_t block) {
      const FlushToZero flush;
      const size_t start = block * layout_.block_elements();
      loops_.adam(step, gradient.data() + start, layout_.block_elements(), first_.data() + start,
                  second_.data() + start, parameters.data() + start);
    });
  }

 private:
  const RelaxedLayout& layout_;
  const ProjectionRule& rule_;
  const ProjectionLoops& loops_;
  Executor& executor_;
  AlignedFloats first_;
  AlignedFloats second_;
  double first_power_ = 1;
  double second_power_ = 1;
  int64_t steps_ = 0;
};

}  // namespace

absl::StatusOr<Projected> CpuProjector::Project(const ProjectionProblem& problem, RelaxedRows start,
                                                const ProjectionRule& rule, Pacer& pacer,
                                                const Progress& progress) const {
  RETURN_IF_ERROR(CheckProblem(problem, start));
  Projected projected{.rows = std::move(start)};
  const RelaxedLayout& layout = projected.rows.layout;
  Descent descent(problem, layout, rule.relaxation, loops_, executor_);
  Optimizer optimizer(layout, rule, loops_, executor_);
  std::vector<double> losses;
  const auto patience = static_cast<size_t>(std::max<int64_t>(1, rule.patience));
  for (int64_t step = 0; step < rule.most_steps; ++step) {
    ASSIGN_OR_RETURN(const double loss, descent.Evaluate(projected.rows.parameters, pacer));
    losses.push_back(loss);
    if (loss <= rule.enough) break;
    if (losses.size() > patience) {
      const double before = losses[losses.size() - 1 - patience];
      if (before - loss < rule.tolerance * before) break;
    }
    if (rule.slopes == Slopes::kByParameters) descent.FollowRelaxation();
    optimizer.Step(descent.gradient(), projected.rows.parameters);
    progress(static_cast<double>(step + 1) / static_cast<double>(rule.most_steps));
  }
  projected.steps = static_cast<int64_t>(losses.size());
  projected.first_loss = losses.empty() ? 0 : losses.front();
  projected.last_loss = losses.empty() ? 0 : losses.back();
  return projected;
}

AlignedFloats SharesOf(const RelaxedRows& rows, Relaxation relaxation, const ProjectionLoops& loops) {
  const ProjectionProblem nothing;
  Descent descent(nothing, rows.layout, relaxation, loops, OnlyThisThread());
  descent.ComputeShares(rows.parameters);
  return std::move(descent.shares());
}

absl::StatusOr<LossAndGradient> LossAt(const ProjectionProblem& problem, const RelaxedRows& rows,
                                       Relaxation relaxation, const ProjectionLoops& loops,
                                       Executor& executor) {
  RETURN_IF_ERROR(CheckProblem(problem, rows));
  Pacer pacer{std::stop_token()};
  Descent descent(problem, rows.layout, relaxation, loops, executor);
  LossAndGradient result;
  ASSIGN_OR_RETURN(result.loss, descent.Evaluate(rows.parameters, pacer));
  descent.FollowRelaxation();
  result.gradient = std::move(descent.gradient());
  return result;
}

}  // namespace curator::dp
