// The toy with code for GPUs, and a driver that plays itself to run it on.
#ifndef EFFC_TEST_UNIT_RUNTIME_CUDA_CUDATOY_H
#define EFFC_TEST_UNIT_RUNTIME_CUDA_CUDATOY_H

#include "runtime/include/effc/effc.hpp"
#include "test/unit/runtime/cuda/FakeCuda.h"
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "test/unit/runtime/toy/ToyOnDevice.h"

#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <gtest/gtest.h>

namespace effc::test {

/// The code for sm_90a: the beginning of an ELF file as CUDA 13 writes it.
inline constexpr char kHopperModule[] = "\x7f"
                                        "ELF 90a\x08";

/// Opens the driver that plays itself, as new.
class CudaDevice : public testing::Test {
protected:
  void SetUp() override {
    setenv("EFFC_CUDA_DRIVER", EFFC_FAKE_CUDA, 1);
    unsetenv("EFFC_CUDA_CHECK_LAUNCHES");
    library = dlopen(EFFC_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    fake = reinterpret_cast<FakeCuda *(*)()>(dlsym(library, "fakeCuda"))();
    *fake = FakeCuda();
  }
  void TearDown() override {
    EXPECT_EQ(fake->live, 0);
    EXPECT_EQ(fake->pushed, 0);
    dlclose(library);
    unsetenv("EFFC_CUDA_DRIVER");
  }

  void *library = nullptr;
  FakeCuda *fake = nullptr;
};

using Change = std::function<void(artifact::ProgramT &)>;

/// The toy with modules for sm_80 and sm_90a and a text for compute_80;
/// `change` is the last to see its program.
ToyOptions cudaToy(Change change = {});

/// A file of it, loaded.
Model loadToy(Change change = {});

/// What is said where an engine is made for it.
std::string engineMessage(effc_status_code_t code, Change change = {});

} // namespace effc::test

#endif // EFFC_TEST_UNIT_RUNTIME_CUDA_CUDATOY_H
