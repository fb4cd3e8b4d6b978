// A forked child and its parent's GPU.

#include "test/unit/runtime/ForkedChild.h"
#include "test/unit/runtime/cuda/CudaToy.h"

using namespace effc;
using namespace effc::test;

// The driver belongs to the process that opened it.
TEST_F(CudaDevice, IsLeftAloneByAForkedChild) {
  effc_model_t *model = nullptr;
  effc_device_t *device = nullptr;
  effc_engine_t *engine = nullptr;
  effc_session_t *session = nullptr;
  TemporaryFile file(makeToyArtifact(cudaToy()));
  check(effc_model_load(file.path().c_str(), &model));
  check(effc_device_create_cuda(nullptr, &device));
  check(effc_engine_create(model, device, nullptr, &engine));
  check(effc_session_create(engine, &session));
  auto freeAll = [&] {
    effc_session_free(session);
    effc_engine_free(engine);
    effc_device_free(device);
    effc_model_free(model);
  };
  int before = fake->live;
  EXPECT_GT(before, 0);
  EXPECT_EQ(statusOfChild([&] {
              freeAll();
              return fake->live == before && fake->pushed == 0 ? 7 : 8;
            }),
            7);
  freeAll();
}
