// Eight greedy tokens behind 1, 2, 3.
#include <effc/effc.hpp>

#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  try {
    effc::Model model(argv[1]);
    effc::Engine engine(model, effc::Device::host());
    effc::Session session(engine);
    effc::Sampler sampler(effc_sampler_options_default(),
                          model.vocabularySize());
    std::vector<float> logits = engine.prefill(session, {1, 2, 3});
    for (int i = 0; i < 8; ++i) {
      std::int32_t token = sampler.sample(logits);
      std::printf("%s%d", i ? "," : "", token);
      logits = engine.decode({session.get()}, {token});
    }
    std::printf("\n");
  } catch (const effc::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
