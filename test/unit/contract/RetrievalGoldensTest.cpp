// Retrievals and norms agree with public layers: see
// test/goldens/make_retrieval_goldens.py for where the numbers come from.
#include "test/e2e/SafetensorsFile.h"
#include "test/unit/dialects/seq/Program.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::test;
using effc::test::SafetensorsFile;

namespace {

const SafetensorsFile &goldens() {
  static const SafetensorsFile file =
      SafetensorsFile::read(EFFC_GOLDENS "/retrieval/goldens.safetensors");
  return file;
}

/// A golden tensor under another shape, by default its own.
Tensor<double> golden(const std::string &name,
                      std::vector<int64_t> shape = {}) {
  const SafetensorsFile::Tensor &tensor = goldens().tensor(name);
  if (shape.empty())
    shape.assign(tensor.shape.begin(), tensor.shape.end());
  return Tensor<double>(shape, tensor.values());
}

/// Evaluates a program on golden tensors and compares its result.
void check(StringRef text, std::vector<Datum<double>> inputs,
           const std::string &expected, double tolerance) {
  SCOPED_TRACE(expected);
  Program program(text);
  ASSERT_TRUE(program.isValid());
  std::vector<Datum<double>> results =
      program.evaluate<double>(std::move(inputs));
  double error = relativeError(numbers(results[0]), golden(expected));
  EXPECT_LE(error, tolerance);
  std::printf("%-18s %.1e\n", expected.c_str(), error);
}

// The library's routers take their softmax in f32.
constexpr double kF32Softmax = 1e-6;
constexpr double kExact = 1e-12;

TEST(RetrievalGoldens, Mixtral) {
  check(R"(
func.func @f(%x: tensor<6x10xf32>, %gate: tensor<6x10xf32>, %gate_up: tensor<84x10xf32>,
             %down: tensor<60x7xf32>) -> tensor<6x10xf32> {
  %l = seq.linear %x, %gate : (tensor<6x10xf32>, tensor<6x10xf32>) -> tensor<6x6xf32>
  %y = seq.routed_experts %x, %l parameters(%gate_up, %down)
      {top_k = 2 : i64, nonlinearity = #seq.nonlinearity<silu>}
      : (tensor<6x10xf32>, tensor<6x6xf32>), (tensor<84x10xf32>, tensor<60x7xf32>)
  return %y : tensor<6x10xf32>
}
)",
        {golden("mixtral.x"), golden("mixtral.gate.weight"),
         golden("mixtral.experts.gate_up_proj", {84, 10}),
         golden("mixtral.experts.down_proj", {60, 7})},
        "mixtral.y", kF32Softmax);
}

// 8 experts of 5 units beside a shared one of 9, whose output is scaled by the
// logistic function of one number for each token.
std::string qwen2Moe(const std::string &weighting) {
  return R"(
func.func @f(%x: tensor<6x12xf32>, %gate: tensor<8x12xf32>, %gate_up: tensor<80x12xf32>,
             %down: tensor<96x5xf32>, %sg: tensor<9x12xf32>, %su: tensor<9x12xf32>,
             %sd: tensor<12x9xf32>, %sgate: tensor<1x12xf32>) -> tensor<6x12xf32> {
  %l = seq.linear %x, %gate : (tensor<6x12xf32>, tensor<8x12xf32>) -> tensor<6x8xf32>
  %routed = seq.routed_experts %x, %l parameters(%gate_up, %down)
      {top_k = 3 : i64, nonlinearity = #seq.nonlinearity<silu>, weighting = #seq.weighting<)" +
         weighting + R"(>}
      : (tensor<6x12xf32>, tensor<6x8xf32>), (tensor<80x12xf32>, tensor<96x5xf32>)
  %g = seq.linear %x, %sg : (tensor<6x12xf32>, tensor<9x12xf32>) -> tensor<6x9xf32>
  %u = seq.linear %x, %su : (tensor<6x12xf32>, tensor<9x12xf32>) -> tensor<6x9xf32>
  %a = seq.silu %g : tensor<6x9xf32>
  %h = seq.mul %a, %u : tensor<6x9xf32>
  %shared = seq.linear %h, %sd : (tensor<6x9xf32>, tensor<12x9xf32>) -> tensor<6x12xf32>
  %sl = seq.linear %x, %sgate : (tensor<6x12xf32>, tensor<1x12xf32>) -> tensor<6x1xf32>
  %s = seq.sigmoid %sl : tensor<6x1xf32>
  %v = seq.reshape %s : tensor<6x1xf32> -> tensor<6xf32>
  %gates = seq.broadcast %v along %x {dimensions = array<i64: 0>} : tensor<6xf32>, tensor<6x12xf32>
  %scaled = seq.mul %shared, %gates : tensor<6x12xf32>
  %y = seq.add %routed, %scaled : tensor<6x12xf32>
  return %y : tensor<6x12xf32>
}
)";
}

TEST(RetrievalGoldens, SharedExpertIsolation) {
  for (auto [name, weighting] :
       {std::pair<std::string, std::string>("qwen2_moe", "softmax_all"),
        {"qwen2_moe_norm", "softmax"}})
    check(qwen2Moe(weighting),
          {golden(name + ".x"), golden(name + ".gate.weight"),
           golden(name + ".experts.gate_up_proj", {80, 12}),
           golden(name + ".experts.down_proj", {96, 5}),
           golden(name + ".shared_expert.gate_proj.weight"),
           golden(name + ".shared_expert.up_proj.weight"),
           golden(name + ".shared_expert.down_proj.weight"),
           golden(name + ".shared_expert_gate.weight")},
          name + ".y", kF32Softmax);
}

TEST(RetrievalGoldens, Doge) {
  check(R"(
func.func @f(%x: tensor<6x16xf32>, %router: tensor<10x16xf32>, %down: tensor<30x16xf32>,
             %up: tensor<30x16xf32>, %sg: tensor<11x16xf32>, %su: tensor<11x16xf32>,
             %sd: tensor<16x11xf32>) -> tensor<6x16xf32> {
  %l = seq.linear %x, %router : (tensor<6x16xf32>, tensor<10x16xf32>) -> tensor<6x10xf32>
  %scores = seq.reshape %l : tensor<6x10xf32> -> tensor<6x2x1x5xf32>
  %e = seq.product_key_experts %x, %scores parameters(%down, %up)
      {top_k = 4 : i64, nonlinearity = #seq.nonlinearity<silu>}
      : (tensor<6x16xf32>, tensor<6x2x1x5xf32>), (tensor<30x16xf32>, tensor<30x16xf32>)
  %g = seq.linear %x, %sg : (tensor<6x16xf32>, tensor<11x16xf32>) -> tensor<6x11xf32>
  %u = seq.linear %x, %su : (tensor<6x16xf32>, tensor<11x16xf32>) -> tensor<6x11xf32>
  %a = seq.silu %g : tensor<6x11xf32>
  %h = seq.mul %a, %u : tensor<6x11xf32>
  %s = seq.linear %h, %sd : (tensor<6x11xf32>, tensor<16x11xf32>) -> tensor<6x16xf32>
  %y = seq.add %s, %e : tensor<6x16xf32>
  return %y : tensor<6x16xf32>
}
)",
        {golden("doge.x"), golden("doge.router_gate.weight"),
         golden("doge.down_embed.weight"), golden("doge.up_embed.weight"),
         golden("doge.gate_proj.weight"), golden("doge.up_proj.weight"),
         golden("doge.down_proj.weight")},
        "doge.y", kExact);
}

TEST(RetrievalGoldens, Peer) {
  check(R"(
func.func @f(%x: tensor<6x14xf32>, %query: tensor<24x14xf32>, %keys: tensor<18x8xf32>,
             %down: tensor<36x14xf32>, %up: tensor<36x14xf32>) -> tensor<6x14xf32> {
  %q = seq.linear %x, %query : (tensor<6x14xf32>, tensor<24x14xf32>) -> tensor<6x24xf32>
  %s = seq.key_scores %q, %keys {layout = #seq.key_layout<half_head>}
      : (tensor<6x24xf32>, tensor<18x8xf32>) -> tensor<6x2x3x6xf32>
  %y = seq.product_key_experts %x, %s parameters(%down, %up)
      {top_k = 5 : i64, nonlinearity = #seq.nonlinearity<gelu>}
      : (tensor<6x14xf32>, tensor<6x2x3x6xf32>), (tensor<36x14xf32>, tensor<36x14xf32>)
  return %y : tensor<6x14xf32>
}
)",
        {golden("peer.x"), golden("peer.query"), golden("peer.keys", {18, 8}),
         golden("peer.down"), golden("peer.up")},
        "peer.y", kExact);
}

TEST(RetrievalGoldens, ProductKeyMemory) {
  check(R"(
func.func @f(%x: tensor<6x10xf32>, %query: tensor<12x10xf32>, %bias: tensor<12xf32>,
             %keys: tensor<28x3xf32>, %values: tensor<49x9xf32>) -> tensor<6x9xf32> {
  %q = seq.linear %x, %query bias(%bias)
      : (tensor<6x10xf32>, tensor<12x10xf32>, tensor<12xf32>) -> tensor<6x12xf32>
  %s = seq.key_scores %q, %keys {layout = #seq.key_layout<head_half>}
      : (tensor<6x12xf32>, tensor<28x3xf32>) -> tensor<6x2x2x7xf32>
  %y = seq.product_key_memory %s parameters(%values) {top_k = 4 : i64}
      : tensor<6x2x2x7xf32>, (tensor<49x9xf32>) -> tensor<6x9xf32>
  return %y : tensor<6x9xf32>
}
)",
        {golden("pkm.x"), golden("pkm.query"), golden("pkm.bias"),
         golden("pkm.keys", {28, 3}), golden("pkm.values")},
        "pkm.y", kExact);
}

TEST(RetrievalGoldens, Norms) {
  auto norm = [](StringRef operands, StringRef attributes) {
    return ("func.func @f(%x: tensor<6x12xf32>, %w: tensor<12xf32>, %b: "
            "tensor<12xf32>) -> tensor<6x12xf32> {\n  %y = seq.group_norm %x" +
            operands + " {" + attributes +
            "} : tensor<6x12xf32>\n  return %y : tensor<6x12xf32>\n}\n")
        .str();
  };
  std::vector<Datum<double>> inputs = {golden("norms.x"), golden("norms.w"),
                                       golden("norms.b")};
  StringRef both = " weight(%w : tensor<12xf32>) bias(%b : tensor<12xf32>)";
  check(norm(both, "centred, eps = 1.0e-5 : f64"), inputs, "norms.layer",
        kExact);
  check(norm(both, "centred, eps = 6.4e-4 : f64, groups = 3 : i64"), inputs,
        "norms.group", kExact);
  check(norm("", "eps = 1.0e-12 : f64, groups = 3 : i64, measure = "
                 "#seq.norm_measure<max_length>"),
        inputs, "norms.normalize", kExact);
  // The library normalises in f32.
  check(norm(" weight(%w : tensor<12xf32>)", "unit_offset, eps = 1.0e-6 : f64"),
        inputs, "norms.gemma", 1e-6);
}

} // namespace
