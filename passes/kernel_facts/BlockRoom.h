// What a block of a GPU has room for: elements in its threads' registers, and
// bytes in its shared memory.
//
// Kernels are sized by these functions of the target's record, and by the shares
// that stand here. A share says how much of a block one kind of tile may take, so
// that what lies beside it has room too.
#ifndef EFFC_PASSES_KERNELFACTS_BLOCKROOM_H
#define EFFC_PASSES_KERNELFACTS_BLOCKROOM_H

#include "dialects/tile/Distribution.h"
#include "dialects/tile/Tile.h"
#include "passes/kernel_facts/MethodSizes.h"

namespace effc {

/// Elements of the largest block of a kernel, and of its longest row or column,
/// that a thread has where there are threads enough. Chosen, not measured: a block
/// takes an eighth of a thread's registers, so that several are there at once.
inline constexpr int64_t kThreadElements = 32, kThreadRowElements = 8;

/// What a block may have, and what that holds. Sizes in elements are of f32.
struct BlockRoom {
  int64_t threads;     ///< at most
  int64_t sharedBytes; ///< of shared memory, at most
  int64_t registers;   ///< of a thread, of 32 bits
  int64_t lanes;       ///< threads of a warp
  int64_t schedulers;  ///< of a core, each of which issues for a warp at a time

  /// Of a GPU, whose record has them.
  static BlockRoom of(tile::TargetAttr gpu);
  /// Of the GPU that a kernel is for; an error at the kernel where its module has no
  /// target, or that of a host.
  static mlir::FailureOr<BlockRoom> find(tile::KernelOp kernel);

  /// Threads of a small block: a warp for each scheduler of a core.
  int64_t fewThreads() const { return schedulers * lanes; }
  /// Elements of the blocks that these hold.
  int64_t fewElements() const { return fewThreads() * kThreadElements; }
  /// Rows of a product's tile, or outputs, and queries of a window's block: along
  /// them each warp of a small block has a piece of tensor cores. So a row of B is
  /// read once for as many.
  int64_t tileRows() const { return schedulers * tile::kPieceRows; }
  /// Bytes that a warp copies at once: a lane's longest copy is of 16 (PTX ISA,
  /// cp.async).
  int64_t warpCopyBytes() const { return lanes * 16; }

  /// Threads of a block of the short convolution, two warps, of which one computes
  /// while the other waits; and the rows that they have at a time: as many loads as they
  /// have registers for are on the way together.
  int64_t convolutionThreads() const { return 2 * lanes; }
  int64_t convolutionRows() const {
    return convolutionThreads() * kThreadElements / kConvolutionChannels;
  }

  /// Elements of tiles that threads hold from the first to the last of many steps:
  /// states, and sums of weighted values. A quarter of all registers.
  int64_t heldElements() const;
  /// Elements that a thread holds beside a product: half of its registers where
  /// operands have 16 bits, else three eighths, since operands then take more
  /// registers themselves.
  int64_t heldBesideProduct(bool isNarrow) const;
  /// Elements of the largest block that all threads have together.
  int64_t blockElements() const { return threads * kThreadElements; }
  /// Elements of a row that all threads have together.
  int64_t rowElements() const { return threads * kThreadRowElements; }

  /// Elements of a matrix in shared memory with as much beside it as a state's
  /// chunk needs: the largest power of two, as sizes of heads are.
  int64_t matrixElements() const;
  /// Bytes of the keys and values of a window's block, and of its queries. A tenth
  /// is left to scores.
  int64_t windowKeyBytes() const { return sharedBytes / 2; }
  int64_t windowQueryBytes() const { return sharedBytes * 2 / 5; }
  /// Elements of the part of a head's state that products read.
  int64_t stateElements() const { return sharedBytes / 2 / 4; }
  /// Bytes of the tiles of halvings that run between the same barriers
  /// (passes/seq_to_tile/builders/linear/KeyDecays.cpp): the largest power of two up to
  /// a fifth, since half is a state's.
  int64_t halvingBytes() const;
  /// Steps of a product that are in shared memory at once, each of so many bytes:
  /// one is multiplied while others come. More than three wait no less.
  int64_t stages(int64_t stepBytes) const;
};

} // namespace effc

#endif // EFFC_PASSES_KERNELFACTS_BLOCKROOM_H
