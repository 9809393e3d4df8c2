#include "dp/synthesis/models/clique_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "dp/domain/testing_domain.h"

namespace curator::dp {
namespace {

constexpr int64_t kEnough = int64_t{1} << 40;

CliqueTree TreeOf(const Domain& domain, const AttributeSet& attributes,
                  const std::vector<AttributeSet>& sets) {
  CliqueGraph graph(domain, attributes);
  for (const AttributeSet& set : sets) graph.Connect(set);
  return graph.Tree();
}

TEST(CliqueGraph, AttributesThatNothingJoinsAreCliquesByThemselves) {
  const Domain domain = CodedDomain({2, 3, 4});
  const CliqueTree tree = TreeOf(domain, {0, 1, 2}, {});
  ASSERT_EQ(tree.size(), 3U);
  EXPECT_EQ(CellsOfTree(tree), 9);
  for (const CliqueNode& node : tree) {
    EXPECT_EQ(node.attributes.size(), 1U);
    EXPECT_TRUE(node.separator.empty());
  }
}

TEST(CliqueGraph, AChainOfPairsHasTheirCliques) {
  const Domain domain = CodedDomain({2, 3, 4, 5});
  const CliqueTree tree = TreeOf(domain, {0, 1, 2, 3}, {{0, 1}, {1, 2}, {2, 3}});
  ASSERT_EQ(tree.size(), 3U);
  EXPECT_EQ(CellsOfTree(tree), 6 + 12 + 20);
  EXPECT_TRUE(CheckTree(domain, {0, 1, 2, 3}, kEnough, tree).ok());
}

TEST(CliqueGraph, ACycleGetsAChord) {
  const Domain domain = CodedDomain({2, 2, 2, 2});
  const CliqueTree tree = TreeOf(domain, {0, 1, 2, 3}, {{0, 1}, {1, 2}, {2, 3}, {0, 3}});
  ASSERT_EQ(tree.size(), 2U);
  EXPECT_EQ(CellsOfTree(tree), 16);
}

TEST(CliqueGraph, AWideAttributeIsLeftOutOfChords) {
  const Domain domain = CodedDomain({100, 2, 100, 2});
  const CliqueTree tree = TreeOf(domain, {0, 1, 2, 3}, {{0, 1}, {1, 2}, {2, 3}, {0, 3}});
  EXPECT_EQ(CellsOfTree(tree), 2 * 400) << "the chord joins the two narrow attributes";
}

// Over more attributes than a word has bits.
TEST(CliqueGraph, RandomGraphsGiveTreesThatHoldEachSet) {
  std::mt19937_64 random(4);
  for (const size_t attributes : {5U, 12U, 90U}) {
    for (int repetition = 0; repetition < 20; ++repetition) {
      std::vector<int64_t> sizes;
      AttributeSet all;
      for (uint32_t i = 0; i < attributes; ++i) {
        all.push_back(i);
        sizes.push_back(1 + static_cast<int64_t>(random() % 3));
      }
      const Domain domain = CodedDomain(sizes);
      CliqueGraph graph(domain, all);
      std::vector<AttributeSet> sets;
      for (size_t i = 0; i < attributes; ++i) {
        std::set<uint32_t> set;
        while (set.size() < 1 + i % 3) set.insert(static_cast<uint32_t>(random() % attributes));
        sets.emplace_back(set.begin(), set.end());
        const TreeSize size = graph.SizeWith(sets.back());
        graph.Connect(sets.back());
        EXPECT_TRUE(graph.Connects(sets.back()));
        EXPECT_EQ(CellsOfTree(graph.Tree()), size.cliques);
        int64_t largest = 1;
        const CliqueTree grown = graph.Tree();
        for (const CliqueNode& node : grown)
          largest = std::max(largest, domain.CellCount(node.separator).value());
        EXPECT_EQ(size.largest_separator, largest);
      }
      const CliqueTree tree = graph.Tree();
      EXPECT_TRUE(CheckTree(domain, all, kEnough, tree).ok()) << CheckTree(domain, all, kEnough, tree);
      for (const AttributeSet& set : sets) EXPECT_LT(CliqueHolding(tree, set), tree.size());
    }
  }
}

TEST(CliqueGraph, CountsCellsThatDoNotFitANumberAsMany) {
  std::vector<int64_t> sizes(70, 10);
  const Domain domain = CodedDomain(sizes);
  AttributeSet all;
  for (uint32_t i = 0; i < 70; ++i) all.push_back(i);
  const CliqueGraph graph(domain, all);
  EXPECT_GT(graph.SizeWith(all).cliques, kEnough);
  EXPECT_EQ(graph.SizeWith({}).cliques, 700);
}

TEST(CliqueHolding, IsTheSmallest) {
  const Domain domain = CodedDomain({9, 3, 2});
  const CliqueTree tree = TreeOf(domain, {0, 1, 2}, {{0, 1}, {1, 2}});
  EXPECT_EQ(tree[CliqueHolding(tree, {1})].attributes, (AttributeSet{1, 2}));
  EXPECT_EQ(CliqueHolding(tree, {0, 2}), tree.size());
}

class CheckTreeTest : public testing::Test {
 protected:
  absl::Status Check(const CliqueTree& tree) const { return CheckTree(domain_, {0, 1, 2}, 100, tree); }

  Domain domain_ = CodedDomain({2, 3, 4});
  CliqueTree tree_ = {{.attributes = {0, 1}, .cells = 6, .parent = 0, .separator = {}},
                      {.attributes = {1, 2}, .cells = 12, .parent = 0, .separator = {1}}};
};

TEST_F(CheckTreeTest, TakesAJunctionTree) {
  EXPECT_TRUE(Check(tree_).ok());
}

TEST_F(CheckTreeTest, RefusesWhatIsNone) {
  EXPECT_FALSE(Check({}).ok());
  CliqueTree tree = tree_;
  tree[0].separator = {0};
  EXPECT_FALSE(Check(tree).ok()) << "a root with a separator";
  tree = tree_;
  tree[1].parent = 1;
  EXPECT_FALSE(Check(tree).ok()) << "a clique that is its own parent";
  tree = tree_;
  tree[1].separator = {};
  EXPECT_FALSE(Check(tree).ok()) << "a separator without what is shared";
  tree = tree_;
  tree[1].cells = 11;
  EXPECT_FALSE(Check(tree).ok()) << "another number of cells";
  tree = tree_;
  tree.pop_back();
  EXPECT_FALSE(Check(tree).ok()) << "an attribute in no clique";
  tree = tree_;
  tree[1].attributes = {1, 5};
  EXPECT_FALSE(Check(tree).ok()) << "an attribute beyond the domain";
  EXPECT_FALSE(CheckTree(domain_, {0, 1, 2}, 17, tree_).ok()) << "more cells than allowed";
}

TEST_F(CheckTreeTest, RefusesAnAttributeInTwoCliquesThatNothingConnects) {
  const Domain domain = CodedDomain({2, 2, 2, 2});
  const CliqueTree tree = {{.attributes = {0, 1}, .cells = 4, .parent = 0, .separator = {}},
                           {.attributes = {1, 2}, .cells = 4, .parent = 0, .separator = {1}},
                           {.attributes = {0, 3}, .cells = 4, .parent = 1, .separator = {}}};
  EXPECT_FALSE(CheckTree(domain, {0, 1, 2, 3}, 100, tree).ok());
}

}  // namespace
}  // namespace curator::dp
