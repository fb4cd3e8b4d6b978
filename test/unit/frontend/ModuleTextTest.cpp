#include "frontend/ModuleText.h"

#include "dialects/seq/Seq.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/TemporaryDirectory.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace effc;
using namespace effc::frontend;
using namespace effc::test;

namespace {

class ModuleTextTest : public testing::Test {
protected:
  ModuleTextTest() {
    context.loadDialect<mlir::func::FuncDialect, seq::SeqDialect>();
    context.printOpOnDiagnostic(false); // as the compiler's
  }

  std::string reading(llvm::StringRef text) {
    directory.write("m.mlir", text);
    llvm::StringRef path = directory.path;
    std::string said =
        outcome(readModuleText(context, directory.file("m.mlir")));
    // Messages name the file as it was given.
    if (size_t at = said.find(path); at != std::string::npos)
      said.erase(at, path.size() + 1);
    return said;
  }

  mlir::MLIRContext context;
  TemporaryDirectory directory;
};

} // namespace

static std::string repeat(llvm::StringRef text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i)
    result += text;
  return result;
}

TEST_F(ModuleTextTest, ChainsOfAliasesAreRefused) {
  std::string chain = "#a0 = []\n";
  for (int i = 1; i < 100000; ++i)
    chain +=
        "#a" + std::to_string(i) + " = [#a" + std::to_string(i - 1) + "]\n";
  EXPECT_NE(reading(chain).find("levels of brackets"), std::string::npos);
}

// MLIR's parser calls itself for each of these and has no limit of its own.
TEST_F(ModuleTextTest, NestedTextIsRefused) {
  for (auto [open, inside, close] :
       std::initializer_list<std::array<llvm::StringRef, 3>>{
           {"module attributes {a = ", "[", "]"},
           {"func.func private @f() -> ", "tuple<", ">"},
           {"", "module { ", "}"},
           {"#m = affine_map<(a) -> (a + ", "(", ")"},
           {"#m = affine_map<(a) -> (", "-", ""},
           {"#m = affine_map<(a) -> (a", " mod 2 + a", ""}}) {
    std::string said =
        reading(open.str() + repeat(inside, 100000) + repeat(close, 100000));
    EXPECT_NE(said.find(": expects at most 256 levels of brackets or signs, "
                        "but here begins another"),
              std::string::npos)
        << said;
  }
  EXPECT_EQ(reading("module {\n module attributes {a = " + repeat("[", 300) +
                    repeat("]", 300) + "} {}\n}"),
            "m.mlir:2:279: expects at most 256 levels of brackets or signs, "
            "but here begins another");
}

TEST_F(ModuleTextTest, TheFirstErrorIsTheReason) {
  EXPECT_EQ(reading(""), "success");
  EXPECT_EQ(reading("module {\n  seq.weight @w : tensor<2xf32>\n}"),
            "m.mlir:2:3: 'seq.weight' op expects a 'source' that is not empty, "
            "but got \"\"");
}

// No call, no branch and no op of elsewhere has a place in a model, so that
// there is no recursion either.
TEST_F(ModuleTextTest, AModelIsWeightsAndOneFunction) {
  auto refused = [&](llvm::StringRef text) {
    std::string said = reading(text);
    return said.substr(said.find(": ") + 2);
  };
  EXPECT_EQ(reading(R"(seq.weight @w source("w") : tensor<2xf32>
                       func.func @forward() { return })"),
            "success");
  auto part = [](const std::string &function) {
    return "'func.func' '" + function +
           "' is no part of a model: expects weights and one function, "
           "'@forward'";
  };
  EXPECT_EQ(refused("func.func @other() { return }"), part("other"));
  EXPECT_EQ(refused("func.func @a() { func.call @b() : () -> () return }\n"
                    "func.func @b() { func.call @a() : () -> () return }"),
            part("a"));
  EXPECT_EQ(refused("module { func.func @forward() { return } }\nmodule {}"),
            "'builtin.module' is no part of a model: expects weights and one "
            "function, '@forward'");
  EXPECT_EQ(refused("func.func @forward() { func.call @forward() : () -> () "
                    "return }"),
            "'func.call' is no part of a model: expects ops of the 'seq' "
            "dialect");
  EXPECT_EQ(refused("func.func @forward() { \"func.return\"() : () -> ()\n"
                    "^bb1: return }"),
            "'func.func' 'forward' expects one block, but got 2");
  EXPECT_EQ(refused("func.func @forward() { cf.br ^bb1 ^bb1: return }"),
            "there is no op 'cf.br' in a model: expects ops of the 'seq' "
            "dialect");
  EXPECT_EQ(refused("func.func @forward() { \"my.op\"() : () -> () return }"),
            "expects ops of the 'seq' dialect, but got one of a dialect that "
            "is not known");
}

// What MLIR's parser says is put into words of who wrote the model.
TEST_F(ModuleTextTest, MistakesAreExplained) {
  auto inFunction = [&](llvm::StringRef text) {
    return reading(
        ("func.func @forward(%x: tensor<?x6xf32>) {\n" + text + "\n  return\n}")
            .str());
  };
  auto noOp = [](const std::string &name) {
    return "there is no op '" + name +
           "' in a model: expects ops of the 'seq' dialect";
  };
  EXPECT_EQ(inFunction("  %y = seq.tanhh %x : tensor<?x6xf32>"),
            "m.mlir:2:8: " + noOp("seq.tanhh") + ", perhaps 'seq.tanh'");
  EXPECT_EQ(inFunction("  %y = tanh %x : tensor<?x6xf32>"),
            "m.mlir:2:8: " + noOp("tanh") + ", perhaps 'seq.tanh'");
  EXPECT_EQ(inFunction("  %y = math.tanh %x : tensor<?x6xf32>"),
            "m.mlir:2:8: " + noOp("math.tanh") + ", perhaps 'seq.tanh'");
  EXPECT_EQ(inFunction("  %y = seq.quicksort %x : tensor<?x6xf32>"),
            "m.mlir:2:8: " + noOp("seq.quicksort"));
  EXPECT_EQ(inFunction("  %y = seq.tanh %z : tensor<?x6xf32>"),
            "m.mlir:2:17: nothing before this line defines '%z' (a step of "
            "'seq.recurrence' sees its own names only)");
  EXPECT_EQ(inFunction("  %y = seq.tanh %x : tensr<?x6xf32>"),
            "m.mlir:2:21: expects a type such as tensor<?x6xf32>, but got "
            "'tensr'");
  EXPECT_EQ(inFunction("  %y = seq.tanh %x : !other.type"),
            "m.mlir:2:29: expects types and attributes of the 'seq' dialect, "
            "but got one of a dialect that is not known");
  EXPECT_EQ(inFunction("  %y = seq.tanh %x : tensor<?x5xf32>"),
            "m.mlir:2:17: use of value '%x' expects different type than prior "
            "uses: 'tensor<?x5xf32>' vs 'tensor<?x6xf32>' (prior use here, "
            "line 1)");
  EXPECT_EQ(reading("func.func @forward(%x: tensor<?x6xf32>) {\n"
                    "  %y = seq.tanh %x : tensor<?x6xf32>\n}"),
            "m.mlir:2:8: expects 'return' at the end of a function and "
            "'seq.yield' at the end of a step, but got another op");
}

TEST_F(ModuleTextTest, BytecodeIsRefused) {
  auto module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  ASSERT_TRUE(mlir::succeeded(mlir::writeBytecodeToFile(module, out)));
  module.erase();
  std::string said = reading(bytes);
  EXPECT_NE(said.find("expects IR text, but got bytecode"), std::string::npos)
      << said;
}

// One kernel computes a body.
TEST_F(ModuleTextTest, ALongBodyIsRefused) {
  auto lines = [](size_t ops) {
    std::string text;
    for (size_t i = 0; i < ops; ++i)
      text += "    %c" + std::to_string(i) + " = seq.tanh %a : tensor<6xf32>\n";
    return text;
  };
  auto step = [&](size_t ops) {
    return R"(func.func @forward(%x: tensor<?x6xf32>, %s: tensor<6xf32>) {
  %y, %n = seq.recurrence tokens(%a = %x : tensor<?x6xf32>) parameters()
      states(%b = %s : tensor<6xf32>) -> (tensor<?x6xf32>), (tensor<6xf32>) {
)" + lines(ops) +
           "    seq.yield %c0, %b : tensor<6xf32>, tensor<6xf32>\n"
           "  }\n  return\n}";
  };
  EXPECT_EQ(reading(step(512)), "success");
  EXPECT_EQ(reading(step(513)), // recurrence6
            "m.mlir:2:12: 'seq.recurrence' op expects a body of at most 512 "
            "ops, but got 513");
  auto kernel = [&](size_t ops) {
    return R"(func.func @forward(%x: tensor<6xf32>) {
  %y = seq.kernel "k" (%a = %x : tensor<6xf32>) -> (tensor<6xf32>) {
)" + lines(ops) +
           "    seq.yield %c0 : tensor<6xf32>\n  }\n  return\n}";
  };
  EXPECT_EQ(reading(kernel(512)), "success");
  EXPECT_EQ(reading(kernel(513)), // kernel4
            "m.mlir:2:8: 'seq.kernel' op expects a body of at most 512 ops, "
            "but got 513");
}
