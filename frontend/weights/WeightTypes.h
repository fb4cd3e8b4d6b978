// How matrices of weights are to be stored: what `--weights-type` says.
#ifndef EFFC_FRONTEND_WEIGHTS_WEIGHTTYPES_H
#define EFFC_FRONTEND_WEIGHTS_WEIGHTTYPES_H

#include "dialects/seq/Seq.h"
#include "frontend/checkpoint/ConfigReader.h"
#include "frontend/weights/WeightMixes.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/Support/GlobPattern.h"

namespace effc::frontend {

/// A weight whose type may be chosen.
struct Matrix {
  seq::WeightOp weight;
  MatrixRole role = MatrixRole::Other;
};

/// A text is TYPE, or GLOB=TYPE, or several of these with commas between. A TYPE is
/// the name of a storage or its description (dialects/storage), or that of a mix.
/// - A dense TYPE is for all matrices.
/// - Any other is for all but a few that stay as they are (whyWide()). Where a mix has
///   that name, some roles get another one (WeightMixes.h).
/// - After GLOB it is for the matrices of such a name, in effc or in the checkpoint,
///   whatever else is said; the first GLOB that fits counts, and no mix stands there.
/// A matrix whose rows the blocks do not divide gets smaller ones (findSmaller()), or
/// stays as it is.
class WeightTypes {
public:
  /// Fails where a type is unknown or numbers cannot be stored as it says, a glob is
  /// none, or two types are given for all matrices.
  static llvm::Expected<WeightTypes> parse(llvm::StringRef text,
                                           mlir::MLIRContext &context);

  /// Whether a text consists of names that are known and of what may be
  /// descriptions of storages.
  static bool isText(llvm::StringRef text);
  /// Names of all storages and mixes.
  static std::vector<std::string> names();

  /// Whether importance is known of matrices that get blocks: some mixes then give
  /// other types to a few of them.
  void heedImportance(bool isKnown) { hasImportance = isKnown; }

  /// Sets the types of `matrices`, those of a model in the order of its layers, and
  /// of their uses. Fails where a GLOB is of no matrix. Remarks say what stays
  /// as it is, and why.
  llvm::Error apply(mlir::ModuleOp module, llvm::ArrayRef<Matrix> matrices,
                    Remarks &remarks) const;

private:
  struct Pattern {
    std::string text;
    llvm::GlobPattern glob;
    mlir::Type type;
  };
  mlir::Type all; // null: as each is
  const WeightMix *mix = nullptr;
  bool hasImportance = false;
  std::vector<Pattern> patterns;
};

} // namespace effc::frontend

#endif // EFFC_FRONTEND_WEIGHTS_WEIGHTTYPES_H
