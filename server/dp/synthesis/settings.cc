#include "dp/synthesis/settings.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"

namespace curator::dp {
namespace {

std::string FieldOf(const std::string& key) {
  return absl::StrCat("settings.", key);
}

template <typename Range>
std::string WithRange(std::string_view help, const std::optional<Range>& range) {
  if (!range) return std::string(help);
  return absl::StrCat(std::string(help), ", ", range->least, " to ", range->most);
}

// The range of the call, or that of the table.
template <typename Range>
absl::StatusOr<Range> RangeOf(const Setting& setting, const std::optional<Range>& range) {
  if (range) return *range;
  if (const auto* fixed = std::get_if<Range>(&setting.allowed)) return *fixed;
  return absl::InternalError(absl::StrCat("the setting ", setting.key, " has no range"));
}

template <typename Range>
Setting NumberSetting(std::string key, std::string_view help, std::string default_text,
                      const std::optional<Range>& range) {
  Setting setting{
      .key = std::move(key), .summary = WithRange(help, range), .default_value = std::move(default_text)};
  if (range) setting.allowed = *range;
  return setting;
}

absl::Status WithoutDefault(const Setting& setting) {
  return absl::InternalError(absl::StrCat("the setting ", setting.key, " has no default"));
}

}  // namespace

Setting IntegerSetting(std::string key, std::string_view help, int64_t fixed, IntegerRange range) {
  Setting setting = IntegerSetting(std::move(key), help, absl::StrCat(fixed), range);
  setting.fixed_value = setting.default_value;
  return setting;
}

Setting RealSetting(std::string key, std::string_view help, double fixed, RealRange range) {
  Setting setting = RealSetting(std::move(key), help, absl::StrCat(fixed), range);
  setting.fixed_value = setting.default_value;
  return setting;
}

Setting IntegerSetting(std::string key, std::string_view help, std::string default_text,
                       std::optional<IntegerRange> range) {
  return NumberSetting(std::move(key), help, std::move(default_text), range);
}

Setting RealSetting(std::string key, std::string_view help, std::string default_text,
                    std::optional<RealRange> range) {
  return NumberSetting(std::move(key), help, std::move(default_text), range);
}

Setting TextSetting(std::string key, std::string_view help, std::string fixed, std::string default_text) {
  return {.key = std::move(key),
          .summary = std::string(help),
          .default_value = default_text.empty() ? fixed : std::move(default_text),
          .fixed_value = std::move(fixed),
          .allowed = {}};
}

Setting NameSetting(std::string key, std::string_view help, ChoiceNames names, std::string default_text) {
  return {.key = std::move(key),
          .summary = std::string(help),
          .default_value = default_text.empty() ? names.front() : std::move(default_text),
          .fixed_value = names.front(),
          .allowed = std::move(names)};
}

absl::StatusOr<SettingsReader::Found> SettingsReader::Find(std::string_view key) const {
  const auto entry = std::ranges::find(table_, key, &Setting::key);
  if (entry == table_.end())
    return absl::InternalError(absl::StrCat("the setting ", std::string(key), " is in no table"));
  const auto text = settings_.find(entry->key);
  return Found{.setting = &*entry, .text = text == settings_.end() ? nullptr : &text->second};
}

absl::StatusOr<int64_t> SettingsReader::Integer(std::string_view key, std::optional<int64_t> absent,
                                                std::optional<IntegerRange> range) {
  ASSIGN_OR_RETURN(const Found found, Find(key));
  ASSIGN_OR_RETURN(const IntegerRange allowed, RangeOf(*found.setting, range));
  int64_t value = absent.value_or(0);
  if (!absent && !(found.setting->fixed_value && absl::SimpleAtoi(*found.setting->fixed_value, &value)))
    return WithoutDefault(*found.setting);
  if (found.text != nullptr &&
      (!absl::SimpleAtoi(*found.text, &value) || value < allowed.least || value > allowed.most)) {
    return InvalidField(FieldOf(found.setting->key),
                        absl::StrCat("must be a whole number from ", allowed.least, " to ", allowed.most));
  }
  used_[found.setting->key] = absl::StrCat(value);
  return value;
}

absl::StatusOr<double> SettingsReader::Real(std::string_view key, std::optional<double> absent,
                                            std::optional<RealRange> range) {
  ASSIGN_OR_RETURN(const Found found, Find(key));
  ASSIGN_OR_RETURN(const RealRange allowed, RangeOf(*found.setting, range));
  double value = absent.value_or(0);
  if (!absent && !(found.setting->fixed_value && absl::SimpleAtod(*found.setting->fixed_value, &value)))
    return WithoutDefault(*found.setting);
  if (found.text != nullptr &&
      (!absl::SimpleAtod(*found.text, &value) || !(value >= allowed.least && value <= allowed.most))) {
    return InvalidField(FieldOf(found.setting->key),
                        absl::StrCat("must be a number from ", allowed.least, " to ", allowed.most));
  }
  used_[found.setting->key] = found.text != nullptr ? *found.text : absl::StrCat(value);
  return value;
}

absl::StatusOr<std::string> SettingsReader::Name(std::string_view key, std::string_view absent) {
  ASSIGN_OR_RETURN(const Found found, Find(key));
  const auto* names = std::get_if<ChoiceNames>(&found.setting->allowed);
  if (names == nullptr)
    return absl::InternalError(absl::StrCat("the setting ", found.setting->key, " has no choices"));
  const std::string value = found.text != nullptr ? *found.text
                            : absent.empty()      ? names->front()
                                                  : std::string(absent);
  if (std::ranges::find(*names, value) == names->end()) {
    return InvalidField(FieldOf(found.setting->key),
                        absl::StrCat("must be one of: ", absl::StrJoin(*names, ", ")));
  }
  used_[found.setting->key] = value;
  return value;
}

absl::StatusOr<std::string> SettingsReader::Text(std::string_view key, std::string_view absent) {
  ASSIGN_OR_RETURN(const Found found, Find(key));
  const std::string fixed = found.setting->fixed_value.value_or("");
  return used_[found.setting->key] = found.text != nullptr ? *found.text
                                     : fixed.empty()       ? std::string(absent)
                                                           : fixed;
}

absl::Status SettingsReader::Finish() const {
  for (const auto& [key, value] : settings_) {
    if (std::ranges::find(table_, key, &Setting::key) != table_.end()) continue;
    const std::string known = absl::StrJoin(
        table_, ", ", [](std::string* out, const Setting& setting) { out->append(setting.key); });
    return InvalidField(FieldOf(key), known.empty() ? "is not a setting of this method, which has none"
                                                    : "is not a setting of this method; there are: " + known);
  }
  return absl::OkStatus();
}

}  // namespace curator::dp
