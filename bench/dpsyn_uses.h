// What records are used for: every fifth record of a table is held out, the others are published, and what is
// learnt from records drawn from the model (as many as it estimates) is tried on the records held out, beside
// what is learnt from the published records themselves, and from next to nothing.
//
//   classify  logistic regression of the last attribute, which is binary: the share of records that it gets
//             wrong, beside that of always guessing the more frequent value
//   regress   least squares of each number on all other attributes: the mean squared error, in steps of the
//             codes, beside that of answering the mean
//   cluster   eight centres of the numbers, each scaled to [0, 1]: the mean squared distance to the nearest
//             one, beside that to the mean
//   uses      these three, of the same records
//   omit      as classify, of all attributes but one, for each
//   pairs     for each pair with the last attribute, sum |p - q| between published and drawn records, beside
//             that of independence; and what the first repetition measured
//
// The request is for all pairs; workload=last asks for those with the last attribute alone.
#pragma once

#include <string>

namespace curator::dp {

bool IsUse(const std::string& name);

// With the program's arguments: USE TABLE METHOD RULE EPSILON [REPETITIONS] [key=value]...; prints means over
// repetitions with their standard errors.
int MeasureUse(int argc, char** argv);

}  // namespace curator::dp
