// A kernel in memory that a test parses.
#ifndef EFFC_TEST_UNIT_PASSES_TILE_KERNELTEXT_H
#define EFFC_TEST_UNIT_PASSES_TILE_KERNELTEXT_H

#include "dialects/tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace effc::tile::test {

class KernelText {
public:
  /// `body` may use the item and views %s, 8 x 16 f32, and %w, 16 x 64 bf16,
  /// which boxes can be copied from, %c0, %c1 and the f32 %f0. The kernel has
  /// places, over so many threads.
  KernelText(int64_t threads, llvm::StringRef body) {
    context.loadDialect<TileDialect, mlir::arith::ArithDialect>();
    std::string text =
        "tile.kernel @k(%item, %s: !tile.view<8x16xf32, [16, 1]>, %w: "
        "!tile.view<16x64xbf16, [64, 1]>) items(#tile.items<one, tile = 1, "
        "times = 1>) writes(0) streamed(1) aligned(1) "
        "schedule(#tile.schedule<decided = places, threads = " +
        std::to_string(threads) +
        ", shared_bytes = 65536>) {\n"
        "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
        "  %f0 = arith.constant 0.0 : f32\n" +
        body.str() + "}";
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
  }

  KernelOp get() { return *module->getOps<KernelOp>().begin(); }
  /// Op number `number` of a type.
  template <typename Op> Op op(int64_t number = 0) {
    auto ops = get().getBody().template getOps<Op>();
    return *std::next(ops.begin(), number);
  }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace effc::tile::test

#endif // EFFC_TEST_UNIT_PASSES_TILE_KERNELTEXT_H
