// The table of what weights lost when they were stored.
#ifndef EFFC_COMPILER_WEIGHTREPORT_H
#define EFFC_COMPILER_WEIGHTREPORT_H

#include "codegen/artifact/WeightLoss.h"

#include <string>
#include <vector>

namespace effc {

/// Collects matrices in the order in which they are written.
class WeightReport {
public:
  /// `from` and `as` are names of storages.
  void add(llvm::StringRef weight, llvm::StringRef from, llvm::StringRef as,
           const codegen::WeightLoss &loss);

  /// A line for each matrix and one for all: bits an element takes, the relative
  /// error in L2, the same by the importance of columns where any is known ("-" for
  /// a matrix without), the largest error over the root mean square of the matrix, and
  /// its share of all squared errors. Empty where there is no matrix.
  std::string table() const;

private:
  struct Row {
    std::string weight, from, as;
    codegen::WeightLoss loss;
  };
  std::vector<Row> rows;
};

} // namespace effc

#endif // EFFC_COMPILER_WEIGHTREPORT_H
