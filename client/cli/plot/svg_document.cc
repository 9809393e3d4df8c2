#include "client/cli/plot/svg_document.h"

#include <array>
#include <cstdio>

namespace curator::cli {

std::string Px(double pixels) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", pixels);
  return text.data();
}

SvgDocument::SvgDocument(double width, double height, const Attributes& more) {
  printer_.PushHeader(false, true);
  Open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
               {"viewBox", "0 0 " + Px(width) + " " + Px(height)},
               {"width", Px(width)},
               {"height", Px(height)}});
  for (const auto& [key, value] : more) printer_.PushAttribute(key, value.c_str());
}

void SvgDocument::Open(const char* name, const Attributes& attributes) {
  printer_.OpenElement(name);
  for (const auto& [key, value] : attributes) printer_.PushAttribute(key, value.c_str());
}

void SvgDocument::Element(const char* name, const Attributes& attributes, const std::string& text) {
  Open(name, attributes);
  if (!text.empty()) printer_.PushText(text.c_str());
  Close();
}

void SvgDocument::Line(const char* style, double x1, double y1, double x2, double y2) {
  Element("line", {{"class", style}, {"x1", Px(x1)}, {"y1", Px(y1)}, {"x2", Px(x2)}, {"y2", Px(y2)}});
}

void SvgDocument::Text(const char* style, const char* anchor, double x, double y, const std::string& text) {
  Element("text", {{"class", style}, {"text-anchor", anchor}, {"x", Px(x)}, {"y", Px(y)}}, text);
}

}  // namespace curator::cli
