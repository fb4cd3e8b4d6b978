/* Continues several prompts together: serve FILE.effc COUNT PROMPT...
 *
 * Eight run at once, the others wait; each text is printed when it has ended, behind
 * the number of its prompt. */

#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <effc/effc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(effc_status_t *status) {
  if (!status)
    return;
  fprintf(stderr, "serve: error: %s\n", effc_status_message(status));
  exit(1);
}

int main(int argc, char **argv) {
  if (argc < 4 || atol(argv[2]) < 1)
    return fprintf(stderr, "usage: serve FILE.effc COUNT PROMPT...\n"), 2;
  effc_model_t *model;
  effc_device_t *device;
  effc_engine_t *engine;
  effc_scheduler_t *scheduler;
  check(effc_model_load(argv[1], &model));
  check(effc_device_create_host(NULL, &device));
  effc_engine_options_t options = effc_engine_options_default();
  options.max_sessions = 8;
  check(effc_engine_create(model, device, &options, &engine));
  check(effc_scheduler_create(engine, NULL, &scheduler));
  check(effc_scheduler_start(scheduler));

  int left = argc - 3;
  struct Text {
    char *bytes;
    size_t size;
    FILE *stream;
  } *texts = calloc((size_t)left, sizeof *texts);
  if (!texts)
    return fprintf(stderr, "serve: error: out of memory\n"), 1;
  for (int i = 0; i < left; ++i) {
    uint64_t number; /* 1, 2, ... */
    effc_request_t request = effc_request_default();
    request.text = argv[3 + i];
    request.text_size = strlen(argv[3 + i]);
    request.max_tokens = (uint64_t)atol(argv[2]);
    texts[i].stream = open_memstream(&texts[i].bytes, &texts[i].size);
    request.user = &texts[i];
    check(effc_scheduler_submit(scheduler, &request, &number));
  }
  while (left > 0) {
    effc_event_t event = {.size = sizeof event};
    check(effc_scheduler_poll(scheduler, 1000000000, &event));
    struct Text *text = event.user;
    if (event.kind == EFFC_EVENT_NONE)
      continue;
    fwrite(event.text, 1, event.text_size, text->stream);
    if (event.kind != EFFC_EVENT_END)
      continue;
    fclose(text->stream);
    printf("%d\t%s%s\n", (int)event.request, text->bytes, event.message);
    free(text->bytes);
    --left;
  }
  free(texts);
  effc_scheduler_free(scheduler);
  effc_engine_free(engine);
  effc_device_free(device);
  effc_model_free(model);
  return 0;
}
