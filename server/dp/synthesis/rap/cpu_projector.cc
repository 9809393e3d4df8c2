#include "dp/synthesis/rap/cpu_projector.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/synthesis/rap/product_list.h"
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
      if (std::ranges::count(term.columns, column) > 1)
        return absl::InvalidArgumentError(absl::StrCat("a term has column ", column, " twice"));
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
//
// A block of rows is looked at twice in a step: on the way to the answers, when its shares are computed and
// its products summed, and on the way back, when their slopes become its gradient. What belongs to a block
// stays in a core's caches meanwhile; only whole marginals look at all blocks in between.
class Descent {
 public:
  Descent(const ProjectionProblem& problem, const RelaxedLayout& layout, Relaxation relaxation,
          const ProjectionLoops& loops, Executor& executor)
      : problem_(problem),
        layout_(layout),
        relaxation_(relaxation),
        loops_(loops),
        executor_(executor),
        products_(problem.polynomials, layout),
        sums_(kShards * products_.size()),
        slopes_(products_.size()),
        mask_(RowMask(layout)),
        shares_(layout.elements()),
        gradient_(layout.elements()) {
    for (const MarginalAnswer& marginal : problem.marginals)
      indexes_.emplace_back(layout, marginal.positions);
  }

  // The loss at `parameters`.
  absl::StatusOr<double> Loss(const AlignedFloats& parameters, Pacer& pacer) {
    RETURN_IF_ERROR(CountAhead(layout_.elements(), pacer));
    std::ranges::fill(sums_, 0.0);
    RETURN_IF_ERROR(InSections(pacer, [&](const Section& section) {
      RunTasks(executor_, kShards, [&](size_t shard) {
        const FlushToZero flush;
        for (size_t block = section.first_block; block < section.end_block; ++block) {
          if (block % kShards != shard) continue;
          if (section.is_first) ComputeShares(parameters, block);
          SumProducts(section.batch, block, sums_.data() + shard * products_.size());
        }
      });
    }));
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
    return loss + FollowPolynomials();
  }

  // Calls use(block) when gradient() holds what belongs to that block at the parameters of the last Loss(),
  // maybe from several threads.
  absl::Status FollowGradient(Slopes slopes, Pacer& pacer, const std::function<void(size_t)>& use) {
    return InSections(pacer, [&](const Section& section) {
      RunTasks(executor_, section.end_block - section.first_block, [&](size_t task) {
        const FlushToZero flush;
        const size_t block = section.first_block + task;
        float* const gradient = gradient_.data() + block * layout_.block_elements();
        if (section.is_first && problem_.marginals.empty())
          std::fill_n(gradient, layout_.block_elements(), 0.0F);
        if (section.is_first && section.batch.products > 0) BringNear(SharesOf(block));
        for (size_t strip = 0; strip < Rows(); strip += AlignedFloats::kLine) {
          loops_.add_product_gradients(SharesOf(block) + strip, MaskOf(block) + strip, section.batch.runs,
                                       slopes_.data() + section.batch.first, gradient + strip);
        }
        if (!section.is_last) return;
        if (slopes == Slopes::kByParameters) FollowRelaxation(block, gradient);
        use(block);
      });
    });
  }

  AlignedFloats& gradient() { return gradient_; }
  AlignedFloats& shares() { return shares_; }

 private:
  // Blocks are summed by shards, each in the order of its blocks, so that two cores add in the same order as
  // one.
  static constexpr size_t kShards = 4;

  // Some blocks of rows, and some of the products in them: what is done between two looks at the pacer.
  struct Section {
    size_t first_block = 0;
    size_t end_block = 0;
    ProductBatch batch;
    bool is_first = true;  // of those over the same blocks
    bool is_last = true;
  };

  // Each product has a sum of its own, and a block's gradients are added in the order of the products: where
  // the work is cut does not change a bit.
  template <typename Work>
  absl::Status InSections(Pacer& pacer, Work work) {
    const std::vector<ProductBatch> none(1);
    const std::vector<ProductBatch>& batches = products_.size() == 0 ? none : products_.batches();
    const size_t products = std::clamp<size_t>(products_.size(), 1, ProductList::kBatch);
    const size_t blocks = std::max(kShards, static_cast<size_t>(Pacer::kMostSteps) / products);
    for (size_t first = 0; first < layout_.blocks(); first += blocks) {
      const size_t end = std::min(layout_.blocks(), first + blocks);
      for (const ProductBatch& batch : batches) {
        RETURN_IF_ERROR(CountAhead(batch.products * (end - first), pacer));
        work(Section{first, end, batch, &batch == &batches.front(), &batch == &batches.back()});
      }
    }
    return absl::OkStatus();
  }

  // Forgets the gradient as well where marginals will add to it on the way to the answers.
  void ComputeShares(const AlignedFloats& parameters, size_t block) {
    const auto relax = relaxation_ == Relaxation::kSoftmax ? loops_.softmax : loops_.sparsemax;
    const size_t start = block * layout_.block_elements();
    for (size_t i = 0; i < layout_.sizes().size(); ++i) {
      const size_t first = start + layout_.first_columns()[i] * Rows();
      relax(parameters.data() + first, MaskOf(block), layout_.sizes()[i], Rows(), shares_.data() + first);
    }
    if (!problem_.marginals.empty()) std::fill_n(gradient_.data() + start, layout_.block_elements(), 0.0F);
  }

  // Turns the gradient by the shares into that by the parameters.
  void FollowRelaxation(size_t block, float* gradient) {
    const auto turn =
        relaxation_ == Relaxation::kSoftmax ? loops_.softmax_gradient : loops_.sparsemax_gradient;
    for (size_t i = 0; i < layout_.sizes().size(); ++i) {
      const size_t start = layout_.first_columns()[i] * Rows();
      turn(SharesOf(block) + start, layout_.sizes()[i], Rows(), gradient + start);
    }
  }

  void SumProducts(const ProductBatch& batch, size_t block, double* sums) {
    for (size_t strip = 0; strip < Rows(); strip += AlignedFloats::kLine)
      loops_.add_products(SharesOf(block) + strip, MaskOf(block) + strip, batch.runs, sums + batch.first);
  }

  // Products read columns in any order; from afar they come faster one after the other.
  void BringNear(const float* shares) const {
    for (size_t i = 0; i < layout_.block_elements(); i += AlignedFloats::kLine)
      __builtin_prefetch(shares + i);
  }

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

  // The loss of all polynomials, from the sums of their products; and the products' slopes.
  double FollowPolynomials() {
    double loss = 0;
    std::ranges::fill(slopes_, 0.0F);
    auto product = products_.product_of_term().begin();
    for (const PolynomialAnswer& given : problem_.polynomials) {
      const auto first = product;
      double sum = static_cast<double>(given.constant) * static_cast<double>(layout_.rows());
      for (const ProductTerm& term : given.terms)
        sum += static_cast<double>(term.coefficient) * SumOverShards(*product++);
      const float slope = SlopeOf(sum, given.answer, given.weight, loss);
      product = first;
      for (const ProductTerm& term : given.terms) slopes_[*product++] += slope * term.coefficient;
    }
    return loss;
  }

  double SumOverShards(size_t product) const {
    double sum = 0;
    for (size_t shard = 0; shard < kShards; ++shard) sum += sums_[shard * products_.size() + product];
    return sum;
  }

  const ProjectionProblem& problem_;
  const RelaxedLayout& layout_;
  const Relaxation relaxation_;
  const ProjectionLoops& loops_;
  Executor& executor_;
  std::vector<MarginalIndex> indexes_;
  const ProductList products_;
  std::vector<double> sums_;   // of the products over the rows of a shard, shard after shard
  std::vector<float> slopes_;  // of the products
  const AlignedFloats mask_;
  AlignedFloats shares_;
  AlignedFloats gradient_;
};

// Adam on all parameters, with its memory of earlier gradients.
class Optimizer {
 public:
  Optimizer(const RelaxedLayout& layout, const ProjectionRule& rule, const ProjectionLoops& loops)
      : layout_(layout), rule_(rule), loops_(loops), first_(layout.elements()), second_(layout.elements()) {}

  // The next step, to be taken block by block with StepBlock().
  void NextStep() {
    constexpr double kFirstDecay = 0.9;
    constexpr double kSecondDecay = 0.999;
    first_power_ *= kFirstDecay;
    second_power_ *= kSecondDecay;
    const double done = static_cast<double>(steps_++) / static_cast<double>(rule_.most_steps);
    const double rate =
        static_cast<double>(rule_.rate) * (1 - done * (1 - static_cast<double>(rule_.last_rate)));
    step_ = {.rate = static_cast<float>(rate * std::sqrt(1 - second_power_) / (1 - first_power_)),
             .first_decay = static_cast<float>(kFirstDecay),
             .second_decay = static_cast<float>(kSecondDecay),
             .least_root = 1e-8F,
             .bound = rule_.bound};
  }

  // Different threads may step different blocks.
  void StepBlock(size_t block, const AlignedFloats& gradient, AlignedFloats& parameters) {
    const FlushToZero flush;
    const size_t start = block * layout_.block_elements();
    loops_.adam(step_, gradient.data() + start, layout_.block_elements(), first_.data() + start,
                second_.data() + start, parameters.data() + start);
  }

 private:
  const RelaxedLayout& layout_;
  const ProjectionRule& rule_;
  const ProjectionLoops& loops_;
  AlignedFloats first_;
  AlignedFloats second_;
  AdamStep step_;
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
  Optimizer optimizer(layout, rule, loops_);
  std::vector<double> losses;
  const auto patience = static_cast<size_t>(std::max<int64_t>(1, rule.patience));
  for (int64_t step = 0; step < rule.most_steps; ++step) {
    ASSIGN_OR_RETURN(const double loss, descent.Loss(projected.rows.parameters, pacer));
    losses.push_back(loss);
    if (loss <= rule.enough) break;
    if (losses.size() > patience) {
      const double before = losses[losses.size() - 1 - patience];
      if (before - loss < rule.tolerance * before) break;
    }
    optimizer.NextStep();
    RETURN_IF_ERROR(descent.FollowGradient(rule.slopes, pacer, [&](size_t block) {
      optimizer.StepBlock(block, descent.gradient(), projected.rows.parameters);
    }));
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
  Pacer pacer{std::stop_token()};
  descent.Loss(rows.parameters, pacer).IgnoreError();  // nothing to fit, and nobody who stops it
  return std::move(descent.shares());
}

absl::StatusOr<LossAndGradient> LossAt(const ProjectionProblem& problem, const RelaxedRows& rows,
                                       Relaxation relaxation, const ProjectionLoops& loops,
                                       Executor& executor) {
  RETURN_IF_ERROR(CheckProblem(problem, rows));
  Pacer pacer{std::stop_token()};
  Descent descent(problem, rows.layout, relaxation, loops, executor);
  LossAndGradient result;
  ASSIGN_OR_RETURN(result.loss, descent.Loss(rows.parameters, pacer));
  RETURN_IF_ERROR(descent.FollowGradient(Slopes::kByParameters, pacer, [](size_t) {}));
  result.gradient = std::move(descent.gradient());
  return result;
}

}  // namespace curator::dp
