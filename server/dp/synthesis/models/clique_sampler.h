// Records of a product over cliques, by rounding: the number of records in each cell of a clique is what is
// expected there, rounded up or down, given the cells of the cliques above it. So the errors of a sample are
// those of rounding, not those of independent draws.
//
// Each record by itself is a random draw: where a cell's number is rounded is random, and so is the order of
// the records. Everything here is a function of public tables and of the bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/noise/bit_source.h"
#include "dp/synthesis/models/clique_tables.h"

namespace curator::dp {

// Immutable and thread-safe.
class CliqueSampler {
 public:
  // Of consistent tables. All must outlive it.
  CliqueSampler(const Domain& domain, const CliqueTables& tables, const AttributeSet& attributes);

  // `rows` records (below 2^32), each the codes of the attributes, one after another.
  std::vector<uint32_t> Draw(BitSource& bits, int64_t rows) const;

  // Bytes for each cell of the tables, and for each code of Draw().
  static constexpr int64_t kBytesOfACell = 16;
  static constexpr int64_t kBytesOfACode = 4;
  static constexpr int64_t kBytesOfARecord = 40;

 private:
  // The cells of a clique, in the order of the separator's cells that they lie in.
  struct Ordered {
    std::vector<uint32_t> cells;
    std::vector<uint32_t> first;       // of each cell of the separator, among `cells`; and their number
    std::vector<size_t> columns;       // where each attribute is in a record
    std::vector<size_t> above;         // positions in `columns` of the separator's attributes
    std::vector<int64_t> sizes;        // of each attribute
    std::vector<int64_t> above_sizes;  // of the separator's
  };
  Ordered OrderOf(size_t clique) const;

  // The records, by the cell of a clique's separator that they lie in.
  struct Groups {
    std::vector<uint32_t> first;    // of each cell, among `members`; and their number
    std::vector<uint32_t> members;  // rows
  };
  Groups GroupsOf(const Ordered& own, std::span<const uint32_t> records) const;

  // Gives each record its codes of a clique, whose separator's codes it has already.
  void Deal(size_t clique, BitBuffer& words, std::vector<uint32_t>& records) const;

  const CliqueTables& tables_;
  size_t width_;  // the attributes of a record
  std::vector<Ordered> ordered_;
};

}  // namespace curator::dp
