// The marginals of Adult that results of RAP are reported on.
#pragma once

#include <vector>

#include "dp/domain/domain.h"

namespace curator::bench {

// The 64 triples that public implementations were run on.
inline const std::vector<dp::AttributeSet>& PublicTriples() {
  static const std::vector<dp::AttributeSet> triples = {
      {5, 7, 10},  {5, 8, 12},  {4, 6, 13}, {0, 3, 8},  {1, 3, 5},   {4, 5, 13},  {7, 12, 13}, {5, 9, 13},
      {4, 11, 13}, {1, 7, 9},   {4, 6, 9},  {1, 3, 9},  {3, 6, 7},   {2, 11, 13}, {1, 8, 12},  {2, 3, 4},
      {0, 4, 13},  {6, 10, 13}, {1, 3, 13}, {3, 6, 11}, {3, 4, 6},   {0, 2, 7},   {0, 1, 8},   {1, 6, 7},
      {1, 10, 12}, {1, 5, 6},   {7, 9, 12}, {0, 3, 5},  {4, 7, 10},  {2, 6, 7},   {6, 8, 12},  {1, 4, 5},
      {0, 1, 13},  {2, 3, 8},   {4, 8, 12}, {6, 7, 13}, {6, 8, 10},  {3, 4, 11},  {2, 5, 6},   {0, 12, 13},
      {6, 11, 12}, {3, 5, 12},  {6, 8, 9},  {8, 9, 12}, {3, 12, 13}, {9, 11, 13}, {3, 6, 9},   {2, 3, 13},
      {1, 2, 3},   {3, 5, 13},  {3, 7, 12}, {2, 8, 9},  {0, 6, 7},   {2, 6, 12},  {3, 5, 9},   {4, 6, 12},
      {5, 8, 13},  {0, 8, 9},   {5, 6, 7},  {4, 8, 9},  {4, 8, 10},  {0, 4, 8},   {1, 5, 9},   {1, 5, 7}};
  return triples;
}

}  // namespace curator::bench
