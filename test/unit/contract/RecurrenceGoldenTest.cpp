// Recurrences mean what a public library or a formula that is no recurrence
// computes (test/goldens/make_recurrence_goldens.py and make_naive_goldens.py
// say which), in their own definition and in two forms.
#include "passes/seq/Passes.h"
#include "test/unit/contract/LinearCase.h"
#include "test/unit/dialects/seq/Program.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace effc;
using namespace effc::seq;
using namespace effc::seq::test;
using effc::test::tensorType;

namespace {

using Object = llvm::json::Object;

llvm::json::Value readGoldens(const std::string &file) {
  auto buffer = llvm::MemoryBuffer::getFile(EFFC_GOLDENS "/recurrence/" + file);
  auto parsed = llvm::json::parse((*buffer)->getBuffer());
  return parsed ? std::move(*parsed) : llvm::json::Value(nullptr);
}

std::vector<int64_t> shapeOf(const Object &datum) {
  std::vector<int64_t> shape;
  for (const llvm::json::Value &extent : *datum.getArray("shape"))
    shape.push_back(*extent.getAsInteger());
  return shape;
}

template <typename S> Tensor<S> tensorOf(const Object &datum) {
  std::vector<S> elements;
  for (const llvm::json::Value &element : *datum.getArray("elements"))
    elements.push_back(S(*element.getAsNumber()));
  return Tensor<S>(shapeOf(datum), elements);
}

/// The types of a case's data, behind names where a prefix of them is given.
std::string listTypes(const llvm::json::Array &data, const char *prefix = "") {
  std::string text;
  for (auto [i, value] : llvm::enumerate(data)) {
    const Object &datum = *value.getAsObject();
    std::string name =
        *prefix ? prefix + std::to_string(i) + ": " : std::string();
    text += (i ? ", " : "") + name +
            tensorType(shapeOf(datum),
                       datum.getString("element").value_or("f32").str());
  }
  return text;
}

std::string listNames(size_t count, const char *prefix) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + (prefix + std::to_string(i));
  return text;
}

void expectResults(Program &program, const Object &golden) {
  std::vector<Datum<double>> inputs;
  for (const llvm::json::Value &value : *golden.getArray("operands")) {
    const Object &datum = *value.getAsObject();
    if (datum.get("element"))
      inputs.push_back(tensorOf<int32_t>(datum));
    else
      inputs.push_back(tensorOf<double>(datum));
  }
  auto results = program.evaluate<double>(inputs);
  const llvm::json::Array &expected = *golden.getArray("results");
  ASSERT_EQ(results.size(), expected.size());
  for (auto [result, value] : llvm::zip(results, expected))
    EXPECT_LE(
        relativeError(numbers(result), tensorOf<double>(*value.getAsObject())),
        1e-13);
}

void expectGoldens(const std::string &file, int expectedCases) {
  int cases = 0;
  llvm::json::Value all = readGoldens(file);
  for (const llvm::json::Value &value : *all.getAsArray()) {
    const Object &golden = *value.getAsObject();
    SCOPED_TRACE(golden.getString("name")->str());
    const llvm::json::Array &operands = *golden.getArray("operands");
    const llvm::json::Array &results = *golden.getArray("results");
    std::string types = listTypes(results), n = std::to_string(results.size());
    Program program("func.func @f(" + listTypes(operands, "%a") + ") -> (" +
                    types + ") {\n  %r:" + n + " = \"seq." +
                    golden.getString("op")->str() + "\"(" +
                    listNames(operands.size(), "%a") + ") {" +
                    golden.getString("attributes")->str() + "} : (" +
                    listTypes(operands) + ") -> (" + types + ")\n  return " +
                    listNames(results.size(), "%r#") + " : " + types + "\n}\n");
    ASSERT_TRUE(program.isValid()) << program.getDiagnostics().str();
    expectResults(program, golden);
    for (auto [form, chunk] :
         {std::pair(FormChoice::Step, 0), {FormChoice::Chunkwise, 3}}) {
      Program derived(program);
      mlir::PassManager manager(derived.getContext());
      manager.addPass(createExpandFormPass({form, chunk}));
      ASSERT_TRUE(succeeded(manager.run(derived.getModule())));
      expectResults(derived, golden);
    }
    ++cases;
  }
  EXPECT_EQ(cases, expectedCases);
}

TEST(RecurrenceGolden, IsWhatIsComputedElsewhere) {
  expectGoldens("cases.json", 15);
}

TEST(RecurrenceGolden, IsWhatTheNaiveFunctionsCompute) {
  expectGoldens("naive_cases.json", 13);
}

} // namespace
