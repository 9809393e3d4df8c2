#include "client/cli/output/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/text.h"

namespace curator::cli {
namespace {

std::string Joined(const std::vector<std::string>& items, std::string_view separator) {
  std::string text;
  for (const std::string& item : items) {
    if (!text.empty()) text.append(separator);
    text.append(item);
  }
  return text;
}

struct ToDisplayText {
  std::string operator()(std::monostate) const { return "-"; }
  std::string operator()(bool value) const { return value ? "yes" : "no"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return RoundedText(value); }
  std::string operator()(const std::string& value) const { return Printable(value); }
  std::string operator()(const std::vector<std::string>& value) const {
    return value.empty() ? "-" : Printable(Joined(value, ", "));
  }
  std::string operator()(const RawJson&) const { return ""; }
};

struct ForCsv {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return ExactText(value); }
  std::string operator()(const std::string& value) const { return CsvText(value); }
  std::string operator()(const std::vector<std::string>& value) const { return CsvText(Joined(value, ",")); }
  std::string operator()(const RawJson&) const { return ""; }
};

constexpr int kBoundDigits = 6;
// The relative error of outward rounding when a number such as 10 is converted through doubles.
constexpr double kDoubleRounding = 1e-12;

std::string SixDigits(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*g", kBoundDigits, number);
  return text.data();
}

// The nearest text, or the neighbouring one on the safe side; exact where neither is safe.
template <typename IsSafe>
std::string SafeText(double number, double towards, const IsSafe& is_safe) {
  if (std::isinf(number)) return "infinity";
  if (number == 0 || std::isnan(number)) return ExactText(number);
  const double last_digit = std::pow(10.0, std::floor(std::log10(std::abs(number))) - (kBoundDigits - 1));
  for (const double shift : {0.0, 0.5, 1.0}) {
    const std::string text = SixDigits(number + towards * shift * last_digit);
    if (is_safe(std::strtod(text.c_str(), nullptr))) return text;
  }
  return ExactText(number);
}

}  // namespace

std::string ExactText(double number) {
  constexpr double kMostExact = 0x1p53;
  if (std::floor(number) == number && std::abs(number) <= kMostExact)
    return std::to_string(static_cast<int64_t>(number));
  std::array<char, 40> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::string(text.data(), end) : std::string("nan");
}

Value AmountOf(double number) {
  if (!std::isfinite(number)) return std::monostate();
  return ExactText(number);
}

std::string RoundedText(double number) {
  std::array<char, 400> text;
  const bool whole = std::isfinite(number) && std::abs(number) >= 1000 && std::abs(number) < 1e15;
  std::snprintf(text.data(), text.size(), whole ? "%.0f" : "%.4g", number);
  return text.data();
}

std::string RoundedUpText(double number) {
  const double least = number - std::abs(number) * kDoubleRounding;
  return SafeText(number, 1, [least](double shown) { return shown >= least; });
}

std::string RoundedDownText(double number) {
  const double most = number + std::abs(number) * kDoubleRounding;
  return SafeText(number, -1, [most](double shown) { return shown <= most; });
}

namespace {

// `direction` is that of std::ceil() or std::floor(); what is closer to a number than 1e-9 of it is that
// number.
std::string PercentText(double share, double (*direction)(double), double tolerance) {
  const double percent = share * 100;
  if (!(percent > 0)) return "0%";
  const auto places_of = [](double number) {
    constexpr int kMostPlaces = 12;
    return std::clamp(1 - static_cast<int>(std::floor(std::log10(number))), 0, kMostPlaces);
  };
  const double step = std::pow(10, -places_of(percent));
  const double rounded = direction(percent / step * (1 + tolerance)) * step;
  if (!(rounded > 0)) return "0%";
  // What was rounded up to the next power of ten has a digit less.
  return absl::StrFormat("%.*f%%", places_of(rounded * (1 + 1e-12)), rounded);
}

}  // namespace

std::string PercentUpText(double share) {
  return PercentText(
      share, [](double number) { return std::ceil(number); }, -1e-9);
}

std::string PercentDownText(double share) {
  return PercentText(
      share, [](double number) { return std::floor(number); }, 1e-9);
}

std::string Printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    // U+0080..U+009F are control characters too: 0xC2 followed by 0x80..0x9F.
    const bool second_half =
        c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (c < 0x20 || c == 0x7F || second_half) {
      clean.push_back('?');
      if (second_half) ++i;
    } else {
      clean.push_back(text[i]);
    }
  }
  return clean;
}

std::string Shortened(std::string_view text, size_t width, std::string_view cut) {
  if (DisplayWidth(text) <= width) return std::string(text);
  size_t kept = 0;
  for (size_t left = width - 1; kept < text.size();) {
    const std::string_view character =
        text.substr(kept, std::max<size_t>(1, Utf8CharacterLength(text.substr(kept))));
    if (DisplayWidth(character) > left) break;
    left -= DisplayWidth(character);
    kept += character.size();
  }
  return absl::StrCat(std::string(text.substr(0, kept)), std::string(cut));
}

std::string DisplayText(const Value& value) {
  return std::visit(ToDisplayText(), value);
}

std::string CsvField(const Value& value) {
  return std::visit(ForCsv(), value);
}

std::string CsvText(std::string_view text) {
  if (text.find_first_of(",\"\r\n\t") == std::string_view::npos) return Printable(text);
  std::string quoted = "\"";
  // Lines and tabs are a field's own; other control characters would command the terminal that prints it.
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of("\"\r\n\t", begin), text.size());
    quoted += Printable(text.substr(begin, end - begin));
    if (end < text.size()) quoted.append(text[end] == '"' ? 2 : 1, text[end]);
    begin = end + 1;
  }
  quoted.push_back('"');
  return quoted;
}

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
    case v1::STRATEGY_SELECTION:
      return "selection";
    case v1::STRATEGY_RESIDUAL:
      return "residual";
    case v1::STRATEGY_PARITY:
      return "parity";
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
    case v1::Operation::QUEUED:
      return "queued";
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

std::string FormatTime(const google::protobuf::Timestamp& time) {
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

std::string FormatPromise(const v1::BudgetLimit& promise) {
  std::string text = "epsilon " + promise.epsilon();
  if (!promise.delta().empty() && promise.delta() != "0") text += ", delta " + promise.delta();
  return text;
}

std::string FormatEvent(const std::string& event) {
  const std::vector<std::string> parts = absl::StrSplit(event, " + ");
  std::string text;
  for (auto part = parts.begin(); part != parts.end();) {
    const auto next = std::find_if(part, parts.end(), [&part](const auto& each) { return each != *part; });
    const auto count = std::distance(part, next);
    absl::StrAppend(&text, text.empty() ? "" : " + ", count == 1 ? "" : absl::StrCat(count, " x "), *part);
    part = next;
  }
  return text;
}

std::string FormatFraction(const std::string& fraction) {
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
