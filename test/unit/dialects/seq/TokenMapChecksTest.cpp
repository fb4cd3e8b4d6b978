// A token map whose quantities have another shape than every mixer's is refused
// where it is built, by the name of the quantity.
#include "dialects/seq/TokenMapChecks.h"
#include "test/unit/dialects/seq/Program.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::test;

namespace {

/// 7 tokens; H, K, V = 6, 3, 5; log-decays per key channel.
const char *const kMixer = R"(
func.func @mixer(%q: tensor<7x6x3xf32>, %k: tensor<7x6x3xf32>,
                 %v: tensor<7x6x5xf32>, %g: tensor<7x6x3xf32>,
                 %s: tensor<6x3x5xf32>) -> tensor<7x6x5xf32> {
  %y, %next = seq.recurrence
      tokens(%qt = %q : tensor<7x6x3xf32>, %kt = %k : tensor<7x6x3xf32>,
             %vt = %v : tensor<7x6x5xf32>, %gt = %g : tensor<7x6x3xf32>)
      parameters() states(%st = %s : tensor<6x3x5xf32>)
      -> (tensor<7x6x5xf32>), (tensor<6x3x5xf32>) {
    %d = seq.sigmoid %gt : tensor<6x3xf32>
    %kept = seq.contract %d, %st {indexing_maps = [
        affine_map<(h, k, v) -> (h, k)>, affine_map<(h, k, v) -> (h, k, v)>,
        affine_map<(h, k, v) -> (h, k, v)>]}
        : (tensor<6x3xf32>, tensor<6x3x5xf32>) -> tensor<6x3x5xf32>
    %w = seq.contract %kt, %vt {indexing_maps = [
        affine_map<(h, k, v) -> (h, k)>, affine_map<(h, k, v) -> (h, v)>,
        affine_map<(h, k, v) -> (h, k, v)>]}
        : (tensor<6x3xf32>, tensor<6x5xf32>) -> tensor<6x3x5xf32>
    %n = seq.add %kept, %w : tensor<6x3x5xf32>
    %r = seq.contract %qt, %n {indexing_maps = [
        affine_map<(h, k, v) -> (h, k)>, affine_map<(h, k, v) -> (h, k, v)>,
        affine_map<(h, k, v) -> (h, v)>]}
        : (tensor<6x3xf32>, tensor<6x3x5xf32>) -> tensor<6x5xf32>
    seq.yield %r, %n : tensor<6x5xf32>, tensor<6x3x5xf32>
  }
  return %y : tensor<7x6x5xf32>
})";

class TokenMapChecks : public testing::Test {
protected:
  TokenMapChecks()
      : program(kMixer), mixer(program.find<RecurrenceOp>().getOperation()),
        builder(mixer) {
    auto stateful = cast<StatefulOpInterface>(mixer.getOperation());
    quantities =
        mixer.buildTokenMap(builder, mixer.getLoc(),
                            stateful.getOperandsOf(OperandRole::Token), {});
  }
  Value zeros(ArrayRef<int64_t> shape) {
    return ConstantOp::create(builder, mixer.getLoc(), 0.0, shape);
  }
  std::string complaint() {
    EXPECT_TRUE(failed(checkQuantities(mixer, quantities)));
    return program.getDiagnostics().split('\n').first.str();
  }

  Program program;
  MixerOpInterface mixer;
  OpBuilder builder;
  CanonicalQuantities quantities;
};

TEST_F(TokenMapChecks, PassWhatTheHeaderSays) {
  EXPECT_TRUE(succeeded(checkQuantities(mixer, quantities)));
  quantities.logDecay = zeros({6, 3}); // of parameters alone
  quantities.bonusKey = zeros({7, 6, 3});
  quantities.weight = zeros({7, 6});
  EXPECT_TRUE(succeeded(checkQuantities(mixer, quantities)));
  EXPECT_EQ(program.getDiagnostics(), "");
}

TEST_F(TokenMapChecks, NameADecayOfAnotherAxis) {
  quantities.logDecay = zeros({7, 6});
  EXPECT_EQ(complaint(),
            "'seq.recurrence' op expects its token map to give 'logDecay' of "
            "shape T,H,K = ?, 6, 3 or H,K = 6, 3, but got 7, 6");
}

TEST_F(TokenMapChecks, NameADecayWithADimensionTooMany) {
  quantities.logDecay = zeros({7, 6, 1});
  EXPECT_EQ(complaint(),
            "'seq.recurrence' op expects its token map to give 'logDecay' of "
            "shape T,H,K = ?, 6, 3 or H,K = 6, 3, but got 7, 6, 1");
}

TEST_F(TokenMapChecks, NameAKeyThatIsNone) {
  quantities.key = {};
  EXPECT_EQ(complaint(), "'seq.recurrence' op expects its token map to give "
                         "'key' of shape T,G,K = ?, 6, 3, but got none");
}

TEST_F(TokenMapChecks, NameAValueWithoutHeads) {
  quantities.value = zeros({7, 30});
  EXPECT_EQ(complaint(), "'seq.recurrence' op expects its token map to give "
                         "'value' of shape T,H,V = ?, ?, ?, but got 7, 30");
}

TEST_F(TokenMapChecks, NameWhatTheStateHasNoRoomFor) {
  quantities.value = zeros({7, 6, 4});
  EXPECT_EQ(complaint(), "'seq.recurrence' op expects its token map to give "
                         "'value' of shape T,H,V = ?, 6, 5, but got 7, 6, 4");
}

TEST_F(TokenMapChecks, NameAScaleOfACorrection) {
  quantities.eraseScale = zeros({7, 5});
  EXPECT_EQ(complaint(),
            "'seq.recurrence' op expects its token map to give 'eraseScale' of "
            "shape T,H = ?, 6 or H = 6, but got 7, 5");
}

} // namespace
