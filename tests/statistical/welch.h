// Do two sets of timings differ? Welch's t, as in dudect (Reparaz, Balasch, Verbauwhede 2017, "Dude, is my
// code constant time?"): beyond 4.5 in absolute value, a difference is all but certain.
#pragma once

#include <vector>

namespace curator::statistics {

// The t of two samples of at least two values each; 0 when neither varies and both have the same mean.
double WelchT(const std::vector<double>& one, const std::vector<double>& other);

struct TwoSamples {
  std::vector<double> one;
  std::vector<double> other;
};

// Without the values above the `share` quantile of both samples together: interruptions of the machine say
// nothing about the code.
TwoSamples Cropped(const TwoSamples& samples, double share);

}  // namespace curator::statistics
