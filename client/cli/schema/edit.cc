#include "client/cli/schema/edit.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/output/text.h"
#include "dp/domain/numbers.h"
#include "rpc/convert_attribute.h"

namespace curator::cli {
namespace {

using Kind = v1::Attribute::KindCase;

constexpr char kSkip[] = "-";  // the answer that takes away what is in brackets

// What is wrong with an answer; empty when it was taken.
using Complaint = std::string;

constexpr bool kMayBeEmpty = true;

struct Question {
  const char* name;
  const char* explanation;
  bool (*applies)(const v1::Attribute& attribute);
  std::string (*current)(const v1::Attribute& attribute);
  Complaint (*take)(v1::Attribute& attribute, const std::string& answer);
  bool may_be_empty = false;
};

bool IsNumber(const v1::Attribute& attribute) {
  return attribute.has_integer() || attribute.has_numeric() || attribute.has_coded();
}

std::vector<std::string> SplitAnswer(const std::string& answer, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(answer);
  for (std::string part; std::getline(stream, part, separator);) {
    const std::string trimmed(dp::TrimBlanks(part));
    if (!trimmed.empty()) parts.push_back(trimmed);
  }
  return parts;
}

template <typename Texts>
std::string Joined(const Texts& texts, const char* separator) {
  std::string joined;
  for (const std::string& text : texts) absl::StrAppend(&joined, joined.empty() ? "" : separator, text);
  return joined;
}

std::vector<std::string> WordsOfAnswer(const std::string& answer) {
  std::vector<std::string> words;
  std::istringstream stream(answer);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// ---- The kind

std::string CurrentKind(const v1::Attribute& attribute) {
  switch (attribute.kind_case()) {
    case Kind::kCategorical:
      return "categorical";
    case Kind::kInteger:
      return "integer";
    case Kind::kNumeric:
      return "numeric";
    case Kind::kCoded:
      return "coded";
    case Kind::kDate:
      return "date";
    case Kind::KIND_NOT_SET:
      break;
  }
  return "";
}

Complaint TakeKind(v1::Attribute& attribute, const std::string& answer) {
  if (answer == CurrentKind(attribute)) return "";
  v1::Attribute changed;
  changed.set_name(attribute.name());
  if (attribute.has_missing()) *changed.mutable_missing() = attribute.missing();
  if (!attribute.reading().column().empty())
    changed.mutable_reading()->set_column(attribute.reading().column());
  if (answer == "categorical") {
    changed.mutable_categorical();
  } else if (answer == "integer") {
    changed.mutable_integer();
  } else if (answer == "numeric") {
    changed.mutable_numeric();
  } else if (answer == "coded") {
    changed.mutable_coded();
  } else if (answer == "date") {
    changed.mutable_date();
  } else {
    return "it is one of categorical, integer, numeric, coded and date; or leave, to leave the column out";
  }
  attribute = std::move(changed);
  return "";
}

// ---- What a kind needs

std::string CurrentValues(const v1::Attribute& attribute) {
  return Joined(attribute.categorical().values(), " | ");
}

Complaint TakeValues(v1::Attribute& attribute, const std::string& answer) {
  const std::vector<std::string> values = SplitAnswer(answer, '|');
  if (values.empty()) return "write at least one value";
  attribute.mutable_categorical()->mutable_values()->Assign(values.begin(), values.end());
  return "";
}

std::string CurrentCatchAll(const v1::Attribute& attribute) {
  return attribute.categorical().catch_all();
}

Complaint TakeCatchAll(v1::Attribute& attribute, const std::string& answer) {
  attribute.mutable_categorical()->clear_catch_all();
  if (answer != kSkip) attribute.mutable_categorical()->set_catch_all(answer);
  return "";
}

std::string CurrentOrder(const v1::Attribute& attribute) {
  return attribute.categorical().ordered() ? "yes" : "no";
}

Complaint TakeOrder(v1::Attribute& attribute, const std::string& answer) {
  if (answer != "yes" && answer != "no") return "yes or no";
  attribute.mutable_categorical()->set_ordered(answer == "yes");
  return "";
}

// "Female = f, w | Male = m"
std::string CurrentSpellings(const v1::Attribute& attribute) {
  std::vector<std::string> of_values;
  for (const v1::Synonym& synonyms : attribute.reading().synonyms())
    of_values.push_back(absl::StrCat(synonyms.value(), " = ", Joined(synonyms.texts(), ", ")));
  return Joined(of_values, " | ");
}

Complaint TakeSpellings(v1::Attribute& attribute, const std::string& answer) {
  attribute.mutable_reading()->clear_synonyms();
  if (answer == kSkip) return "";
  for (const std::string& of_value : SplitAnswer(answer, '|')) {
    const size_t sign = of_value.find('=');
    const std::vector<std::string> texts =
        sign == std::string::npos ? std::vector<std::string>() : SplitAnswer(of_value.substr(sign + 1), ',');
    if (texts.empty()) return "write a value, =, and its other texts: Female = f, w | Male = m";
    v1::Synonym& synonyms = *attribute.mutable_reading()->add_synonyms();
    synonyms.set_value(std::string(dp::TrimBlanks(std::string_view(of_value).substr(0, sign))));
    synonyms.mutable_texts()->Assign(texts.begin(), texts.end());
  }
  return "";
}

std::string CurrentIntegers(const v1::Attribute& attribute) {
  const v1::Integer& kind = attribute.integer();
  if (!WhatIsUnfilled(attribute).empty()) return "";
  const std::string range = absl::StrCat(kind.min(), " ", kind.max());
  return kind.has_bin_width() ? absl::StrCat(range, " ", kind.bin_width()) : range;
}

Complaint TakeIntegers(v1::Attribute& attribute, const std::string& answer) {
  std::vector<int64_t> numbers;
  for (const std::string& word : WordsOfAnswer(answer)) {
    const auto number = dp::ReadInteger(word);
    if (!std::holds_alternative<int64_t>(number)) return absl::StrCat("\"", word, "\" is no integer");
    numbers.push_back(std::get<int64_t>(number));
  }
  if (numbers.size() < 2 || numbers.size() > 3) return "write the least, the largest and the width: 0 119 10";
  v1::Integer& kind = *attribute.mutable_integer();
  kind.set_min(numbers[0]);
  kind.set_max(numbers[1]);
  kind.clear_bin_width();
  if (numbers.size() == 3) kind.set_bin_width(numbers[2]);
  return "";
}

std::string CurrentNumbers(const v1::Attribute& attribute) {
  const v1::Numeric& kind = attribute.numeric();
  if (kind.has_step()) {
    return absl::StrCat(dp::WriteNumber(kind.min()), " ", dp::WriteNumber(kind.max()), " by ",
                        dp::WriteNumber(kind.step()));
  }
  std::vector<std::string> edges;
  for (const double edge : kind.edges()) edges.push_back(dp::WriteNumber(edge));
  return Joined(edges, " ");
}

Complaint TakeNumbers(v1::Attribute& attribute, const std::string& answer) {
  std::vector<std::string> words = WordsOfAnswer(answer);
  const bool is_even = words.size() == 4 && words[2] == "by";
  if (is_even) words.erase(words.begin() + 2);
  std::vector<double> numbers;
  for (const std::string& word : words) {
    const auto number = dp::ReadNumber(word);
    if (!std::holds_alternative<double>(number)) return absl::StrCat("\"", word, "\" is no number");
    numbers.push_back(std::get<double>(number));
  }
  if (numbers.size() < 2) return "write 0 5000 by 250, or the edges of the bins: 0 0.5 10 100";
  v1::Numeric& kind = *attribute.mutable_numeric();
  kind.Clear();
  if (is_even) {
    kind.set_min(numbers[0]);
    kind.set_max(numbers[1]);
    kind.set_step(numbers[2]);
  } else {
    kind.mutable_edges()->Assign(numbers.begin(), numbers.end());
  }
  return "";
}

std::string CurrentSize(const v1::Attribute& attribute) {
  return attribute.coded().size() == 0 ? "" : absl::StrCat(attribute.coded().size());
}

Complaint TakeSize(v1::Attribute& attribute, const std::string& answer) {
  const auto size = dp::ReadInteger(answer);
  if (!std::holds_alternative<int64_t>(size)) return "write how many codes there are: 7 for 0 to 6";
  attribute.mutable_coded()->set_size(std::get<int64_t>(size));
  return "";
}

std::string CurrentDates(const v1::Attribute& attribute) {
  const v1::Date& date = attribute.date();
  if (date.edges_size() > 0) return Joined(date.edges(), " ");
  if (date.from().empty()) return "";
  std::string bins = v1::Date::Bins_Name(date.bins());
  std::transform(bins.begin(), bins.end(), bins.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return absl::StrCat(date.from(), " ", date.to(), " by ", bins);
}

Complaint TakeDates(v1::Attribute& attribute, const std::string& answer) {
  const std::vector<std::string> words = WordsOfAnswer(answer);
  v1::Date date;
  date.set_time_zone(attribute.date().time_zone());
  if (words.size() == 4 && words[2] == "by") {
    std::string bins = words[3];
    std::transform(bins.begin(), bins.end(), bins.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    v1::Date::Bins parsed = v1::Date::BINS_UNSPECIFIED;
    if (!v1::Date::Bins_Parse(bins, &parsed) || parsed == v1::Date::BINS_UNSPECIFIED)
      return "the bins are day, week, month, quarter or year";
    date.set_from(words[0]);
    date.set_to(words[1]);
    date.set_bins(parsed);
  } else if (words.size() >= 2) {
    date.mutable_edges()->Assign(words.begin(), words.end());
  } else {
    return "write 2019-01-01 2024-12-31 by month, or the edges of the bins";
  }
  *attribute.mutable_date() = std::move(date);
  return "";
}

std::string CurrentTimeZone(const v1::Attribute& attribute) {
  return attribute.date().time_zone();
}

Complaint TakeTimeZone(v1::Attribute& attribute, const std::string& answer) {
  attribute.mutable_date()->set_time_zone(answer == kSkip ? "" : answer);
  return "";
}

std::string CurrentFormats(const v1::Attribute& attribute) {
  return Joined(attribute.reading().date_formats(), " | ");
}

Complaint TakeFormats(v1::Attribute& attribute, const std::string& answer) {
  attribute.mutable_reading()->clear_date_formats();
  if (answer == kSkip) return "";
  const std::vector<std::string> formats = SplitAnswer(answer, '|');
  attribute.mutable_reading()->mutable_date_formats()->Assign(formats.begin(), formats.end());
  return "";
}

std::string CurrentSigns(const v1::Attribute& attribute) {
  const v1::Reading& reading = attribute.reading();
  if (reading.decimal_sign().empty() && reading.thousands_separator().empty()) return "";
  const std::string decimal = reading.decimal_sign().empty() ? "." : reading.decimal_sign();
  return decimal + reading.thousands_separator();
}

Complaint TakeSigns(v1::Attribute& attribute, const std::string& answer) {
  attribute.mutable_reading()->clear_decimal_sign();
  attribute.mutable_reading()->clear_thousands_separator();
  if (answer == kSkip) return "";
  if (answer.size() > 2) return "write the decimal sign and, behind it, the one between thousands: ,.";
  attribute.mutable_reading()->set_decimal_sign(answer.substr(0, 1));
  if (answer.size() == 2) attribute.mutable_reading()->set_thousands_separator(answer.substr(1));
  return "";
}

std::string CurrentCase(const v1::Attribute& attribute) {
  return attribute.reading().fold_case() ? "yes" : "no";
}

Complaint TakeCase(v1::Attribute& attribute, const std::string& answer) {
  if (answer != "yes" && answer != "no") return "yes or no";
  attribute.mutable_reading()->set_fold_case(answer == "yes");
  return "";
}

// ---- Missing values

std::string CurrentMissing(const v1::Attribute& attribute) {
  if (!attribute.has_missing()) return "no";
  return attribute.missing().has_bin() ? "bin " + attribute.missing().bin() : "reject";
}

Complaint TakeMissing(v1::Attribute& attribute, const std::string& answer) {
  if (answer == "no") {
    attribute.clear_missing();
    return "";
  }
  if (answer == "reject") {
    attribute.mutable_missing()->clear_bin();
    return "";
  }
  if (!answer.starts_with("bin")) return "no, reject, or bin and its label: bin unknown";
  const std::string label(dp::TrimBlanks(std::string_view(answer).substr(3)));
  attribute.mutable_missing()->set_bin(label.empty() ? "missing" : label);
  return "";
}

// "\"\" | k.A.": two quotation marks are the empty cell.
constexpr char kEmptyCell[] = "\"\"";

std::string CurrentTokens(const v1::Attribute& attribute) {
  std::vector<std::string> tokens;
  for (const std::string& token : attribute.missing().tokens())
    tokens.push_back(token.empty() ? kEmptyCell : token);
  return Joined(tokens, " | ");
}

Complaint TakeTokens(v1::Attribute& attribute, const std::string& answer) {
  attribute.mutable_missing()->clear_tokens();
  if (answer == kSkip) return "";
  for (const std::string& token : SplitAnswer(answer, '|'))
    attribute.mutable_missing()->add_tokens(token == kEmptyCell ? "" : token);
  return "";
}

constexpr Question kQuestions[] = {
    {"kind",
     "categorical (texts), integer, numeric (numbers with a fraction), date, coded (codes from 0); or leave, "
     "to leave the column out",
     [](const v1::Attribute&) { return true; }, CurrentKind, TakeKind},
    {"values", "All texts that a cell may be, divided by |. Known without the records: they are public",
     [](const v1::Attribute& attribute) { return attribute.has_categorical(); }, CurrentValues, TakeValues},
    {"other spellings", "Texts that mean a value: Female = f, w | Male = m; - for none",
     [](const v1::Attribute& attribute) { return attribute.has_categorical(); }, CurrentSpellings,
     TakeSpellings, kMayBeEmpty},
    {"other texts", "The bin that counts all other texts, such as other; - rejects their rows",
     [](const v1::Attribute& attribute) { return attribute.has_categorical(); }, CurrentCatchAll,
     TakeCatchAll, kMayBeEmpty},
    {"ordered", "yes when the values are listed in their order (low | middle | high), else no",
     [](const v1::Attribute& attribute) { return attribute.has_categorical(); }, CurrentOrder, TakeOrder},
    {"range",
     "The least, the largest and the width of a bin: 0 119 10. Known without the records: they are public",
     [](const v1::Attribute& attribute) { return attribute.has_integer(); }, CurrentIntegers, TakeIntegers},
    {"bins",
     "0 5000 by 250, or the edges of the bins: 0 0.5 10 100. Known without the records: they are public",
     [](const v1::Attribute& attribute) { return attribute.has_numeric(); }, CurrentNumbers, TakeNumbers},
    {"codes", "How many codes there are: 7 for the codes 0 to 6",
     [](const v1::Attribute& attribute) { return attribute.has_coded(); }, CurrentSize, TakeSize},
    {"dates", "2019-01-01 2024-12-31 by month (or day, week, quarter, year), or the edges of the bins",
     [](const v1::Attribute& attribute) { return attribute.has_date(); }, CurrentDates, TakeDates},
    {"time zone", "Of the clocks that cells with an offset from UTC are read by: Europe/Berlin; - for UTC",
     [](const v1::Attribute& attribute) { return attribute.has_date(); }, CurrentTimeZone, TakeTimeZone,
     kMayBeEmpty},
    {"formats", "How dates are written beside 2019-03-31, divided by |: DD.MM.YYYY; - for no other way",
     [](const v1::Attribute& attribute) { return attribute.has_date(); }, CurrentFormats, TakeFormats,
     kMayBeEmpty},
    {"signs", "The decimal sign and the one between thousands: ,. for 12.500,00; - for 12500.00", IsNumber,
     CurrentSigns, TakeSigns, kMayBeEmpty},
    {"any case", "yes when Male, male and MALE are the same value, else no",
     [](const v1::Attribute& attribute) { return attribute.has_categorical(); }, CurrentCase, TakeCase},
    {"missing values",
     "Cells such as \"\", ?, NA: bin and a label count them, reject rejects their rows, no means there are "
     "none",
     [](const v1::Attribute&) { return true; }, CurrentMissing, TakeMissing},
    {"missing cells",
     "How they are written, divided by |: \"\" | k.A.; - for the usual ones (\"\", ?, NA and more)",
     [](const v1::Attribute& attribute) { return attribute.has_missing(); }, CurrentTokens, TakeTokens,
     kMayBeEmpty},
};
constexpr int kQuestionCount = static_cast<int>(std::size(kQuestions));

constexpr char kUnitExplanation[] =
    "Whom the guarantee protects: record, or person and the column that identifies persons and the most "
    "records "
    "of one: person pid 3";

std::string CurrentUnit(const v1::Schema& schema) {
  const v1::PrivacyUnit& unit = schema.unit();
  if (unit.has_person())
    return absl::StrCat("person ", unit.person().id_column(), " ", unit.person().max_records());
  return unit.has_group() ? absl::StrCat("group ", unit.group().id_column()) : "record";
}

Complaint TakeUnit(v1::Schema& schema, const std::string& answer) {
  if (answer == CurrentUnit(schema)) return "";
  const std::vector<std::string> words = WordsOfAnswer(answer);
  if (answer == "record") {
    schema.mutable_unit()->mutable_record();
    return "";
  }
  const auto most = dp::ReadInteger(words.size() == 3 ? words[2] : "");
  if (words.size() != 3 || words[0] != "person" || !std::holds_alternative<int64_t>(most) ||
      std::get<int64_t>(most) < 1) {
    return "record, or person, a column and a number: person pid 3";
  }
  for (const v1::Attribute& attribute : schema.attributes()) {
    if (attribute.name() == words[1])
      return absl::StrCat(words[1], " is an attribute, too: go back and leave it out");
  }
  schema.mutable_unit()->mutable_person()->set_id_column(words[1]);
  schema.mutable_unit()->mutable_person()->set_max_records(std::get<int64_t>(most));
  return "";
}

// ---- The measures

constexpr char kMeasuresExplanation[] =
    "Numbers that sums, means and variances are taken of, divided by |: the column, the least and the "
    "largest "
    "number, and the resolution, of which both are multiples: income 0 200000 by 100; numbers outside are "
    "set "
    "to the nearest bound; - for none";

std::string CurrentMeasures(const v1::Schema& schema) {
  std::vector<std::string> measures;
  for (const v1::Measure& measure : schema.measures()) {
    measures.push_back(absl::StrCat(measure.name(), " ", dp::WriteNumber(measure.low()), " ",
                                    dp::WriteNumber(measure.high()), " by ",
                                    dp::WriteNumber(measure.resolution())));
  }
  return Joined(measures, " | ");
}

// The measure of this name as it is, or a new one, whose cells are read as those of the attribute.
v1::Measure MeasureOf(const v1::Schema& schema, const std::string& name) {
  for (const v1::Measure& measure : schema.measures()) {
    if (measure.name() == name) return measure;
  }
  v1::Measure measure;
  measure.set_name(name);
  for (const v1::Attribute& attribute : schema.attributes()) {
    if (attribute.name() != name) continue;
    if (attribute.has_missing())
      measure.mutable_missing()->mutable_tokens()->CopyFrom(attribute.missing().tokens());
    v1::Reading& reading = *measure.mutable_reading();
    reading.set_column(attribute.reading().column());
    reading.set_decimal_sign(attribute.reading().decimal_sign());
    reading.set_thousands_separator(attribute.reading().thousands_separator());
    if (reading.ByteSizeLong() == 0) measure.clear_reading();
  }
  return measure;
}

constexpr char kOneMeasure[] = "write the column, two bounds and the resolution: income 0 200000 by 100";

// "income 0 200000 by 100": the name may have blanks.
Complaint TakeMeasure(const v1::Schema& schema, const std::string& answer, v1::Measure& measure) {
  const std::vector<std::string> words = WordsOfAnswer(answer);
  if (words.size() < 5 || words[words.size() - 2] != "by") return kOneMeasure;
  std::vector<double> numbers;
  for (const size_t from_end : {4, 3, 1}) {
    const std::string& word = words[words.size() - from_end];
    const auto number = dp::ReadNumber(word);
    if (!std::holds_alternative<double>(number)) return absl::StrCat("\"", word, "\" is no number");
    numbers.push_back(std::get<double>(number));
  }
  measure = MeasureOf(schema, Joined(std::vector(words.begin(), words.end() - 4), " "));
  measure.set_low(numbers[0]);
  measure.set_high(numbers[1]);
  measure.set_resolution(numbers[2]);
  const auto checked = rpc::FromProto(measure);
  return checked.ok() ? "" : absl::StrCat(measure.name(), ": ", std::string(checked.status().message()));
}

Complaint TakeMeasures(v1::Schema& schema, const std::string& answer) {
  google::protobuf::RepeatedPtrField<v1::Measure> measures;
  const std::vector<std::string> parts =
      answer == kSkip ? std::vector<std::string>() : SplitAnswer(answer, '|');
  for (const std::string& part : parts) {
    const Complaint complaint = TakeMeasure(schema, part, *measures.Add());
    if (!complaint.empty()) return complaint;
  }
  *schema.mutable_measures() = std::move(measures);
  return "";
}

class Editor {
 public:
  Editor(v1::Schema& schema, std::istream& in, std::ostream& out) : schema_(schema), in_(in), out_(out) {}

  EditEnd Run() {
    out_ << "An empty answer keeps what is in brackets; < goes back; quit, or Ctrl-D, saves and stops.\n";
    while (attribute_ <= schema_.attributes_size() + 1) {
      if (AskNext()) continue;
      const bool lacks_nothing = attribute_ > schema_.attributes_size();  // only measures were left
      return lacks_nothing ? EditEnd::kAllAnswered : EditEnd::kStopped;
    }
    return EditEnd::kAllAnswered;
  }

 private:
  // The answer; none at the end.
  std::optional<std::string> Ask(const char* name, const char* explanation, const std::string& current) {
    out_ << "  " << explanation << "\n  " << name << " [" << Printable(current) << "]: " << std::flush;
    std::string line;
    if (!std::getline(in_, line)) {
      out_ << "\n";
      return std::nullopt;
    }
    std::string answer(dp::TrimBlanks(line));
    if (answer.ends_with('\r')) answer.pop_back();
    if (answer == "quit") return std::nullopt;
    return answer;
  }

  bool AskNext() {
    if (attribute_ < schema_.attributes_size()) return AskAttribute();
    return attribute_ == schema_.attributes_size() ? AskUnit() : AskMeasures();
  }

  bool AskAttribute() {
    v1::Attribute& attribute = *schema_.mutable_attributes(attribute_);
    const Question& question = kQuestions[question_];
    if (question_ == 0) {
      out_ << "\n"
           << Printable(attribute.name()) << " (" << attribute_ + 1 << " of " << schema_.attributes_size()
           << ")\n";
    }
    if (!question.applies(attribute)) {
      Move();
      return true;
    }
    const std::string current = question.current(attribute);
    const std::optional<std::string> answer = Ask(question.name, question.explanation, current);
    if (!answer) return false;
    Answer(attribute, question, *answer, current);
    return true;
  }

  void Answer(v1::Attribute& attribute, const Question& question, const std::string& answer,
              const std::string& current) {
    direction_ = 1;
    if (answer == "<") {
      direction_ = -1;
      return Move();
    }
    if (question_ == 0 && answer == "leave") {
      schema_.mutable_attributes()->DeleteSubrange(attribute_, 1);
      return;
    }
    if (answer.empty() && current.empty() && !question.may_be_empty) return Complain("this needs an answer");
    v1::Attribute changed = attribute;
    const Complaint complaint = answer.empty() ? "" : question.take(changed, answer);
    if (!complaint.empty()) return Complain(complaint);
    if (changed.reading().ByteSizeLong() == 0) changed.clear_reading();
    attribute = std::move(changed);
    Move();
  }

  // To the next or the previous question; behind the last one of an attribute it is checked.
  void Move() {
    question_ += direction_;
    if (question_ < 0) {
      question_ = attribute_ == 0 ? 0 : kQuestionCount - 1;
      attribute_ = std::max(0, attribute_ - 1);
      if (question_ == 0) direction_ = 1;
    }
    if (question_ < kQuestionCount) return;
    question_ = 0;
    const auto checked = rpc::FromProto(schema_.attributes(attribute_));
    if (!checked.ok()) return Complain(std::string(checked.status().message()));
    ++attribute_;
  }

  void Complain(const std::string& complaint) { out_ << "  ! " << Printable(complaint) << "\n"; }

  bool AskUnit() {
    out_ << "\n";
    const std::string current = CurrentUnit(schema_);
    const std::optional<std::string> answer = Ask("unit", kUnitExplanation, current);
    if (!answer) return false;
    if (*answer == "<") {
      if (attribute_ == 0) return true;
      --attribute_;
      question_ = kQuestionCount - 1;
      direction_ = -1;
      return true;
    }
    const Complaint complaint = TakeUnit(schema_, answer->empty() ? current : *answer);
    if (complaint.empty()) {
      ++attribute_;
    } else {
      Complain(complaint);
    }
    return true;
  }

  bool AskMeasures() {
    out_ << "\n";
    const std::string current = CurrentMeasures(schema_);
    const std::optional<std::string> answer = Ask("measures", kMeasuresExplanation, current);
    if (!answer) return false;
    if (*answer == "<") {
      --attribute_;
      return true;
    }
    const Complaint complaint = answer->empty() ? "" : TakeMeasures(schema_, *answer);
    if (complaint.empty()) {
      ++attribute_;
    } else {
      Complain(complaint);
    }
    return true;
  }

  v1::Schema& schema_;
  std::istream& in_;
  std::ostream& out_;
  int attribute_ = 0;  // behind the last one the unit, then the measures
  int question_ = 0;
  int direction_ = 1;  // of the last answer: over the questions that do not apply
};

}  // namespace

EditEnd EditSchema(v1::Schema& schema, std::istream& in, std::ostream& out) {
  return Editor(schema, in, out).Run();
}

}  // namespace curator::cli
