// Scheduled tile.kernel -> llvm.func with nvvm.kernel; the work is in
// Lowerings.h.
#include "codegen/LaunchNeeds.h"
#include "codegen/nvptx/Lowerings.h"
#include "codegen/nvptx/Passes.h"
#include "codegen/nvptx/ThreadBoxes.h"
#include "codegen/nvptx/WholeWaves.h"
#include "codegen/nvptx/units/Units.h"
#include "dialects/tile/Distribution.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/abi/FileHeader.h"

using namespace mlir;

namespace effc::nvptx {
#define GEN_PASS_DEF_LOWERTHREADSPASS
#include "codegen/nvptx/Passes.h.inc"

namespace {
struct LowerThreadsPass : impl::LowerThreadsPassBase<LowerThreadsPass> {
  using LowerThreadsPassBase::LowerThreadsPassBase;

  static constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;
  static constexpr int kCounts = 3; // rows, segments, outputs
  static constexpr unsigned kAlignment = tile::kSwizzleAlignment;
  // Of a tensor map (CUDA driver API, CUtensorMap).
  static constexpr int64_t kMapBytes = 128, kMapAlignment = 128;

  void runOnOperation() override {
    for (auto kernel :
         llvm::make_early_inc_range(getOperation().getOps<tile::KernelOp>())) {
      std::optional<tile::ScheduleAttr> schedule = kernel.getSchedule();
      if (!schedule)
        continue;
      if (schedule->getDecided() != tile::Decided::Barriers) {
        kernel.emitError("expects a kernel whose schedule is decided up to its "
                         "barriers, but got one with decided ")
            << tile::stringifyDecided(schedule->getDecided())
            << "; run the passes of passes/tile before";
        return signalPassFailure();
      }
      if (failed(checkUnits(kernel)) || failed(lower(kernel)))
        return signalPassFailure();
      kernel.erase();
    }
  }

  // Divisions beside products of rounded operands need not be exact (Ptx.cpp). In
  // loops of scans they stay so: ptxas orders the shorter code worse (decisions.md).
  static void approximateDivisions(LLVM::LLVMFuncOp function) {
    function.walk([](arith::DivFOp division) {
      if (!division->getParentOfType<scf::ForOp>())
        division.setFastmath(division.getFastmath() |
                             arith::FastMathFlags::afn);
    });
  }

  /// Blocks of a core that a kernel which unpacks bundles in registers is assembled for; 0:
  /// the assembler decides. It would take more blocks, and then asks for a row's words
  /// only when those of the row before are used.
  static int64_t blocksBesides(tile::KernelOp kernel) {
    // Sums, numbers, what they are multiplied by, words, scales and places.
    constexpr int64_t kRegisters = 96;
    tile::TargetAttr target = tile::getTarget(kernel);
    bool unpacks = false;
    kernel.getBody().walk([&](tile::LoadOp load) {
      tile::TileType type = load.getResult().getType();
      unpacks |= type.isBlock() && !type.getSharedLayout() &&
                 tile::widestRun(load.getView().getType().getElementType()) >
                     tile::kUsualRun;
    });
    if (!unpacks || !target || !target.getCore())
      return 0;
    int64_t registers = kernel.getSchedule()->getThreads() * kRegisters;
    return std::clamp<int64_t>(target.getCore().getRegisters() / registers, 1,
                               target.getCore().getBlocks());
  }

  LogicalResult lower(tile::KernelOp kernel) {
    MLIRContext *context = &getContext();
    OpBuilder builder(kernel);
    Location loc = kernel.getLoc();
    std::string shared = (kernel.getSymName() + "_shared").str();
    // Its size is the launch's affair: only so can it be more than 48 KiB.
    bool hasShared = *kernel.getSchedule()->getSharedBytes() > 0;
    if (hasShared) {
      auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
      LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/false,
                             LLVM::Linkage::External, shared, Attribute(),
                             kAlignment, kSharedSpace);
    }
    SmallVector<Type> parameters(
        kernel.getOperandArguments().size(),
        LLVM::LLVMPointerType::get(context, kGlobalSpace));
    parameters.append(kCounts, builder.getI64Type());
    SmallVector<tile::BoxMapAttr> maps = boxMapsOf(kernel);
    if (maps.size() > rt::FileHeader::kMaxBoxMaps)
      return kernel.emitError("expects boxes of at most ")
             << rt::FileHeader::kMaxBoxMaps << " kinds in a kernel, but got "
             << maps.size();
    parameters.append(maps.size(), LLVM::LLVMPointerType::get(context));
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                            parameters);
    auto function =
        LLVM::LLVMFuncOp::create(builder, loc, kernel.getSymName(), type);
    function->setAttr("nvvm.kernel", builder.getUnitAttr());
    tile::TargetAttr target = tile::getTarget(kernel);
    codegen::LaunchNeeds needs = {kernel.getSchedule()->getThreads(),
                                  *kernel.getSchedule()->getSharedBytes()};
    needs.overlaps = target && target.getOverlaps();
    if (!maps.empty())
      needs.boxMaps = builder.getArrayAttr(
          SmallVector<Attribute>(maps.begin(), maps.end()));
    needs.setOn(function);
    function->setAttr(
        "nvvm.maxntid",
        builder.getDenseI32ArrayAttr(
            {static_cast<int32_t>(kernel.getSchedule()->getThreads()), 1, 1}));
    if (int64_t blocks = blocksBesides(kernel))
      function->setAttr("nvvm.minctasm", builder.getI32IntegerAttr(
                                             static_cast<int32_t>(blocks)));
    else if (int64_t registers = registersOfWholeWaves(kernel))
      function->setAttr(
          NVVM::NVVMDialect::getMaxnregAttrName(),
          builder.getI32IntegerAttr(static_cast<int32_t>(registers)));
    // A map is a parameter itself, as units read it from there.
    auto tensorMap = LLVM::LLVMArrayType::get(builder.getI8Type(), kMapBytes);
    for (unsigned i = parameters.size() - maps.size(); i < parameters.size();
         ++i) {
      function.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                          TypeAttr::get(tensorMap));
      function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                          builder.getI64IntegerAttr(kMapAlignment));
      function.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                          builder.getUnitAttr());
    }
    Block *entry = function.addEntryBlock(builder);
    ThreadState state(kernel, entry, hasShared ? shared : "", needs.overlaps);
    if (failed(lowerKernel(state)))
      return failure();
    if (target && target.getRoundedTo())
      approximateDivisions(function);
    builder.setInsertionPointToEnd(entry);
    LLVM::ReturnOp::create(builder, loc, ValueRange{});
    return success();
  }
};
} // namespace
} // namespace effc::nvptx
