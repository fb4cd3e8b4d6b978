/* Continues a prompt: generate_explained FILE.effc PROMPT COUNT [ids]
 *
 * The same program as generate.c, step by step. It prints text, or token ids
 * when a fourth argument is given. Build it against an installed effc:
 *
 *   cc -std=c99 generate_explained.c -leffc -o generate
 */

#include <effc/effc.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every function that can fail returns a status: NULL when all went well. A
 * program that goes on after a failure would free it with effc_status_free();
 * this one leaves. */
static void check(effc_status_t *status) {
  if (!status)
    return;
  fprintf(stderr, "generate_explained: error: %s\n",
          effc_status_message(status));
  exit(1);
}

/* Whether `token` is one that ends a sequence, according to the checkpoint. */
static int ends(const effc_generation_t *generation, int32_t token) {
  for (size_t k = 0; k < generation->eos_count; ++k)
    if (token == generation->eos[k])
      return 1;
  return 0;
}

/* The number that `text` is; leaves where it is none. */
static long read_count(const char *text) {
  char *end = NULL;
  errno = 0;
  long count = strtol(text, &end, 10);
  if (end == text || *end || count < 0 || errno) {
    fprintf(stderr,
            "generate_explained: error: expects a number for COUNT, but got "
            "'%s'\n",
            text);
    exit(2);
  }
  return count;
}

/* Memory for `count` elements; leaves where there is none. */
static void *allocate(size_t count, size_t size) {
  void *memory = malloc(count * size);
  if (!memory) {
    fprintf(stderr, "generate_explained: error: out of memory\n");
    exit(1);
  }
  return memory;
}

/* A sampler that draws as the checkpoint's generation_config.json asks. Change
 * fields of `options` for anything else; with one seed the tokens are the same
 * on every machine. */
static effc_sampler_t *make_sampler(const effc_model_t *model) {
  effc_sampler_options_t options = effc_sampler_options_for_model(model);
  effc_sampler_t *sampler = NULL;
  check(effc_sampler_create(&options, effc_model_vocabulary_size(model),
                            &sampler));
  return sampler;
}

/* The tokens of `text`, asked for twice: once to count them, once to get them.
 * The caller frees them. */
static int32_t *tokenize(const effc_model_t *model, const char *text,
                         size_t *count) {
  size_t size = strlen(text);
  check(effc_model_tokenize(model, text, size, 0, NULL, 0, count));
  int32_t *tokens = allocate(*count + 1, sizeof *tokens);
  check(effc_model_tokenize(model, text, size, 0, tokens, *count, count));
  return tokens;
}

/* Shows the token that came as number `index`: its id, or as much text as is
 * complete with it. */
static void show(effc_detokenizer_t *detokenizer, int32_t token, long index,
                 int print_ids) {
  const char *piece = NULL; /* owned by the detokenizer, until its next call */
  size_t size = 0;
  check(effc_detokenizer_push(detokenizer, token, &piece, &size));
  if (print_ids)
    printf("%s%d", index > 0 ? "," : "", token);
  else
    fwrite(piece, 1, size, stdout);
  fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: generate_explained FILE.effc PROMPT COUNT [ids]\n");
    return 2;
  }
  const char *path = argv[1];
  const char *text = argv[2];
  long wanted = read_count(argv[3]);
  int print_ids = argc > 4;

  /* 1. Load the file. It is mapped, not read: this takes milliseconds whatever
   * the size of the weights. Structure and checksums of what is executed are
   * checked; a damaged file gives a status with one line of text. */
  effc_model_t *model = NULL;
  check(effc_model_load(path, &model));

  /* 2. Choose where to run. NULL stands for the default options: one thread per
   * usable core. Results do not depend on the number of threads. */
  effc_device_t *device = NULL;
  check(effc_device_create_host(NULL, &device));

  /* 3. Make the model ready on the device. The engine allocates all memory that
   * running will ever need: activations once, and recurrent state for as many
   * sequences as its options say (here 1, the default). */
  effc_engine_t *engine = NULL;
  check(effc_engine_create(model, device, NULL, &engine));

  /* 4. Open a sequence. A session is one sequence's state and position; it
   * costs the same however long the sequence gets. */
  effc_session_t *session = NULL;
  check(effc_session_create(engine, &session));

  /* 5. Decide how tokens are drawn. */
  effc_sampler_t *sampler = make_sampler(model);

  /* Structs that effc fills start with their size, which the caller sets: so a
   * program keeps working with a newer library whose struct has grown. */
  effc_generation_t generation = {.size = sizeof generation};
  effc_model_generation(model, &generation);

  /* 6. Turn the prompt into tokens, and have room for the logits of one row. */
  size_t count = 0;
  int32_t *tokens = tokenize(model, text, &count);
  float *logits = allocate(effc_model_vocabulary_size(model), sizeof *logits);

  /* 7. Feed the prompt. Any number of sequences of any lengths may go in one
   * call; here it is one, and only the logits after its last token are wanted.
   * The sampler hears of the prompt too, for the repeat penalty. */
  effc_prompt_t prompt = {session,          tokens, count,
                          EFFC_LOGITS_LAST, logits, sizeof prompt};
  check(effc_engine_prefill(engine, &prompt, 1));
  check(effc_sampler_accept(sampler, tokens, count));

  /* 8. A token may end in the middle of a character. The detokenizer keeps such
   * a beginning back and hands out whole characters. */
  effc_detokenizer_t *detokenizer = NULL;
  check(effc_detokenizer_create(model, EFFC_DETOKENIZE_SKIP_SPECIAL,
                                &detokenizer));

  /* 9. Generate: draw a token from the logits, print it, feed it, and so on
   * until the model ends the sequence or there are enough. */
  for (long i = 0; i < wanted; ++i) {
    int32_t token = 0;
    check(effc_sampler_sample(sampler, logits, &token));
    if (ends(&generation, token))
      break;
    show(detokenizer, token, i, print_ids);
    check(effc_engine_decode(engine, &session, &token, 1, logits));
  }
  printf("\n");

  /* 10. Free what was created, in any order. */
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
