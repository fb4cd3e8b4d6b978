// A probe gives what ops inside a model give.
#include "compiler/OpProbe.h"

#include "compiler/Reference.h"
#include "test/unit/compiler/StoredCheckpoint.h"

#include <gtest/gtest.h>

using namespace effc;
using namespace effc::test;

using Tokens = std::vector<int32_t>;

/// Columns of every row of a probe.
static std::vector<double> valueOf(const OpProbe &probe,
                                   const ProbedValue &value) {
  std::vector<double> rows =
      llvm::cantFail(evaluateReference(probe.model, probe.tokens, {}));
  EXPECT_EQ(rows.size(), probe.tokens.size() * size_t(probe.columns));
  std::vector<double> columns;
  for (size_t row = 0; row < rows.size(); row += size_t(probe.columns)) {
    auto first = rows.begin() + ptrdiff_t(row) + value.offset;
    columns.insert(columns.end(), first, first + value.columns);
  }
  return columns;
}

static const ProbedValue *find(const OpProbe &probe, llvm::StringRef op) {
  for (const ProbedValue &value : probe.values)
    if (value.op == op)
      return &value;
  return nullptr;
}

// The first values are rows of a table.
TEST(OpProbe, GivesTheEmbeddingsOfTheTokens) {
  StoredCheckpoint checkpoint(EFFC_GOLDENS "/sample");
  Tokens tokens = {1999, 17, 1999, 4, 0};
  OpProbe probe = llvm::cantFail(probeStretches(checkpoint.get(), tokens));
  EXPECT_EQ(probe.tokens, (Tokens{0, 1, 0, 2, 3}));
  const ProbedValue &first = probe.values.front();
  EXPECT_EQ(first.op, "embeddings (seq.embedding)");
  EXPECT_EQ(first.layer, "");
  EXPECT_EQ(first.stretch, 0u);
  ASSERT_EQ(first.columns, 256);

  StoredWeight table = llvm::cantFail(checkpoint.get().weights("embeddings"));
  ASSERT_EQ(table.bytes.size(), table.shape[0] * 256 * 2); // bf16
  std::vector<double> expected;
  for (int32_t token : tokens)
    for (size_t column = 0; column < 256; ++column) {
      const uint8_t *bytes = &table.bytes[(size_t(token) * 256 + column) * 2];
      expected.push_back(std::bit_cast<float>(uint32_t(bytes[0]) << 16 |
                                              uint32_t(bytes[1]) << 24));
    }
  EXPECT_EQ(valueOf(probe, first), expected);
}

// What the last layer hands on, normed and multiplied by the table, is the
// model's logits: the last stretch's values.
TEST(OpProbe, EndsWithTheLogits) {
  StoredCheckpoint checkpoint(EFFC_GOLDENS "/sample");
  Tokens tokens = {5, 1300, 5, 77};
  OpProbe coarse = llvm::cantFail(probeStretches(checkpoint.get(), tokens));
  EXPECT_EQ(coarse.values.size(), 7u); // the embeddings and six layers
  size_t last = coarse.values.back().stretch + 1;
  OpProbe probe = llvm::cantFail(probeStretch(checkpoint.get(), last, tokens));
  const ProbedValue *logits = find(probe, "lm_head (seq.lm_head)");
  ASSERT_TRUE(logits) << probe.values.back().op;
  EXPECT_EQ(valueOf(probe, *logits),
            llvm::cantFail(evaluateReference(checkpoint.get(), tokens, {})));
}

// All results within one layer, and none of another.
TEST(OpProbe, GivesEveryResultOfALayer) {
  StoredCheckpoint checkpoint(EFFC_GOLDENS "/sample");
  Tokens tokens = {9, 8, 7};
  OpProbe probe = llvm::cantFail(probeStretch(checkpoint.get(), 4, tokens));
  for (const ProbedValue &value : probe.values)
    EXPECT_EQ(value.layer, "layers.3") << value.op;
  for (const char *op :
       {"layers.3.norm (seq.rms_norm)", "layers.3.in_proj (seq.linear)",
        "layers.3.conv (seq.short_convolution)", "layers.3.ssd (seq.ssd)",
        "layers.3.gated_norm (seq.gated_rms_norm)",
        "layers.3.out_proj (seq.linear)"})
    EXPECT_TRUE(find(probe, op)) << op;
  const ProbedValue *projected = find(probe, "layers.3.in_proj (seq.linear)");
  ASSERT_TRUE(projected);
  EXPECT_EQ(projected->columns, 1160);
}
