// What has no derived form is refused by name. That the forms agree with the
// mixers is the contract (test/unit/contract).
#include "passes/seq/Passes.h"
#include "test/unit/dialects/seq/Program.h"
#include "test/unit/dialects/seq/TestMixer.h"

#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <map>

using namespace mlir;
using namespace effc;
using namespace effc::seq;
using namespace effc::seq::test;

namespace {

// The pass's first diagnostic about a mixer of the given structure; its notes follow,
// each behind a "; ".
std::string refusal(StringRef structure, FormChoice form,
                    bool partial = false) {
  Program program;
  program.getContext()->printOpOnDiagnostic(false);
  program.getContext()->loadDialect<TestDialect>();
  program.parse(
      ("func.func @f(%x: tensor<7x6xf32>, %s: tensor<6x5xf32>) {\n"
       "  %y, %next = \"test.mixer\"(%x, %s) {form = #seq.form<kind = step>, "
       "structure = #seq.structure<" +
       structure +
       ">} : (tensor<7x6xf32>, tensor<6x5xf32>) -> (tensor<7x6xf32>, "
       "tensor<6x5xf32>)\n  return\n}")
          .str());
  std::string said;
  ScopedDiagnosticHandler handler(
      program.getContext(), [&](Diagnostic &diagnostic) {
        if (said.empty()) {
          said = diagnostic.str();
          for (Diagnostic &note : diagnostic.getNotes())
            said += "; " + note.str();
        }
        return success();
      });
  PassManager manager(program.getContext());
  manager.addPass(createExpandFormPass({form, /*chunk=*/4, partial}));
  EXPECT_TRUE(failed(manager.run(program.getModule())));
  return said;
}

TEST(ExpandForm, RefusesOtherClassesByName) {
  for (std::string name : {"opaque"})
    EXPECT_EQ(refusal("class = " + name, FormChoice::Step),
              "'test.mixer' op has no derived form: expects the class "
              "'linear', 'retrieval' or 'window', but got '" +
                  name + "'");
}

// A record that has every form, but for the given fields.
std::string refusalOf(std::map<std::string, std::string> fields,
                      FormChoice form, bool partial = false) {
  std::pair<std::string, std::string> usual[] = {
      {"decay", "head"},        {"field", "real"},       {"input_gate", "none"},
      {"low_rank", "none"},     {"read", "after_write"}, {"bonus", "false"},
      {"feed_through", "true"}, {"normaliser", "none"},  {"stabiliser", "none"},
      {"heads_per_group", "1"}};
  std::string record;
  for (auto &[name, value] : usual)
    record += (record.empty() ? "" : ", ") + name + " = " +
              (fields.count(name) ? fields[name] : value);
  return refusal("class = linear, linear = <" + record + ">", form, partial);
}

TEST(ExpandForm, RefusesRecordsByField) {
  EXPECT_EQ(
      refusalOf({{"field", "complex"}, {"bonus", "true"}}, FormChoice::Step),
      "'test.mixer' op has no form 'step': expects 'bonus' to be 'false' "
      "of the field 'complex', but got 'true'");
  EXPECT_EQ(refusalOf({{"low_rank", "decayed_state"}}, FormChoice::Scan),
            "'test.mixer' op has no form 'scan': expects 'low_rank' to be "
            "'none', but got 'decayed_state'");
  EXPECT_EQ(refusalOf({{"low_rank", "undecayed_state"}, {"decay", "value"}},
                      FormChoice::Quadratic),
            "'test.mixer' op has no form 'quadratic': expects 'decay' to be "
            "'none', 'head_constant', 'head' or 'key' with a low-rank pair, "
            "but got 'value'");
}

// A token map without its quantities is a mistake of the mixer's author, not a form
// that the mixer lacks: with `partial` too nothing stays as it is.
TEST(ExpandForm, RefusesATokenMapWithoutItsQuantities) {
  for (bool partial : {false, true})
    EXPECT_EQ(refusalOf({}, FormChoice::Step, partial),
              "'test.mixer' op expects its token map to give 'value' of shape "
              "T,H,V = ?, ?, ?, but got none; CanonicalQuantities.h says what "
              "each quantity is");
}

} // namespace
