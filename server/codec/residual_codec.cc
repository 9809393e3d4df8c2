#include "codec/residual_codec.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "codec/query_bytes.h"
#include "dp/queries/linear_queries.h"

namespace curator::codec {
namespace {

constexpr size_t kBytesOfAWeight = 4;

std::string BytesOfWeights(const std::vector<int32_t>& weights) {
  std::string bytes;
  bytes.reserve(weights.size() * kBytesOfAWeight);
  for (const int32_t weight : weights) {
    for (const int shift : {24, 16, 8, 0})
      bytes.push_back(static_cast<char>((static_cast<uint32_t>(weight) >> shift) & 0xff));
  }
  return bytes;
}

int32_t WeightOf(std::string_view bytes) {
  uint32_t bits = 0;
  for (const char byte : bytes) bits = (bits << 8) | static_cast<unsigned char>(byte);
  return static_cast<int32_t>(bits);
}

dp::AxisQueries ReadAxis(CanonicalReader& reader) {
  const std::string bytes = reader.Text();
  dp::AxisQueries axis;
  if (bytes.size() % kBytesOfAWeight != 0 || bytes.size() / kBytesOfAWeight > dp::kMostAxisWeights) {
    reader.Refuse();
    return axis;
  }
  axis.weights.reserve(bytes.size() / kBytesOfAWeight);
  for (size_t at = 0; at < bytes.size(); at += kBytesOfAWeight) {
    const int32_t weight = WeightOf(std::string_view(bytes).substr(at, kBytesOfAWeight));
    if (weight < -dp::kLargestWeight || weight > dp::kLargestWeight) reader.Refuse();
    axis.weights.push_back(weight);
  }
  if (!axis.weights.empty()) axis.variance_factor = reader.Integer();
  if (axis.variance_factor < 1 || axis.variance_factor > dp::kLargestVarianceFactor) reader.Refuse();
  return axis;
}

dp::ProductGroup ReadProductGroup(CanonicalReader& reader) {
  dp::ProductGroup group{.attributes = ReadSet(reader), .axes = {}};
  if (group.attributes.size() > dp::kMostProductAxes ||
      std::ranges::adjacent_find(group.attributes, std::greater_equal<>()) != group.attributes.end())
    reader.Refuse();
  for (size_t i = 0; i < group.attributes.size() && reader.ok(); ++i) {
    const int64_t axis = reader.Integer();
    if (axis < 0 || axis > UINT32_MAX) reader.Refuse();
    group.axes.push_back(static_cast<uint32_t>(axis));
  }
  group.multiplier = reader.Integer();
  if (group.multiplier < 1 || group.multiplier > dp::kLargestProductWeight) reader.Refuse();
  return group;
}

dp::Rational ReadPositive(CanonicalReader& reader) {
  const dp::Rational value{reader.Integer(), reader.Integer()};
  if (value.numerator <= 0 || value.denominator <= 0 || dp::Reduced(value).denominator != value.denominator)
    reader.Refuse();
  return value;
}

// Whether each set occurs once, and each attribute has one axis, which exists.
bool AreOfOneMeasurement(const dp::ProductQueries& queries) {
  std::set<dp::AttributeSet> sets;
  std::map<uint32_t, uint32_t> axis_of;
  for (const dp::ProductGroup& group : queries.groups) {
    if (!sets.insert(group.attributes).second) return false;
    for (size_t i = 0; i < group.axes.size(); ++i) {
      if (group.axes[i] >= queries.axes.size()) return false;
      if (axis_of.try_emplace(group.attributes[i], group.axes[i]).first->second != group.axes[i])
        return false;
    }
  }
  return true;
}

}  // namespace

void WriteResidual(CanonicalWriter& writer, const dp::ResidualMeasurement& residual) {
  const dp::ProductQueries& queries = residual.queries;
  writer.Integer(static_cast<int64_t>(queries.axes.size()));
  for (const dp::AxisQueries& axis : queries.axes) {
    writer.Text(BytesOfWeights(axis.weights));
    if (!axis.weights.empty()) writer.Integer(axis.variance_factor);
  }
  writer.Integer(static_cast<int64_t>(queries.groups.size()));
  for (size_t i = 0; i < queries.groups.size(); ++i) {
    const dp::ProductGroup& group = queries.groups[i];
    WriteSet(writer, group.attributes);
    for (const uint32_t axis : group.axes) writer.Integer(axis);
    writer.Integer(group.multiplier);
    const dp::Rational parameter = dp::Reduced(residual.sigma_squared[i]);
    writer.Integer(parameter.numerator);
    writer.Integer(parameter.denominator);
  }
}

size_t BytesOf(const dp::ResidualMeasurement& residual) {
  constexpr size_t kNumber = 8;
  constexpr size_t kNumbersOfAGroup = 4;  // of attributes, the multiplier, and the parameter
  size_t bytes = 2 * kNumber;
  for (const dp::AxisQueries& axis : residual.queries.axes)
    bytes += kNumber + kBytesOfAWeight * axis.weights.size() + (axis.weights.empty() ? 0 : kNumber);
  for (const dp::ProductGroup& group : residual.queries.groups)
    bytes += kNumber * (kNumbersOfAGroup + group.attributes.size() + group.axes.size());
  return bytes;
}

dp::ResidualMeasurement ReadResidual(CanonicalReader& reader) {
  constexpr int64_t kLeastBytesOfAGroup = 8 * 4;  // no attributes, the multiplier, and the parameter
  dp::ResidualMeasurement residual;
  residual.queries.axes.resize(static_cast<size_t>(reader.Count()));
  for (dp::AxisQueries& axis : residual.queries.axes) axis = ReadAxis(reader);
  for (int64_t left = reader.Count(kLeastBytesOfAGroup); left > 0 && reader.ok(); --left) {
    residual.queries.groups.push_back(ReadProductGroup(reader));
    residual.sigma_squared.push_back(ReadPositive(reader));
  }
  if (residual.queries.groups.empty() || (reader.ok() && !AreOfOneMeasurement(residual.queries)))
    reader.Refuse();
  return residual;
}

}  // namespace curator::codec
