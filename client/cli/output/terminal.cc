#include "client/cli/output/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "client/cli/output/text.h"

namespace curator::cli {
namespace {

const char* CodeOf(Style style) {
  switch (style) {
    case Style::kBold:
      return "\033[1m";
    case Style::kDim:
      return "\033[2m";
    case Style::kRed:
      return "\033[31m";
    case Style::kYellow:
      return "\033[33m";
    case Style::kGreen:
      return "\033[32m";
    case Style::kPlain:
      break;
  }
  return "";
}

std::string Repeated(std::string_view piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text.append(piece);
  return text;
}

// What the environment says about the encoding, in the order in which the C library asks.
bool LocaleIsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string lower;
    for (const char* c = value; *c != '\0'; ++c)
      lower.push_back(*c >= 'A' && *c <= 'Z' ? static_cast<char>(*c - 'A' + 'a') : *c);
    return lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
  }
  return false;
}

int WindowColumns(int fallback) {
  struct winsize window = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) return fallback;
  return window.ws_col;
}

int ColumnsOf(double share, int width) {
  if (!(share > 0)) return 0;
  return static_cast<int>(std::ceil(std::min(share, 1.0) * width));
}

}  // namespace

Terminal Terminal::Detect() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  Terminal terminal;
  terminal.out_is_terminal = isatty(STDOUT_FILENO) == 1;
  terminal.error_is_terminal = isatty(STDERR_FILENO) == 1;
  terminal.in_is_terminal = isatty(STDIN_FILENO) == 1;
  terminal.colours = terminal.out_is_terminal && terminal.error_is_terminal && !dumb &&
                     (no_color == nullptr || *no_color == '\0');
  terminal.utf8 = !dumb && LocaleIsUtf8();
  terminal.columns = WindowColumns(terminal.columns);
  return terminal;
}

std::string Styled(const Terminal& terminal, Style style, std::string_view text) {
  if (!terminal.colours || style == Style::kPlain) return std::string(text);
  return CodeOf(style) + std::string(text) + "\033[0m";
}

std::string BudgetBar(const Terminal& terminal, double spent, double held, int width) {
  const int solid = ColumnsOf(spent, width);
  const int shaded = std::min(ColumnsOf(held, width), width - solid);
  const int rest = width - solid - shaded;
  if (!terminal.utf8) return Repeated("#", solid) + Repeated("=", shaded) + Repeated(".", rest);
  return Repeated("█", solid) + Repeated("▒", shaded) + Repeated("░", rest);
}

void ProgressBar::Show(double percent, std::string_view label) {
  if (visibility_ == Visibility::kHidden) return;
  constexpr int kWidth = 30;
  const int solid = std::clamp(static_cast<int>(percent / 100 * kWidth), 0, kWidth);
  std::array<char, 16> number;
  std::snprintf(number.data(), number.size(), " %3.0f%% ", std::clamp(percent, 0.0, 100.0));
  out_ << "\r\033[K" << Repeated(utf8_ ? "█" : "#", solid) << Repeated(utf8_ ? "░" : ".", kWidth - solid)
       << number.data() << Printable(label) << std::flush;
  drawn_ = true;
}

void ProgressBar::Clear() {
  if (!drawn_) return;
  out_ << "\r\033[K" << std::flush;
  drawn_ = false;
}

}  // namespace curator::cli
