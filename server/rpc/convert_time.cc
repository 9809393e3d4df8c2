#include "rpc/convert_time.h"

#include "base/errors.h"
#include "google/protobuf/util/time_util.h"

namespace curator::rpc {

absl::Status CheckTime(std::string_view field, const google::protobuf::Timestamp& time) {
  using google::protobuf::util::TimeUtil;
  const bool is_time = time.seconds() >= TimeUtil::kTimestampMinSeconds &&
                       time.seconds() <= TimeUtil::kTimestampMaxSeconds && time.nanos() >= 0 &&
                       time.nanos() < 1'000'000'000;
  return is_time ? absl::OkStatus() : InvalidField(field, "must be a time of the years 1 to 9999");
}

}  // namespace curator::rpc
