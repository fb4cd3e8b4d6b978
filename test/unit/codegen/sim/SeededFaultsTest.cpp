// The simulator finds what is wrong with kernels: faults are put into scheduled
// kernels of our own, or into what one thread does of them, one at a time, and
// each is reported with the kernel's name. Without a fault nothing is reported.
#include "test/unit/codegen/host/PlanRunner.h"
#include "test/unit/codegen/sim/Divergence.h"

#include "dialects/tile/Distribution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace effc;
using namespace effc::test;

namespace {

// A norm, whose sum crosses warps, and a product of 37 outputs in three stages
// of 64.
constexpr const char *kModel = R"(
module attributes {seq.model = #seq.model<family = "t", vocabulary = 37, width = 320, max_context = 0>} {
  seq.weight @table source("table") : tensor<37x320xf32>
  seq.weight @scale source("scale") : tensor<320xf32>
  seq.weight @w source("w") : tensor<37x320xf32>
  func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) -> tensor<?x37xf32> {
    %table = seq.parameter @table : tensor<37x320xf32>
    %x = seq.embedding %tokens, %table : (tensor<?xi32>, tensor<37x320xf32>) -> tensor<?x320xf32>
    %scale = seq.parameter @scale : tensor<320xf32>
    %n = seq.rms_norm %x, %scale {eps = 1.000000e-05 : f64} : tensor<?x320xf32>, tensor<320xf32>
    %s = seq.select_rows %n, %rows : (tensor<?x320xf32>, tensor<?xi32>) -> tensor<?x320xf32>
    %w = seq.parameter @w : tensor<37x320xf32>
    %y = seq.lm_head %s, %w : (tensor<?x320xf32>, tensor<37x320xf32>) -> tensor<?x37xf32>
    return %y : tensor<?x37xf32>
  }
}
)";

/// What a run says, and gives.
struct Outcome {
  std::string fault;
  std::vector<float> logits;
};

class SeededFaults : public testing::Test {
protected:
  /// Runs five rows with the kernels as the edits leave them.
  Outcome run(PlanRunner::Edit edit, PlanRunner::Edit editThreads = nullptr) {
    TestModel model(kModel);
    PipelineOptions options;
    options.prefillRows = {16};
    options.decodeRows = {1};
    PlanRunner runner(model, options, /*slots=*/1, edit, editThreads);
    runner.looksForFaults = true;
    auto fill = [&](const char *name, size_t count) {
      std::vector<float> elements;
      for (size_t i = 0; i < count; ++i)
        elements.push_back(float((i * 37 + count) % 101) / 50 - 1);
      runner.setWeight(name, elements);
    };
    fill("table", 37 * 320);
    fill("scale", 320);
    fill("w", 37 * 320);
    Outcome outcome;
    outcome.logits = runner.prefill({{.tokens = {3, 36, 1, 0, 9}}});
    outcome.fault = runner.fault;
    return outcome;
  }

  /// The scheduled kernel of the prefill entry whose name starts so.
  static tile::KernelOp kernel(ModuleOp module, StringRef start) {
    for (auto op : module.getOps<tile::KernelOp>())
      if (op.getSymName().starts_with(start))
        return op;
    ADD_FAILURE() << "no kernel " << start.str();
    return {};
  }
  template <typename Op> static Op first(tile::KernelOp kernel) {
    Op found;
    kernel.getBody().walk([&](Op op) {
      if (!found)
        found = op;
    });
    EXPECT_TRUE(found);
    return found;
  }
};

} // namespace

TEST_F(SeededFaults, NoneInKernelsAsTheyAre) {
  Outcome sound = run(nullptr);
  EXPECT_EQ(sound.fault, "");
  for (float logit : sound.logits)
    EXPECT_TRUE(std::isfinite(logit));
}

TEST_F(SeededFaults, BarrierRemoved) {
  Outcome outcome = run([](ModuleOp module) {
    first<tile::BarrierOp>(kernel(module, "lm_head")).erase();
  });
  EXPECT_NE(outcome.fault.find("lm_head"), std::string::npos);
  EXPECT_NE(outcome.fault.find("tile.dot"), std::string::npos) << outcome.fault;
}

TEST_F(SeededFaults, WaitForgetsAGroup) {
  Outcome outcome = run([](ModuleOp module) {
    auto await = first<tile::AwaitOp>(kernel(module, "lm_head"));
    await.setPending(await.getPending() + 1);
  });
  EXPECT_NE(outcome.fault.find("lm_head"), std::string::npos);
}

TEST_F(SeededFaults, UnguardedTail) {
  Outcome outcome = run([](ModuleOp module) {
    first<tile::StoreOp>(kernel(module, "lm_head")).getRowsMutable().clear();
  });
  EXPECT_NE(outcome.fault.find("lm_head"), std::string::npos);
  EXPECT_NE(outcome.fault.find("tile.store"), std::string::npos)
      << outcome.fault;
}

TEST_F(SeededFaults, BoundOffByOne) {
  Outcome outcome = run([](ModuleOp module) {
    auto store = first<tile::StoreOp>(kernel(module, "lm_head"));
    OpBuilder b(store);
    Value one = arith::ConstantIndexOp::create(b, store.getLoc(), 1);
    store.getRowsMutable().assign(
        arith::AddIOp::create(b, store.getLoc(), store.getRows(), one)
            .getResult());
  });
  EXPECT_NE(outcome.fault.find("lm_head"), std::string::npos);
}

// The last of five rows goes to place 16 of 16, where in the arena the norm's
// rows begin.
TEST_F(SeededFaults, RowInTheNextBufferOfTheArena) {
  Outcome outcome = run([](ModuleOp module) {
    auto store = first<tile::StoreOp>(kernel(module, "embedding"));
    OpBuilder b(store);
    Value further = arith::ConstantIndexOp::create(b, store.getLoc(), 12);
    store.getIndicesMutable()[0].assign(arith::AddIOp::create(
        b, store.getLoc(), store.getIndices()[0], further));
  });
  EXPECT_NE(outcome.fault.find("embedding"), std::string::npos);
  EXPECT_NE(outcome.fault.find("bytes at byte 20480 of operand"),
            std::string::npos)
      << outcome.fault;
}

// The sum of a norm crosses warps: each reads what the others left.
TEST_F(SeededFaults, ExchangePastTheBlocksMemory) {
  Outcome outcome = run([](ModuleOp module) {
    auto norm = kernel(module, "rms_norm");
    auto reduce = first<tile::ReduceOp>(norm);
    ASSERT_GT(norm.getSchedule()->getThreads(), tile::kWarp);
    reduce.setScratch(*norm.getSchedule()->getSharedBytes());
  });
  EXPECT_NE(outcome.fault.find("rms_norm"), std::string::npos);
  EXPECT_NE(outcome.fault.find("tile.reduce"), std::string::npos)
      << outcome.fault;
}

// The upper half of a warp goes past an exchange that all lanes take part in.
TEST_F(SeededFaults, DivergentShuffle) {
  Outcome outcome = run(nullptr, [](ModuleOp module) {
    SmallVector<NVVM::ShflOp> last; // of each function
    for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
      NVVM::ShflOp found;
      function.walk([&](NVVM::ShflOp op) { found = op; });
      if (found)
        last.push_back(found);
    }
    EXPECT_FALSE(last.empty());
    for (NVVM::ShflOp shuffle : last)
      skipInUpperHalf(shuffle, shuffle.getVal());
  });
  EXPECT_NE(outcome.fault.find("rms_norm"), std::string::npos);
  EXPECT_NE(outcome.fault.find("divergent"), std::string::npos)
      << outcome.fault;
}

// Nothing is out of order, but places of A and B do not belong together.
TEST_F(SeededFaults, WrongFragmentColumn) {
  Outcome outcome = run(nullptr, [](ModuleOp module) {
    module.walk([](NVVM::MmaOp op) {
      // Rows 8 to 15 in place of columns 8 to 15.
      Value second = op.getOperandA()[1], third = op.getOperandA()[2];
      op.getOperandAMutable()[1].assign(third);
      op.getOperandAMutable()[2].assign(second);
    });
  });
  EXPECT_NE(outcome.fault.find("lm_head"), std::string::npos) << outcome.fault;
  EXPECT_NE(outcome.fault.find("misplaced"), std::string::npos)
      << outcome.fault;
}
