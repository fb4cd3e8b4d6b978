// A forked child has no threads but its own, and may free what it has inherited.

#include "runtime/include/effc/effc.hpp"
#include "test/unit/runtime/ForkedChild.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

using namespace effc;
using namespace effc::test;

namespace {
/// All kinds of objects, with handles of their own, after some work.
struct Inherited {
  explicit Inherited(uint32_t threads) {
    TemporaryFile file(makeToyArtifact());
    effc_host_options_t options = effc_host_options_default();
    options.threads = threads;
    effc_engine_options_t two = effc_engine_options_default();
    two.max_sessions = 2;
    check(effc_model_load(file.path().c_str(), &model));
    check(effc_device_create_host(&options, &device));
    check(effc_engine_create(model, device, &two, &engine));
    check(effc_session_create(engine, &session));
    check(effc_sampler_create(nullptr, kToyVocabulary, &sampler));
    check(effc_detokenizer_create(model, 0, &detokenizer));
    work();
  }
  void work() {
    float logits[kToyVocabulary];
    int32_t token = 3;
    check(effc_engine_decode(engine, &session, &token, 1, logits));
  }
  void free() {
    effc_session_free(session);
    effc_engine_free(engine);
    effc_device_free(device);
    effc_model_free(model);
    effc_sampler_free(sampler);
    effc_detokenizer_free(detokenizer);
  }
  void freeBackwards() {
    effc_detokenizer_free(detokenizer);
    effc_sampler_free(sampler);
    effc_model_free(model);
    effc_device_free(device);
    effc_engine_free(engine);
    effc_session_reset(session);
    effc_session_free(session);
  }

  effc_model_t *model = nullptr;
  effc_device_t *device = nullptr;
  effc_engine_t *engine = nullptr;
  effc_session_t *session = nullptr;
  effc_sampler_t *sampler = nullptr;
  effc_detokenizer_t *detokenizer = nullptr;
};
} // namespace

TEST(Fork, AChildMayFreeWhatItInherited) {
  for (uint32_t threads : {1, 4}) {
    Inherited all(threads);
    EXPECT_EQ(statusOfChild([&] {
                all.free();
                return 3;
              }),
              3);
    EXPECT_EQ(statusOfChild([&] {
                all.freeBackwards();
                return 4;
              }),
              4);
    all.work(); // nothing of the parent's has changed
    EXPECT_EQ(effc_session_position(all.session), 2u);
    all.free();
  }
}

// The child comes while a thread of the parent is inside of a call.
TEST(Fork, AChildMayFreeWhatIsAtWork) {
  Inherited all(3);
  std::atomic<bool> over = false;
  std::thread worker([&] {
    while (!over)
      all.work();
  });
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(statusOfChild([&] {
                all.freeBackwards();
                return 5;
              }),
              5);
  over = true;
  worker.join();
  all.free();
}

TEST(Fork, AChildMayHaveObjectsOfItsOwn) {
  Inherited all(4);
  EXPECT_EQ(statusOfChild([&] {
              all.free();
              Inherited own(4);
              own.work();
              own.free();
              return 6;
            }),
            6);
  all.free();
}
