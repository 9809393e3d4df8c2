#include "client/cli/shell/man_page.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>
#include <vector>

#include "client/cli/shell/command_tree.h"

namespace curator::cli {
namespace {

// Readers of man pages want a day. That of the build would make two builds of one version differ.
constexpr char kDate[] = "2026-11-28";

// Text of a line that begins with none of roff's control characters.
std::string Roff(std::string_view text) {
  std::string roff;
  for (const char c : text) {
    if (c == '\\') {
      roff += "\\e";
    } else if (c == '-') {
      roff += "\\-";
    } else if (c == '`' || c == '\'') {
      roff += c == '`' ? "\\(ga" : "\\(aq";
    } else {
      roff.push_back(c);
    }
  }
  return roff.starts_with('.') ? "\\&" + roff : roff;
}

// Each line as it is.
std::string Verbatim(const std::string& text) {
  std::string roff = ".nf\n";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) roff += line.empty() ? ".sp\n" : Roff(line) + "\n";
  return roff + ".fi\n";
}

// The words of a description on one line.
std::string Flowing(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (text.ends_with(' ')) text.pop_back();
  return Roff(text) + "\n";
}

// "curator dataset import".
std::string WordsOf(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  return parent == nullptr ? command.get_name() : WordsOf(*parent) + " " + command.get_name();
}

bool IsFlag(const CLI::Option& option) {
  return option.get_items_expected_max() == 0;
}

// A bold flag and an italic value.
std::string HeadingOf(const CLI::Option& option) {
  if (option.get_positional()) return "\\fI" + Roff(option.get_name()) + "\\fR";
  std::string heading;
  for (const std::string& name : option.get_snames()) heading += "\\fB" + Roff("-" + name) + "\\fR, ";
  for (const std::string& name : option.get_lnames()) heading += "\\fB" + Roff("--" + name) + "\\fR, ";
  heading.resize(heading.size() - 2);
  return IsFlag(option) ? heading : heading + " \\fI" + Roff(option.get_type_name()) + "\\fR";
}

std::string DescriptionOf(const CLI::Option& option) {
  std::string text = option.get_description();
  if (!option.get_envname().empty()) text += " (environment: " + option.get_envname() + ")";
  return Flowing(text.empty() ? option.get_name() : text);
}

void AddOptions(const CLI::App& command, bool positionals, const char* title, std::string& page) {
  std::string body;
  for (const CLI::Option* const option : OptionsOf(command)) {
    if (option->get_positional() != positionals || option->get_group().empty()) continue;
    body += ".TP\n" + HeadingOf(*option) + "\n" + DescriptionOf(*option);
  }
  if (!body.empty()) page += std::string(".SH ") + title + "\n" + body;
}

std::string SynopsisOf(const CLI::App& command) {
  std::string line = ".B " + Roff(WordsOf(command)) + "\n";
  if (!CommandsOf(command).empty()) return line + "\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n";
  line += "[\\fIOPTIONS\\fR]";
  for (const CLI::Option* const option : OptionsOf(command)) {
    if (!option->get_positional()) continue;
    const std::string name = "\\fI" + Roff(option->get_name()) + "\\fR";
    line += option->get_required() ? " " + name : " [" + name + "]";
  }
  return line + "\n";
}

}  // namespace

std::string ManPageName(const CLI::App& command) {
  std::string name = WordsOf(command);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string ManPage(const CLI::App& command) {
  const std::string name = ManPageName(command);
  std::string title = name;
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const bool is_root = command.get_parent() == nullptr;
  const std::string summary =
      is_root ? "questions to private tables, and their privacy budget" : command.get_description();
  std::string page = ".TH \"" + Roff(title) + "\" 1 \"" + std::string(kDate) +
                     "\" \"curator " CURATOR_VERSION "\" \"Curator\"\n";
  page += ".SH NAME\n" + Roff(name) + " \\- " + Flowing(summary);
  page += ".SH SYNOPSIS\n" + SynopsisOf(command);
  page += ".SH DESCRIPTION\n" + Flowing(command.get_description());
  AddOptions(command, /*positionals=*/true, "ARGUMENTS", page);
  AddOptions(command, /*positionals=*/false, "OPTIONS", page);
  std::string commands;
  for (const CLI::App* const each : CommandsOf(command))
    commands += ".TP\n\\fB" + Roff(each->get_name()) + "\\fR\n" + Flowing(each->get_description());
  if (!commands.empty()) page += ".SH COMMANDS\n" + commands;
  if (!command.get_footer().empty()) page += ".SH NOTES\n" + Verbatim(command.get_footer());
  if (!is_root) page += ".SH SEE ALSO\n\\fB" + Roff(ManPageName(*command.get_parent())) + "\\fR(1)\n";
  return page;
}

}  // namespace curator::cli
