// The loops over products of columns, for one instruction set: a part of projection_loops_body.h.
//
// All of them look at a strip of 16 rows. What a run's products share, their stem and its slopes, stays in
// registers.

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
