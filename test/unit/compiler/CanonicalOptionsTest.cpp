// What is written is read back, and nothing else is.
#include "compiler/CanonicalOptions.h"

#include "gtest/gtest.h"

using namespace effc;
using Texts = std::vector<std::string>;

static Texts roundTrip(const Texts &texts) {
  CompileOptions options;
  if (llvm::Error error = readCanonicalOptions(texts, options))
    return {llvm::toString(std::move(error))};
  return writeCanonicalOptions(options);
}

TEST(CanonicalOptions, DefaultsThatAreAlwaysGiven) {
  EXPECT_EQ(writeCanonicalOptions({}),
            (Texts{"--target=host", "--prefill-rows=16,64,256",
                   "--max-batch=64", "--products=usual"}));
}

// Files that do not say it are older than products of GPUs that round unasked.
TEST(CanonicalOptions, ProductsThatAreNotGivenAreExact) {
  CompileOptions options;
  llvm::cantFail(readCanonicalOptions({"--target=sm_80"}, options));
  EXPECT_EQ(options.pipeline.products, Products::Exact);
}

TEST(CanonicalOptions, EveryOptionIsReadBack) {
  Texts all = {"--target=host",
               "--prefill-rows=7,48",
               "--max-batch=6",
               "--max-context=4099",
               "--sinks=4",
               "--window=60",
               "--weights-type=q4_k_m,*.router=f16",
               "--importance=imatrix.gguf",
               "--state-dtype=bf16",
               "--products=bf16",
               "--weights=reference",
               "--ungrouped-norm",
               "--hidden",
               "--tap=layers.0.mixer:(q|k)|embeddings",
               "--allow=a,b.c",
               "--force-form=quadratic",
               "--bit-stable=false",
               "--no-tokenizer",
               "--strip-ir"};
  EXPECT_EQ(roundTrip(all), all);
  CompileOptions options;
  llvm::cantFail(readCanonicalOptions(all, options));
  EXPECT_EQ(options.pipeline.decodeRows,
            (llvm::SmallVector<int64_t>{1, 2, 4, 6}));
  EXPECT_FALSE(options.pipeline.bitStable);
  EXPECT_EQ(options.pipeline.maxContext, 4099);
  EXPECT_EQ(options.sinks, 4);
  EXPECT_EQ(options.window, 60);
}

// No path enters a file.
TEST(CanonicalOptions, ImportanceIsANameAlone) {
  CompileOptions options;
  options.weightsType = "q4_0";
  options.importance = "/some/where/imatrix.gguf";
  EXPECT_EQ(roundTrip(writeCanonicalOptions(options)),
            writeCanonicalOptions(options));
  EXPECT_TRUE(llvm::is_contained(writeCanonicalOptions(options),
                                 "--importance=imatrix.gguf"));
}

// Half of a file's options would describe no file.
TEST(CanonicalOptions, AreReadAllOrNone) {
  CompileOptions options;
  llvm::Error error =
      readCanonicalOptions({"--dtype=bf16", "--moon=1"}, options);
  EXPECT_TRUE(bool(error));
  llvm::consumeError(std::move(error));
  EXPECT_EQ(options.weightsType, "");
}

TEST(CanonicalOptions, WhatIsNotKnownIsNamed) {
  EXPECT_EQ(roundTrip({"--moon=1"}),
            Texts{"this compiler does not know the option '--moon=1'"});
  EXPECT_EQ(roundTrip({"--strip-ir=yes"}),
            Texts{"this compiler does not know the option '--strip-ir=yes'"});
  EXPECT_EQ(roundTrip({"--weights-type"}),
            Texts{"this compiler does not know the option '--weights-type'"});
  EXPECT_EQ(roundTrip({"--target=moon"}),
            Texts{"option '--target' cannot be 'moon'"});
  EXPECT_EQ(roundTrip({"--prefill-rows=16,x"}),
            Texts{"option '--prefill-rows' cannot be '16,x'"});
  EXPECT_EQ(roundTrip({"--allow=a,,b"}),
            Texts{"option '--allow' cannot be 'a,,b'"});
  EXPECT_EQ(roundTrip({"--force-form=chunkwise:0"}),
            Texts{"option '--force-form' cannot be 'chunkwise:0'"});
  EXPECT_EQ(roundTrip({"--max-batch=0"}),
            Texts{"option '--max-batch' cannot be '0'"});
  EXPECT_EQ(roundTrip({"--max-context=0"}),
            Texts{"option '--max-context' cannot be '0'"});
}
