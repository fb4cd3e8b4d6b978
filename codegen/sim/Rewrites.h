// What becomes of the ops of a kernel, by their kind.
#ifndef EFFC_CODEGEN_SIM_REWRITES_H
#define EFFC_CODEGEN_SIM_REWRITES_H

#include "codegen/sim/RewriteState.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace effc::sim {

class Rewrites {
public:
  /// `rewrite(op, state)` puts the simulator's code in place of an op of one of
  /// these kinds.
  template <typename... Ops, typename Rewrite> void add(Rewrite rewrite) {
    (byKind.try_emplace(mlir::TypeID::get<Ops>(),
                        [rewrite](mlir::Operation *op, RewriteState &s) {
                          return rewrite(mlir::cast<Ops>(op), s);
                        }),
     ...);
  }
  /// Is called when all ops are rewritten, in the order of addition.
  void addEnd(std::function<mlir::LogicalResult()> end) {
    ends.push_back(std::move(end));
  }

  /// An op of NVVM that no kind was added for is an error; others stay.
  mlir::LogicalResult rewrite(mlir::Operation *op, RewriteState &s) const;
  mlir::LogicalResult finish() const;

private:
  llvm::DenseMap<mlir::TypeID, std::function<mlir::LogicalResult(
                                   mlir::Operation *, RewriteState &)>>
      byKind;
  llvm::SmallVector<std::function<mlir::LogicalResult()>> ends;
};

void addThreads(Rewrites &rewrites); // RewriteThreads.cpp
void addMemory(Rewrites &rewrites);  // RewriteMemory.cpp
void addCopies(Rewrites &rewrites);  // RewriteCopies.cpp
void addMath(Rewrites &rewrites);    // RewriteMath.cpp

} // namespace effc::sim

#endif // EFFC_CODEGEN_SIM_REWRITES_H
