// Steps that are one mixer in many spellings are all of class `linear`, and
// every form of each agrees with what the body says. Numbers that no proof
// bounds are refused, with the op and the reason.
#include "dialects/seq/OpKinds.h"
#include "passes/seq/Passes.h"
#include "test/unit/contract/LinearCase.h"
#include "test/unit/dialects/seq/Program.h"

#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace effc;
using namespace effc::seq;
using namespace effc::seq::test;
using namespace effc::test;

namespace {

/// What a step is spelled by: lines of its body. The decay %d is of H,K, the
/// next state %next; `h`, `hk`, `hv` and `hkv` before a tensor's end are its
/// type.
struct Spelling {
  const char *name, *text;
};

/// H, K, V = 2, 3, 5.
std::string typed(std::string text) {
  const std::pair<std::string, std::string> types[] = {
      {"<hkv>", "tensor<2x3x5xf32>"},
      {"<hk>", "tensor<2x3xf32>"},
      {"<hv>", "tensor<2x5xf32>"},
      {"<h>", "tensor<2xf32>"},
      {"{h,hkv}", "{indexing_maps = [#h, #hkv, #hkv]} : (tensor<2xf32>, "
                  "tensor<2x3x5xf32>) -> tensor<2x3x5xf32>"},
      {"{hk,hkv}", "{indexing_maps = [#hk, #hkv, #hkv]} : (tensor<2x3xf32>, "
                   "tensor<2x3x5xf32>) -> tensor<2x3x5xf32>"},
      {"{hk,hv}", "{indexing_maps = [#hk, #hv, #hkv]} : (tensor<2x3xf32>, "
                  "tensor<2x5xf32>) -> tensor<2x3x5xf32>"},
      {"{read}", "{indexing_maps = [#hk, #hkv, #hv]} : (tensor<2x3xf32>, "
                 "tensor<2x3x5xf32>) -> tensor<2x5xf32>"},
      {"{h,hv}", "{indexing_maps = [affine_map<(h, v) -> (h)>, affine_map<(h, "
                 "v) -> (h, v)>, affine_map<(h, v) -> (h, v)>]} : "
                 "(tensor<2xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>"},
      {"[0]", "{dimensions = array<i64: 0>}"},
      {"[0,1]", "{dimensions = array<i64: 0, 1>}"},
      {"[0,2]", "{dimensions = array<i64: 0, 2>}"}};
  for (const auto &[shorthand, type] : types)
    for (size_t at; (at = text.find(shorthand)) != std::string::npos;)
      text.replace(at, shorthand.size(), type);
  return text;
}

/// A step of tokens q, k, v, a (H), b (H,K) and beta (H).
std::string stepText(const std::string &decay, const std::string &write) {
  return typed(
      "#h = affine_map<(h, k, v) -> (h)>\n"
      "#hk = affine_map<(h, k, v) -> (h, k)>\n"
      "#hv = affine_map<(h, k, v) -> (h, v)>\n"
      "#hkv = affine_map<(h, k, v) -> (h, k, v)>\n"
      "func.func @mixer(%q0: tensor<11x2x3xf32>, %k0: tensor<11x2x3xf32>, "
      "%v0: tensor<11x2x5xf32>, %a0: tensor<11x2xf32>, "
      "%b0: tensor<11x2x3xf32>, %beta0: tensor<11x2xf32>, %s0: <hkv>) "
      "-> (tensor<11x2x5xf32>, <hkv>) {\n"
      "  %r:2 = seq.recurrence tokens(%q = %q0 : tensor<11x2x3xf32>, "
      "%k = %k0 : tensor<11x2x3xf32>, %v = %v0 : tensor<11x2x5xf32>, "
      "%a = %a0 : tensor<11x2xf32>, %b = %b0 : tensor<11x2x3xf32>, "
      "%beta = %beta0 : tensor<11x2xf32>) parameters() states(%s = %s0 : <hkv>)"
      " -> (tensor<11x2x5xf32>), (<hkv>) {\n" +
      decay + write +
      "    %y = seq.contract %q, %next {read}\n"
      "    seq.yield %y, %next : <hv>, <hkv>\n  }\n"
      "  return %r#0, %r#1 : tensor<11x2x5xf32>, <hkv>\n}\n");
}

const char *const kDecay = "%d = seq.sigmoid %b : <hk>\n";
const char *const kWrite = "%kept = seq.contract %d, %s {hk,hkv}\n"
                           "%w = seq.contract %k, %v {hk,hv}\n"
                           "%next = seq.add %kept, %w : <hkv>\n";

const Spelling kDecays[] = {
    {"what a gate leaves, as a sum",
     "%x = seq.sigmoid %b : <hk>\n%n = seq.neg %x : <hk>\n"
     "%one = seq.constant 1.0 : <hk>\n%d = seq.add %one, %n : <hk>\n"},
    {"what a gate leaves, scaled",
     "%x = seq.sigmoid %b : <hk>\n%n = seq.scale %x by -1.0 : <hk>\n"
     "%one = seq.constant 1.0 : <hk>\n%d = seq.add %n, %one : <hk>\n"},
    {"a floor", "%x = seq.sigmoid %b : <hk>\n%m = seq.scale %x by 0.9 : <hk>\n"
                "%f = seq.constant 0.1 : <hk>\n%d = seq.add %f, %m : <hk>\n"},
    {"a floor of f32",
     "%x = seq.sigmoid %b : <hk>\n"
     "%c = seq.constant 0.800000011920929 : <hk>\n%m = seq.mul %x, %c : <hk>\n"
     "%f = seq.constant 0.20000000298023224 : <hk>\n"
     "%d = seq.add %m, %f : <hk>\n"},
    {"a floor that each token gives",
     "%l = seq.sigmoid %a : <h>\n%one = seq.constant 1.0 : <h>\n"
     "%u = seq.sub %one, %l : <h>\n%ls = seq.broadcast %l along %b [0] : <h>, "
     "<hk>\n%us = seq.broadcast %u along %b [0] : <h>, <hk>\n"
     "%x = seq.sigmoid %b : <hk>\n%m = seq.mul %x, %us : <hk>\n"
     "%d = seq.add %ls, %m : <hk>\n"},
    {"a mean of two gates",
     "%wt = seq.sigmoid %b : <hk>\n%n = seq.neg %wt : <hk>\n"
     "%one = seq.constant 1.0 : <hk>\n%r = seq.add %n, %one : <hk>\n"
     "%c = seq.cos %b : <hk>\n%x = seq.mul %c, %c : <hk>\n"
     "%h = seq.constant 0.5 : <hk>\n%p = seq.mul %r, %x : <hk>\n"
     "%o = seq.mul %h, %wt : <hk>\n%d = seq.add %p, %o : <hk>\n"},
    {"a largest", "%x = seq.sigmoid %b : <hk>\n%f = seq.constant 0.2 : <hk>\n"
                  "%d = seq.max %x, %f : <hk>\n"},
    {"a clamp", "%d = seq.clamp %b {lower = 0.25 : f64, upper = 0.75 : f64} : "
                "<hk>\n"},
    {"a square of tanh",
     "%t = seq.tanh %b : <hk>\n%d = seq.mul %t, %t : <hk>\n"},
    {"half of one and tanh",
     "%t = seq.tanh %b : <hk>\n%h = seq.scale %t by 0.5 : <hk>\n"
     "%c = seq.constant 0.5 : <hk>\n%d = seq.add %h, %c : <hk>\n"},
    {"an absolute cosine", "%t = seq.cos %b : <hk>\n%d = seq.abs %t : <hk>\n"},
    {"a hyperbola", "%x = seq.softplus %b : <hk>\n"
                    "%one = seq.constant 1.0 : <hk>\n"
                    "%m = seq.add %one, %x : <hk>\n"
                    "%d = seq.div %one, %m : <hk>\n"},
    {"a product that is a decay as a whole",
     "%x = seq.sigmoid %b : <hk>\n%two = seq.scale %x by 2.0 : <hk>\n"
     "%half = seq.constant 0.5 : <hk>\n%d = seq.mul %half, %two : <hk>\n"}};

const Spelling kWrites[] = {
    {"a repeated decay", "%wide = seq.broadcast %d along %s [0,1] : <hk>, "
                         "<hkv>\n%kept = seq.mul %s, %wide : <hkv>\n"
                         "%w = seq.contract %k, %v {hk,hv}\n"
                         "%next = seq.add %kept, %w : <hkv>\n"},
    {"a repeated correction",
     "%kept = seq.contract %d, %s {hk,hkv}\n"
     "%seen = seq.contract %k, %kept {read}\n"
     "%e = seq.sub %v, %seen : <hv>\n"
     "%wide = seq.broadcast %beta along %e [0] : <h>, <hv>\n"
     "%c = seq.mul %e, %wide : <hv>\n%w = seq.contract %k, %c {hk,hv}\n"
     "%next = seq.add %kept, %w : <hkv>\n"},
    {"a correction that is subtracted",
     "%kept = seq.contract %d, %s {hk,hkv}\n"
     "%seen = seq.contract %k, %kept {read}\n"
     "%e = seq.sub %seen, %v : <hv>\n%c = seq.contract %beta, %e {h,hv}\n"
     "%w = seq.contract %k, %c {hk,hv}\n"
     "%next = seq.sub %kept, %w : <hkv>\n"},
    {"a correction of half its strength, over a count",
     "%kept = seq.contract %d, %s {hk,hkv}\n"
     "%seen = seq.contract %k, %kept {read}\n%e = seq.sub %v, %seen : <hv>\n"
     "%half = seq.scale %e by 0.5 : <hv>\n"
     "%g = seq.exp %beta : <h>\n"
     "%gs = seq.broadcast %g along %e [0] : <h>, <hv>\n"
     "%c = seq.div %half, %gs : <hv>\n%w = seq.contract %k, %c {hk,hv}\n"
     "%next = seq.add %w, %kept : <hkv>\n"},
    {"what is read alone, erased", "%kept = seq.contract %d, %s {hk,hkv}\n"
                                   "%seen = seq.contract %k, %kept {read}\n"
                                   "%old = seq.contract %k, %seen {hk,hv}\n"
                                   "%new = seq.contract %k, %v {hk,hv}\n"
                                   "%less = seq.sub %kept, %old : <hkv>\n"
                                   "%next = seq.add %less, %new : <hkv>\n"},
    {"an outer product of repeated vectors",
     "%kept = seq.contract %d, %s {hk,hkv}\n"
     "%ks = seq.broadcast %k along %kept [0,1] : <hk>, <hkv>\n"
     "%vs = seq.broadcast %v along %kept [0,2] : <hv>, <hkv>\n"
     "%w = seq.mul %vs, %ks : <hkv>\n%next = seq.add %kept, %w : <hkv>\n"},
    {"a product that is scaled when it is one",
     "%kept = seq.contract %d, %s {hk,hkv}\n%kv = seq.contract %k, %v {hk,hv}\n"
     "%w = seq.contract %beta, %kv {h,hkv}\n"
     "%next = seq.add %kept, %w : <hkv>\n"},
    {"a decay after the write",
     "%kv = seq.contract %k, %v {hk,hv}\n%sum = seq.add %s, %kv : <hkv>\n"
     "%next = seq.contract %d, %sum {hk,hkv}\n"},
    {"a decay after a correction",
     "%seen = seq.contract %k, %s {read}\n%e = seq.sub %v, %seen : <hv>\n"
     "%w = seq.contract %k, %e {hk,hv}\n%sum = seq.add %s, %w : <hkv>\n"
     "%wide = seq.broadcast %d along %sum [0,1] : <hk>, <hkv>\n"
     "%next = seq.mul %wide, %sum : <hkv>\n"},
    {"a step from the state to a product",
     "%kv = seq.contract %k, %v {hk,hv}\n%less = seq.sub %kv, %s : <hkv>\n"
     "%step = seq.contract %d, %less {hk,hkv}\n"
     "%next = seq.add %s, %step : <hkv>\n"},
    {"a step with a repeated rate per head, after a decay",
     "%kept = seq.contract %d, %s {hk,hkv}\n"
     "%r = seq.sigmoid %beta : <h>\n%kv = seq.contract %k, %v {hk,hv}\n"
     "%less = seq.sub %kv, %kept : <hkv>\n"
     "%wide = seq.broadcast %r along %less [0] : <h>, <hkv>\n"
     "%step = seq.mul %wide, %less : <hkv>\n"
     "%next = seq.add %step, %kept : <hkv>\n"},
    {"a constant share", "%kept = seq.contract %d, %s {hk,hkv}\n"
                         "%part = seq.scale %kept by 0.75 : <hkv>\n"
                         "%kv = seq.contract %k, %v {hk,hv}\n"
                         "%w = seq.scale %kv by 0.25 : <hkv>\n%next = seq.add "
                         "%part, %w : <hkv>\n"}};

/// Each decay with the plain write, and each write with the plain decay.
std::vector<std::pair<std::string, std::string>> allSteps() {
  std::vector<std::pair<std::string, std::string>> steps;
  for (const Spelling &decay : kDecays)
    steps.push_back({decay.name, stepText(decay.text, kWrite)});
  for (const Spelling &write : kWrites)
    steps.push_back({write.name, stepText(kDecay, write.text)});
  return steps;
}

std::vector<Datum<double>> inputs(Random &random) {
  auto tensor = [&](std::vector<int64_t> shape, double low, double high) {
    std::vector<double> elements(reference::countElements(shape));
    for (double &element : elements)
      element = static_cast<float>(pickReal(random, low, high));
    return Tensor<double>(shape, elements);
  };
  return {tensor({11, 2, 3}, -1, 1),     tensor({11, 2, 3}, -0.6, 0.6),
          tensor({11, 2, 5}, -1, 1),     tensor({11, 2}, -2, 2),
          tensor({11, 2, 3}, -1.4, 1.4), tensor({11, 2}, 0, 1),
          tensor({2, 3, 5}, -1, 1)};
}

TEST(Spellings, AreLinearAndEveryFormIsWhatTheBodySays) {
  Random random(23);
  size_t count = 0;
  for (const auto &[name, text] : allSteps()) {
    SCOPED_TRACE(name);
    Program program(text);
    ASSERT_TRUE(program.isValid()) << program.getDiagnostics().str();
    auto mixer =
        cast<MixerOpInterface>(program.find<RecurrenceOp>().getOperation());
    ASSERT_EQ(mixer.getStructure().getMixerClass(), MixerClass::Linear)
        << mixer.getObstacle().reason;
    std::vector<Datum<double>> data = inputs(random);
    auto expected = program.evaluate<double>(data);
    for (FormChoice form :
         {FormChoice::Step, FormChoice::Quadratic, FormChoice::Chunkwise}) {
      Program derived(program);
      PassManager manager(derived.getContext());
      manager.addPass(createExpandFormPass({form, /*chunk=*/4}));
      ASSERT_TRUE(succeeded(manager.run(derived.getModule())));
      auto found = derived.evaluate<double>(data);
      for (size_t i = 0; i < expected.size(); ++i)
        expectNear(numbers(found[i]), numbers(expected[i]), 1e-12);
    }
    ++count;
  }
  EXPECT_EQ(count, std::size(kDecays) + std::size(kWrites));
}

struct Refusal {
  const char *decay, *write, *reason;
};

TEST(Spellings, WithoutAProofAreRefusedWithTheReason) {
  const Refusal refusals[] = {
      {"%d = seq.tanh %b : <hk>\n", kWrite,
       "scales the state by what is neither an exponential nor a constant in "
       "(0, 1], nor bound to lie in [0, 1], but only in [-1, 1]"},
      {"%x = seq.sigmoid %b : <hk>\n%m = seq.scale %x by 0.9 : <hk>\n"
       "%f = seq.constant 0.2 : <hk>\n%d = seq.add %f, %m : <hk>\n",
       kWrite,
       "scales the state by what is neither an exponential nor a constant in "
       "(0, 1], nor bound to lie in [0, 1], but only in [0.2, 1.1]"},
      {"%t = seq.tanh %b : <hk>\n%u = seq.sigmoid %b : <hk>\n"
       "%d = seq.mul %t, %u : <hk>\n",
       kWrite,
       "scales the state by what is neither an exponential nor a constant in "
       "(0, 1], nor bound to lie in [0, 1], but only in [-1, 1]"},
      {kDecay,
       "%kept = seq.contract %d, %s {hk,hkv}\n%w = seq.contract %k, %v "
       "{hk,hv}\n%next = seq.sub %w, %kept : <hkv>\n",
       "subtracts the state"},
      {kDecay,
       "%kept = seq.contract %d, %s {hk,hkv}\n"
       "%seen = seq.contract %k, %kept {read}\n%e = seq.sub %v, %seen : <hv>\n"
       "%g = seq.sigmoid %v : <hv>\n%c = seq.mul %e, %g : <hv>\n"
       "%w = seq.contract %k, %c {hk,hv}\n%next = seq.add %kept, %w : <hkv>\n",
       "is no sum or scaling of what a probe reads"}};
  for (const Refusal &refusal : refusals) {
    SCOPED_TRACE(refusal.reason);
    Program program(stepText(refusal.decay, refusal.write));
    ASSERT_TRUE(program.isValid()) << program.getDiagnostics().str();
    auto op = program.find<RecurrenceOp>();
    auto mixer = cast<MixerOpInterface>(op.getOperation());
    EXPECT_EQ(mixer.getStructure().getMixerClass(), MixerClass::Opaque);
    Obstacle obstacle = mixer.getObstacle();
    EXPECT_EQ(obstacle.reason, refusal.reason);
    ASSERT_TRUE(obstacle.op);
    EXPECT_EQ(obstacle.op->getParentOp(), op.getOperation());
  }
}

// What a step has to carry is asked of the whole step, before its body is read.
TEST(Spellings, WithoutAStateHaveNoForms) {
  Program program(R"(
func.func @f(%x: tensor<?x3x5xf32>) -> tensor<?x3x5xf32> {
  %y = seq.recurrence tokens(%v = %x : tensor<?x3x5xf32>) parameters() states() -> (tensor<?x3x5xf32>), () {
    %t = seq.tanh %v : tensor<3x5xf32>
    seq.yield %t : tensor<3x5xf32>
  }
  return %y : tensor<?x3x5xf32>
}
)");
  ASSERT_TRUE(program.isValid()) << program.getDiagnostics().str();
  auto op = program.find<RecurrenceOp>();
  auto mixer = cast<MixerOpInterface>(op.getOperation());
  EXPECT_TRUE(isStatelessStep(op));
  EXPECT_TRUE(mixer.getStates().empty());
  EXPECT_EQ(mixer.getStructure().getMixerClass(), MixerClass::Opaque);
  Obstacle obstacle = mixer.getObstacle();
  EXPECT_EQ(obstacle.reason, "carries no state");
  EXPECT_EQ(obstacle.op, op.getOperation());
}

} // namespace
