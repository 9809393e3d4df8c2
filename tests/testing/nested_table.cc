#include "tests/testing/nested_table.h"

#include <algorithm>
#include <random>
#include <sstream>

#include "tests/testing/small_table.h"

namespace curator::testing {

v1::Schema PupilSchema(PupilUnit unit) {
  v1::Schema schema;
  v1::Attribute* sex = schema.add_attributes();
  sex->set_name("sex");
  sex->mutable_categorical()->add_values("F");
  sex->mutable_categorical()->add_values("M");
  v1::Attribute* score = schema.add_attributes();
  score->set_name("score");
  score->mutable_numeric()->set_min(0);
  score->mutable_numeric()->set_max(100);
  score->mutable_numeric()->set_step(0.5);
  schema.mutable_nesting()->set_group_column("school");
  schema.mutable_nesting()->set_response("score");
  if (unit == PupilUnit::kSchool) {
    schema.mutable_unit()->mutable_group()->set_id_column("school");
  } else {
    schema.mutable_unit()->mutable_record();
  }
  return schema;
}

v1::CreateDatasetRequest PupilDataset(PupilUnit unit, const std::string& epsilon) {
  v1::CreateDatasetRequest request = NewDataset("pupils", v1::RULE_ZCDP, epsilon, "1e-6");
  *request.mutable_schema() = PupilSchema(unit);
  return request;
}

std::string PupilCsv(int schools, int each, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::ostringstream csv;
  csv << "school,sex,score\n";
  for (int school = 0; school < schools; ++school) {
    const double mean = 50 + 8 * normal(random);
    for (int pupil = 0; pupil < each; ++pupil) {
      const double score = std::clamp(mean + 10 * normal(random), 0.0, 100.0);
      csv << "school-" << school << ',' << (pupil % 2 == 0 ? 'F' : 'M') << ',' << score << '\n';
    }
  }
  return csv.str();
}

}  // namespace curator::testing
