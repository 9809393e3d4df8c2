#include "client/cli/commands/most_rejected.h"

#include <charconv>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace curator::cli {
namespace {

constexpr int64_t kWhole = 1'000'000;
constexpr size_t kMostDecimals = 4;  // of a percentage, in millionths

std::optional<int64_t> WholeNumberIn(std::string_view digits) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty() || digits.front() == '-')
    return std::nullopt;
  return number;
}

// "0.5" is 5,000.
std::optional<int64_t> MillionthsIn(std::string_view percent) {
  const size_t point = percent.find('.');
  std::string digits(percent.substr(0, point));
  std::string decimals(point == std::string_view::npos ? "" : percent.substr(point + 1));
  const bool is_cut = point != std::string_view::npos && decimals.empty();
  if (digits.empty() || is_cut || decimals.size() > kMostDecimals) return std::nullopt;
  decimals.resize(kMostDecimals, '0');
  const std::optional<int64_t> millionths = WholeNumberIn(digits + decimals);
  return millionths && *millionths <= kWhole ? millionths : std::nullopt;
}

}  // namespace

bool MostRejected::IsExceededBy(const v1::ImportRecordsResponse& import) const {
  if (!is_share) return import.rows_rejected() > rows;
  // Rows are below 2^33, so the products are below 2^53.
  return import.rows_rejected() * kWhole > import.rows_read() * millionths;
}

std::string MostRejected::Complaint(const v1::ImportRecordsResponse& import) const {
  return absl::StrCat(import.rows_rejected(), " of ", import.rows_read(), " rows were rejected, more than ",
                      text, " (--max-rejected).");
}

std::optional<MostRejected> ParseMostRejected(const std::string& text) {
  MostRejected most{.text = text};
  if (text.ends_with('%')) {
    const std::optional<int64_t> millionths = MillionthsIn(std::string_view(text).substr(0, text.size() - 1));
    if (!millionths) return std::nullopt;
    most.millionths = *millionths;
    return most;
  }
  const std::optional<int64_t> rows = WholeNumberIn(text);
  if (!rows) return std::nullopt;
  most.rows = *rows;
  most.is_share = false;
  return most;
}

void AddMaxRejected(CLI::App* command, MostRejected& most) {
  command
      ->add_option_function<std::string>(
          "--max-rejected", [&most](const std::string& text) { most = *ParseMostRejected(text); },
          "The exit status is 1 when more rows are rejected: a share or a number. Default: 1%")
      ->type_name("5%|ROWS")
      ->check([](const std::string& text) {
        return ParseMostRejected(text)
                   ? std::string()
                   : "'" + text + "' is neither a share of 0% to 100% nor a number of rows";
      });
}

}  // namespace curator::cli
