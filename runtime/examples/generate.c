/* Continues a prompt: generate FILE.effc PROMPT COUNT [ids]
 *
 * The terse version; generate_explained.c is the same program with comments.
 * Prints text, or token ids when a fourth argument is given. */

#include <effc/effc.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(effc_status_t *status) {
  if (!status)
    return;
  fprintf(stderr, "generate: error: %s\n", effc_status_message(status));
  exit(1);
}

int main(int argc, char **argv) {
  if (argc < 4)
    return fprintf(stderr, "usage: generate FILE.effc PROMPT COUNT [ids]\n"), 2;
  char *end;
  errno = 0;
  long wanted = strtol(argv[3], &end, 10);
  if (end == argv[3] || *end || wanted < 0 || errno)
    return fprintf(
               stderr,
               "generate: error: expects a number for COUNT, but got '%s'\n",
               argv[3]),
           2;
  int ids = argc > 4;

  effc_model_t *model;
  effc_device_t *device;
  effc_engine_t *engine;
  effc_session_t *session;
  effc_sampler_t *sampler;
  effc_detokenizer_t *detokenizer;
  check(effc_model_load(argv[1], &model));
  check(effc_device_create_host(NULL, &device));
  check(effc_engine_create(model, device, NULL, &engine));
  check(effc_session_create(engine, &session));
  effc_sampler_options_t options = effc_sampler_options_for_model(model);
  uint32_t vocabulary = effc_model_vocabulary_size(model);
  check(effc_sampler_create(&options, vocabulary, &sampler));
  check(effc_detokenizer_create(model, EFFC_DETOKENIZE_SKIP_SPECIAL,
                                &detokenizer));
  effc_generation_t generation = {.size = sizeof generation};
  effc_model_generation(model, &generation);

  size_t count;
  check(
      effc_model_tokenize(model, argv[2], strlen(argv[2]), 0, NULL, 0, &count));
  int32_t *tokens = malloc((count + 1) * sizeof *tokens);
  float *logits = malloc(vocabulary * sizeof *logits);
  if (!tokens || !logits)
    return fprintf(stderr, "generate: error: out of memory\n"), 1;
  check(effc_model_tokenize(model, argv[2], strlen(argv[2]), 0, tokens, count,
                            &count));

  effc_prompt_t prompt = {session,          tokens, count,
                          EFFC_LOGITS_LAST, logits, sizeof prompt};
  check(effc_engine_prefill(engine, &prompt, 1));
  check(effc_sampler_accept(sampler, tokens, count));
  for (long i = 0; i < wanted; ++i) {
    int32_t token;
    check(effc_sampler_sample(sampler, logits, &token));
    for (size_t k = 0; k < generation.eos_count; ++k)
      if (token == generation.eos[k])
        goto done;
    const char *text;
    size_t size;
    check(effc_detokenizer_push(detokenizer, token, &text, &size));
    if (ids)
      printf("%s%d", i ? "," : "", token);
    else
      fwrite(text, 1, size, stdout);
    fflush(stdout);
    check(effc_engine_decode(engine, &session, &token, 1, logits));
  }
done:
  printf("\n");
  free(logits);
  free(tokens);
  effc_detokenizer_free(detokenizer);
  effc_sampler_free(sampler);
  effc_session_free(session);
  effc_engine_free(engine);
  effc_device_free(device);
  effc_model_free(model);
  return 0;
}
