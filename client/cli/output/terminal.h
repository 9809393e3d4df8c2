// What is known about the terminal, and the little that is drawn on one.
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
  bool utf8 = false;     // whether what is drawn on a terminal may be more than ASCII
  int columns = 80;

  // Of this process.
  static Terminal Detect();
};

enum class Style { kPlain, kBold, kDim, kRed, kYellow, kGreen };

// The text in the style where the terminal shows colours, unchanged otherwise.
std::string Styled(const Terminal& terminal, Style style, std::string_view text);

// A bar of `width` columns: spent solid, held shaded, the rest light; "##=." where the terminal shows ASCII
// only. Shares are of the whole, cut to 0..1.
std::string BudgetBar(const Terminal& terminal, double spent, double held, int width);

// One line that is drawn over itself on a terminal, and nothing elsewhere.
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
