// An SVG document as it grows: elements close in the order in which they were opened, and text is escaped.
//
// Not thread-safe. Errors: none; what is written is well-formed when every Open() has its Close().
#pragma once

#include <tinyxml2.h>

#include <string>
#include <utility>
#include <vector>

namespace curator::cli {

// Pixels, to a hundredth.
std::string Px(double pixels);

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
