// Lines of aligned columns.
#ifndef EFFC_TOOLS_TERMINAL_TABLE_H
#define EFFC_TOOLS_TERMINAL_TABLE_H

#include <string>
#include <vector>

namespace effc::cli {

/// The first row is the heading where there is one. Rows may have different
/// lengths.
class Table {
public:
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }
  /// Every line indented by two spaces, columns two spaces apart, no spaces at
  /// the end of a line.
  std::string text() const;

private:
  std::vector<std::vector<std::string>> rows;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_TERMINAL_TABLE_H
