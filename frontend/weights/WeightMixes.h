// Which matrices get which storage where one name stands for several: the mixes of
// the public tool `llama-quantize`, as data.
#ifndef EFFC_FRONTEND_WEIGHTS_WEIGHTMIXES_H
#define EFFC_FRONTEND_WEIGHTS_WEIGHTMIXES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace effc::frontend {

/// Parts of a model that mixes give a storage of their own.
enum class ModelPart { Values, Keys, AttentionOut, Down };

/// Which of a part's matrices, the `index`-th of `count`.
enum class PartChoice {
  All,
  FirstTwo,
  FirstFour,
  FirstSixteenth,
  FirstEighth,
  /// The first eighth, the last one, and every third between.
  Deep,
};
bool isChosen(PartChoice choice, int64_t index, int64_t count);

/// A storage for some matrices, by a name of dialects/storage/Formats.h.
struct PartStorage {
  ModelPart part;
  PartChoice choice;
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
  llvm::ArrayRef<PartStorage> withEightExperts, parts;
  /// Before `parts` where the importance of columns is known.
  llvm::ArrayRef<PartStorage> withImportance = {};
};

/// The mix of that name; null where there is none. Some have the name of a storage.
const WeightMix *findMix(llvm::StringRef name);
llvm::ArrayRef<WeightMix> weightMixes();

/// The part that a weight of that name belongs to, by its name in effc.
std::optional<ModelPart> findPart(llvm::StringRef weight);

/// What a matrix gets whose rows the blocks of `storage` do not divide; empty: it
/// stays as it is.
llvm::StringRef findSmaller(llvm::StringRef storage);

/// Why a matrix keeps the type it has, whatever is asked for all of them; empty
/// where it does not. `family` is that of seq.model; `isLowRank`: the weight is the
/// first or the second half of a product of low rank.
llvm::StringRef whyWide(llvm::StringRef family, llvm::StringRef weight,
                        bool isLowRank);

} // namespace effc::frontend

#endif // EFFC_FRONTEND_WEIGHTS_WEIGHTMIXES_H
