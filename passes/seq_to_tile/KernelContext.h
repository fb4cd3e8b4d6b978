// What a kernel depends on besides its own body.
//
// Kernels of equal bodies and equal contexts are built once. So a builder is
// given a KernelContext and nothing else of the call that it is for: what of the
// call's rows shapes a kernel is decided before, as KernelSizes, and any other
// use of them does not compile.
#ifndef EFFC_PASSES_SEQTOTILE_KERNELCONTEXT_H
#define EFFC_PASSES_SEQTOTILE_KERNELCONTEXT_H

#include "dialects/seq/Seq.h"
#include "dialects/storage/StorageDialect.h"
#include "dialects/tile/Tile.h"

#include "llvm/ADT/SmallVector.h"

namespace effc {

/// What kind of memory an operand of a seq.kernel is.
enum class MemoryKind { Buffer, Weight, State, Table };

/// How a result is stored, and where among the rows of a tensor that joins it
/// with others.
struct ResultPlace {
  mlir::Type stored;     ///< its elements
  int64_t rowStride = 0; ///< in elements; 0: it has a buffer of its own
  int64_t offsetBytes = 0;
  bool operator==(const ResultPlace &) const = default;
};

/// What an item of a product of buildDense computes at once.
struct DenseTile {
  int64_t rows = 0, outputs = 0;
  /// Of rows that are taken one by one, without tensor cores: terms of their sums
  /// that are taken at once; 0: rows are a matrix.
  int64_t singleRowStep = 0;
  /// Whether an item passes over all rows of the call, on the host.
  bool passesRows = false;
  /// Items that share the terms of a tile's sums on a GPU, each some of them; their sums
  /// meet in a launch behind (DepthParts.h).
  int64_t depthParts = 1;
  /// Steps that are on their way besides the usual ones, where a core has one item alone.
  int64_t furtherStages = 0;
  bool operator==(const DenseTile &) const = default;
};

/// How the kernel of a window is cut into blocks of queries and of keys.
struct WindowBlocks {
  int64_t queries = 0; ///< of a head in prefill: rows of a block
  int64_t items = 0;   ///< that share the blocks of a head and segment there
  int64_t keys = 0;
  /// Positions of a piece whose keys an item of decode takes by themselves; 0: an item
  /// takes all keys. The pieces of a segment and group of heads are shared by `items`.
  int64_t piece = 0;
  bool operator==(const WindowBlocks &) const = default;
};

struct CallContext;

/// All that a kernel takes from the number of a call's rows.
struct KernelSizes {
  DenseTile dense;        ///< of its product
  WindowBlocks window;    ///< of its mixer of class window
  int64_t chunk = 0;      ///< tokens, of its mixer of class linear
  int64_t pieces = 1;     ///< of one sequence, each an item of that mixer
  int64_t stepValues = 0; ///< the most value channels of an item of its steps
  int64_t convolutionParts = 1; ///< items that share a sequence's rows

  /// Of a kernel for a call, whose context has all but these.
  static KernelSizes of(seq::KernelOp kernel, const CallContext &call);
  bool operator==(const KernelSizes &) const = default;
};

/// The facts of a translation that a kernel depends on besides its own body.
struct KernelContext {
  seq::EntryKind kind = seq::EntryKind::Prefill;
  KernelSizes sizes;
  /// What sizes kernels is asked of functions of it (passes/kernel_facts); null:
  /// the module says nothing, and is made for the host.
  tile::TargetAttr target;
  /// Product units of a GPU that may be used, the preferred one first.
  llvm::SmallVector<tile::ProductUnit> units;
  /// What the host's products with weights in panels round their rows to.
  storage::DigitsType digits;
  /// What the leading dimension of the kernel's token tensors counts.
  tile::Count lead = tile::Count::Rows;
  /// One for each operand of the seq.kernel.
  llvm::SmallVector<MemoryKind> operands;
  /// What the elements of each operand are stored as; null: what its type says.
  /// Others are possible for states, buffers, weights, and tables of positions or draws.
  llvm::SmallVector<mlir::Type> storedTypes;
  /// Whether result i is what the call gives, logits or choices, which lie
  /// densely.
  llvm::SmallVector<bool> resultLeaves;
  llvm::SmallVector<ResultPlace> resultPlaces; ///< one for each result
  int64_t slotBytes = 0;
  /// Whether a token's bits may not depend on what it is computed with.
  bool bitStable = true;

  bool operator==(const KernelContext &) const = default;

  tile::Device device() const {
    return target ? target.getDevice() : tile::Device::Host;
  }
  bool isGpu() const { return device() == tile::Device::Nvptx; }
  /// Of the target; 0: it does not say.
  int64_t cores() const { return target ? target.getCores() : 0; }
  /// What operands of products are rounded to; null: they are not.
  mlir::Type roundedTo() const {
    return target ? target.getRoundedTo() : mlir::Type();
  }
  /// What an operand of the seq.kernel is stored as; null: what its type says.
  mlir::Type storedAs(mlir::Value operand) const {
    auto argument = llvm::dyn_cast<mlir::BlockArgument>(operand);
    return argument ? storedTypes[argument.getArgNumber()] : mlir::Type();
  }
  /// Whether an operand of the seq.kernel is a weight in panels.
  bool isInPanels(mlir::Value operand) const {
    return llvm::isa_and_nonnull<storage::PanelType>(storedAs(operand));
  }
};

/// The same with the call itself, for what decides sizes and ways and for what
/// is said about them.
struct CallContext : KernelContext {
  seq::EntryAttr entry;
};

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_KERNELCONTEXT_H
