/* Eight greedy tokens behind 1, 2, 3. The simulated GPU is a part of the library only
 * where SIMULATOR is 1. */
#include <effc/effc.h>

#include <stdio.h>
#include <stdlib.h>

static void check(effc_status_t *status) {
  if (!status)
    return;
  fprintf(stderr, "%s\n", effc_status_message(status));
  exit(1);
}

int main(int argc, char **argv) {
  effc_model_t *model = NULL;
  effc_device_t *device = NULL;
  effc_engine_t *engine = NULL;
  effc_session_t *session = NULL;
  effc_sampler_t *sampler = NULL;
  if (argc != 2)
    return 2;
  check(effc_model_load(argv[1], &model));
  effc_sim_options_t simulated = effc_sim_options_default();
  simulated.architecture = 80;
  effc_status_t *status = effc_device_create_sim(&simulated, &device);
  if (effc_status_code(status) != (SIMULATOR ? EFFC_OK : EFFC_UNSUPPORTED))
    return 3;
  effc_status_free(status);
  effc_device_free(device);
  check(effc_device_create_host(NULL, &device));
  check(effc_engine_create(model, device, NULL, &engine));
  check(effc_session_create(engine, &session));
  uint32_t vocabulary = effc_model_vocabulary_size(model);
  check(effc_sampler_create(NULL, vocabulary, &sampler));
  float *logits = malloc(vocabulary * sizeof *logits);
  const int32_t tokens[] = {1, 2, 3};
  effc_prompt_t prompt = {session,          tokens, 3,
                          EFFC_LOGITS_LAST, logits, sizeof prompt};
  check(effc_engine_prefill(engine, &prompt, 1));
  for (int i = 0; i < 8; ++i) {
    int32_t token;
    check(effc_sampler_sample(sampler, logits, &token));
    printf("%s%d", i ? "," : "", (int)token);
    check(effc_engine_decode(engine, &session, &token, 1, logits));
  }
  printf("\n");
  free(logits);
  effc_sampler_free(sampler);
  effc_session_free(session);
  effc_engine_free(engine);
  effc_device_free(device);
  effc_model_free(model);
  return 0;
}
