// Progress at places that are fixed beforehand, so that what is told does not depend on when work ends.
#pragma once

#include "base/progress.h"

namespace curator::dp {

// A piece of work that is `from`..`to` of the whole, told in `count` equal parts. Not thread-safe.
class Milestones {
 public:
  Milestones(const Progress& progress, double from, double to, int count = 10)
      : progress_(progress), from_(from), to_(to), count_(count) {}

  // This share of the piece is done.
  void Reach(double share) {
    while (told_ < count_ && share * count_ >= told_ + 1) {
      ++told_;
      progress_(told_ == count_ ? to_ : from_ + (to_ - from_) * told_ / count_);
    }
  }

  // The piece is done, maybe sooner than planned.
  void Finish() { Reach(1); }

 private:
  const Progress& progress_;
  double from_;
  double to_;
  int count_;
  int told_ = 0;
};

}  // namespace curator::dp
