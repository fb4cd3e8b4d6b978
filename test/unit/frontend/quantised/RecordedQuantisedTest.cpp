// A matrix in each layout, as the public libraries wrote it, is read as the numbers that
// they say it holds (test/goldens/make_quantised.py), to the bit.
#include "dialects/storage/Formats.h"
#include "dialects/storage/Storage.h"
#include "frontend/quantised/InputOrder.h"
#include "frontend/quantised/Methods.h"
#include "test/unit/frontend/Outcome.h"

#include "mlir/IR/MLIRContext.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace effc;
using namespace effc::frontend;
using namespace effc::test;

namespace {

struct Kind {
  const char *folder, *storage;
};

class RecordedQuantisedTest : public testing::TestWithParam<Kind> {
protected:
  static std::unique_ptr<Checkpoint> open(const std::string &file) {
    std::vector<std::unique_ptr<TensorFile>> files;
    files.push_back(llvm::cantFail(
        TensorFile::open(std::string(EFFC_GOLDENS "/quantised/") +
                             GetParam().folder + "/" + file,
                         file)));
    return Checkpoint::of("", std::move(files));
  }

  mlir::MLIRContext context;
};

// The largest blocks that 32 divides, or 8; the group of them where that is smaller.
const Kind kKinds[] = {{"awq", "int4z_32_f16"},
                       {"bnb_fp4_across_rows", "fp4_16_f32"},
                       {"bnb_int8", "int8_48_f32"},
                       {"bnb_nf4", "nf4_64_f32"},
                       {"bnb_nf4_nested", "nf4_32_f32"},
                       {"ct_float_block", "e4m3_8_bf16"},
                       {"ct_float_channel", "e4m3_64_bf16"},
                       {"ct_float_tensor", "e4m3_40_f32"},
                       {"ct_int3_group_zeros", "int3z_32_f32"},
                       {"ct_int4_channel_zeros", "int4z_36_f16"},
                       {"ct_int4_group", "int4_32_bf16"},
                       {"ct_int8_channel", "int8_40_bf16"},
                       {"ct_int8_group_zeros", "int8z_32_bf16"},
                       {"ct_int8_packed", "int8_64_bf16"},
                       {"ct_mxfp4", "mxfp4"},
                       {"ct_nvfp4", "e2m1_16_f32"},
                       {"fbgemm_fp8", "e4m3_40_f32"},
                       {"fp8_blocks", "e4m3_8_f32"},
                       {"fp8_blocks_bf16", "e5m2_32_bf16"},
                       {"gptq2", "int2z_64_f16"},
                       {"gptq3", "int3z_16_f16"},
                       {"gptq4", "int4z_32_f16"},
                       {"gptq4_ordered", "F32"},
                       {"gptq8_v2", "int8z_32_f16"},
                       {"modelopt_fp8", "e4m3_40_f32"},
                       {"modelopt_nvfp4", "e2m1_16_f32"}};

} // namespace

TEST_P(RecordedQuantisedTest, GivesTheLibrarysNumbers) {
  auto checkpoint = open("model.safetensors");
  JsonValue config =
      llvm::cantFail(readJsonObject(std::string(EFFC_GOLDENS "/quantised/") +
                                        GetParam().folder + "/config.json",
                                    "config.json"));
  ConfigReader reader("config.json", *config.getObject());
  Remarks remarks;
  ASSERT_EQ(outcome(readQuantised(reader, context, *checkpoint, remarks)),
            "success");
  ASSERT_EQ(outcome(reader.finish()), "success");
  std::string kind = GetParam().storage;
  if (llvm::StringRef(GetParam().folder).starts_with("modelopt")) {
    EXPECT_EQ(remarks.back(),
              "tensor 'layers.0.proj.input_scale' is left aside: activations, "
              "keys and values are not rounded");
    remarks.pop_back();
  }
  // What is read of inputs in another order is said by whoever takes it.
  bool isOrdered = kind == "F32";
  EXPECT_EQ(remarks, isOrdered ? Remarks{}
                               : Remarks{"1 quantised matrix is read as " +
                                         kind + ", number for number"});

  constexpr llvm::StringLiteral kName = "layers.0.proj.weight";
  auto expectedFile = open("expected.safetensors");
  TensorData expected = llvm::cantFail(expectedFile->getData(kName)),
             found = llvm::cantFail(checkpoint->getData(kName));
  EXPECT_EQ(found.shape, expected.shape);
  EXPECT_EQ(found.type.getName(), kind);
  EXPECT_TRUE(found.made);
  auto numbers = readNumbers<float>(found.type, found.bytes, &context);
  auto wanted = readNumbers<float>(expected.type, expected.bytes, &context);
  if (llvm::StringRef(GetParam().folder) == "bnb_int8") {
    // The library rounds q SCB and that times 1 / 127, effc SCB / 127 and q times
    // that: each twice, by at most 2^-24 of the number.
    ASSERT_EQ(numbers.size(), wanted.size());
    for (size_t i = 0; i < numbers.size(); ++i)
      EXPECT_NEAR(numbers[i], wanted[i], 0x1p-22f * std::fabs(wanted[i])) << i;
  } else {
    // -0 of a table with two zeros is +0 here.
    EXPECT_EQ(numbers, wanted);
  }
  // The same numbers in blocks, whose columns lie in an order that is there too.
  EXPECT_EQ(checkpoint->has(inGroupsName(kName)), isOrdered);
  if (isOrdered) {
    TensorData inGroups =
                   llvm::cantFail(checkpoint->getData(inGroupsName(kName))),
               order =
                   llvm::cantFail(checkpoint->getData(inputOrderName(kName)));
    EXPECT_EQ(inGroups.type.getName(), "int4z_16_f16");
    auto blocks = readNumbers<float>(inGroups.type, inGroups.bytes, &context),
         inputs = readNumbers<float>(order.type, order.bytes, &context);
    ASSERT_EQ(blocks.size(), wanted.size());
    ASSERT_EQ(inputs.size(), expected.shape[1]);
    for (size_t i = 0; i < blocks.size(); ++i) {
      size_t row = i / inputs.size(), column = i % inputs.size();
      EXPECT_EQ(blocks[i], wanted[row * inputs.size() + size_t(inputs[column])])
          << row << ", " << column;
    }
  }
  // It is the only tensor that has to be asked for, and no part of it is left.
  checkpoint->take(kName);
  EXPECT_EQ(outcome(checkpoint->checkAllRead()), "success");
}

INSTANTIATE_TEST_SUITE_P(Kinds, RecordedQuantisedTest,
                         testing::ValuesIn(kKinds), [](const auto &info) {
                           return std::string(info.param.folder);
                         });
