// The loops of projection_loops.h for one instruction set. Included by projection_loops.cc once for each,
// with
//   CURATOR_LOOPS_NAMESPACE  a namespace of its own
//   CURATOR_LOOPS_WIDTH      floats in a vector of the machine: 4, 8 or 16
//   CURATOR_LOOPS_CHUNK      vectors of rows that fit the machine's registers in the marginal gradient
//   CURATOR_LOOPS_TARGET     the attribute that every function needs: templates and inlined functions do not
//                            take it over from their caller early enough
// There is no guard against a second inclusion, and no header may be included here.
namespace CURATOR_LOOPS_NAMESPACE {

constexpr size_t kWidth = CURATOR_LOOPS_WIDTH;
constexpr size_t kLanes = 16;
constexpr size_t kParts = kLanes / kWidth;
constexpr size_t kChunk = CURATOR_LOOPS_CHUNK;

typedef float Vector __attribute__((vector_size(kWidth * sizeof(float)), may_alias));
typedef int32_t Integers __attribute__((vector_size(kWidth * sizeof(int32_t)), may_alias));
typedef float FourFloats __attribute__((vector_size(16), may_alias));

CURATOR_LOOPS_TARGET inline const Vector& At(const float* floats) {
  return *reinterpret_cast<const Vector*>(floats);
}
CURATOR_LOOPS_TARGET inline Vector& At(float* floats) {
  return *reinterpret_cast<Vector*>(floats);
}

// e^x for x <= 0, 0 taken as e^-87 far below: a Taylor polynomial of degree 6 on |r| <= ln(2)/2.
CURATOR_LOOPS_TARGET inline void Exponential(Vector& x) {
  constexpr float kShift = 12582912.0F;  // 1.5 * 2^23: its last place is 1
  const Vector least = Vector{} - 87.0F;
  x = x > least ? x : least;
  const Vector shifted = x * 1.44269504F + kShift;
  const Vector k = shifted - kShift;
  const Vector r = (x - k * 0.693359375F) + k * 2.12194440e-4F;
  Vector p = r * (1.0F / 720) + (1.0F / 120);
  p = p * r + (1.0F / 24);
  p = p * r + (1.0F / 6);
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const Integers exponent = (reinterpret_cast<const Integers&>(shifted) + 127) << 23;
  x = p * reinterpret_cast<const Vector&>(exponent);
}

// The lanes' sum, always added up in the same tree.
CURATOR_LOOPS_TARGET inline float SumOfLanes(const Vector* parts) {
  alignas(64) float lanes[kLanes];
  for (size_t part = 0; part < kParts; ++part) At(lanes + part * kWidth) = parts[part];
  const auto* four = reinterpret_cast<const FourFloats*>(lanes);
  const FourFloats sums = (four[0] + four[2]) + (four[1] + four[3]);
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

CURATOR_LOOPS_TARGET void Softmax(const float* parameters, const float* mask, size_t size, size_t rows,
                                  float* shares) {
  for (size_t row = 0; row < rows; row += kWidth) {
    Vector largest = At(parameters + row);
    for (size_t column = 1; column < size; ++column) {
      const Vector& x = At(parameters + column * rows + row);
      largest = x > largest ? x : largest;
    }
    Vector sum = {};
    for (size_t column = 0; column < size; ++column) {
      Vector x = At(parameters + column * rows + row) - largest;
      Exponential(x);
      At(shares + column * rows + row) = x;
      sum += x;
    }
    const Vector scale = At(mask + row) / sum;
    for (size_t column = 0; column < size; ++column) At(shares + column * rows + row) *= scale;
  }
}

// Finds the threshold t with sum of max(x - t, 0) = 1 as Michelot 1986 does: from the support of the last t,
// which only shrinks, until it no longer does. Rows that have converged stay as they are while others go on.
CURATOR_LOOPS_TARGET void SparseMax(const float* parameters, const float* mask, size_t size, size_t rows,
                                    float* shares) {
  const Vector none = {};
  for (size_t row = 0; row < rows; row += kWidth) {
    Vector largest = At(parameters + row);
    for (size_t column = 1; column < size; ++column) {
      const Vector& x = At(parameters + column * rows + row);
      largest = x > largest ? x : largest;
    }
    // Relative to the largest parameter, which is always in the support, the threshold is at least -1.
    Vector threshold = none - 1.0F;
    Vector support = none;
    for (bool converged = false; !converged;) {
      Vector sum = none;
      Vector count = none;
      for (size_t column = 0; column < size; ++column) {
        const Vector x = At(parameters + column * rows + row) - largest;
        sum += x > threshold ? x : none;
        count += x > threshold ? none + 1.0F : none;
      }
      const Vector found = (sum - 1.0F) / count;
      const Vector raised = found > threshold ? found : threshold;
      threshold = raised < none ? raised : threshold;
      converged = true;
      for (size_t lane = 0; lane < kWidth; ++lane) converged = converged && count[lane] == support[lane];
      support = count;
    }
    Vector sum = none;
    for (size_t column = 0; column < size; ++column) {
      const Vector x = (At(parameters + column * rows + row) - largest) - threshold;
      const Vector share = x > none ? x : none;
      At(shares + column * rows + row) = share;
      sum += share;
    }
    const Vector scale = At(mask + row) / sum;
    for (size_t column = 0; column < size; ++column) At(shares + column * rows + row) *= scale;
  }
}

CURATOR_LOOPS_TARGET void SoftmaxGradient(const float* shares, size_t size, size_t rows, float* gradient) {
  for (size_t row = 0; row < rows; row += kWidth) {
    Vector mean = {};
    for (size_t column = 0; column < size; ++column)
      mean += At(shares + column * rows + row) * At(gradient + column * rows + row);
    for (size_t column = 0; column < size; ++column) {
      Vector& slope = At(gradient + column * rows + row);
      slope = At(shares + column * rows + row) * (slope - mean);
    }
  }
}

CURATOR_LOOPS_TARGET void SparseMaxGradient(const float* shares, size_t size, size_t rows, float* gradient) {
  const Vector none = {};
  const Vector one = none + 1.0F;
  for (size_t row = 0; row < rows; row += kWidth) {
    Vector sum = none;
    Vector count = none;
    for (size_t column = 0; column < size; ++column) {
      const Vector& share = At(shares + column * rows + row);
      sum += share > none ? At(gradient + column * rows + row) : none;
      count += share > none ? one : none;
    }
    const Vector mean = sum / (count > one ? count : one);
    for (size_t column = 0; column < size; ++column) {
      Vector& slope = At(gradient + column * rows + row);
      const Vector centred = slope - mean;
      slope = At(shares + column * rows + row) > none ? centred : none;
    }
  }
}

// The loops over products of columns. All of them read a strip of 16 rows. What a run's products share, their
// stem and its gradient, stays in registers.

typedef double FourDoubles __attribute__((vector_size(32), aligned(alignof(double)), may_alias));

// The sums of 4 lanes each, that SumOfLanes() adds up first: of lanes 0, 4, 8 and 12, and so on.
CURATOR_LOOPS_TARGET inline void FoldLanes(const Vector* parts, FourFloats& folded) {
#if CURATOR_LOOPS_WIDTH == 4
  folded = (parts[0] + parts[2]) + (parts[1] + parts[3]);
#else
  typedef float EightFloats __attribute__((vector_size(32)));
#if CURATOR_LOOPS_WIDTH == 8
  const EightFloats eight = parts[0] + parts[1];
#else
  const EightFloats eight = __builtin_shufflevector(parts[0], parts[0], 0, 1, 2, 3, 4, 5, 6, 7) +
                            __builtin_shufflevector(parts[0], parts[0], 8, 9, 10, 11, 12, 13, 14, 15);
#endif
  folded =
      __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
#endif
}

// A factor in a product.
template <bool Complemented>
CURATOR_LOOPS_TARGET inline void LoadFactor(const float* share, const float* mask, Vector& factor) {
  if (Complemented) {
    factor = At(mask) - At(share);
  } else {
    factor = At(share);
  }
}

// The product of the columns in the rows of one vector.
template <bool Complemented>
CURATOR_LOOPS_TARGET inline void MultiplyColumns(const float* shares, const float* mask,
                                                 std::span<const uint32_t> offsets, Vector& product) {
  for (const uint32_t offset : offsets) {
    Vector factor;
    LoadFactor<Complemented>(shares + offset, mask, factor);
    product *= factor;
  }
}

// The product of a run's stem with `others` columns, 16 rows of it, folded. Others: their number, or
// kMostFactors for one that is known only at run time.
template <size_t Others, bool Complemented>
CURATOR_LOOPS_TARGET inline void FoldProduct(const float* shares, const float* mask, const Vector* stem,
                                             const uint32_t* offsets, size_t others, FourFloats& folded) {
  Vector products[kParts];
  for (size_t part = 0; part < kParts; ++part) {
    const size_t at = part * kWidth;
    products[part] = stem[part];
    MultiplyColumns<Complemented>(shares + at, mask + at, {offsets, Others == kMostFactors ? others : Others},
                                  products[part]);
  }
  FoldLanes(products, folded);
}

template <size_t Others, bool Complemented>
CURATOR_LOOPS_TARGET void AddRun(const float* shares, const float* mask, const ProductRun& run,
                                 double* sums) {
  Vector stem[kParts];
  for (size_t part = 0; part < kParts; ++part) {
    const size_t at = part * kWidth;
    stem[part] = Vector{} + 1.0F;
    MultiplyColumns<Complemented>(shares + at, mask + at, run.stem, stem[part]);
  }
  const uint32_t* offsets = run.offsets;
  size_t product = 0;
  for (; product + 4 <= run.products; product += 4) {
    FourFloats folded[4];
    for (FourFloats& each : folded) {
      FoldProduct<Others, Complemented>(shares, mask, stem, offsets, run.others, each);
      offsets += run.others;
    }
    const FourFloats first = __builtin_shufflevector(folded[0], folded[1], 0, 4, 1, 5) +
                             __builtin_shufflevector(folded[0], folded[1], 2, 6, 3, 7);
    const FourFloats second = __builtin_shufflevector(folded[2], folded[3], 0, 4, 1, 5) +
                              __builtin_shufflevector(folded[2], folded[3], 2, 6, 3, 7);
    const FourFloats total = __builtin_shufflevector(first, second, 0, 1, 4, 5) +
                             __builtin_shufflevector(first, second, 2, 3, 6, 7);
    *reinterpret_cast<FourDoubles*>(sums + product) += __builtin_convertvector(total, FourDoubles);
  }
  for (; product < run.products; ++product) {
    FourFloats folded;
    FoldProduct<Others, Complemented>(shares, mask, stem, offsets, run.others, folded);
    offsets += run.others;
    sums[product] += static_cast<double>((folded[0] + folded[2]) + (folded[1] + folded[3]));
  }
}

// The slopes of one product's columns beside the stem, in the rows of one vector; adds to the stem's.
template <size_t Others, bool Complemented>
CURATOR_LOOPS_TARGET inline void AddSlopes(const float* shares, const float* mask, const Vector& stem,
                                           const uint32_t* offsets, size_t others, float slope,
                                           float* gradient, Vector& stem_slope) {
  const size_t count = Others == kMostFactors ? others : Others;
  Vector values[Others];
  Vector before[Others];  // the slope, the stem and the factors before
  for (size_t i = 0; i < count; ++i) LoadFactor<Complemented>(shares + offsets[i], mask, values[i]);
  before[0] = stem * slope;
  for (size_t i = 1; i < count; ++i) before[i] = before[i - 1] * values[i - 1];
  At(gradient + offsets[count - 1]) += before[count - 1];
  Vector behind = values[count - 1];
  for (size_t i = count - 1; i-- > 0;) {
    At(gradient + offsets[i]) += before[i] * behind;
    behind *= values[i];
  }
  stem_slope += behind * slope;
}

template <size_t Others, bool Complemented>
CURATOR_LOOPS_TARGET void AddRunGradient(const float* shares, const float* mask, const ProductRun& run,
                                         const float* slopes, float* gradient) {
  for (size_t at = 0; at < kLanes; at += kWidth) {
    const Vector one = Vector{} + 1.0F;
    Vector stem = one;
    MultiplyColumns<Complemented>(shares + at, mask + at, run.stem, stem);
    Vector stem_slope = {};
    const uint32_t* offsets = run.offsets;
    for (size_t product = 0; product < run.products; ++product) {
      AddSlopes<Others, Complemented>(shares + at, mask + at, stem, offsets, run.others,
                                      Complemented ? -slopes[product] : slopes[product], gradient + at,
                                      stem_slope);
      offsets += run.others;
    }
    for (size_t i = 0; i < run.stem.size(); ++i) {
      Vector slope = stem_slope;
      MultiplyColumns<Complemented>(shares + at, mask + at, run.stem.first(i), slope);
      MultiplyColumns<Complemented>(shares + at, mask + at, run.stem.subspan(i + 1), slope);
      At(gradient + run.stem[i] + at) += slope;
    }
  }
}

// The loops for 1 to 5 columns beside the stem, and for any number of them.
template <bool Complemented>
constexpr decltype(&AddRun<1, Complemented>) kAddRun[] = {
    AddRun<1, Complemented>, AddRun<2, Complemented>, AddRun<3, Complemented>,
    AddRun<4, Complemented>, AddRun<5, Complemented>, AddRun<kMostFactors, Complemented>};
template <bool Complemented>
constexpr decltype(&AddRunGradient<1, Complemented>) kAddRunGradient[] = {
    AddRunGradient<1, Complemented>, AddRunGradient<2, Complemented>,
    AddRunGradient<3, Complemented>, AddRunGradient<4, Complemented>,
    AddRunGradient<5, Complemented>, AddRunGradient<kMostFactors, Complemented>};

inline size_t LoopFor(const ProductRun& run) {
  return run.others < 6 ? run.others - 1 : 5;
}

CURATOR_LOOPS_TARGET void AddProducts(const float* shares, const float* mask,
                                      std::span<const ProductRun> runs, double* sums) {
  for (const ProductRun& run : runs) {
    (run.complemented ? kAddRun<true> : kAddRun<false>)[LoopFor(run)](shares, mask, run, sums);
    sums += run.products;
  }
}

CURATOR_LOOPS_TARGET void AddProductGradients(const float* shares, const float* mask,
                                              std::span<const ProductRun> runs, const float* slopes,
                                              float* gradient) {
  for (const ProductRun& run : runs) {
    (run.complemented ? kAddRunGradient<true> : kAddRunGradient<false>)[LoopFor(run)](shares, mask, run,
                                                                                      slopes, gradient);
    slopes += run.products;
  }
}

// The product of a tuple's columns: in place where it is one column, else in `work`.
CURATOR_LOOPS_TARGET inline const float* OuterProduct(const float* shares, const float* mask, size_t rows,
                                                      const MarginalTable& table, size_t tuple, float* work) {
  if (table.outer == 0) return mask;
  const uint32_t* columns = table.outer_columns + tuple * table.outer;
  const float* first = shares + columns[0] * rows;
  if (table.outer == 1) return first;
  for (size_t row = 0; row < rows; row += kWidth) {
    Vector product = At(first + row);
    for (size_t i = 1; i < table.outer; ++i) product *= At(shares + columns[i] * rows + row);
    At(work + row) = product;
  }
  return work;
}

template <size_t Tuples, size_t Codes>
CURATOR_LOOPS_TARGET inline void SumTile(const float* const* outer, const float* inner, size_t rows,
                                         float (&sums)[Tuples][Codes]) {
  Vector parts[Tuples][Codes][kParts];
  for (size_t part = 0; part < kParts; ++part) {
    Vector tile[Tuples][Codes] = {};
    for (size_t row = part * kWidth; row < rows; row += kLanes) {
      Vector codes[Codes];
      for (size_t c = 0; c < Codes; ++c) codes[c] = At(inner + c * rows + row);
      for (size_t t = 0; t < Tuples; ++t) {
        const Vector& tuple = At(outer[t] + row);
        for (size_t c = 0; c < Codes; ++c) tile[t][c] += tuple * codes[c];
      }
    }
    for (size_t t = 0; t < Tuples; ++t) {
      for (size_t c = 0; c < Codes; ++c) parts[t][c][part] = tile[t][c];
    }
  }
  for (size_t t = 0; t < Tuples; ++t) {
    for (size_t c = 0; c < Codes; ++c) sums[t][c] = SumOfLanes(parts[t][c]);
  }
}

template <size_t Tuples>
CURATOR_LOOPS_TARGET inline void SumTuples(const float* shares, const float* mask, size_t rows,
                                           const MarginalTable& table, size_t tuple, float* work,
                                           double* cells) {
  const float* outer[Tuples];
  for (size_t t = 0; t < Tuples; ++t)
    outer[t] = OuterProduct(shares, mask, rows, table, tuple + t, work + t * rows);
  const float* inner = shares + table.inner_first * rows;
  size_t code = 0;
  for (; code + 2 <= table.inner_size; code += 2) {
    float sums[Tuples][2];
    SumTile<Tuples, 2>(outer, inner + code * rows, rows, sums);
    for (size_t t = 0; t < Tuples; ++t) {
      double* cell = cells + table.outer_cells[tuple + t] + code * table.inner_step;
      cell[0] += static_cast<double>(sums[t][0]);
      cell[table.inner_step] += static_cast<double>(sums[t][1]);
    }
  }
  if (code == table.inner_size) return;
  float sums[Tuples][1];
  SumTile<Tuples, 1>(outer, inner + code * rows, rows, sums);
  for (size_t t = 0; t < Tuples; ++t)
    cells[table.outer_cells[tuple + t] + code * table.inner_step] += static_cast<double>(sums[t][0]);
}

CURATOR_LOOPS_TARGET void SumMarginal(const float* shares, const float* mask, size_t rows,
                                      const MarginalTable& table, float* work, double* cells) {
  size_t tuple = 0;
  for (; tuple + 4 <= table.outer_tuples; tuple += 4)
    SumTuples<4>(shares, mask, rows, table, tuple, work, cells);
  for (; tuple < table.outer_tuples; ++tuple) SumTuples<1>(shares, mask, rows, table, tuple, work, cells);
}

// One chunk of rows of the gradient of `Tuples` outer tuples with all codes.
template <size_t Tuples, size_t Chunk>
CURATOR_LOOPS_TARGET inline void AddChunkGradient(const float* const* outer, const float* inner,
                                                  float* inner_gradient, const float* slopes, size_t codes,
                                                  size_t rows, size_t row, float* const* outer_gradient) {
  Vector values[Tuples][Chunk];
  Vector sums[Tuples][Chunk] = {};
  for (size_t t = 0; t < Tuples; ++t) {
    for (size_t i = 0; i < Chunk; ++i) values[t][i] = At(outer[t] + row + i * kWidth);
  }
  for (size_t code = 0; code < codes; ++code) {
    Vector slope[Tuples];
    for (size_t t = 0; t < Tuples; ++t) slope[t] = Vector{} + slopes[t * codes + code];
    for (size_t i = 0; i < Chunk; ++i) {
      const size_t at = code * rows + row + i * kWidth;
      const Vector& share = At(inner + at);
      Vector gradient = At(inner_gradient + at);
      for (size_t t = 0; t < Tuples; ++t) {
        sums[t][i] += slope[t] * share;
        gradient += slope[t] * values[t][i];
      }
      At(inner_gradient + at) = gradient;
    }
  }
  for (size_t t = 0; t < Tuples; ++t) {
    for (size_t i = 0; i < Chunk; ++i) At(outer_gradient[t] + row + i * kWidth) = sums[t][i];
  }
}

// Hands the gradient of a tuple's product on to its columns.
CURATOR_LOOPS_TARGET inline void AddOuterGradient(const float* shares, size_t rows,
                                                  const MarginalTable& table, size_t tuple,
                                                  const float* product_gradient, float* gradient) {
  const uint32_t* columns = table.outer_columns + tuple * table.outer;
  for (size_t i = 0; i < table.outer; ++i) {
    for (size_t row = 0; row < rows; row += kWidth) {
      Vector slope = At(product_gradient + row);
      for (size_t other = 0; other < table.outer; ++other) {
        if (other != i) slope *= At(shares + columns[other] * rows + row);
      }
      At(gradient + columns[i] * rows + row) += slope;
    }
  }
}

template <size_t Tuples>
CURATOR_LOOPS_TARGET inline void AddTuplesGradient(const float* shares, const float* mask, size_t rows,
                                                   const MarginalTable& table, size_t tuple,
                                                   const float* slopes, float* work, float* gradient) {
  const float* outer[Tuples];
  float* outer_gradient[Tuples];
  float* const tuple_slopes = work + 2 * Tuples * rows;
  for (size_t t = 0; t < Tuples; ++t) {
    outer[t] = OuterProduct(shares, mask, rows, table, tuple + t, work + 2 * t * rows);
    outer_gradient[t] = work + (2 * t + 1) * rows;
    const float* cell = slopes + table.outer_cells[tuple + t];
    for (size_t code = 0; code < table.inner_size; ++code)
      tuple_slopes[t * table.inner_size + code] = cell[code * table.inner_step];
  }
  const float* inner = shares + table.inner_first * rows;
  float* inner_gradient = gradient + table.inner_first * rows;
  size_t row = 0;
  for (; row + kChunk * kWidth <= rows; row += kChunk * kWidth) {
    AddChunkGradient<Tuples, kChunk>(outer, inner, inner_gradient, tuple_slopes, table.inner_size, rows, row,
                                     outer_gradient);
  }
  for (; row < rows; row += kWidth) {
    AddChunkGradient<Tuples, 1>(outer, inner, inner_gradient, tuple_slopes, table.inner_size, rows, row,
                                outer_gradient);
  }
  for (size_t t = 0; t < Tuples; ++t)
    AddOuterGradient(shares, rows, table, tuple + t, outer_gradient[t], gradient);
}

CURATOR_LOOPS_TARGET void AddMarginalGradient(const float* shares, const float* mask, size_t rows,
                                              const MarginalTable& table, const float* slopes, float* work,
                                              float* gradient) {
  size_t tuple = 0;
  for (; tuple + 2 <= table.outer_tuples; tuple += 2)
    AddTuplesGradient<2>(shares, mask, rows, table, tuple, slopes, work, gradient);
  for (; tuple < table.outer_tuples; ++tuple)
    AddTuplesGradient<1>(shares, mask, rows, table, tuple, slopes, work, gradient);
}

CURATOR_LOOPS_TARGET inline void SquareRoots(Vector& values) {
  for (size_t lane = 0; lane < kWidth; ++lane) values[lane] = __builtin_sqrtf(values[lane]);
}

CURATOR_LOOPS_TARGET void Adam(const AdamStep& step, const float* gradient, size_t count, float* first,
                               float* second, float* parameters) {
  const Vector bound = Vector{} + step.bound;
  for (size_t i = 0; i < count; i += kWidth) {
    const Vector& slope = At(gradient + i);
    Vector& mean = At(first + i);
    Vector& square = At(second + i);
    mean = mean * step.first_decay + slope * (1.0F - step.first_decay);
    square = square * step.second_decay + (slope * slope) * (1.0F - step.second_decay);
    Vector root = square;
    SquareRoots(root);
    const Vector moved = At(parameters + i) - (mean * step.rate) / (root + step.least_root);
    const Vector below = moved < bound ? moved : bound;
    At(parameters + i) = below > -bound ? below : -bound;
  }
}

constexpr ProjectionLoops kLoops = {CURATOR_LOOPS_NAME,  Softmax,     SparseMax,           SoftmaxGradient,
                                    SparseMaxGradient,   AddProducts, AddProductGradients, SumMarginal,
                                    AddMarginalGradient, Adam};

}  // namespace CURATOR_LOOPS_NAMESPACE
