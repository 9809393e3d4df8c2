// Junction trees: which attributes a product of marginals' factors joins, and the cliques over which such a
// product can be summed exactly.
//
// Two attributes are adjacent when one measured set has both. The graph is triangulated by eliminating, again
// and again, the attribute whose clique has the fewest cells (the first of equals); the maximal cliques that
// this makes form a tree in which the cliques of any one attribute are connected.
//
// Thread-safe: pure functions of public structure, and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "dp/domain/domain.h"

namespace curator::dp {

// A clique, and its edge to the clique above it.
struct CliqueNode {
  AttributeSet attributes;
  int64_t cells = 1;
  size_t parent = 0;       // a position in the tree, less than the clique's own; the root's is its own, 0
  AttributeSet separator;  // the attributes that it shares with its parent; none where they are independent

  bool operator==(const CliqueNode&) const = default;
};

// Parents stand before their children. Every attribute is in at least one clique.
using CliqueTree = std::vector<CliqueNode>;

// INVALID_ARGUMENT unless `tree` is a junction tree over `attributes`, of at most `max_cells` cells in all.
absl::Status CheckTree(const Domain& domain, const AttributeSet& attributes, int64_t max_cells,
                       const CliqueTree& tree);

int64_t CellsOfTree(const CliqueTree& tree);

// In cells, each at most 2^62.
struct TreeSize {
  int64_t cliques = 0;  // of all together
  int64_t largest_separator = 1;
};

// The position of the smallest clique that holds `set`, or tree.size() when none does.
size_t CliqueHolding(const CliqueTree& tree, const AttributeSet& set);

// Of a separator, unless the whole domain is small: what lies on its two sides is assembled for each of its
// cells.
inline constexpr int64_t kMostSeparatorCells = int64_t{1} << 12;

class CliqueGraph {
 public:
  // No two attributes are adjacent. `attributes` is not empty, and within `domain`.
  CliqueGraph(const Domain& domain, AttributeSet attributes);

  // Makes the attributes of `set`, which are among attributes(), adjacent to one another.
  void Connect(const AttributeSet& set);

  // Whether any two attributes of `set` are adjacent.
  bool Connects(const AttributeSet& set) const;

  // Of the tree that Connect(set) would lead to.
  TreeSize SizeWith(const AttributeSet& set) const;

  // Whether the cliques of that tree have at most `max_cells` cells together, and no separator more than
  // `max_separator`.
  bool HasRoomFor(const AttributeSet& set, int64_t max_cells, int64_t max_separator) const;

  CliqueTree Tree() const;

  const AttributeSet& attributes() const { return attributes_; }

 private:
  using Mask = absl::InlinedVector<uint64_t, 4>;  // a bit for each of attributes_

  // What the elimination of all attributes leaves: each one's clique, and the order.
  struct Elimination {
    std::vector<size_t> order;
    std::vector<Mask> cliques;  // of each attribute, when it was eliminated
  };
  Elimination Eliminate(std::vector<Mask> neighbours) const;

  // The cells of a clique, at most 2^62.
  int64_t CellsOf(const Mask& clique) const;

  // The attributes of a clique and its parent, in the order of CliqueTree.
  struct Node {
    Mask clique;
    size_t parent = 0;
    Mask separator;
  };
  std::vector<Node> NodesOf(const Elimination& elimination) const;

  std::vector<Mask> Connected(const AttributeSet& set) const;
  AttributeSet SetOf(const Mask& mask) const;

  AttributeSet attributes_;
  std::vector<int64_t> sizes_;
  size_t words_;
  std::vector<Mask> neighbours_;  // of each attribute, without itself
};

}  // namespace curator::dp
