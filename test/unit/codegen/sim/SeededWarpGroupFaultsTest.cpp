// The simulator finds what is wrong with products of warp groups: faults are
// put into what one thread does, one at a time. A fault of order is reported
// with the kernel's name, and so is one of places within a row of B or a
// fragment of A; one of other places gives other numbers, which contracts see.
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/codegen/sim/Divergence.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace effc;
using namespace effc::test;

namespace {

/// Seven steps of 64: each of three slots is filled more than once.
constexpr int64_t kTokens = 48, kInputs = 448, kOutputs = 64;

constexpr const char *kBoxes = R"(
module {
  seq.weight @table source("table") : tensor<48x448xf32>
  seq.weight @w source("w") : tensor<64x448xbf16>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x64xf32> {
    %table = seq.parameter @table : tensor<48x448xf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<48x448xf32>) -> tensor<?x448xf32>
    %w = seq.parameter @w : tensor<64x448xbf16>
    %y = seq.linear %x, %w : (tensor<?x448xf32>, tensor<64x448xbf16>) -> tensor<?x64xf32>
    %out = seq.select_rows %y, %rows : (tensor<?x64xf32>, tensor<?xi32>) -> tensor<?x64xf32>
    return %out : tensor<?x64xf32>
  }
}
)";

/// The same with the weight as the one block of a block-diagonal matrix, which
/// threads copy: a box has two dimensions.
constexpr const char *kCopies = R"(
module {
  seq.weight @table source("table") : tensor<48x448xf32>
  seq.weight @w source("w") : tensor<1x64x448xbf16>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x64xf32> {
    %table = seq.parameter @table : tensor<48x448xf32>
    %flat = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<48x448xf32>) -> tensor<?x448xf32>
    %x = seq.reshape %flat : tensor<?x448xf32> -> tensor<?x1x448xf32>
    %w = seq.parameter @w : tensor<1x64x448xbf16>
    %y = seq.linear %x, %w : (tensor<?x1x448xf32>, tensor<1x64x448xbf16>) -> tensor<?x1x64xf32>
    %z = seq.reshape %y : tensor<?x1x64xf32> -> tensor<?x64xf32>
    %out = seq.select_rows %z, %rows : (tensor<?x64xf32>, tensor<?xi32>) -> tensor<?x64xf32>
    return %out : tensor<?x64xf32>
  }
}
)";

class SeededWarpGroupFaults : public testing::Test {
protected:
  const char *text = kBoxes;

  float table(int64_t token, int64_t i) const {
    return float((token * 37 + i * 11) % 101) / 50 - 1;
  }
  float weight(int64_t o, int64_t i) const {
    return float((o * 29 + i * 7) % 61 - 30) / 32; // bf16 has it
  }

  /// Runs all tokens with the kernels as the edits leave them; returns what the
  /// simulator says.
  std::string run(PlanRunner::Edit edit, PlanRunner::Edit editThreads) {
    TestModel model(text);
    PipelineOptions options;
    options.prefillRows = {64};
    options.decodeRows = {1};
    PlanRunner runner(model, options, /*slots=*/1, edit, editThreads);
    runner.looksForFaults = true;
    std::vector<float> rows, w;
    for (int64_t t = 0; t < kTokens; ++t)
      for (int64_t i = 0; i < kInputs; ++i)
        rows.push_back(table(t, i));
    for (int64_t o = 0; o < kOutputs; ++o)
      for (int64_t i = 0; i < kInputs; ++i)
        w.push_back(weight(o, i));
    runner.setWeight("table", rows);
    runner.setWeight("w", w);
    PlanRunner::Segment all;
    for (int32_t t = 0; t < kTokens; ++t)
      all.tokens.push_back(t);
    logits = runner.prefill(all);
    return runner.fault;
  }

  /// The largest distance of the logits from the formula.
  double error() const {
    double largest = 0;
    for (int64_t t = 0; t < kTokens; ++t)
      for (int64_t o = 0; o < kOutputs; ++o) {
        double sum = 0;
        for (int64_t i = 0; i < kInputs; ++i)
          sum += double(table(t, i)) * weight(o, i);
        double distance = std::fabs(logits[t * kOutputs + o] - sum);
        largest =
            std::isnan(distance) ? INFINITY : std::fmax(largest, distance);
      }
    return largest;
  }

  /// The functions in which warp groups multiply.
  static SmallVector<LLVM::LLVMFuncOp> functions(ModuleOp module) {
    SmallVector<LLVM::LLVMFuncOp> found;
    for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
      WalkResult walked = function.walk(
          [](tile::WarpGroupDotOp) { return WalkResult::interrupt(); });
      if (walked.wasInterrupted())
        found.push_back(function);
    }
    EXPECT_FALSE(found.empty());
    return found;
  }
  template <typename Op> static void eraseAll(ModuleOp module) {
    int64_t count = 0;
    for (LLVM::LLVMFuncOp function : functions(module))
      function.walk([&](Op op) {
        op.erase();
        ++count;
      });
    EXPECT_GT(count, 0);
  }

  std::vector<float> logits;
};

} // namespace

TEST_F(SeededWarpGroupFaults, NoneInKernelsAsTheyAre) {
  for (const char *one : {kBoxes, kCopies}) {
    text = one;
    EXPECT_EQ(run(nullptr, nullptr), "");
    EXPECT_LT(error(), 1e-4);
  }
}

// One warp may still read what another copies over.
TEST_F(SeededWarpGroupFaults, BarrierRemoved) {
  std::string fault = run(
      [](ModuleOp module) {
        for (auto kernel : module.getOps<tile::KernelOp>())
          if (kernel.getSymName().starts_with("linear"))
            kernel.getBody().walk([](tile::BarrierOp op) { op.erase(); });
      },
      nullptr);
  EXPECT_NE(fault.find("linear"), std::string::npos) << fault;
  EXPECT_NE(fault.find("of shared memory"), std::string::npos) << fault;
}

TEST_F(SeededWarpGroupFaults, FenceBetweenTheProxiesRemoved) {
  text = kCopies;
  std::string fault =
      run(nullptr, [](ModuleOp m) { eraseAll<NVVM::FenceProxyOp>(m); });
  EXPECT_NE(fault.find("linear"), std::string::npos) << fault;
  EXPECT_NE(fault.find("without a fence for asynchronous units"),
            std::string::npos)
      << fault;
}

TEST_F(SeededWarpGroupFaults, ProductsNeverCommitted) {
  std::string fault = run(
      nullptr, [](ModuleOp m) { eraseAll<NVVM::WgmmaGroupSyncAlignedOp>(m); });
  EXPECT_NE(fault.find("linear"), std::string::npos) << fault;
  EXPECT_NE(fault.find("without waiting for this product"), std::string::npos)
      << fault;
}

// Three of four warps.
TEST_F(SeededWarpGroupFaults, DescriptorDiffersBetweenWarps) {
  std::string fault = run(nullptr, [](ModuleOp module) {
    for (LLVM::LLVMFuncOp function : functions(module)) {
      OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
      Location loc = function.getLoc();
      Value thread = NVVM::ThreadIdXOp::create(b, loc, b.getI32Type());
      Value warp = LLVM::LShrOp::create(
          b, loc, thread,
          LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(5)));
      Value wide = LLVM::ZExtOp::create(b, loc, b.getI64Type(), warp);
      function.walk([&](tile::WarpGroupDotOp dot) {
        OpBuilder at(dot);
        dot.getBMutable().assign(
            LLVM::AddOp::create(at, dot.getLoc(), dot.getB(), wide));
      });
    }
  });
  EXPECT_NE(fault.find("linear"), std::string::npos) << fault;
  EXPECT_NE(fault.find("divergent"), std::string::npos) << fault;
}

// Half a warp goes past a wait that all its lanes have to take part in.
TEST_F(SeededWarpGroupFaults, DivergentWait) {
  std::string fault = run(nullptr, [](ModuleOp module) {
    for (LLVM::LLVMFuncOp function : functions(module)) {
      tile::WarpGroupWaitOp wait;
      function.walk([&](tile::WarpGroupWaitOp op) { wait = op; });
      OpBuilder b(wait);
      Value zero =
          LLVM::ConstantOp::create(b, wait.getLoc(), b.getF32FloatAttr(0));
      skipInUpperHalf(wait, SmallVector<Value>(wait.getSums().size(), zero));
    }
  });
  EXPECT_NE(fault.find("linear"), std::string::npos) << fault;
  EXPECT_NE(fault.find("divergent"), std::string::npos) << fault;
}

// Pieces of a row are where no product of the row looks for them.
TEST_F(SeededWarpGroupFaults, WrongSwizzle) {
  text = kCopies;
  std::string fault = run(nullptr, [](ModuleOp module) {
    int64_t count = 0;
    for (LLVM::LLVMFuncOp function : functions(module))
      function.walk([&](LLVM::XOrOp op) {
        op.getResult().replaceAllUsesWith(op.getLhs());
        ++count;
      });
    EXPECT_GT(count, 0);
  });
  EXPECT_NE(fault.find("linear"), std::string::npos) << fault;
  EXPECT_NE(fault.find("misplaced"), std::string::npos) << fault;
}

TEST_F(SeededWarpGroupFaults, WrongFragmentColumn) {
  std::string fault = run(nullptr, [](ModuleOp module) {
    for (LLVM::LLVMFuncOp function : functions(module))
      function.walk([](tile::WarpGroupDotOp dot) {
        // Rows 8 to 15 in place of columns 8 to 15.
        Value second = dot.getA()[1], third = dot.getA()[2];
        dot.getAMutable()[1].assign(third);
        dot.getAMutable()[2].assign(second);
      });
  });
  EXPECT_NE(fault.find("linear"), std::string::npos) << fault;
  EXPECT_NE(fault.find("misplaced"), std::string::npos) << fault;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

namespace {
/// Has the first thread expect so many bytes more than come.
void expectMore(ModuleOp module, int32_t bytes) {
  int64_t count = 0;
  module.walk([&](NVVM::MBarrierArriveExpectTxOp op) {
    OpBuilder b(op);
    Value more =
        LLVM::ConstantOp::create(b, op.getLoc(), b.getI32IntegerAttr(bytes));
    op.getTxcountMutable().assign(
        LLVM::AddOp::create(b, op.getLoc(), op.getTxcount(), more));
    ++count;
  });
  EXPECT_GT(count, 0);
}
} // namespace

TEST_F(SeededWarpGroupFaults, ExpectsMoreBytes) {
  std::string fault = run(nullptr, [](ModuleOp m) { expectMore(m, 16); });
  EXPECT_NE(fault.find("linear"), std::string::npos) << fault;
  EXPECT_NE(fault.find("waits for 0 threads and 16 bytes"), std::string::npos)
      << fault;
}

TEST_F(SeededWarpGroupFaults, ExpectsFewerBytes) {
  std::string fault = run(nullptr, [](ModuleOp m) { expectMore(m, -16); });
  EXPECT_NE(fault.find("linear"), std::string::npos) << fault;
  EXPECT_NE(fault.find("16 more bytes have come than were expected"),
            std::string::npos)
      << fault;
}

TEST_F(SeededWarpGroupFaults, WaitForABoxRemoved) {
  std::string fault = run(
      nullptr, [](ModuleOp m) { eraseAll<NVVM::MBarrierTryWaitParityOp>(m); });
  EXPECT_NE(fault.find("linear"), std::string::npos) << fault;
  EXPECT_NE(fault.find("into which a box is copied"), std::string::npos)
      << fault;
}

// The phase before the first is over from the start.
TEST_F(SeededWarpGroupFaults, WaitForTheOtherPhase) {
  std::string fault = run(nullptr, [](ModuleOp module) {
    int64_t count = 0;
    module.walk([&](NVVM::MBarrierTryWaitParityOp op) {
      OpBuilder b(op);
      Value one =
          LLVM::ConstantOp::create(b, op.getLoc(), b.getI32IntegerAttr(1));
      op.getPhaseMutable().assign(
          LLVM::XOrOp::create(b, op.getLoc(), op.getPhase(), one));
      ++count;
    });
    EXPECT_GT(count, 0);
  });
  EXPECT_NE(fault.find("linear"), std::string::npos) << fault;
  EXPECT_NE(fault.find("into which a box is copied"), std::string::npos)
      << fault;
}

TEST_F(SeededWarpGroupFaults, MbarriersNotFenced) {
  std::string fault =
      run(nullptr, [](ModuleOp m) { eraseAll<NVVM::FenceProxyOp>(m); });
  EXPECT_NE(fault.find("linear"), std::string::npos) << fault;
  EXPECT_NE(fault.find("has started without a fence"), std::string::npos)
      << fault;
}

TEST_F(SeededWarpGroupFaults, BoxesOfTheNextRowGiveOtherNumbers) {
  std::string fault = run(nullptr, [](ModuleOp module) {
    int64_t count = 0;
    module.walk([&](NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp op) {
      OpBuilder b(op);
      Value one =
          LLVM::ConstantOp::create(b, op.getLoc(), b.getI32IntegerAttr(1));
      Value row = op.getCoordinates()[1];
      op.getCoordinatesMutable()[1].assign(
          LLVM::AddOp::create(b, op.getLoc(), row, one));
      ++count;
    });
    EXPECT_GT(count, 0);
  });
  EXPECT_EQ(fault, "");
  EXPECT_GT(error(), 1e-2);
}

// The slot of the step before is refilled while others may still read it.
TEST_F(SeededWarpGroupFaults, BarrierOfTheLoopRemoved) {
  std::string fault = run(
      [](ModuleOp module) {
        int64_t count = 0;
        for (auto kernel : module.getOps<tile::KernelOp>())
          if (kernel.getSymName().starts_with("linear"))
            kernel.getBody().walk([&](tile::BarrierOp op) {
              if (!isa<scf::ForOp>(op->getParentOp()))
                return;
              op.erase();
              ++count;
            });
        EXPECT_GT(count, 0);
      },
      nullptr);
  EXPECT_NE(fault.find("linear"), std::string::npos) << fault;
  EXPECT_NE(fault.find("of shared memory"), std::string::npos) << fault;
}

// Right for the first turn of each slot alone.
TEST_F(SeededWarpGroupFaults, PhaseNeverChanges) {
  std::string fault = run(nullptr, [](ModuleOp module) {
    module.walk([&](NVVM::MBarrierTryWaitParityOp op) {
      OpBuilder b(op);
      Value zero =
          LLVM::ConstantOp::create(b, op.getLoc(), b.getI32IntegerAttr(0));
      op.getPhaseMutable().assign(zero);
    });
  });
  EXPECT_NE(fault.find("linear"), std::string::npos) << fault;
  EXPECT_NE(fault.find("into which a box is copied"), std::string::npos)
      << fault;
}

//===----------------------------------------------------------------------===//
// Launches that overlap
//===----------------------------------------------------------------------===//

TEST_F(SeededWarpGroupFaults, WaitForTheLaunchesBeforeRemoved) {
  std::string fault = run(nullptr, [](ModuleOp module) {
    for (LLVM::LLVMFuncOp function : functions(module))
      function.walk([](NVVM::GriddepcontrolOp op) {
        if (op.getKind() == NVVM::GridDepActionKind::wait)
          op.erase();
      });
  });
  EXPECT_NE(fault.find("linear"), std::string::npos) << fault;
  EXPECT_NE(fault.find("for which it has not awaited the launches before"),
            std::string::npos)
      << fault;
}
