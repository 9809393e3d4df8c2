#include "client/sql/constants.h"

#include <cmath>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/sql/places.h"
#include "client/sql/refusal.h"

namespace curator::sql {
namespace {

// A number that a double holds exactly enough is one; others keep their digits as a text.
google::protobuf::Value DecimalValue(const std::string& text) {
  constexpr double kFirstInexact = 0x1p53;  // which other integers are rounded to
  google::protobuf::Value value;
  double number = 0;
  const bool is_read = absl::SimpleAtod(text, &number) && std::isfinite(number);
  if (is_read && (std::abs(number) < kFirstInexact || std::floor(number) != number)) {
    value.set_number_value(number);
  } else {
    value.set_string_value(text);
  }
  return value;
}

bool IsDateType(const tree::TypeName& type) {
  if (type.names().empty()) return false;
  const std::string& name = type.names(type.names_size() - 1).string().text();
  return name == "date" || name == "timestamp";
}

}  // namespace

bool IsConstant(const tree::Node& node) {
  return node.has_constant() || (node.has_cast() && IsConstant(node.cast().argument()));
}

absl::StatusOr<google::protobuf::Value> ConstantOf(std::string_view sql, const tree::Node& node) {
  if (node.has_cast()) {
    const tree::Node& argument = node.cast().argument();
    if (argument.constant().has_string() && IsDateType(node.cast().type())) return ConstantOf(sql, argument);
    return Refusal(sql, PlaceOf(node),
                   "constants are numbers, texts in '...', and dates: DATE '2024-12-31' or its text alone");
  }
  if (node.has_operation()) {
    return Refusal(sql, PlaceOf(node),
                   "constants are not calculated: write the result, such as 42 or DATE '1998-09-02'");
  }
  if (node.has_value_function() || node.has_call()) {
    return Refusal(sql, PlaceOf(node),
                   "functions of constants are not calculated: write the value, such as '2024-12-31'");
  }
  if (node.has_parameter()) return Refusal(sql, PlaceOf(node), "parameters have no values: write the value");
  if (!node.has_constant())
    return Refusal(sql, PlaceOf(node), "a constant is needed here: a number, a text in '...', or a date");
  const tree::Constant& constant = node.constant();
  google::protobuf::Value value;
  switch (constant.value_case()) {
    case tree::Constant::kInteger:
      value.set_number_value(constant.integer().value());
      return value;
    case tree::Constant::kDecimal:
      return DecimalValue(constant.decimal().text());
    case tree::Constant::kString:
      value.set_string_value(constant.string().text());
      return value;
    case tree::Constant::kBoolean:
      return Refusal(sql, constant.location(),
                     "TRUE and FALSE are no values here: write the value of the attribute, such as 'true'");
    case tree::Constant::VALUE_NOT_SET:
      break;
  }
  if (constant.is_null()) {
    return Refusal(sql, constant.location(), "no comparison with NULL is true: write IS NULL or IS NOT NULL");
  }
  return Refusal(sql, constant.location(), "constants are numbers, texts in '...', and dates");
}

absl::StatusOr<double> NumberOf(std::string_view sql, const tree::Node& node, std::string_view what) {
  const tree::Constant& constant = node.constant();
  double number = 0;
  bool is_number = constant.has_integer();
  if (is_number) number = constant.integer().value();
  if (constant.has_decimal()) is_number = absl::SimpleAtod(constant.decimal().text(), &number);
  if (is_number && std::isfinite(number)) return number;
  return Refusal(sql, PlaceOf(node),
                 absl::StrCat(std::string(what), " must be a number, such as 100 or 0.5"));
}

}  // namespace curator::sql
