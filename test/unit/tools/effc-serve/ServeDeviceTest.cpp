// A server on a GPU that fails, played by a driver of the tests: who asks for its
// health hears of it, as long as it lasts.

#include "test/unit/runtime/cuda/CudaToy.h"
#include "test/unit/tools/effc-serve/ServedToy.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace effc::test;
using Json = nlohmann::json;

namespace {
/// Nothing works on the device while it is lost.
class ServeDevice : public testing::Test {
protected:
  void SetUp() override {
    setenv("EFFC_CUDA_DRIVER", EFFC_FAKE_CUDA, 1);
    setenv("FAKE_CUDA_LOST", mark.c_str(), 1);
    unsetenv("EFFC_DEVICE");
  }
  void TearDown() override {
    unsetenv("EFFC_CUDA_DRIVER");
    unsetenv("FAKE_CUDA_LOST");
    std::filesystem::remove(mark);
  }
  void lose() { std::ofstream(mark) << "lost"; }
  void bringBack() { std::filesystem::remove(mark); }

  std::string mark =
      testing::TempDir() + "effc-lost-" + std::to_string(getpid());
};
} // namespace

TEST_F(ServeDevice, HealthSaysThatItIsLost) {
  ServedToy toy({"--device", "cuda"}, cudaToy());
  const Json body = {{"prompt", {1, 2, 3}}, {"max_tokens", 4}};
  const char *paths[] = {"/health", "/v1/health", "/v2/health/ready",
                         "/v2/health/live"};
  EXPECT_EQ(toy.post("/v1/completions", body).status, 200);
  for (const char *path : paths)
    EXPECT_EQ(toy.get(path).status, 200) << path;
  EXPECT_EQ(toy.metric("effc_device_failures_total"), 0);

  lose();
  HttpAnswer failed = toy.post("/v1/completions", body);
  EXPECT_EQ(failed.status, 500);
  EXPECT_EQ(failed.json()["error"]["code"], "device_lost");
  for (const char *path : paths) {
    HttpAnswer answer = toy.get(path);
    EXPECT_EQ(answer.status, 503) << path;
    std::string message = answer.json()["error"]["message"];
    EXPECT_EQ(message.find("the device of 'toy' was lost: cuda: "), 0u)
        << message;
  }
  EXPECT_EQ(toy.metric("effc_device_lost"), 1);
  // Once, and as often as a request is run again.
  EXPECT_EQ(toy.metric("effc_device_failures_total"), 3);

  bringBack();
  EXPECT_EQ(toy.post("/v1/completions", body).status, 200);
  for (const char *path : paths)
    EXPECT_EQ(toy.get(path).status, 200) << path;
  EXPECT_EQ(toy.metric("effc_device_lost"), 0);
  EXPECT_EQ(toy.metric("effc_device_failures_total"), 3);
}

TEST_F(ServeDevice, EmbeddersAreHeldToTheSame) {
  ServedToy toy({"--device", "cuda"},
                cudaToy([](effc::artifact::ProgramT &program) {
                  program.hidden_width = kToyVocabulary;
                }));
  const Json body = {{"input", "abc"}};
  EXPECT_EQ(toy.post("/v1/embeddings", body).status, 200);
  lose();
  EXPECT_EQ(toy.post("/v1/embeddings", body).status, 500);
  EXPECT_EQ(toy.get("/health").status, 503);
  EXPECT_EQ(toy.metric("effc_device_lost"), 1);
  bringBack();
  EXPECT_EQ(toy.post("/v1/embeddings", body).status, 200);
  EXPECT_EQ(toy.get("/health").status, 200);
}
