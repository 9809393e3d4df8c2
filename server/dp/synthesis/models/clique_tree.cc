#include "dp/synthesis/models/clique_tree.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "dp/domain/attribute_set.h"

namespace curator::dp {
namespace {

constexpr int64_t kManyCells = int64_t{1} << 62;
constexpr size_t kBits = 64;

int64_t ProductUpTo(int64_t left, int64_t right) {
  return left > kManyCells / right ? kManyCells : left * right;
}

template <typename Visit>
void ForEachBit(std::span<const uint64_t> mask, Visit visit) {
  for (size_t word = 0; word < mask.size(); ++word) {
    for (uint64_t left = mask[word]; left != 0; left &= left - 1)
      visit(word * kBits + static_cast<size_t>(std::countr_zero(left)));
  }
}

bool HasBit(std::span<const uint64_t> mask, size_t bit) {
  return (mask[bit / kBits] >> (bit % kBits) & 1) != 0;
}

void SetBit(std::span<uint64_t> mask, size_t bit) {
  mask[bit / kBits] |= uint64_t{1} << (bit % kBits);
}

void ClearBit(std::span<uint64_t> mask, size_t bit) {
  mask[bit / kBits] &= ~(uint64_t{1} << (bit % kBits));
}

absl::Status NoTree(const char* why) {
  return absl::InvalidArgumentError(why);
}

}  // namespace

absl::Status CheckTree(const Domain& domain, const AttributeSet& attributes, int64_t max_cells,
                       const CliqueTree& tree) {
  if (tree.empty()) return NoTree("a tree has at least one clique");
  std::set<uint32_t> seen;
  int64_t left = max_cells;
  for (size_t i = 0; i < tree.size(); ++i) {
    const CliqueNode& node = tree[i];
    if (!domain.CheckSet(node.attributes).ok() || !domain.CheckSet(node.separator).ok())
      return NoTree("a clique is a set of attributes of the domain");
    if (i == 0 ? node.parent != 0 || !node.separator.empty() : node.parent >= i)
      return NoTree("a clique follows its parent");
    if (i > 0 && node.separator != Intersection(node.attributes, tree[node.parent].attributes))
      return NoTree("a separator is what a clique shares with its parent");
    for (const uint32_t attribute : Difference(node.attributes, node.separator)) {
      if (!seen.insert(attribute).second) return NoTree("the cliques of an attribute are connected");
    }
    const std::optional<int64_t> cells = domain.CellCount(node.attributes);
    if (!cells || *cells != node.cells || *cells > left)
      return NoTree("a clique has another number of cells");
    left -= *cells;
  }
  if (!std::ranges::equal(seen, attributes)) return NoTree("a tree has every attribute");
  return absl::OkStatus();
}

int64_t CellsOfTree(const CliqueTree& tree) {
  int64_t cells = 0;
  for (const CliqueNode& node : tree) cells = std::min(kManyCells, cells + node.cells);
  return cells;
}

size_t CliqueHolding(const CliqueTree& tree, const AttributeSet& set) {
  size_t best = tree.size();
  for (size_t i = 0; i < tree.size(); ++i) {
    if (best < tree.size() && tree[i].cells >= tree[best].cells) continue;
    if (IsSubset(set, tree[i].attributes)) best = i;
  }
  return best;
}

CliqueGraph::CliqueGraph(const Domain& domain, AttributeSet attributes)
    : attributes_(std::move(attributes)),
      sizes_(domain.SizesOf(attributes_)),
      words_((attributes_.size() + kBits - 1) / kBits),
      neighbours_(attributes_.size(), Mask(words_)) {}

std::vector<CliqueGraph::Mask> CliqueGraph::Connected(const AttributeSet& set) const {
  std::vector<Mask> neighbours = neighbours_;
  for (const uint32_t left : set) {
    for (const uint32_t right : set) {
      if (left != right) SetBit(neighbours[*PositionIn(attributes_, left)], *PositionIn(attributes_, right));
    }
  }
  return neighbours;
}

void CliqueGraph::Connect(const AttributeSet& set) {
  neighbours_ = Connected(set);
}

bool CliqueGraph::Connects(const AttributeSet& set) const {
  for (size_t i = 0; i < set.size(); ++i) {
    const Mask& own = neighbours_[*PositionIn(attributes_, set[i])];
    for (size_t j = i + 1; j < set.size(); ++j) {
      if (!HasBit(own, *PositionIn(attributes_, set[j]))) return false;
    }
  }
  return true;
}

int64_t CliqueGraph::CellsOf(const Mask& clique) const {
  int64_t cells = 1;
  ForEachBit(clique, [&](size_t i) { cells = ProductUpTo(cells, sizes_[i]); });
  return cells;
}

CliqueGraph::Elimination CliqueGraph::Eliminate(std::vector<Mask> neighbours) const {
  const size_t count = attributes_.size();
  std::vector<int64_t> cells(count);
  std::vector<size_t> left(count);  // rising
  std::iota(left.begin(), left.end(), size_t{0});
  const auto recount = [&](size_t i) { cells[i] = ProductUpTo(sizes_[i], CellsOf(neighbours[i])); };
  for (size_t i = 0; i < count; ++i) recount(i);
  Elimination elimination;
  elimination.cliques.resize(count);
  for (size_t step = 0; step < count; ++step) {
    const auto least = std::ranges::min_element(left, {}, [&](size_t i) { return cells[i]; });
    const size_t next = *least;
    left.erase(least);
    const Mask own = neighbours[next];
    ForEachBit(own, [&](size_t i) {
      for (size_t word = 0; word < words_; ++word) neighbours[i][word] |= own[word];
      ClearBit(neighbours[i], i);
      ClearBit(neighbours[i], next);
    });
    ForEachBit(own, recount);
    elimination.order.push_back(next);
    elimination.cliques[next] = own;
    SetBit(elimination.cliques[next], next);
  }
  return elimination;
}

std::vector<CliqueGraph::Node> CliqueGraph::NodesOf(const Elimination& elimination) const {
  std::vector<size_t> place(attributes_.size());  // in the order
  for (size_t i = 0; i < elimination.order.size(); ++i) place[elimination.order[i]] = i;
  std::vector<size_t> node_of(attributes_.size());
  std::vector<Node> nodes;
  for (size_t i = elimination.order.size(); i-- > 0;) {
    const size_t attribute = elimination.order[i];
    Mask above = elimination.cliques[attribute];
    ClearBit(above, attribute);
    size_t first = attributes_.size();  // of those above it, the one that was eliminated first
    ForEachBit(above, [&](size_t other) {
      if (first == attributes_.size() || place[other] < place[first]) first = other;
    });
    const bool is_root = first == attributes_.size();
    if (!is_root && nodes[node_of[first]].clique == above) {
      nodes[node_of[first]].clique = elimination.cliques[attribute];
      node_of[attribute] = node_of[first];
      continue;
    }
    node_of[attribute] = nodes.size();
    nodes.push_back({.clique = elimination.cliques[attribute],
                     .parent = is_root ? 0 : node_of[first],
                     .separator = std::move(above)});
  }
  return nodes;
}

TreeSize CliqueGraph::SizeWith(const AttributeSet& set) const {
  TreeSize size;
  for (const Node& node : NodesOf(Eliminate(Connected(set)))) {
    size.cliques += std::min(CellsOf(node.clique), kManyCells - size.cliques);
    size.largest_separator = std::max(size.largest_separator, CellsOf(node.separator));
  }
  return size;
}

bool CliqueGraph::HasRoomFor(const AttributeSet& set, int64_t max_cells, int64_t max_separator) const {
  int64_t cells = 1;
  for (const uint32_t attribute : set)
    cells = ProductUpTo(cells, sizes_[*PositionIn(attributes_, attribute)]);
  if (cells > max_cells) return false;
  const TreeSize size = SizeWith(set);
  return size.cliques <= max_cells && size.largest_separator <= max_separator;
}

AttributeSet CliqueGraph::SetOf(const Mask& mask) const {
  AttributeSet set;
  ForEachBit(mask, [&](size_t i) { set.push_back(attributes_[i]); });
  return set;
}

CliqueTree CliqueGraph::Tree() const {
  CliqueTree tree;
  for (const Node& node : NodesOf(Eliminate(neighbours_))) {
    tree.push_back({.attributes = SetOf(node.clique),
                    .cells = CellsOf(node.clique),
                    .parent = node.parent,
                    .separator = SetOf(node.separator)});
  }
  return tree;
}

}  // namespace curator::dp
