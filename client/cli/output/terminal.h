// The properties of the terminal, and styles and bars for it.
//
// Thread-safe but for ProgressBar, which belongs to one thread.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

namespace curator::cli {

struct Terminal {
  bool out_is_terminal = false;
  bool error_is_terminal = false;
  bool in_is_terminal = false;
  bool colours = false;  // never without a terminal, never when NO_COLOR is set
  bool utf8 = false;     // whether the terminal shows more than ASCII
  int columns = 80;

  // The terminal of this process.
  static Terminal Detect();
};

enum class Style { kPlain, kBold, kDim, kRed, kYellow, kGreen };

// The text in the style if the terminal has colours, else unchanged.
std::string Styled(const Terminal& terminal, Style style, std::string_view text);

// A bar of `width` columns: the spent share solid, the held share shaded, the rest light; "##=." if the
// terminal shows ASCII only. Shares are clamped to 0..1.
std::string BudgetBar(const Terminal& terminal, double spent, double held, int width);

// A progress line that is redrawn in place on a terminal; elsewhere it prints nothing.
class ProgressBar {
 public:
  enum class Visibility { kShown, kHidden };
  ProgressBar(std::ostream& out, const Terminal& terminal, Visibility visibility)
      : out_(out), utf8_(terminal.utf8), visibility_(visibility) {}
  ~ProgressBar() { Clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `percent` is 0 to 100.
  void Show(double percent, std::string_view label);
  void Clear();

 private:
  std::ostream& out_;
  const bool utf8_;
  const Visibility visibility_;
  bool drawn_ = false;
};

}  // namespace curator::cli
