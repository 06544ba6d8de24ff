// A page of HTML that stands alone: text, tables and pictures, no script,
// nothing fetched. What is said of a shape is shown where the pointer is.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_PAGE_H
#define TFC_RUNTIME_TOOLS_PAGE_H

#include <string>
#include <utility>
#include <vector>

namespace tfc::tools {

/// A text in HTML, within quotes, too. Whatever it has, it stays one.
std::string escapeHtml(const std::string &text);

/// "1.5 MB", "820 B"; 1 kB is 1000 bytes.
std::string formatBytes(double bytes);

/// Four digits: "0.01234", "12.3", "1.234e+09".
std::string formatNumber(double number);

/// A colour for the thing of this number; colours far apart come first.
std::string colorOf(size_t number);

/// A picture. Coordinates are pixels, from the left and the top.
class Picture {
public:
  /// `label` says to those who do not see it what it shows.
  Picture(double width, double height, std::string label);

  /// `hint`: what is said of it; "": nothing.
  void rectangle(double x, double y, double width, double height,
                 const std::string &color, const std::string &hint = "");
  void circle(double x, double y, double radius, const std::string &color,
              const std::string &hint = "");
  void line(double x1, double y1, double x2, double y2,
            const std::string &color);
  void path(const std::vector<std::pair<double, double>> &points,
            const std::string &color);
  enum class Anchor { Begin, Middle, End };
  void text(double x, double y, const std::string &text,
            Anchor anchor = Anchor::Begin);

  std::string finish() const;

private:
  void add(const std::string &shape, const std::string &color,
           const std::string &hint);

  double width, height;
  std::string label, shapes;
};

class Page {
public:
  explicit Page(const std::string &title);

  void heading(const std::string &text);
  void paragraph(const std::string &text);
  /// Lines as they are.
  void lines(const std::string &text);
  /// Rows as wide as the head; the first column is text, the others numbers.
  void table(const std::vector<std::string> &head,
             const std::vector<std::vector<std::string>> &rows);
  void picture(const Picture &picture);
  /// Names that lead to the targets of their numbers, from 0 on.
  void links(const std::vector<std::string> &names);
  /// A heading that a link leads to.
  void target(size_t number, const std::string &text);
  /// Texts as they are, beside each other below their names, as wide as the
  /// window.
  void columns(const std::vector<std::pair<std::string, std::string>> &texts);
  /// The colours of things, in order.
  void legend(const std::vector<std::string> &names);

  std::string finish() const;

private:
  std::string title, body;
};

/// Parts of a whole as one bar, with a legend below it.
void addBar(Page &page, const std::string &label,
            const std::vector<std::pair<std::string, double>> &parts,
            std::string (*format)(double));

} // namespace tfc::tools

#endif // TFC_RUNTIME_TOOLS_PAGE_H
