// Writes pages.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/Page.h"

#include "runtime/src/Error.h"
#include "runtime/tools/FormatText.h"

#include <cmath>

namespace tfc::tools {

namespace {

const char *const style =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:62em;margin:2em auto;"
    "padding:0 1em;color:#222;background:#fff}"
    "pre{overflow-x:auto;font-size:13px}"
    "h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}"
    "table{border-collapse:collapse;font-size:13px}"
    "td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #ddd}"
    "td:first-child,th:first-child{text-align:left}"
    "td:not(:first-child),th{white-space:nowrap}"
    ".wide{overflow-x:auto}"
    "svg{display:block;max-width:100%;height:auto;font:12px system-ui,"
    "sans-serif}"
    "svg [data-hint]:hover{stroke:#000}"
    ".links a{display:inline-block;margin-right:1.2em;font-size:13px}"
    ".columns{display:flex;gap:1em;overflow-x:auto;"
    "margin:0 calc(50% - 48vw)}"
    ".columns div{flex:0 0 auto;max-width:46em}"
    ".columns b{font-size:13px}"
    ".columns pre{max-height:26em;overflow:auto;margin:0;padding:6px;"
    "background:#f6f6f6;font-size:12px}"
    ".legend span{display:inline-block;margin-right:1.2em;font-size:13px}"
    ".legend i{display:inline-block;width:.8em;height:.8em;margin-right:.4em}";

/// What cannot be drawn is drawn at the edge.
std::string coordinate(double value) {
  return formatText("%.2f", std::isfinite(value) ? value : 0.0);
}

} // namespace

std::string escapeHtml(const std::string &text) {
  std::string out;
  for (char c : text) {
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    case '\'':
      out += "&#39;";
      break;
    default:
      // Of control characters only spaces are allowed in a page.
      out += static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' ? '?'
                                                                           : c;
    }
  }
  return out;
}

std::string formatBytes(double bytes) {
  const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < std::size(units)) {
    bytes /= 1000;
    ++unit;
  }
  return formatText(unit == 0 || bytes >= 99.95 ? "%.0f %s"
                    : bytes >= 9.995            ? "%.1f %s"
                                                : "%.2f %s",
                    bytes, units[unit]);
}

std::string formatNumber(double number) { return formatText("%.4g", number); }

std::string colorOf(size_t number) {
  // Steps of the golden angle stay apart, however many there are.
  double hue = std::fmod(210 + 137.508 * static_cast<double>(number), 360);
  return formatText("hsl(%.0f,60%%,%d%%)", hue, number % 2 == 0 ? 50 : 65);
}

Picture::Picture(double width, double height, std::string label)
    : width(width), height(height), label(std::move(label)) {}

void Picture::add(const std::string &shape, const std::string &color,
                  const std::string &hint) {
  shapes += "<" + shape + " " + color;
  shapes += hint.empty()
                ? "/>\n"
                : " data-hint><title>" + escapeHtml(hint) + "</title></" +
                      shape.substr(0, shape.find(' ')) + ">\n";
}

void Picture::rectangle(double x, double y, double width, double height,
                        const std::string &color, const std::string &hint) {
  add("rect x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" width=\"" +
          coordinate(width) + "\" height=\"" + coordinate(height) + "\"",
      "fill=\"" + color + "\"", hint);
}

void Picture::circle(double x, double y, double radius,
                     const std::string &color, const std::string &hint) {
  add("circle cx=\"" + coordinate(x) + "\" cy=\"" + coordinate(y) + "\" r=\"" +
          coordinate(radius) + "\"",
      "fill=\"" + color + "\" fill-opacity=\"0.7\"", hint);
}

void Picture::line(double x1, double y1, double x2, double y2,
                   const std::string &color) {
  add("line x1=\"" + coordinate(x1) + "\" y1=\"" + coordinate(y1) + "\" x2=\"" +
          coordinate(x2) + "\" y2=\"" + coordinate(y2) + "\"",
      "stroke=\"" + color + "\"", "");
}

void Picture::path(const std::vector<std::pair<double, double>> &points,
                   const std::string &color) {
  std::string list;
  for (auto [x, y] : points) {
    list += (list.empty() ? "" : " ") + coordinate(x) + "," + coordinate(y);
  }
  add("polyline points=\"" + list + "\"",
      "fill=\"none\" stroke-width=\"2\" stroke=\"" + color + "\"", "");
}

void Picture::text(double x, double y, const std::string &text, Anchor anchor) {
  const char *const names[] = {"start", "middle", "end"};
  shapes += "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) +
            "\" text-anchor=\"" + names[static_cast<int>(anchor)] + "\">" +
            escapeHtml(text) + "</text>\n";
}

std::string Picture::finish() const {
  std::string w = coordinate(width), h = coordinate(height);
  return "<svg role=\"img\" aria-label=\"" + escapeHtml(label) + "\" width=\"" +
         w + "\" height=\"" + h + "\" viewBox=\"0 0 " + w + " " + h + "\">\n" +
         shapes + "</svg>\n";
}

Page::Page(const std::string &title) : title(escapeHtml(title)) {}

void Page::heading(const std::string &text) {
  body += "<h2>" + escapeHtml(text) + "</h2>\n";
}

void Page::paragraph(const std::string &text) {
  body += "<p>" + escapeHtml(text) + "</p>\n";
}

void Page::lines(const std::string &text) {
  body += "<pre>" + escapeHtml(text) + "</pre>\n";
}

void Page::table(const std::vector<std::string> &head,
                 const std::vector<std::vector<std::string>> &rows) {
  auto put = [&](const std::vector<std::string> &cells, const char *tag) {
    body += "<tr>";
    for (const std::string &cell : cells) {
      body += rt::concat("<", tag, ">", escapeHtml(cell), "</", tag, ">");
    }
    body += "</tr>\n";
  };
  body += "<div class=\"wide\"><table>\n";
  put(head, "th");
  for (const std::vector<std::string> &row : rows) {
    put(row, "td");
  }
  body += "</table></div>\n";
}

void Page::picture(const Picture &picture) { body += picture.finish(); }

void Page::links(const std::vector<std::string> &names) {
  body += "<p class=\"links\">";
  for (size_t i = 0; i < names.size(); ++i) {
    body += "<a href=\"#part-" + std::to_string(i) + "\">" +
            escapeHtml(names[i]) + "</a>\n";
  }
  body += "</p>\n";
}

void Page::target(size_t number, const std::string &text) {
  body += "<h2 id=\"part-" + std::to_string(number) + "\">" + escapeHtml(text) +
          "</h2>\n";
}

void Page::columns(
    const std::vector<std::pair<std::string, std::string>> &texts) {
  body += "<div class=\"columns\">\n";
  for (const auto &[name, text] : texts) {
    body += "<div><b>" + escapeHtml(name) + "</b><pre>" + escapeHtml(text) +
            "</pre></div>\n";
  }
  body += "</div>\n";
}

void Page::legend(const std::vector<std::string> &names) {
  body += "<p class=\"legend\">";
  for (size_t i = 0; i < names.size(); ++i) {
    body += "<span><i style=\"background:" + colorOf(i) + "\"></i>" +
            escapeHtml(names[i]) + "</span>\n";
  }
  body += "</p>\n";
}

std::string Page::finish() const {
  return rt::concat("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                    "<meta charset=\"utf-8\">\n<title>",
                    title, "</title>\n<style>", style,
                    "</style>\n</head>\n<body>\n<h1>", title, "</h1>\n", body,
                    "</body>\n</html>\n");
}

void addBar(Page &page, const std::string &label,
            const std::vector<std::pair<std::string, double>> &parts,
            std::string (*format)(double)) {
  constexpr double width = 900, height = 28;
  double whole = 0;
  for (const auto &[name, size] : parts) {
    whole += size;
  }
  Picture bar(width, height, label);
  std::vector<std::string> names;
  double x = 0;
  for (const auto &[name, size] : parts) {
    std::string text = name + ": " + format(size);
    double share = whole > 0 ? size / whole * width : 0;
    bar.rectangle(x, 0, share, height, colorOf(names.size()), text);
    names.push_back(text);
    x += share;
  }
  page.picture(bar);
  page.legend(names);
}

} // namespace tfc::tools
