#include "dp/synthesis/models/clique_tables.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/synthesis/models/portable_math.h"
#include "dp/synthesis/synthesis_memory.h"

namespace curator::dp {
namespace {

constexpr double kMostLogTotal = 60;
constexpr int64_t kMostEffort = int64_t{1} << 50;
constexpr int64_t kMostSteps = int64_t{1} << 60;
// Between kLogOfZero and every logarithm that measurements make.
constexpr double kMostLogOfZero = kLogOfZero / 2;
// Of the cliques' marginals that are held at once for the marginals that are assembled from them.
constexpr int64_t kMostHeldCells = int64_t{1} << 22;

// What to multiply the other end of an edge by, whose cells were `before` and become `after`.
std::vector<float> RatiosOf(std::span<const double> after, std::span<const double> before) {
  std::vector<float> ratios(after.size());
  for (size_t i = 0; i < ratios.size(); ++i)
    ratios[i] = before[i] > 0 ? static_cast<float>(after[i] / before[i]) : 0.0F;
  return ratios;
}

// What is left of a logarithm when every cell has kLogOfZero, as often as each of them has it.
double WithoutZeros(double logarithm) {
  const double times = std::round(logarithm / kLogOfZero);
  return logarithm < kMostLogOfZero && std::isfinite(times) ? logarithm - times * kLogOfZero : logarithm;
}

bool ChangesAnything(std::span<const float> ratios) {
  constexpr float kNothing = 1e-6F;
  return std::ranges::any_of(ratios, [](float ratio) { return !(std::abs(ratio - 1) <= kNothing); });
}

}  // namespace

absl::StatusOr<CliqueTables> CliqueTables::Create(const Domain& domain, CliqueTree tree, Pacer& pacer) {
  CliqueTables tables(domain, std::move(tree));
  for (const CliqueNode& node : tables.tree_) {
    ASSIGN_OR_RETURN(DenseLayout layout, DenseLayout::Create(domain, node.attributes, node.cells));
    RETURN_IF_ERROR(pacer.Advance(1));
    tables.cliques_.push_back(std::make_unique<Clique>(std::move(layout)));
  }
  tables.children_.resize(tables.tree_.size());
  for (size_t i = 1; i < tables.tree_.size(); ++i) {
    const CliqueNode& node = tables.tree_[i];
    Clique& clique = *tables.cliques_[i];
    ASSIGN_OR_RETURN(DenseMarginal below, DenseMarginal::Create(clique.layout, node.separator, pacer));
    ASSIGN_OR_RETURN(DenseMarginal above,
                     DenseMarginal::Create(tables.cliques_[node.parent]->layout, node.separator, pacer));
    clique.below = std::make_unique<DenseMarginal>(std::move(below));
    clique.above = std::make_unique<DenseMarginal>(std::move(above));
    tables.children_[node.parent].push_back(i);
  }
  tables.MakeWalk();
  return tables;
}

void CliqueTables::MakeWalk() {
  struct Visit {
    size_t clique;
    size_t next_child;
  };
  std::vector<Visit> open = {{0, 0}};
  walk_.push_back({.edge = 0, .down = true});
  while (!open.empty()) {
    Visit& visit = open.back();
    if (visit.next_child < children_[visit.clique].size()) {
      const size_t child = children_[visit.clique][visit.next_child++];
      walk_.push_back({.edge = child, .down = true});
      open.push_back({child, 0});
      continue;
    }
    if (visit.clique != 0) walk_.push_back({.edge = visit.clique, .down = false});
    open.pop_back();
  }
}

absl::StatusOr<std::vector<double>> CliqueTables::LogPotentials(size_t index,
                                                                std::span<const LogFactor> factors,
                                                                std::span<const size_t> own,
                                                                Pacer& pacer) const {
  const Clique& clique = *cliques_[index];
  std::vector<double> logarithms(static_cast<size_t>(clique.layout.cells()));
  for (const size_t factor : own) {
    ASSIGN_OR_RETURN(const DenseMarginal marginal,
                     DenseMarginal::Create(clique.layout, factors[factor].set, pacer));
    RETURN_IF_ERROR(marginal.AddTo(factors[factor].logarithms, 0, logarithms, pacer));
  }
  for (const size_t child : children_[index])
    RETURN_IF_ERROR(cliques_[child]->above->AddTo(cliques_[child]->separator, 0, logarithms, pacer));
  return logarithms;
}

// Weights are relative to the largest of their separator's cell, so that no range of the potentials is too
// wide for them; the rest is passed on as logarithms.
absl::Status CliqueTables::Collect(const DenseMarginal& above, std::vector<double> logarithms, Clique& clique,
                                   Pacer& pacer) {
  ASSIGN_OR_RETURN(std::vector<double> largest, above.Largest(logarithms, pacer));
  for (double& cell : largest) cell = -cell;
  RETURN_IF_ERROR(above.AddTo(largest, 0, logarithms, pacer));
  clique.weights.resize(logarithms.size());
  RETURN_IF_ERROR(pacer.InPieces(logarithms.size(), [&](size_t start, size_t length) {
    const auto piece = std::span<const double>(logarithms).subspan(start, length);
    const auto weights = std::span(clique.weights).subspan(start, length);
    ExpBlock(1, piece, weights);
    for (size_t i = 0; i < length; ++i) weights[i] = piece[i] < kMostLogOfZero ? 0.0F : weights[i];
  }));
  ASSIGN_OR_RETURN(clique.separator, above.Sum(clique.weights, pacer));
  for (size_t i = 0; i < largest.size(); ++i)
    clique.separator[i] = PortableLog(clique.separator[i]) - largest[i];
  return absl::OkStatus();
}

absl::Status CliqueTables::Calibrate(double log_base, std::span<const LogFactor> factors, Pacer& pacer) {
  std::vector<std::vector<size_t>> own(tree_.size());
  for (size_t i = 0; i < factors.size(); ++i) {
    const size_t clique = CliqueHolding(tree_, factors[i].set);
    if (clique == tree_.size()) return absl::InvalidArgumentError("no clique holds a factor");
    own[clique].push_back(i);
  }
  ASSIGN_OR_RETURN(const DenseMarginal whole, DenseMarginal::Create(cliques_[0]->layout, {}, pacer));
  for (size_t i = tree_.size(); i-- > 0;) {
    ASSIGN_OR_RETURN(std::vector<double> logarithms, LogPotentials(i, factors, own[i], pacer));
    const DenseMarginal& above = i == 0 ? whole : *cliques_[i]->below;
    RETURN_IF_ERROR(Collect(above, std::move(logarithms), *cliques_[i], pacer));
  }
  Clique& root = *cliques_[0];
  total_ = PortableExp(std::clamp(log_base + WithoutZeros(root.separator[0]), -kMostLogTotal, kMostLogTotal));
  ASSIGN_OR_RETURN(const std::vector<double> sums, whole.Sum(root.weights, pacer));
  const std::vector<float> to_total = {static_cast<float>(total_ / sums[0])};
  RETURN_IF_ERROR(whole.Scale(to_total, root.weights, pacer));
  for (size_t i = 1; i < tree_.size(); ++i) {
    ASSIGN_OR_RETURN(cliques_[i]->separator, cliques_[i]->below->Sum(cliques_[i]->weights, pacer));
    RETURN_IF_ERROR(Carry({.edge = i, .down = true}, pacer));
  }
  return absl::OkStatus();
}

absl::Status CliqueTables::Scale(size_t clique, const DenseMarginal& marginal, std::span<const float> factors,
                                 Pacer& pacer) {
  return marginal.Scale(factors, cliques_[clique]->weights, pacer);
}

absl::Status CliqueTables::Carry(Move move, Pacer& pacer) {
  if (move.edge == 0) return absl::OkStatus();
  Clique& below = *cliques_[move.edge];
  Clique& above = *cliques_[tree_[move.edge].parent];
  ASSIGN_OR_RETURN(std::vector<double> sums, move.down ? below.above->Sum(above.weights, pacer)
                                                       : below.below->Sum(below.weights, pacer));
  const std::vector<float> ratios = RatiosOf(sums, below.separator);
  if (!ChangesAnything(ratios)) return absl::OkStatus();
  below.separator = std::move(sums);
  return move.down ? below.below->Scale(ratios, below.weights, pacer)
                   : below.above->Scale(ratios, above.weights, pacer);
}

// The cliques of the smallest subtree that holds a set, children before parents. Each sums its own marginal
// times what its children pass on, down to what is kept of it: attributes of the set, and the separator
// above.
struct CliqueTables::Assembly {
  struct Part {
    size_t clique = 0;
    AttributeSet held;             // of the clique's marginal
    AttributeSet above;            // of the separator that is divided by
    AttributeSet kept;             // of what the part passes on
    std::vector<size_t> children;  // positions among the parts
    // Of the products with each child in turn: the attributes that are not summed out.
    std::vector<AttributeSet> kept_after;
  };
  AttributeSet set;
  std::vector<Part> parts;

  // For one code of `attribute`, of the set.
  Assembly Without(uint32_t attribute) const {
    const AttributeSet gone = {attribute};
    Assembly rest = *this;
    rest.set = Difference(set, gone);
    for (Part& part : rest.parts) {
      part.held = Difference(part.held, gone);
      part.above = Difference(part.above, gone);
      part.kept = Difference(part.kept, gone);
      for (AttributeSet& kept : part.kept_after) kept = Difference(kept, gone);
    }
    return rest;
  }

  AttributeSet Largest(const Domain& domain) const {
    AttributeSet largest;
    const auto add = [&](const AttributeSet& table) {
      if (CellsUpTo(domain, table, kMostEffort) > CellsUpTo(domain, largest, kMostEffort)) largest = table;
    };
    for (const Part& part : parts) {
      add(part.held);
      for (const AttributeSet& table : part.kept_after) add(table);
    }
    return largest;
  }

  // The attribute of the set to go through code by code, so that tables are smaller: none where they are
  // small enough, or no attribute of the set is in the largest.
  std::optional<uint32_t> Split(const Domain& domain) const {
    const AttributeSet largest = Largest(domain);
    if (CellsUpTo(domain, largest, kMostEffort) <= kMostCellsOfATable) return std::nullopt;
    const AttributeSet removable = Intersection(set, largest);
    const auto widest = std::ranges::max_element(
        removable, {}, [&](uint32_t attribute) { return domain.attributes()[attribute].size(); });
    return widest == removable.end() ? std::nullopt : std::optional(*widest);
  }
};

// What an assembly is made of, part by part.
struct CliqueTables::Pieces {
  std::vector<AttributeTable> held;
  std::vector<AttributeTable> above;
};

CliqueTables::Assembly CliqueTables::AssemblyOf(const AttributeSet& set) const {
  Assembly assembly{.set = set, .parts = {}};
  if (const size_t holding = CliqueHolding(tree_, set); holding < tree_.size()) {
    assembly.parts.push_back(
        {.clique = holding, .held = set, .above = {}, .kept = set, .children = {}, .kept_after = {}});
    return assembly;
  }
  std::vector<AttributeSet> inside(tree_.size());  // the set's attributes in the subtree of each clique
  for (size_t i = tree_.size(); i-- > 0;) {
    inside[i] = Union(inside[i], Intersection(set, tree_[i].attributes));
    if (i > 0 && !inside[i].empty()) inside[tree_[i].parent] = Union(inside[tree_[i].parent], inside[i]);
  }
  size_t top = 0;
  for (size_t i = 1; i < tree_.size(); ++i) {
    if (tree_[i].parent == top && inside[i].size() == set.size()) top = i;
  }
  std::vector<uint8_t> needed(tree_.size());
  needed[top] = 1;
  for (size_t i = top + 1; i < tree_.size(); ++i)
    needed[i] = needed[tree_[i].parent] != 0 && !IsSubset(inside[i], tree_[i].separator) ? 1 : 0;
  std::vector<std::vector<size_t>> children(tree_.size());
  for (size_t i = tree_.size(); i-- > top;) {
    if (needed[i] == 0) continue;
    const AttributeSet own = Intersection(set, tree_[i].attributes);
    Assembly::Part part{.clique = i,
                        .held = own,
                        .above = {},
                        .kept = inside[i],
                        .children = std::move(children[i]),
                        .kept_after = {}};
    if (i != top) {
      part.above = tree_[i].separator;
      part.held = Union(part.held, tree_[i].separator);
      part.kept = Union(part.kept, tree_[i].separator);
      children[tree_[i].parent].push_back(assembly.parts.size());
    }
    for (const size_t child : part.children)
      part.held = Union(part.held, tree_[assembly.parts[child].clique].separator);
    AttributeSet table = part.held;
    for (size_t j = 0; j < part.children.size(); ++j) {
      table = Intersection(Union(table, assembly.parts[part.children[j]].kept), part.kept);
      for (size_t k = j + 1; k < part.children.size(); ++k)
        table = Union(table, tree_[assembly.parts[part.children[k]].clique].separator);
      part.kept_after.push_back(table);
    }
    assembly.parts.push_back(std::move(part));
  }
  return assembly;
}

// The steps of the sums and products, and where it is split those of taking the pieces apart.
int64_t CliqueTables::StepsOf(const Assembly& assembly) const {
  double steps = 0;
  const auto cells = [&](const AttributeSet& set) {
    return static_cast<double>(CellsUpTo(*domain_, set, kMostEffort));
  };
  if (const std::optional<uint32_t> split = assembly.Split(*domain_)) {
    const Assembly rest = assembly.Without(*split);
    steps = static_cast<double>(StepsOf(rest)) + cells(rest.set);
    for (const Assembly::Part& part : rest.parts) steps += cells(part.held) + cells(part.above);
    steps *= static_cast<double>(domain_->attributes()[*split].size());
  } else {
    for (const Assembly::Part& part : assembly.parts) {
      steps += 2 * cells(part.held);
      const AttributeSet* table = &part.held;
      for (size_t j = 0; j < part.children.size(); ++j) {
        steps += 2 * cells(Union(*table, assembly.parts[part.children[j]].kept));
        table = &part.kept_after[j];
        steps += 2 * cells(*table);
      }
    }
  }
  return static_cast<int64_t>(std::min(steps, static_cast<double>(kMostSteps)));
}

CliqueTables::Effort CliqueTables::EffortOf(const AttributeSet& set) const {
  const Assembly assembly = AssemblyOf(set);
  Effort effort{.steps = StepsOf(assembly),
                .largest = CellsUpTo(*domain_, assembly.Largest(*domain_), kMostEffort)};
  for (const Assembly::Part& part : assembly.parts) {
    effort.steps = std::min(
        effort.steps + 2 * DenseMarginal::StepsToSum(cliques_[part.clique]->layout, part.held), kMostSteps);
  }
  return effort;
}

absl::StatusOr<CliqueTables::HeldMarginals> CliqueTables::Hold(std::span<const Assembly> assemblies,
                                                               Pacer& pacer) const {
  HeldMarginals held(tree_.size());
  for (const Assembly& assembly : assemblies) {
    for (const Assembly::Part& part : assembly.parts) held[part.clique].try_emplace(part.held);
  }
  for (size_t i = 0; i < tree_.size(); ++i) {
    std::vector<AttributeSet> asked;
    for (const auto& [set, cells] : held[i]) asked.push_back(set);
    if (asked.empty()) continue;
    ASSIGN_OR_RETURN(std::vector<std::vector<double>> sums,
                     AllMarginals(cliques_[i]->layout, cliques_[i]->weights, asked, pacer));
    for (size_t j = 0; j < asked.size(); ++j) held[i][asked[j]] = std::move(sums[j]);
  }
  return held;
}

CliqueTables::Pieces CliqueTables::PiecesOf(const Assembly& assembly, const HeldMarginals& held) const {
  Pieces pieces;
  for (const Assembly::Part& part : assembly.parts) {
    pieces.held.push_back({.attributes = part.held, .cells = held[part.clique].at(part.held)});
    pieces.above.push_back({.attributes = part.above, .cells = {}});
    if (&part != &assembly.parts.back()) pieces.above.back().cells = cliques_[part.clique]->separator;
  }
  return pieces;
}

absl::StatusOr<AttributeTable> CliqueTables::Assemble(const Assembly& assembly, Pieces pieces,
                                                      Pacer& pacer) const {
  if (const std::optional<uint32_t> split = assembly.Split(*domain_))
    return AssembleByCode(assembly, *split, pieces, pacer);
  std::vector<AttributeTable> passed;
  for (size_t p = 0; p < assembly.parts.size(); ++p) {
    const Assembly::Part& part = assembly.parts[p];
    AttributeTable table = std::move(pieces.held[p]);
    for (size_t i = 0; i < part.children.size(); ++i) {
      ASSIGN_OR_RETURN(table,
                       SumOfProduct(*domain_, table, passed[part.children[i]], part.kept_after[i], pacer));
      passed[part.children[i]] = {};
    }
    if (p + 1 < assembly.parts.size()) RETURN_IF_ERROR(DivideBy(*domain_, pieces.above[p], table, pacer));
    passed.push_back(std::move(table));
  }
  return std::move(passed.back());
}

absl::StatusOr<AttributeTable> CliqueTables::AssembleByCode(const Assembly& assembly, uint32_t split,
                                                            const Pieces& pieces, Pacer& pacer) const {
  const Assembly rest = assembly.Without(split);
  AttributeTable whole{.attributes = assembly.set, .cells = {}};
  whole.cells.resize(static_cast<size_t>(CellsUpTo(*domain_, assembly.set, kMostEffort)));
  for (uint32_t code = 0; code < domain_->attributes()[split].size(); ++code) {
    Pieces at;
    for (size_t p = 0; p < assembly.parts.size(); ++p) {
      at.held.push_back(CellsAt(*domain_, pieces.held[p], split, code));
      at.above.push_back(CellsAt(*domain_, pieces.above[p], split, code));
      RETURN_IF_ERROR(pacer.Advance(std::ssize(at.held.back().cells) + std::ssize(at.above.back().cells)));
    }
    ASSIGN_OR_RETURN(const AttributeTable cells, Assemble(rest, std::move(at), pacer));
    RETURN_IF_ERROR(pacer.Advance(std::ssize(cells.cells)));
    PutCellsAt(*domain_, cells, split, code, whole);
  }
  return whole;
}

absl::StatusOr<std::vector<std::vector<double>>> CliqueTables::Marginals(std::span<const AttributeSet> sets,
                                                                         Pacer& pacer) const {
  std::vector<std::vector<double>> marginals;
  marginals.reserve(sets.size());
  while (marginals.size() < sets.size()) {
    std::vector<Assembly> batch;
    int64_t cells = 0;
    do {
      batch.push_back(AssemblyOf(sets[marginals.size() + batch.size()]));
      for (const Assembly::Part& part : batch.back().parts)
        cells += CellsUpTo(*domain_, part.held, kMostHeldCells);
    } while (cells < kMostHeldCells && marginals.size() + batch.size() < sets.size());
    ASSIGN_OR_RETURN(const HeldMarginals held, Hold(batch, pacer));
    for (const Assembly& assembly : batch) {
      ASSIGN_OR_RETURN(AttributeTable assembled, Assemble(assembly, PiecesOf(assembly, held), pacer));
      marginals.push_back(std::move(assembled.cells));
    }
  }
  return marginals;
}

}  // namespace curator::dp
