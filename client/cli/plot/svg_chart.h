// Bar charts as one SVG document (docs/adr/0012): self-contained, without scripts or links, text as text.
//
// Thread-safe but for SvgDocument.
#pragma once

#include <tinyxml2.h>

#include <string>
#include <utility>
#include <vector>

#include "client/cli/plot/bar_chart.h"

namespace curator::cli {

// The charts below each other, with a horizontal bar for each number, its interval as a line with ends, and
// an axis of round numbers. XML 1.0 in UTF-8. Labels are escaped; those too long for their column are cut,
// and shown whole in a tooltip.
std::string SvgOf(const std::vector<BarChart>& charts);

// Pixels, to a hundredth.
std::string Px(double pixels);

// Builds an SVG document element by element; text is escaped. The result is well-formed when every Open() has
// its Close(). Not thread-safe.
class SvgDocument {
 public:
  using Attributes = std::vector<std::pair<const char*, std::string>>;

  // The XML declaration and the element `svg` of this size, whose last Close() ends the document.
  SvgDocument(double width, double height, const Attributes& more = {});

  void Open(const char* name, const Attributes& attributes);
  void Close() { printer_.CloseElement(); }
  void Element(const char* name, const Attributes& attributes, const std::string& text = "");

  // `style` is a class of the document's style sheet; `anchor` one of "start", "middle" and "end".
  void Line(const char* style, double x1, double y1, double x2, double y2);
  void Text(const char* style, const char* anchor, double x, double y, const std::string& text);

  std::string Finished() const { return printer_.CStr(); }

 private:
  tinyxml2::XMLPrinter printer_;
};

}  // namespace curator::cli
