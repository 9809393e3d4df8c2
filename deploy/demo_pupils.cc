#include "demo_pupils.h"

#include <algorithm>
#include <ostream>

#include "demo_draws.h"

namespace curator::demo {
namespace {

// A number of mean 0 and of about so many tenths as its standard deviation: twelve uniform numbers, whose sum
// is close to normal.
int Deviation(Draws& draws, int tenths) {
  constexpr int kSteps = 1001;  // the variance of one of 0 .. 1000 is 83500, of twelve 1001^2 - 1
  int sum = 0;
  for (int i = 0; i < 12; ++i) sum += draws.Below(kSteps);
  return (sum - 6 * (kSteps - 1)) * tenths / (kSteps - 1);
}

Pupil DrawPupil(Draws& draws, int school, Sector sector, int school_tenths) {
  Pupil pupil{.school = school, .sector = sector};
  pupil.is_girl = draws.Happens(510);
  const int tenths = school_tenths + Deviation(draws, 120);
  pupil.half_points = std::clamp(tenths / 5, 0, 200);
  return pupil;
}

}  // namespace

std::vector<Pupil> MakePupils(int schools, uint64_t seed) {
  Draws draws(seed);
  std::vector<Pupil> pupils;
  for (int school = 0; school < schools; ++school) {
    const Sector sector = draws.Happens(440) ? Sector::kCatholic : Sector::kPublic;
    const int size = draws.Between(10, 60);
    const int tenths = (sector == Sector::kCatholic ? 550 : 500) + Deviation(draws, 60);
    for (int pupil = 0; pupil < size; ++pupil) pupils.push_back(DrawPupil(draws, school, sector, tenths));
  }
  return pupils;
}

void WriteCsv(const std::vector<Pupil>& pupils, std::ostream& out) {
  out << "school,sector,sex,points\n";
  for (const Pupil& pupil : pupils) {
    out << 'S' << 1000 + pupil.school << ',' << (pupil.sector == Sector::kCatholic ? "catholic" : "public")
        << ',' << (pupil.is_girl ? "girl" : "boy") << ',' << pupil.half_points / 2
        << (pupil.half_points % 2 == 0 ? "" : ".5") << '\n';
  }
}

}  // namespace curator::demo
