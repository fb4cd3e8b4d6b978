// Products of single warps (mma.sync).
//
// A warp multiplies pieces of 16 x 16 by 16 x 8 of bf16 (mma.sync m16n8k16). An
// f32 is the sum of three bf16, exactly: its leading 8 bits of mantissa, the
// next 8 and the last 8; an f16 is the sum of two, a bf16 is one. Of the
// products of such sums those are formed that matter in f32, the small ones
// first: what is left out is below 2^-23 of a term. A tensor core aligns terms
// to the largest, cuts off what is behind an f32's last bit or two and cuts the
// sum to an f32 (M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, Numerical
// behavior of NVIDIA tensor cores, PeerJ Computer Science 7:e330): a long sum
// would shrink with every product. So what is 16 deep is summed by itself, and
// added as any f32 is (as H. Ootomo, R. Yokota, Recovering single precision
// accuracy from Tensor Cores, do). Of a rounded product each element is one
// bf16 or f16, or one tf32, of which a piece is two products of half the depth.
// Rows, columns and depths past the shape are zeros in shared memory.
// Fragments.h says what a lane holds.
#include "codegen/nvptx/units/Fragments.h"
#include "codegen/nvptx/units/Units.h"

#include "dialects/tile/Distribution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace effc::nvptx {

static constexpr int64_t kTf32Depth = 8;

// By types and not by kinds of storage: tf32 is none (isRoundedType).
static NVVM::MMATypes mmaTypeOf(Type type) {
  if (type.isTF32())
    return NVVM::MMATypes::tf32;
  if (type.isF16())
    return NVVM::MMATypes::f16;
  if (type.isBF16())
    return NVVM::MMATypes::bf16;
  std::string text;
  llvm::raw_string_ostream(text) << "no product of a warp takes " << type;
  llvm::report_fatal_error(llvm::StringRef(text));
}

// sums += A B for one piece, of operands such as `operand`; `places` are its
// four elements among the sums.
static void multiplyPiece(ThreadState &t, const FragmentOperand &operand,
                          ArrayRef<Parts> a, ArrayRef<Parts> w,
                          MutableArrayRef<Value> sums,
                          ArrayRef<size_t> places) {
  Type type = operand.piece();
  bool isExact = !operand.roundedTo;
  Type f32Type = t.b.getF32Type();
  auto result = LLVM::LLVMStructType::getLiteral(t.b.getContext(),
                                                 SmallVector<Type>(4, f32Type));
  // Where operands are exact, so have sums to be: a piece has its own.
  SmallVector<Value> acc;
  for (size_t place : places)
    acc.push_back(isExact ? t.f32(0) : sums[place]);
  auto multiply = [&](ArrayRef<Value> ofA, ArrayRef<Value> ofW, int64_t depth) {
    Value product = NVVM::MmaOp::create(
        t.b, result, ofA, ofW, acc,
        ArrayRef<int64_t>{kPieceRows, kPieceColumns, depth},
        /*b1Op=*/std::nullopt, /*intOverflow=*/std::nullopt,
        std::array<NVVM::MMATypes, 2>{mmaTypeOf(type), mmaTypeOf(type)},
        std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                       NVVM::MMALayout::col});
    for (size_t e = 0; e < acc.size(); ++e)
      acc[e] = LLVM::ExtractValueOp::create(t.b, product, e);
  };
  if (type.isTF32())
    for (size_t half = 0; half < 2; ++half) {
      const Parts &upper = a[2 * half], &lower = a[2 * half + 1];
      multiply({upper[0], lower[0], upper[1], lower[1]}, w[half], kTf32Depth);
    }
  auto part = [&](ArrayRef<Parts> registers, size_t number) {
    return llvm::map_to_vector(registers, [&](const Parts &parts) -> Value {
      if (!type.isF16())
        return parts[number];
      return LLVM::BitcastOp::create(t.b, VectorType::get({2}, type),
                                     parts[number]);
    });
  };
  size_t most = type.isTF32() ? 0 : kMostParts;
  for (size_t order = most; order-- > 0;)
    for (size_t i = 0; i < a[0].size() && i <= order; ++i)
      if (order - i < w[0].size())
        multiply(part(a, i), part(w, order - i), kPieceDepth);
  for (size_t e = 0; e < places.size(); ++e) {
    Value &sum = sums[places[e]];
    sum =
        isExact ? arith::AddFOp::create(t.b, sum, acc[e]).getResult() : acc[e];
  }
}

// Unrolled, a step would have the operands of all steps in registers at once.
static LLVM::LoopAnnotationAttr rolledLoop(MLIRContext *context) {
  auto unroll = LLVM::LoopUnrollAttr::get(
      context, /*disable=*/BoolAttr::get(context, true), /*count=*/{},
      /*runtimeDisable=*/{}, /*full=*/{}, /*followupUnrolled=*/{},
      /*followupRemainder=*/{}, /*followupAll=*/{});
  return LLVM::LoopAnnotationAttr::get(
      context, /*disableNonforced=*/{}, /*vectorize=*/{}, /*interleave=*/{},
      unroll, /*unrollAndJam=*/{}, /*licm=*/{}, /*distribute=*/{},
      /*pipeline=*/{}, /*peeled=*/{}, /*unswitch=*/{}, /*mustProgress=*/{},
      /*isVectorized=*/{}, /*startLoc=*/{}, /*endLoc=*/{},
      /*parallelAccesses=*/{});
}

void lowerWarpProduct(DotOp dot, ThreadState &t) {
  TileType accType = dot.getAcc().getType(), aType = dot.getA().getType();
  Held held = heldOf(t, accType);
  Type roundedTo = dot.getRoundedTo().value_or(Type());
  FragmentOperand a =
      FragmentOperand::of(t, dot.getA(), dot.getTransposeA(), roundedTo);
  FragmentOperand w =
      FragmentOperand::of(t, dot.getB(), !dot.getTransposeB(), roundedTo);
  int64_t depth = llvm::alignTo(
      dot.getTransposeA() ? aType.rows() : aType.columns(), kPieceDepth);
  auto [warpRow, warpColumn] = firstOfWarp(t, held);
  size_t rowPieces = held.rows() / 2, columnPieces = held.columns() / 2;
  const auto &[rows, columns] = held.distribution;
  bool isHeld = !aType.getSharedLayout();
  Lane laneOfW = laneOf(t, w, warpColumn, /*outerFirst=*/false), laneOfA;
  if (!isHeld)
    laneOfA = laneOf(t, a, warpRow, /*outerFirst=*/true);
  // Adds what is 16 deep from `at` on; `loadRows` gives the rows of a piece.
  auto multiplyAt = [&](Value at, MutableArrayRef<Value> sums,
                        function_ref<SmallVector<Parts>(size_t)> loadRows) {
    SmallVector<SmallVector<Parts>> ofColumns;
    for (size_t j = 0; j < columnPieces; ++j)
      ofColumns.push_back(
          loadMatrices(t, w,
                       pieceAt(t, w, laneOfW, columns, warpColumn,
                               columns.offsets[2 * j], at),
                       2, /*outerFirst=*/false));
    for (size_t i = 0; i < rowPieces; ++i) {
      SmallVector<Parts> ofRow = loadRows(i);
      for (size_t j = 0; j < columnPieces; ++j) {
        std::array<size_t, 4> places;
        for (size_t e = 0; e < 4; ++e)
          places[e] = (2 * i + e / 2) * held.columns() + 2 * j + e % 2;
        multiplyPiece(t, w, ofRow, ofColumns[j], sums, places);
      }
    }
  };
  if (isHeld) {
    // Registers have no numbers that a loop could count.
    Elements ofA = t.tiles.lookup(dot.getA()),
             sums = t.tiles.lookup(dot.getAcc());
    for (int64_t at = 0; at < depth; at += kPieceDepth)
      multiplyAt(t.constant(at), sums, [&](size_t i) {
        return heldMatrices(t, a, ofA, ofA.size() / held.rows(), i, at);
      });
    t.tiles[dot.getResult()] = sums;
    return;
  }
  auto loop =
      scf::ForOp::create(t.b, t.constant(0), t.constant(depth),
                         t.constant(kPieceDepth), t.tiles[dot.getAcc()]);
  loop->setAttr("llvm.loop_annotation", rolledLoop(t.b.getContext()));
  {
    OpBuilder::InsertionGuard guard(t.b);
    t.b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    SmallVector<Value> sums(loop.getRegionIterArgs());
    multiplyAt(at, sums, [&](size_t i) {
      return loadMatrices(
          t, a, pieceAt(t, a, laneOfA, rows, warpRow, rows.offsets[2 * i], at),
          4,
          /*outerFirst=*/true);
    });
    scf::YieldOp::create(t.b, sums);
  }
  t.tiles[dot.getResult()] = Elements(loop.getResults());
}

} // namespace effc::nvptx
