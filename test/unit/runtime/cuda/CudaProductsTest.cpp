// Launches that a library of matrix products does: what it is asked, that the
// toy's numbers come of it, and what is said where it cannot.
#include "test/unit/runtime/cuda/CudaToy.h"

#include <algorithm>
#include <unistd.h>

using namespace effc;
using namespace effc::test;

namespace {
class CudaProducts : public CudaDevice {
protected:
  void SetUp() override {
    CudaDevice::SetUp();
    setenv("EFFC_CUBLASLT", EFFC_FAKE_CUDA, 1);
  }
  void TearDown() override {
    unsetenv("EFFC_CUBLASLT");
    CudaDevice::TearDown();
  }
};
} // namespace

/// What is said where the library does not multiply.
static const std::string kOwnKernel =
    "; with EFFC_CUBLASLT=none in the environment, or compiled without --dense "
    "library, the file's own kernel does it";

/// The head of the plan for sm_90a as a product of all rows, whose logits then
/// all have to be wanted.
static void makeHeadAProduct(artifact::ProgramT &program) {
  artifact::TargetPlanT &target = *program.targets[1];
  target.kernels[2]->name = "toy_product";
  target.kernels[2]->operands = 3;
  for (auto &entry : target.entries) {
    artifact::LaunchT &launch = *entry->launches[2];
    launch.operands.erase(launch.operands.begin());
    *launch.items = {artifact::Count::Rows, 4, 1};
    launch.product = std::make_unique<artifact::MatrixProductT>();
    launch.product->outputs = kToyVocabulary;
    launch.product->inner = kToyChannels;
    launch.product->x_pitch = 4;
    launch.product->w_pitch = 32;
    launch.product->y_pitch = kToyVocabulary;
    launch.product->w_type = artifact::ElementType::BF16;
  }
}

TEST_F(CudaProducts, GoToTheLibrary) {
  Model model = loadToy(makeHeadAProduct);
  Engine engine(model, Device::cuda());
  EXPECT_EQ(fake->count("cublasLtCreate"), 1u);
  Session session(engine);
  std::vector<int32_t> tokens = toyTokens(7);
  std::vector<int32_t> prompt(tokens.begin(), tokens.begin() + 5);
  ToyReference reference;
  std::vector<float> expected = reference.feed(prompt);
  std::vector<float> logits(expected.size());
  fake->calls.clear();
  engine.prefill({{session.get(), prompt.data(), prompt.size(), EFFC_LOGITS_ALL,
                   logits.data(), sizeof(effc_prompt_t)}});
  EXPECT_EQ(logits, expected);
  // Five rows in the entry of 16: the library sees five.
  EXPECT_EQ(fake->count("cublasLtMatmul 14:3x271/32 by 0:3x5/4 to 0:271x5/271"),
            1u);
  EXPECT_EQ(fake->count("cuLaunchKernelEx toy_product"), 0u);
  // How it does so many rows it is asked once.
  session.reset();
  logits.assign(logits.size(), 0);
  engine.prefill({{session.get(), prompt.data(), prompt.size(), EFFC_LOGITS_ALL,
                   logits.data(), sizeof(effc_prompt_t)}});
  EXPECT_EQ(logits, expected);
  EXPECT_EQ(fake->count("cublasLtMatmul 14:3x271/32 by 0:3x5/4"), 2u);
  EXPECT_EQ(fake->count("cublasLtMatmulAlgoGetHeuristic"), 1u);
  // Decoding is recorded with it, once it has multiplied.
  for (size_t i : {5, 6})
    EXPECT_EQ(engine.decode({session.get()}, {tokens[i]}),
              reference.step(tokens[i]));
  EXPECT_EQ(fake->count("cublasLtMatmulAlgoGetHeuristic"), 2u);
  EXPECT_EQ(fake->count("cublasLtMatmul 14:3x271/32 by 0:3x1/4"), 2u);
  auto first = std::find_if(
      fake->calls.begin(), fake->calls.end(), [](const std::string &call) {
        return call.find("by 0:3x1/4") != std::string::npos;
      });
  EXPECT_GT(std::count(first, fake->calls.end(), "cuStreamBeginCapture_v2"), 0);
  EXPECT_EQ(fake->count("cuGraphLaunch"), 2u);
}

TEST_F(CudaProducts, StayWithTheKernelOnDemand) {
  setenv("EFFC_CUBLASLT", "none", 1);
  Model model = loadToy(makeHeadAProduct);
  Engine engine(model, Device::cuda());
  Session session(engine);
  fake->calls.clear();
  EXPECT_EQ(engine.decode({session.get()}, {7}), ToyReference().step(7));
  EXPECT_EQ(fake->count("cuLaunchKernelEx toy_product"), 1u);
  EXPECT_EQ(fake->count("cublasLt"), 0u);
}

// A plan without products opens nothing.
TEST_F(CudaProducts, AreNotLookedForInVain) {
  setenv("EFFC_CUBLASLT", "/nonexistent/libcublasLt.so", 1);
  expectToyRuns(loadToy(), Device::cuda());
}

TEST_F(CudaProducts, SayWhatIsMissing) {
  setenv("EFFC_CUBLASLT", "/nonexistent/libcublasLt.so", 1);
  std::string message = engineMessage(EFFC_UNSUPPORTED, makeHeadAProduct);
  EXPECT_EQ(message.find("cuda: cuBLASLt cannot be opened (/nonexistent/"), 0u)
      << message;
  const std::string remedy =
      "; the file's products are to go to cuBLASLt: install it, set "
      "EFFC_CUBLASLT=none to have the file's own kernels multiply, or compile "
      "without --dense library";
  EXPECT_NE(message.find(remedy), std::string::npos) << message;
  setenv("EFFC_CUBLASLT", EFFC_OLD_CUDA, 1);
  EXPECT_EQ(engineMessage(EFFC_UNSUPPORTED, makeHeadAProduct),
            "cuda: '" EFFC_OLD_CUDA "' has no function 'cublasLtCreate'" +
                remedy);
  // Before anything is taken of the GPU, so that another device can be.
  Model model = loadToy(makeHeadAProduct);
  EXPECT_EQ(messageOf([&] { Device::cuda().requireAccepts(model); },
                      EFFC_UNSUPPORTED),
            "cuda: '" EFFC_OLD_CUDA "' has no function 'cublasLtCreate'" +
                remedy);
}

TEST_F(CudaProducts, CountTheirWorkspace) {
  fake->free = size_t(20) << 20;
  EXPECT_EQ(engineMessage(EFFC_OUT_OF_MEMORY), "nothing is wrong");
  std::string message = engineMessage(EFFC_OUT_OF_MEMORY, makeHeadAProduct);
  EXPECT_NE(message.find(" of inputs, 33554432 for cuBLASLt, and more for "
                         "recorded calls), but the GPU has 20971520 free of "
                         "2147483648"),
            std::string::npos)
      << message;
}

TEST_F(CudaProducts, NameTheLaunchThatFails) {
  fake->failures["cublasLtCreate"] = 1;
  EXPECT_EQ(engineMessage(EFFC_DEVICE_ERROR, makeHeadAProduct),
            "cuda: starting cuBLASLt: CUBLAS_STATUS (1)");
  EXPECT_EQ(fake->live, 0);
  fake->failures.clear();

  Model model = loadToy(makeHeadAProduct);
  Engine engine(model, Device::cuda());
  Session session(engine);
  auto failure = [&] {
    std::string message = messageOf(
        [&] { engine.decode({session.get()}, {1}); }, EFFC_DEVICE_ERROR);
    session.reset();
    return message;
  };
  const std::string launch = "cuda: kernel 'toy_product' (launch 2 of entry "
                             "'decode_1', 'head'): cuBLASLt: ";
  fake->failures["cublasLtMatmul"] = 13;
  EXPECT_EQ(failure(), launch + "CUBLAS_STATUS_EXECUTION_FAILED (13)");
  fake->failures.clear();
  EXPECT_EQ(engine.decode({session.get()}, {1}), ToyReference().step(1));
  session.reset();
  // Of other rows it is asked anew.
  fake->failures["cublasLtMatmulAlgoGetHeuristic"] = 14;
  std::vector<float> logits(2 * kToyVocabulary);
  std::vector<int32_t> tokens = toyTokens(2);
  EXPECT_EQ(messageOf(
                [&] {
                  engine.prefill(
                      {{session.get(), tokens.data(), 2, EFFC_LOGITS_ALL,
                        logits.data(), sizeof(effc_prompt_t)}});
                },
                EFFC_DEVICE_ERROR),
            "cuda: kernel 'toy_product' (launch 2 of entry 'prefill_4', "
            "'head'): cuBLASLt: CUBLAS_STATUS (14)" +
                kOwnKernel);
}

TEST_F(CudaProducts, SayWhereTheLibraryKnowsNoWay) {
  Model model = loadToy(makeHeadAProduct);
  Engine engine(model, Device::cuda());
  Session session(engine);
  fake->knowsProducts = false;
  std::string expected =
      "cuda: kernel 'toy_product' (launch 2 of entry 'decode_1', 'head'): "
      "cuBLASLt knows no way to multiply 1 x 3 by 3 x 271" +
      kOwnKernel;
  EXPECT_EQ(messageOf([&] { engine.decode({session.get()}, {1}); },
                      EFFC_DEVICE_ERROR),
            expected);
  // The same, said by a status.
  session.reset();
  fake->failures["cublasLtMatmulAlgoGetHeuristic"] = 15;
  EXPECT_EQ(messageOf([&] { engine.decode({session.get()}, {1}); },
                      EFFC_DEVICE_ERROR),
            expected);
  // Or only when it multiplies.
  session.reset();
  fake->knowsProducts = true;
  fake->failures = {{"cublasLtMatmul", 15}};
  EXPECT_EQ(messageOf([&] { engine.decode({session.get()}, {1}); },
                      EFFC_DEVICE_ERROR),
            "cuda: kernel 'toy_product' (launch 2 of entry 'decode_1', "
            "'head'): cuBLASLt: CUBLAS_STATUS (15)" +
                kOwnKernel);
}

// Half a gigabyte: what a device has opened to see whether it is there, it has.
TEST_F(CudaProducts, OpenTheLibraryOnce) {
  std::string link =
      testing::TempDir() + "effc-cublaslt-" + std::to_string(getpid()) + ".so";
  ASSERT_EQ(symlink(EFFC_FAKE_CUDA, link.c_str()), 0);
  setenv("EFFC_CUBLASLT", link.c_str(), 1);
  Model model = loadToy(makeHeadAProduct);
  Device device = Device::cuda();
  device.requireAccepts(model);
  unlink(link.c_str());
  {
    Engine engine(model, device);
    Session session(engine);
    EXPECT_EQ(engine.decode({session.get()}, {7}), ToyReference().step(7));
  }
  // Another is another.
  setenv("EFFC_CUBLASLT", "/nonexistent/libcublasLt.so", 1);
  EXPECT_EQ(messageOf([&] { device.requireAccepts(model); }, EFFC_UNSUPPORTED)
                .find("cuda: cuBLASLt cannot be opened (/nonexistent/"),
            0u);
}
