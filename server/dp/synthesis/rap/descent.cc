#include "dp/synthesis/rap/descent.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>
#include <utility>

#include "base/status_macros.h"

namespace curator::dp {
namespace {

// Cells that one task computes answers for, at least.
constexpr size_t kCellsPerTask = size_t{1} << 15;

// At least this many of these tasks run between two checks of the pacer.
constexpr size_t kLeastTasks = 8;

constexpr size_t kMostThreads = 64;
constexpr size_t kMostShards = 64;

// Calls task(0, ...), ..., task(count - 1, ...), in any order, on the cores that are free. The second
// argument is the number of the calling thread.
void RunTasks(Executor& executor, size_t count, const std::function<void(size_t, size_t)>& task) {
  if (count == 1) return task(0, 0);
  std::atomic<size_t> next = 0;
  executor.RunOnFreeCores(static_cast<int>(std::min(count, kMostThreads)), [&](int thread) {
    for (size_t i = next++; i < count; i = next++) task(i, static_cast<size_t>(thread));
  });
}

// The more products, the more memory the sums of a shard take.
size_t ShardsFor(size_t products, size_t blocks) {
  constexpr size_t kMany = size_t{1} << 15;
  return std::min<size_t>(blocks, products == 0 ? kMostShards : products <= kMany ? 16 : 4);
}

// The marginal cut into parts of about `cells` cells. The loops take two tuples of a marginal at once: so
// does each part, and its cells come to the same bits wherever it is cut.
std::vector<MarginalTable> PartsOf(const MarginalTable& whole, size_t cells) {
  const size_t stride = std::max<size_t>(2, cells / whole.inner_size / 2 * 2);
  std::vector<MarginalTable> parts;
  for (size_t tuple = 0; tuple < whole.outer_tuples; tuple += stride) {
    MarginalTable& part = parts.emplace_back(whole);
    part.outer_tuples = std::min(stride, whole.outer_tuples - tuple);
    part.outer_columns += tuple * whole.outer;
    part.outer_cells += tuple;
  }
  return parts;
}

// Steps are a cell in a block of rows, or a parameter.
absl::Status CountAhead(size_t steps, Pacer& pacer) {
  return pacer.InPieces(steps, [](size_t, size_t) {});
}

}  // namespace

Descent::Descent(const ProjectionProblem& problem, ProductList products, Relaxation relaxation,
                 GradientMode gradient_mode, const ProjectionLoops& loops, Executor& executor,
                 RelaxedRows& rows)
    : problem_(problem),
      layout_(rows.layout),
      relaxation_(relaxation),
      gradient_mode_(gradient_mode),
      loops_(loops),
      executor_(executor),
      parameters_(rows.parameters),
      products_(std::move(products)),
      shards_(ShardsFor(products_.size(), rows.layout.blocks())),
      product_sums_(shards_ * products_.size()),
      product_slopes_(products_.size()),
      mask_(RowMask(rows.layout)),
      shares_(rows.layout.elements()) {
  cells_ = products_.size();
  for (const MarginalAnswer& marginal : problem.marginals) {
    indexes_.emplace_back(layout_, marginal.positions);
    marginal_slopes_.emplace_back(indexes_.back().cells());
    cells_ += indexes_.back().cells();
    widest_ = std::max(widest_, indexes_.back().inner_size());
  }
  // A pass reads products twice.
  at_once_ = (cells_ + products_.size()) * shards_ <= static_cast<size_t>(Pacer::kMostSteps);
}

absl::StatusOr<double> Descent::Loss(Pacer& pacer) {
  std::vector<Stage> stages;
  AppendLossStages(stages);
  RETURN_IF_ERROR(Pass(stages, pacer));
  return UpdateAnswers(pacer);
}

absl::StatusOr<double> Descent::StepToLoss(const AdamStep& step, Pacer& pacer) {
  std::vector<Stage> stages = GradientStages();
  stages.push_back(MoveStage(step));
  AppendLossStages(stages);
  RETURN_IF_ERROR(Pass(stages, pacer));
  return UpdateAnswers(pacer);
}

absl::Status Descent::LastStep(const AdamStep& step, Pacer& pacer) {
  std::vector<Stage> stages = GradientStages();
  stages.push_back(MoveStage(step));
  return Pass(stages, pacer);
}

std::vector<Descent::Stage> Descent::GradientStages() {
  if (gradient_.size() == 0)
    gradient_ = AlignedFloats((at_once_ ? shards_ : layout_.blocks()) * layout_.block_elements());
  std::vector<Stage> stages;
  stages.push_back({.work = [this](size_t block, float* gradient) {
    std::fill_n(gradient, layout_.block_elements(), 0.0F);
    Prefetch(block);
  }});
  for (size_t first = 0; first < indexes_.size();) {
    const size_t most_cells = static_cast<size_t>(Pacer::kMostSteps) / shards_;
    const size_t end = EndOfPortion(first, most_cells);
    size_t cells = 0;
    for (size_t i = first; i < end; ++i) cells += indexes_[i].cells();
    if (cells > most_cells) {  // of a single one
      for (const MarginalTable& part : PartsOf(indexes_[first].table(), most_cells)) {
        stages.push_back(
            {part.outer_tuples * part.inner_size, [this, first, part](size_t block, float* gradient) {
               AlignedFloats work = MarginalWork(layout_, widest_);
               AddMarginalGradient(first, part, block, work.data(), gradient);
             }});
      }
      first = end;
      continue;
    }
    stages.push_back({cells, [this, first, end](size_t block, float* gradient) {
                        AlignedFloats work = MarginalWork(layout_, widest_);
                        for (size_t i = first; i < end; ++i)
                          AddMarginalGradient(i, indexes_[i].table(), block, work.data(), gradient);
                      }});
    first = end;
  }
  for (const ProductBatch& batch : products_.batches()) {
    stages.push_back({batch.products, [this, &batch](size_t block, float* gradient) {
                        for (size_t strip = 0; strip < Rows(); strip += AlignedFloats::kLine) {
                          loops_.add_product_gradients(SharesOf(block) + strip, MaskOf(block) + strip,
                                                       batch.runs, product_slopes_.data() + batch.first,
                                                       gradient + strip);
                        }
                      }});
  }
  if (gradient_mode_ == GradientMode::kByParameters) {
    stages.push_back(
        {.work = [this](size_t block, float* gradient) { ApplyRelaxationGradient(block, gradient); }});
  }
  return stages;
}

Descent::Stage Descent::MoveStage(const AdamStep& step) {
  if (first_moments_.size() == 0) {
    first_moments_ = AlignedFloats(layout_.elements());
    second_moments_ = AlignedFloats(layout_.elements());
  }
  return {.work = [this, step](size_t block, const float* gradient) {
    const size_t start = block * layout_.block_elements();
    loops_.adam(step, gradient, layout_.block_elements(), first_moments_.data() + start,
                second_moments_.data() + start, parameters_.data() + start);
  }};
}

void Descent::AppendLossStages(std::vector<Stage>& stages) {
  std::ranges::fill(product_sums_, 0.0);
  stages.push_back({.work = [this](size_t block, float*) { ComputeShares(block); }});
  for (const ProductBatch& batch : products_.batches()) {
    stages.push_back(
        {batch.products, [this, &batch](size_t block, float*) {
           double* const sums = product_sums_.data() + block % shards_ * products_.size() + batch.first;
           for (size_t strip = 0; strip < Rows(); strip += AlignedFloats::kLine)
             loops_.add_products(SharesOf(block) + strip, MaskOf(block) + strip, batch.runs, sums);
         }});
  }
}

// Each product has a sum of its own, and a block's gradients are added in the order of the stages: where the
// work is cut does not change a bit.
absl::Status Descent::Pass(const std::vector<Stage>& stages, Pacer& pacer) {
  RETURN_IF_ERROR(CountAhead(layout_.elements(), pacer));
  size_t cells = 1;
  for (const Stage& stage : stages) cells = at_once_ ? cells + stage.cells : std::max(cells, stage.cells);
  // The blocks of each shard between two checks of the pacer.
  const size_t blocks = std::max<size_t>(1, static_cast<size_t>(Pacer::kMostSteps) / (cells * shards_));
  const size_t stride = at_once_ ? stages.size() : 1;
  for (size_t first = 0; first < layout_.blocks(); first += blocks * shards_) {
    const size_t end = std::min(layout_.blocks(), first + blocks * shards_);
    for (size_t stage = 0; stage < stages.size(); stage += stride) {
      const auto section = std::span(stages).subspan(stage, stride);
      size_t steps = 0;
      for (const Stage& each : section) steps += each.cells * (end - first);
      RETURN_IF_ERROR(CountAhead(steps, pacer));
      PassSection(section, first, end);
    }
  }
  return absl::OkStatus();
}

void Descent::PassSection(std::span<const Stage> stages, size_t first_block, size_t end_block) {
  RunTasks(executor_, std::min(shards_, end_block - first_block), [&](size_t shard, size_t thread) {
    const FlushToZero flush;
    for (size_t block = first_block + shard; block < end_block; block += shards_) {
      const size_t place = at_once_ ? thread : block;
      float* const gradient =
          gradient_.size() == 0 ? nullptr : gradient_.data() + place * layout_.block_elements();
      for (const Stage& stage : stages) stage.work(block, gradient);
    }
  });
}

// The following stages read columns in any order; loading them in sequence first is faster.
void Descent::Prefetch(size_t block) const {
  const float* const shares = shares_.data() + block * layout_.block_elements();
  for (size_t i = 0; i < layout_.block_elements(); i += AlignedFloats::kLine) __builtin_prefetch(shares + i);
}

void Descent::ComputeShares(size_t block) {
  const auto relax = relaxation_ == Relaxation::kSoftmax ? loops_.softmax : loops_.sparsemax;
  for (size_t i = 0; i < layout_.sizes().size(); ++i) {
    const size_t start = layout_.first_columns()[i] * Rows();
    relax(parameters_.data() + block * layout_.block_elements() + start, MaskOf(block), layout_.sizes()[i],
          Rows(), SharesOf(block) + start);
  }
}

void Descent::AddMarginalGradient(size_t marginal, const MarginalTable& table, size_t block, float* work,
                                  float* gradient) {
  loops_.add_marginal_gradient(SharesOf(block), MaskOf(block), Rows(), table,
                               marginal_slopes_[marginal].data(), work, gradient);
}

// Turns the gradient by the shares into that by the parameters.
void Descent::ApplyRelaxationGradient(size_t block, float* gradient) {
  const auto turn = relaxation_ == Relaxation::kSoftmax ? loops_.softmax_gradient : loops_.sparsemax_gradient;
  for (size_t i = 0; i < layout_.sizes().size(); ++i) {
    const size_t start = layout_.first_columns()[i] * Rows();
    turn(SharesOf(block) + start, layout_.sizes()[i], Rows(), gradient + start);
  }
}

size_t Descent::EndOfPortion(size_t first, size_t most_cells) const {
  size_t end = first;
  size_t cells = 0;
  while (end < indexes_.size() && (end == first || cells + indexes_[end].cells() <= most_cells))
    cells += indexes_[end++].cells();
  return end;
}

absl::StatusOr<double> Descent::UpdateAnswers(Pacer& pacer) {
  double loss = 0;
  for (size_t first = 0; first < indexes_.size();) {
    const size_t end = EndOfPortion(first, static_cast<size_t>(Pacer::kMostSteps) / layout_.blocks());
    ASSIGN_OR_RETURN(const double of_portion, UpdateMarginals(first, end, pacer));
    loss += of_portion;
    first = end;
  }
  return loss + UpdatePolynomials();
}

Descent::Miss Descent::MissOf(double sum, float given, float weight) const {
  const double error = sum / static_cast<double>(layout_.rows()) - static_cast<double>(given);
  return {.loss = static_cast<double>(weight) * error * error,
          .slope = 2 * weight * static_cast<float>(error)};
}

std::vector<Descent::Piece> Descent::PiecesOf(size_t first, size_t end) const {
  std::vector<Piece> pieces;
  for (size_t i = first; i < end; ++i) {
    for (const MarginalTable& part : PartsOf(indexes_[i].table(), kCellsPerTask)) pieces.push_back({i, part});
  }
  return pieces;
}

absl::StatusOr<double> Descent::UpdateMarginals(size_t first, size_t end, Pacer& pacer) {
  std::vector<std::vector<double>> sums(end - first);
  for (size_t i = first; i < end; ++i) sums[i - first].resize(indexes_[i].cells());
  const std::vector<Piece> pieces = PiecesOf(first, end);
  for (size_t piece = 0; piece < pieces.size();) {
    // As many as fit between two checks of the pacer, but some for each core.
    const size_t begin = piece;
    size_t steps = 0;
    while (piece < pieces.size() &&
           (piece - begin < kLeastTasks || steps < static_cast<size_t>(Pacer::kMostSteps))) {
      const MarginalTable& table = pieces[piece++].table;
      steps += table.outer_tuples * table.inner_size * layout_.blocks();
    }
    RETURN_IF_ERROR(CountAhead(steps, pacer));
    RunTasks(executor_, piece - begin, [&](size_t task, size_t) {
      const FlushToZero flush;
      const auto& [marginal, table] = pieces[begin + task];
      AlignedFloats work = MarginalWork(layout_, table.inner_size);
      for (size_t block = 0; block < layout_.blocks(); ++block) {
        loops_.sum_marginal(SharesOf(block), MaskOf(block), Rows(), table, work.data(),
                            sums[marginal - first].data());
      }
    });
  }
  double loss = 0;
  for (size_t i = first; i < end; ++i) {
    const MarginalAnswer& given = problem_.marginals[i];
    for (size_t cell = 0; cell < given.answers.size(); ++cell) {
      const Miss miss = MissOf(sums[i - first][cell], given.answers[cell], given.weight);
      loss += miss.loss;
      marginal_slopes_[i][cell] = miss.slope;
    }
  }
  return loss;
}

double Descent::UpdatePolynomials() {
  double loss = 0;
  std::ranges::fill(product_slopes_, 0.0F);
  auto product = products_.product_of_term().begin();
  for (const PolynomialAnswer& given : problem_.polynomials) {
    const auto first = product;
    double sum = static_cast<double>(given.constant) * static_cast<double>(layout_.rows());
    for (const ProductTerm& term : given.terms)
      sum += static_cast<double>(term.coefficient) * SumOverShards(*product++);
    const Miss miss = MissOf(sum, given.answer, given.weight);
    loss += miss.loss;
    product = first;
    for (const ProductTerm& term : given.terms) product_slopes_[*product++] += miss.slope * term.coefficient;
  }
  return loss;
}

double Descent::FollowedNoise(const Descent& shadow, double shift) const {
  double followed = 0;
  for (size_t i = 0; i < marginal_slopes_.size(); ++i) {
    // A slope is 2 * weight * (answer - given), and a standard deviation 1 / sqrt(weight).
    double apart = 0;
    for (size_t cell = 0; cell < indexes_[i].cells(); ++cell) {
      apart += static_cast<double>(ShadowSign(i, cell)) *
               static_cast<double>(shadow.marginal_slopes_[i][cell] - marginal_slopes_[i][cell]);
    }
    const double scale = 2 * shift * std::sqrt(static_cast<double>(problem_.marginals[i].weight));
    followed += static_cast<double>(indexes_[i].cells()) + apart / scale;
  }
  return followed;
}

double Descent::SumOverShards(size_t product) const {
  double sum = 0;
  for (size_t shard = 0; shard < shards_; ++shard) sum += product_sums_[shard * products_.size() + product];
  return sum;
}

}  // namespace curator::dp
