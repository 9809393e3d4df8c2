#include "tests/statistical/noise_vectors.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/testing/reference_vectors.h"

namespace curator::statistics {
namespace {

// "7", "10/3" or "0.25".
dp::Rational ParseRational(const std::string& text) {
  const size_t slash = text.find('/');
  if (slash != std::string::npos) return {std::stoll(text), std::stoll(text.substr(slash + 1))};
  const size_t point = text.find('.');
  if (point == std::string::npos) return {std::stoll(text), 1};
  int64_t denominator = 1;
  for (size_t i = point + 1; i < text.size(); ++i) denominator *= 10;
  return {std::stoll(text.substr(0, point) + text.substr(point + 1)), denominator};
}

// Below 1e-308, zero: events so rare must not be seen at all.
double ParseReal(const nlohmann::json& decimal) {
  return std::strtod(decimal.get<std::string>().c_str(), nullptr);
}

std::map<int64_t, double> ParseTable(const nlohmann::json& table) {
  std::map<int64_t, double> result;
  for (const auto& [key, value] : table.items()) result[std::stoll(key)] = ParseReal(value);
  return result;
}

}  // namespace

std::vector<Event> NoiseVector::Events() const {
  std::vector<Event> events;
  for (const auto& [x, p] : probability) {
    events.push_back({x, x, p});
    if (x != 0) events.push_back({-x, -x, p});
  }
  for (const auto& [k, p] : at_least) {
    events.push_back({k, Event::kNoLimit, p});
    events.push_back({-Event::kNoLimit, -k, p});
  }
  for (const auto& [k, p] : at_most) {
    events.push_back({-Event::kNoLimit, k, p});
    events.push_back({-k, Event::kNoLimit, p});
  }
  for (const auto& [k, p] : beyond) events.push_back({-k, k, 1 - p});
  return events;
}

std::vector<NoiseVector> ReadNoiseVectors() {
  std::vector<NoiseVector> vectors;
  for (const nlohmann::json& entry : shared::ReferenceCases(kNoiseVectors)) {
    const bool laplace = entry.at("dist") == "discrete_laplace";
    NoiseVector vector;
    vector.id = entry.at("id");
    vector.law = laplace ? NoiseVector::Law::kDiscreteLaplace : NoiseVector::Law::kDiscreteGaussian;
    vector.parameter = ParseRational(entry.at(laplace ? "scale_t_over_s" : "sigma2"));
    vector.variance = ParseReal(entry.at("variance"));
    vector.probability = ParseTable(entry.at("pmf_abs_x"));
    vector.at_least = ParseTable(entry.at("tail_ge"));
    vector.at_most = ParseTable(entry.at("cdf_le"));
    if (entry.contains("abs_tail_gt")) vector.beyond = ParseTable(entry.at("abs_tail_gt"));
    if (entry.contains("normalizer")) vector.normaliser = ParseReal(entry.at("normalizer"));
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

}  // namespace curator::statistics
