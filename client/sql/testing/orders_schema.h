// The schema that statements are translated for in tests.
#pragma once

#include <cstdlib>

#include "curator/v1/schema.pb.h"
#include "google/protobuf/util/json_util.h"

namespace curator::sql {

// Attributes: region, "Ship Mode" (categories), quantity (integers, one value each), shipdate (days), decade
// (integers, bins of ten), weight (numbers). Measures: price, which may be missing, quantity. A person's
// records share a customer.
inline v1::Schema OrdersSchema() {
  constexpr char kSchema[] = R"({
    "attributes": [
      {"name": "region", "categorical": {"values": ["north", "south"]}, "missing": {"bin": "missing"}},
      {"name": "Ship Mode", "categorical": {"values": ["air", "sea"]}},
      {"name": "quantity", "integer": {"min": 1, "max": 50}},
      {"name": "shipdate", "date": {"from": "1992-01-01", "to": "1998-12-31", "bins": "DAY"}},
      {"name": "decade", "integer": {"min": 1900, "max": 1999, "binWidth": 10}},
      {"name": "weight", "numeric": {"edges": [0, 0.5, 1, 2]}}],
    "measures": [
      {"name": "price", "low": 0, "high": 1000, "resolution": 0.01, "missing": {}},
      {"name": "quantity", "low": 0, "high": 50, "resolution": 1}],
    "unit": {"person": {"idColumn": "customer", "maxRecords": 10}}})";
  v1::Schema schema;
  if (!google::protobuf::util::JsonStringToMessage(kSchema, &schema).ok()) std::abort();
  return schema;
}

}  // namespace curator::sql
