// The questions that the demonstration's table is asked (deploy/quickstart, docs/ANALYST.md), one request or
// more for each class of queries, and requests of several sets.
//
// Plain values: thread-safe.
#pragma once

#include <string>
#include <vector>

#include "dp/domain/domain.h"
#include "dp/workload/measurement.h"

namespace curator::statistics {

// Attributes of as many codes as those of deploy/demo-schema.json, in their order.
dp::Domain DemoSizes();

struct Question {
  std::string words;
  std::vector<dp::QuerySet> sets;
};

// Their groups are those that the server makes of such requests.
std::vector<Question> DemoQuestions();

}  // namespace curator::statistics
