// Which short convolutions a chunkwise recurrence computes for itself: those of
// its values, of which each channel belongs to one item.
//
//   %c, %next = seq.short_convolution %in ... state(%tail)
//   %x = seq.slice %c ..., %k = seq.slice %c ..., %q = seq.slice %c ...
//   %y, %s = <recurrence> %x, %k, %q
//
// is then the convolution of the keys and queries, which every head reads, and
// the recurrence with the convolution of %x before it, which takes the tail
// that the first leaves.
#ifndef EFFC_PASSES_SEQ_CONVOLUTIONPROLOGUES_H
#define EFFC_PASSES_SEQ_CONVOLUTIONPROLOGUES_H

#include "dialects/seq/SeqOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Twine.h"

#include <vector>

namespace effc {

class ConvolutionPrologues {
public:
  /// Channels of a convolution.
  struct Channels {
    int64_t first = 0, count = 0;
    int64_t end() const { return first + count; }
    bool operator==(const Channels &) const = default;
  };

  /// Finds them in `block`, and takes apart convolutions of which a recurrence
  /// takes some channels; remarks name each that stays a launch, and why.
  void collect(mlir::Block &block);

  /// The convolution that a recurrence's kernel begins with and the views
  /// through which this takes it, in order; nothing where there is none.
  llvm::ArrayRef<mlir::Operation *> before(mlir::Operation *mixer) const {
    auto known = ofMixer.find(mixer);
    return known == ofMixer.end() ? llvm::ArrayRef<mlir::Operation *>()
                                  : llvm::ArrayRef(known->second);
  }
  bool contains(mlir::Operation *convolution) const {
    return all.contains(convolution);
  }

private:
  void take(seq::MixerOpInterface mixer, mlir::OpOperand &values);
  void stays(seq::ShortConvolutionOp convolution, const Channels &channels,
             const llvm::Twine &why);

  llvm::DenseMap<mlir::Operation *, std::vector<mlir::Operation *>> ofMixer;
  llvm::DenseSet<mlir::Operation *> all;
  llvm::DenseSet<mlir::Operation *> explained; ///< by a remark
};

} // namespace effc

#endif // EFFC_PASSES_SEQ_CONVOLUTIONPROLOGUES_H
