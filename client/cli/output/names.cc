#include "client/cli/output/names.h"

#include <array>
#include <cstdlib>
#include <ctime>

#include "client/cli/output/text.h"

namespace curator::cli {

std::string NameOf(v1::Rule rule) {
  switch (rule) {
    case v1::RULE_PURE:
      return "pure";
    case v1::RULE_ADVANCED:
      return "advanced";
    case v1::RULE_ZCDP:
      return "zcdp";
    default:
      return "unknown";
  }
}

std::string NameOf(v1::NeighbourRelation neighbours) {
  switch (neighbours) {
    case v1::NEIGHBOUR_RELATION_ADD_REMOVE:
      return "add-remove";
    case v1::NEIGHBOUR_RELATION_REPLACE_ONE:
      return "replace-one";
    default:
      return "unknown";
  }
}

std::string NameOf(v1::DatasetState state) {
  switch (state) {
    case v1::DATASET_STATE_CREATED:
      return "created";
    case v1::DATASET_STATE_SEALED:
      return "sealed";
    case v1::DATASET_STATE_ARCHIVED:
      return "archived";
    default:
      return "unknown";
  }
}

std::string NameOf(v1::Mechanism mechanism) {
  switch (mechanism) {
    case v1::MECHANISM_DISCRETE_LAPLACE:
      return "laplace";
    case v1::MECHANISM_DISCRETE_GAUSSIAN:
      return "gaussian";
    case v1::MECHANISM_UNSPECIFIED:
      return "auto";
    default:
      return "unknown";
  }
}

std::string NameOf(v1::Strategy strategy) {
  switch (strategy) {
    case v1::STRATEGY_DIRECT:
      return "direct";
    case v1::STRATEGY_BASE_HISTOGRAM:
      return "histogram";
    case v1::STRATEGY_TREE:
      return "tree";
    default:
      return "auto";
  }
}

std::string NameOf(v1::Charge::State state) {
  switch (state) {
    case v1::Charge::RESERVED:
      return "reserved";
    case v1::Charge::STARTED:
      return "started";
    case v1::Charge::COMMITTED:
      return "committed";
    case v1::Charge::CANCELLED:
      return "cancelled";
    case v1::Charge::FORFEITED:
      return "forfeited";
    default:
      return "unknown";
  }
}

std::string NameOf(v1::Operation::State state) {
  switch (state) {
    case v1::Operation::RUNNING:
      return "running";
    case v1::Operation::DONE:
      return "done";
    case v1::Operation::FAILED:
      return "failed";
    case v1::Operation::INTERRUPTED:
      return "interrupted";
    default:
      return "unknown";
  }
}

std::string TextOfTime(const google::protobuf::Timestamp& time) {
  if (time.seconds() == 0) return "";
  const std::time_t seconds = time.seconds();
  std::tm parts;
  if (gmtime_r(&seconds, &parts) == nullptr) return "";
  std::array<char, 40> text;
  return std::string(text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts));
}

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const unsigned char byte = static_cast<unsigned char>(c);
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 0x0f]);
  }
  return text;
}

std::string TextOfPromise(const v1::BudgetLimit& promise) {
  std::string text = "epsilon " + promise.epsilon();
  if (!promise.delta().empty() && promise.delta() != "0") text += ", delta " + promise.delta();
  return text;
}

std::string TextOfFraction(const std::string& fraction) {
  constexpr size_t kShort = 12;
  const size_t slash = fraction.find('/');
  if (slash == std::string::npos) return fraction;
  const std::string numerator = fraction.substr(0, slash);
  const std::string denominator = fraction.substr(slash + 1);
  if (denominator == "1" && numerator.size() <= kShort) return numerator;
  const double bottom = std::strtod(denominator.c_str(), nullptr);
  if (!(bottom > 0)) return fraction;
  return RoundedText(std::strtod(numerator.c_str(), nullptr) / bottom);
}

}  // namespace curator::cli
