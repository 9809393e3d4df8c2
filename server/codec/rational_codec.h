// Quotients in documents: numerator and denominator in lowest terms, so that one value has one encoding.
#pragma once

#include "base/canonical_bytes.h"
#include "dp/accounting/units.h"

namespace curator::codec {

inline void WriteRational(dp::Rational value, CanonicalWriter& out) {
  const dp::Rational reduced = dp::Reduced(value);
  out.Integer(reduced.numerator);
  out.Integer(reduced.denominator);
}

// Refuses the document when the quotient is out of range or not in lowest terms.
inline dp::Rational ReadRational(CanonicalReader& in) {
  dp::Rational value;
  value.numerator = in.Integer();
  value.denominator = in.Integer();
  const bool in_range = value.numerator >= 0 && value.denominator > 0;
  if (!in_range || dp::Reduced(value).denominator != value.denominator) in.Refuse();
  return value;
}

}  // namespace curator::codec
