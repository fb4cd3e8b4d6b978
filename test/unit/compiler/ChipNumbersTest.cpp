// Numbers of a chip that stand in several places are one: what code is sized by
// (compiler/Target.h), what times are held against (tools/effc/Chips.h), and what
// predictions are made with (tools/sass_model/parameters.json).
#include "compiler/Target.h"
#include "tools/effc/Chips.h"

#include "gtest/gtest.h"

#include <fstream>
#include <nlohmann/json.hpp>

using namespace effc;

namespace {

/// A row of Target.h, the chip of Chips.h that it stands for, and the boost clock of its
/// data sheet, in Hz.
struct Row {
  const Target &target;
  const char *chip;
  double clock;
};

// A hundredth is what sm_90a has less than its data sheet (Target.h).
TEST(ChipNumbers, MemoryMovesAsMuchInACycleAsInASecond) {
  for (const Row &row :
       {Row{kSm80, "a100", 1.41e9}, Row{kSm90a, "h100", 1.98e9}}) {
    const cli::Chip *chip = cli::findChip(row.chip);
    ASSERT_TRUE(chip) << row.chip;
    double inACycle = chip->bytesPerSecond / row.clock;
    EXPECT_NEAR(double(row.target.bandwidth), inACycle, inACycle / 100)
        << row.chip;
  }
}

double parameter(const nlohmann::json &parameters, const char *name) {
  return parameters.at(name).at("value");
}

// Memory is predicted with what a copy was measured to move, a tenth less than what the
// data sheet has.
TEST(ChipNumbers, PredictionsAreOfTheChipThatCodeIsFor) {
  std::ifstream file(EFFC_SASS_PARAMETERS);
  ASSERT_TRUE(file.is_open()) << EFFC_SASS_PARAMETERS;
  nlohmann::json parameters = nlohmann::json::parse(file);
  std::string name = parameters.at("chip").at("value");
  EXPECT_EQ(name, "h100");
  const cli::Chip *chip = cli::findChip(name);
  ASSERT_TRUE(chip) << name;
  double moved = parameter(parameters, "dram_bytes_per_second");
  EXPECT_LE(moved, chip->bytesPerSecond);
  EXPECT_GE(moved, 0.89 * chip->bytesPerSecond);
  EXPECT_EQ(parameter(parameters, "sms"), kSm90a.cores);
  EXPECT_EQ(parameter(parameters, "registers_per_sm"), kSm90a.core.registers);
  EXPECT_EQ(parameter(parameters, "warp_product_latency"), kSm90a.core.product);
  EXPECT_EQ(parameter(parameters, "shared_per_sm") -
                parameter(parameters, "shared_reserved"),
            kSm90a.mostSharedBytes);
}

} // namespace
