#include "dp/synthesis/dpsyn/affine_plane.h"

namespace curator::dp {
namespace {

bool IsPrime(size_t number) {
  for (size_t divisor = 2; divisor * divisor <= number; ++divisor) {
    if (number % divisor == 0) return false;
  }
  return number >= 2;
}

// The field of q elements, for a prime q, or 4, 8 and 16.
class Field {
 public:
  explicit Field(size_t q) : q_(q), prime_(IsPrime(q)) {}

  size_t Add(size_t a, size_t b) const { return prime_ ? (a + b) % q_ : a ^ b; }

  size_t Multiply(size_t a, size_t b) const {
    if (prime_) return a * b % q_;
    // Polynomials over two elements, modulo x^2+x+1, x^3+x+1 and x^4+x+1.
    const size_t modulus = q_ == 4 ? 7 : q_ == 8 ? 11 : 19;
    size_t product = 0;
    for (; b > 0; b >>= 1) {
      if ((b & 1) == 1) product ^= a;
      a <<= 1;
      if (a >= q_) a ^= modulus;
    }
    return product;
  }

 private:
  size_t q_;
  bool prime_;
};

bool HasField(size_t q) {
  return IsPrime(q) || q == 4 || q == 8 || q == 16;
}

}  // namespace

std::vector<AttributeSet> AffinePlaneLines(size_t points, size_t width) {
  size_t q = 2;
  while (q <= width && (q * q < points || !HasField(q))) ++q;
  if (q > width) return {};
  const Field field(q);
  std::vector<AttributeSet> lines;
  const auto keep = [&](const AttributeSet& line) {
    if (line.size() >= 2) lines.push_back(line);
  };
  // The point (x, y) is q x + y; lines are y = slope x + offset, and x = constant.
  for (size_t slope = 0; slope < q; ++slope) {
    for (size_t offset = 0; offset < q; ++offset) {
      AttributeSet line;
      for (size_t x = 0; x < q; ++x) {
        const size_t point = q * x + field.Add(field.Multiply(slope, x), offset);
        if (point < points) line.push_back(static_cast<uint32_t>(point));
      }
      keep(line);
    }
  }
  for (size_t x = 0; x < q; ++x) {
    AttributeSet line;
    for (size_t point = q * x; point < q * (x + 1) && point < points; ++point)
      line.push_back(static_cast<uint32_t>(point));
    keep(line);
  }
  return lines;
}

}  // namespace curator::dp
