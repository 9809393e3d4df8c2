// Invented pupils in invented schools, for demonstrations of nested data. As in demo_population.h, the same
// seed gives the same pupils on every machine.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

namespace curator::demo {

enum class Sector { kPublic, kCatholic };

struct Pupil {
  int school = 0;  // a number from 0
  Sector sector = Sector::kPublic;
  bool is_girl = false;
  int half_points = 0;  // of a test of 0 to 100 points, in halves: 0 to 200
};

// `schools` schools of 10 to 60 pupils. Points are close to normal: around 50 (public) or 55 (Catholic), with
// a standard deviation of 6 between schools of a sector and of 12 within schools; pupils come school by
// school.
std::vector<Pupil> MakePupils(int schools, uint64_t seed);

// CSV with a header line. The columns are the attributes of deploy/demo-pupils-schema.json and `school`.
void WriteCsv(const std::vector<Pupil>& pupils, std::ostream& out);

}  // namespace curator::demo
