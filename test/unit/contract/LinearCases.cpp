#include "test/unit/contract/LinearCases.h"
#include "dialects/seq/Seq.h"
#include "test/unit/contract/LinearDraws.h"
#include "test/unit/contract/WrittenBodies.h"

namespace effc::test {

const std::vector<LinearCase> &linearCases() {
  static const std::string scale = "scale = 0.5 : f64";
  static const LinearOperand matrix = operand("state", "HKV");
  static const OperandDraw unitKeys = {"k", normal, /*unitLength=*/true};
  static const OperandDraw rates = {"beta", between(0, 2)};
  static const OperandDraw aLog = {"a_log", between(-1, 1)};
  static const OperandDraw bias = {"dt_bias", between(-0.5, 0.5)};
  static const std::vector<LinearCase> cases = {
      caseOf<seq::LinearAttentionOp>({}, {.attributes = scale}),
      caseOf<seq::NormalisedAttentionOp>(
          {{"q", positive}, {"k", positive}, {"sum", positive}},
          {.attributes = scale + ", eps = 1.0e-6 : f64"}),
      caseOf<seq::NormalisedRotaryOp>({{"q", positive},
                                       {"k", positive},
                                       {"dt", timeStep},
                                       aLog,
                                       bias,
                                       {"sum", positive}},
                                      {.attributes = "eps = 1.0e-6 : f64"}),
      caseOf<seq::DynamicMaskLinearOp>({{"delta", positive}}),
      caseOf<seq::RetentionOp>({{"log_decay", logDecay}},
                               {.attributes = scale}),
      caseOf<seq::GatedRetentionOp>(
          {{"gate", sigmoidGate(4)}},
          {.attributes = scale + ", temperature = 4.0 : f64"}),
      // The read-out divides by the normaliser's reading: queries and keys that
      // are positive keep the quotient well conditioned.
      caseOf<seq::MlstmOp>({{"q", positive},
                            {"k", positive},
                            {"input", between(-8, 15)},
                            {"forget", sigmoidGate(1)}},
                           {.attributes = scale + ", eps = 1.0e-6 : f64"}),
      caseOf<seq::GatedLinearAttentionOp>({{"key_gate", sigmoidGate(16)}},
                                          {.attributes = scale}),
      caseOf<seq::GatedLinearAttentionOp>(
          {{"value_gate", sigmoidGate(16)}},
          {.variant = "value_gate", .attributes = scale}),
      caseOf<seq::GatedLinearAttentionOp>(
          {{"key_gate", sigmoidGate(2)}, {"value_gate", sigmoidGate(2)}},
          {.variant = "both_gates",
           .attributes = scale + ", temperature = 2.0 : f64"}),
      caseOf<seq::Hgrn2Op>(
          {{"forget", forgetGate}, {"lower_bound", lowerBound}},
          {.attributes = scale}),
      caseOf<seq::RodimusOp>({{"select", timeStep}, {"temper", between(-3, 3)}},
                             {.attributes = scale}),
      caseOf<seq::Rwkv6Op>({{"w", logRate}}),
      caseOf<seq::DeltaRuleOp>({unitKeys, rates},
                               {.attributes = scale, .hasScan = false}),
      caseOf<seq::GatedDeltaRuleOp>(
          {unitKeys, rates, {"a", timeStep}, aLog, bias},
          {.attributes = scale, .hasScan = false}),
      caseOf<seq::GatedDeltaRule2Op>({unitKeys,
                                      {"erase", between(0, 2)},
                                      {"write", between(0, 1)},
                                      {"f", timeStep},
                                      aLog,
                                      bias},
                                     {.attributes = scale, .hasScan = false}),
      caseOf<seq::KimiDeltaAttentionOp>(
          {unitKeys, rates, {"f", timeStep}, aLog, bias},
          {.attributes = scale, .hasScan = false}),
      caseOf<seq::Rwkv7Op>({{"w", between(-6, 6)},
                            {"kk", normal, /*unitLength=*/true},
                            {"a", between(0, 1)}},
                           {.hasScan = false}),
      caseOf<seq::SelectiveScanOp>(
          {{"dt", writingStep}, {"a_log", logRate}, bias}),
      caseOf<seq::SsdOp>({{"dt", writingStep}, {"a_log", logRate}}),
      caseOf<seq::TrapezoidalSsdOp>(
          {{"dt", between(0.001, 0.7)},
           {"rate", [](Random &random,
                       Gates gates) { return -logDecay(random, gates); }},
           {"share", between(-4, 4)},
           {"written_before", between(0, 0.7)}}),
      caseOf<seq::RunningTotalOp>({}, {.toleratesRounding = false}),
      caseOf<seq::RunningTurnOp>(
          {{"angle", between(-3, 3)}, {"state", positive}},
          {.attributes = "phase = -0.5 : f64", .toleratesRounding = false}),
      caseOf<seq::HgrnOp>(
          {{"forget", forgetGate}, {"lower_bound", lowerBound}}),
      caseOf<seq::RgLruOp>({{"recurrence", forgetGate},
                            {"input", forgetGate},
                            {"rate", timeStep}}),
      // The phase of a mode after 130 tokens is good to 130 roundings of its
      // angle: angles of at most a radian keep that below the tolerance.
      caseOf<seq::S4dOp>({{"log_dt", between(-4, -1)},
                          {"log_a", logRate},
                          {"a_imaginary", between(0.2, 2.7)}}),
      caseOf<seq::StructuredRecurrenceOp>(
          {{"source"}, {"target"}, {"bias"}, {"log_decay", logDecay}}),
      caseOf<seq::StructuredRecurrenceOp>(
          {{"source"}, {"bias"}, {"log_decay", between(0.8, 1.1)}},
          {.variant = "rows_by_root", .attributes = "root = 2 : i64"}),
      caseOf<seq::StructuredRecurrenceOp>({{"target"}, {"bias"}},
                                          {.variant = "headless"}),
      caseOf<seq::StructuredRecurrenceOp>(
          {{"source"}, {"target"}, {"diagonal"}, {"log_decay", logDecay}},
          {.variant = "diagonal"}),
      caseOf<seq::Rwkv4Op>(
          {{"k", between(-6, 6)}, {"w", logDecay}, {"sum", positive}}),
      {.name = "written_corrected",
       .tokens = {operand("q", "THK"), unit("k", "THK"), operand("v", "THV"),
                  unit("p", "THK"), operand("beta", "TH", between(0, 1)),
                  operand("f", "TH", sigmoidGate(1)),
                  operand("d", "THK", logDecay), operand("g", "THV")},
       .states = {matrix},
       .body = correctedBody,
       .hasScan = false},
      {.name = "written_echo",
       .tokens = {operand("q", "THK"), operand("k", "THK"), operand("v", "THV"),
                  operand("g", "THV", sigmoidGate(1))},
       .parameters = {operand("w", "H")},
       .states = {matrix},
       .body = echoBody},
      {.name = "written_mixed_decays",
       .tokens = {operand("q", "THK"), operand("k", "THK"), operand("v", "THV"),
                  operand("f", "TH", timeStep),
                  operand("g", "THK", sigmoidGate(1)),
                  operand("d", "THK", logDecay)},
       .states = {matrix},
       .body = mixedDecaysBody},
      {.name = "written_floored",
       .tokens = {operand("q", "THK"), unit("k", "THK"), operand("v", "THV"),
                  operand("beta", "TH", between(0, 1)),
                  operand("f", "THK", sigmoidGate(1))},
       .states = {matrix},
       .body = flooredBody,
       .hasScan = false},
      {.name = "written_squared",
       .tokens = {operand("q", "THK"), operand("k", "THK"), operand("v", "THV"),
                  operand("f", "TH", beforeTanh),
                  operand("g", "THK", sigmoidGate(1)),
                  operand("d", "TH", forgetGate)},
       .states = {matrix},
       .body = squaredBody},
      {.name = "written_unravelled",
       .tokens = {operand("q", "THK"), unit("k", "THK"), operand("v", "THV"),
                  unit("p", "THK"), operand("f", "TH", sigmoidGate(1)),
                  operand("count", "TH", between(1, 3))},
       .states = {matrix},
       .body = unravelledBody,
       .hasScan = false},
      {.name = "written_levelled",
       .tokens = {operand("q", "THK"), operand("k", "THK"), operand("v", "THV"),
                  operand("f", "THKV", sigmoidGate(1))},
       .states = {matrix},
       .body = levelledBody,
       .hasTiles = false},
      {.name = "written_turned",
       .tokens = {operand("q", "THK"), operand("k", "THK"), operand("v", "THV"),
                  operand("f", "TH", sigmoidGate(1))},
       .parameters = {operand("w", "HKK", between(-0.5, 0.5))},
       .states = {matrix},
       .body = turnedBody,
       .hasTiles = false},
      // What is read is divided by what is read of the sum: positive, as above.
      {.name = "written_averaged",
       .tokens = {operand("q", "THK", positive), operand("k", "THK", positive),
                  operand("v", "THV"), operand("f", "TH", sigmoidGate(1))},
       .states = {matrix, operand("sum", "HK", positive)},
       .body = averagedBody},
      {.name = "written_measured",
       .tokens = {operand("q", "THK"), unit("k", "THK"), operand("v", "THV"),
                  operand("m", "THK", positive), operand("d", "THK", logDecay)},
       .states = {matrix, operand("sum", "HK", positive)},
       .body = measuredBody,
       .hasScan = false},
      {.name = "written_shifted",
       .tokens = {operand("q", "THK"), operand("k", "THK"), operand("v", "THV"),
                  operand("f", "TH", sigmoidGate(1))},
       .parameters = {operand("mix", "HK", between(0, 1))},
       .states = {operand("last", "HK"), matrix},
       .body = shiftedBody},
      {.name = "written_chained",
       .tokens = {operand("q", "THK"), operand("k", "THK"), operand("v", "THV"),
                  operand("f", "TH", sigmoidGate(1))},
       .states = {operand("near", "HKV"), operand("far", "HKV")},
       .body = chainedBody},
      {.name = "written_mirrored",
       .tokens = {operand("x", "THK"), operand("f", "TH", sigmoidGate(1))},
       .states = {matrix},
       .body = mirroredBody,
       .square = true},
  };
  return cases;
}

} // namespace effc::test
