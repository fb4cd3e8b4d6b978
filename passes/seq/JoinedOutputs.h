// What joins the kernel of a product whose rows a GPU takes one by one, so that items
// own whole outputs: ops that take outputs and keep a state of them, the rows of tables
// that these read, and what joins and adds what they give.
//
//   %p = seq.linear %x, %w
//   %w_t = seq.embedding %positions, %table
//   %a, %next = <recurrence> of the first heads of %p, with %w_t
//   %b, %tail = <convolution> of the channels behind
//   %y = seq.concat %a, %b
//
// is then the product, with the row of the table before it and the rest behind.
#ifndef EFFC_PASSES_SEQ_JOINEDOUTPUTS_H
#define EFFC_PASSES_SEQ_JOINEDOUTPUTS_H

#include "dialects/seq/SeqOps.h"
#include "passes/kernel_facts/TakenOutputs.h"
#include "llvm/ADT/DenseSet.h"

#include <vector>

namespace effc {

class JoinedOutputs {
public:
  /// Finds what joins the products of `block`, and moves it there: each op with
  /// views and rows of its own, since what others read stays where it was. No
  /// more than `mostOps` ops besides views follow one product; a remark names
  /// what stays.
  void collect(mlir::Block &block, unsigned mostOps);

  /// Gives each other op of its kind in `block` the rows of tables that it
  /// reads.
  void collectRows(mlir::Block &block);

  /// What comes before a root in its kernel, and behind it, in order.
  llvm::ArrayRef<mlir::Operation *> before(mlir::Operation *root) const;
  llvm::ArrayRef<mlir::Operation *> behind(mlir::Operation *product) const;
  bool contains(mlir::Operation *op) const { return all.contains(op); }

private:
  struct Ops {
    std::vector<mlir::Operation *> before, behind;
    unsigned count = 0; ///< without views
  };
  /// Where a value lies among the outputs of its product.
  struct Place {
    mlir::Operation *product = nullptr;
    int64_t first = 0, end = 0;
  };

  void take(mlir::Operation *op);
  void follow(mlir::Operation *op);
  bool hasRoom(const Ops &ops, mlir::Operation *op) const;
  bool isFree(const TakenOutputs &taken) const;
  mlir::Value rowBefore(mlir::Value row, mlir::Operation *root);
  static void eraseUnread(mlir::Block &block);
  mlir::Value viewBehind(mlir::Value view, mlir::Operation *product);
  void place(mlir::Operation *op, mlir::Operation *product);

  unsigned mostOps = 0;
  llvm::DenseMap<mlir::Operation *, Ops> ofRoot;
  llvm::DenseSet<mlir::Operation *> all;
  /// What updates, and what is made of them, have come to.
  llvm::DenseMap<mlir::Value, Place> places;
  /// Rows and slices of them before a root, by what they are copies of.
  llvm::DenseMap<std::pair<mlir::Operation *, mlir::Operation *>,
                 mlir::Operation *>
      copies;
};

} // namespace effc

#endif // EFFC_PASSES_SEQ_JOINEDOUTPUTS_H
