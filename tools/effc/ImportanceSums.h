// What the inputs of products are like over many tokens, and the file that says so.
#ifndef EFFC_TOOLS_EFFC_IMPORTANCESUMS_H
#define EFFC_TOOLS_EFFC_IMPORTANCESUMS_H

#include "tools/effc/GgufWriter.h"
#include "tools/effc/Inputs.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace effc::cli {

/// Sums up the squares of each input of each matrix, in double, of a model that was
/// compiled with --product-inputs. Of experts each one's alone, over the tokens that
/// chose it.
class ImportanceSums {
public:
  /// Throws Failure where the rows of the model are not of that kind.
  explicit ImportanceSums(const Model &model);

  /// Whole rows of the model.
  void add(std::span<const float> rows);

  size_t matrices() const { return entries.size(); }
  /// Matrices of experts that no token took.
  size_t unread() const;

  /// Writes llama-imatrix's kind of GGUF file: NAME.in_sum2 and NAME.counts of each
  /// matrix, in the order of names. `text`: what was read; of `tokens` in each of `calls`
  /// windows. Throws Failure where it cannot be written.
  void write(GgufWriter &writer, const std::string &text, uint32_t tokens,
             uint32_t calls) const;

private:
  struct Entry {
    std::vector<double> sums;   // [rows, K]
    std::vector<double> counts; // [rows]: tokens
  };
  /// A value of the rows, and where it is counted.
  struct Part {
    enum Kind { Input, Scores, ExpertInput } kind;
    size_t first, width; // width: of one matrix's input
    size_t rows; // of Input: blocks; of ExpertInput: 1, or one per choice
    std::vector<Entry *> entries;
  };

  void addRow(std::span<const float> row);
  /// The numbers of the best `taken` scores, the first of equal ones first.
  void choose(std::span<const float> scores, size_t taken);

  const size_t width;
  std::map<std::string, Entry> entries;
  std::vector<Part> parts;
  std::vector<size_t>
      taken; // of each part of Scores in turn: how many are chosen
  std::vector<size_t> chosen, order;
};

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_IMPORTANCESUMS_H
