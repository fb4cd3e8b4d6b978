// Which matrix of a model an entry of a file of importances is about.
#ifndef EFFC_FRONTEND_IMPORTANCE_WEIGHTIMPORTANCE_H
#define EFFC_FRONTEND_IMPORTANCE_WEIGHTIMPORTANCE_H

#include "dialects/seq/Seq.h"
#include "frontend/checkpoint/ConfigReader.h"
#include "frontend/importance/ImportanceFile.h"

#include "mlir/IR/BuiltinOps.h"

namespace effc::frontend {

/// How much each column of a weight counts: of each of a few equal parts of its
/// first dimension, in their order.
using ColumnImportance = std::vector<float>;

class WeightImportance {
public:
  /// Finds those of all matrices of `module` that get blocks whose rounding heeds
  /// importance. A matrix is looked for under the name of its tensor in the checkpoint
  /// and under that of llama.cpp, by the tables of architectures; `modelType` is that
  /// of config.json, or empty. Fails where an entry has not as many numbers as the
  /// matrix has columns, where no matrix heeds importance, and where none of those
  /// that do has an entry. Remarks name those without: they are fallbacks, but
  /// for tables of embeddings and outputs.
  static llvm::Expected<WeightImportance> find(const ImportanceFile &file,
                                               mlir::ModuleOp module,
                                               llvm::StringRef modelType,
                                               bool isGguf, Remarks &remarks);

  /// Of a weight by its symbol; empty where nothing is known.
  llvm::ArrayRef<float> of(llvm::StringRef weight) const {
    auto at = bySymbol.find(weight);
    return at == bySymbol.end() ? llvm::ArrayRef<float>()
                                : llvm::ArrayRef<float>(at->second);
  }

private:
  llvm::StringMap<ColumnImportance> bySymbol;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_IMPORTANCE_WEIGHTIMPORTANCE_H
