// Which matrices get which storage where one name stands for several: the mixes of
// the public tool `llama-quantize`, as data.
#ifndef EFFC_FRONTEND_WEIGHTS_WEIGHTMIXES_H
#define EFFC_FRONTEND_WEIGHTS_WEIGHTMIXES_H

#include "frontend/weights/MatrixRole.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace effc::frontend {

/// Which of a role's matrices, the `index`-th of `count`.
enum class RoleChoice {
  All,
  FirstTwo,
  FirstFour,
  FirstSixteenth,
  FirstEighth,
  /// The first eighth, the last one, and every third between.
  Deep,
};
bool isChosen(RoleChoice choice, int64_t index, int64_t count);

/// A storage for some matrices, by a name of dialects/storage/Formats.h.
struct RoleStorage {
  MatrixRole role;
  RoleChoice choice;
  llvm::StringLiteral storage;
};

struct WeightMix {
  llvm::StringLiteral name;
  /// Of matrices that no row of the other members is for.
  llvm::StringLiteral base;
  /// Of the table of outputs, which may be the one of embeddings too.
  llvm::StringLiteral head;
  /// The first that fits counts. `withEightExperts` come before the others, in
  /// models that have as many.
  llvm::ArrayRef<RoleStorage> withEightExperts, roles;
  /// Before `roles` where the importance of columns is known.
  llvm::ArrayRef<RoleStorage> withImportance = {};
};

/// The mix of that name; null where there is none. Some have the name of a storage.
const WeightMix *findMix(llvm::StringRef name);
llvm::ArrayRef<WeightMix> weightMixes();

/// What a matrix gets whose rows the blocks of `storage` do not divide; empty: it
/// stays as it is.
llvm::StringRef findSmaller(llvm::StringRef storage);

/// Why a matrix of that role keeps the type it has, whatever is asked for all of
/// them; empty where it does not.
llvm::StringRef whyWide(MatrixRole role);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_WEIGHTS_WEIGHTMIXES_H
