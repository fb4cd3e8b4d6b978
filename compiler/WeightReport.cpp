#include "compiler/WeightReport.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace effc;

void WeightReport::add(llvm::StringRef weight, llvm::StringRef from,
                       llvm::StringRef as, const codegen::WeightLoss &loss) {
  rows.push_back({weight.str(), from.str(), as.str(), loss});
}

std::string WeightReport::table() const {
  if (rows.empty())
    return "";
  Row all{"all matrices", "", "", {}};
  bool hasImportance = false;
  size_t width = all.weight.size(), kind = 4; // "from"
  for (const Row &row : rows) {
    all.loss.add(row.loss);
    hasImportance |= row.loss.importantSquares > 0;
    width = std::max(width, row.weight.size());
    kind = std::max({kind, row.from.size(), row.as.size()});
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << llvm::left_justify("matrix", width) << "  "
         << llvm::left_justify("from", kind) << "  "
         << llvm::left_justify("as", kind) << "      elements   bits  rel. L2 "
         << (hasImportance ? " by importance " : "") << "  max/rms   share\n";
  auto print = [&](const Row &row) {
    double share = all.loss.errorSquares > 0
                       ? 100 * row.loss.errorSquares / all.loss.errorSquares
                       : 0;
    stream << llvm::left_justify(row.weight, width) << "  "
           << llvm::left_justify(row.from, kind) << "  "
           << llvm::left_justify(row.as, kind)
           << llvm::format("  %12llu  %5.2f  %.1e",
                           static_cast<unsigned long long>(row.loss.elements),
                           row.loss.bitsPerElement(), row.loss.relative());
    if (hasImportance && row.loss.importantSquares > 0)
      stream << llvm::format("  %13.1e", row.loss.importantRelative());
    else if (hasImportance)
      stream << "              -";
    stream << llvm::format("   %.1e  %5.1f%%\n", row.loss.largest(), share);
  };
  for (const Row &row : rows)
    print(row);
  print(all);
  return text;
}
