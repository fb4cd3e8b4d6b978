// Targets for tests of what follows from them: those of the compiler's table, and
// one that no table has.
#ifndef EFFC_TEST_UNIT_PASSES_KERNELFACTS_TARGETS_H
#define EFFC_TEST_UNIT_PASSES_KERNELFACTS_TARGETS_H

#include "compiler/Target.h"
#include "dialects/seq/Seq.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

namespace effc::test {

class TargetsTest : public testing::Test {
protected:
  TargetsTest() { context.loadDialect<tile::TileDialect, seq::SeqDialect>(); }

  tile::TargetAttr describe(const Target &target,
                            Products products = Products::Exact) {
    return getTargetAttr(target, &context, {.products = products});
  }
  tile::TargetAttr target(llvm::StringRef name,
                          Products products = Products::Exact) {
    return describe(*findTarget(name), products);
  }
  /// A chip with twice the cores of an H100, which have half the registers and whose
  /// blocks have half the memory.
  tile::TargetAttr madeUp(Products products = Products::Exact) {
    Target chip = kSm90a;
    chip.name = "made up";
    chip.cores *= 2;
    chip.core.registers /= 2;
    chip.mostSharedBytes /= 2;
    return describe(chip, products);
  }
  /// A recurrence with nothing but these.
  seq::LinearAttr linear(seq::DecayAxis decay,
                         seq::LowRankPair pair = seq::LowRankPair::None,
                         int64_t writes = 1) {
    return seq::LinearAttr::get(
        &context, decay, seq::DecayField::Real, seq::InputGate::None, pair,
        seq::ReadOrder::AfterWrite, /*bonus=*/false, /*feed_through=*/false,
        seq::Normaliser::None, seq::Stabiliser::None, /*heads_per_group=*/1,
        writes);
  }

  mlir::MLIRContext context;
};

/// GPUs whose kernels were sized before there was a record of them.
inline constexpr llvm::StringLiteral kSizedGpus[] = {"sm_80", "sm_90a",
                                                     "sim_80", "sim_90a"};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_PASSES_KERNELFACTS_TARGETS_H
