/* A driver that can say how old it is, and nothing else. */
#include <stdlib.h>

int cuDriverGetVersion(int *version) {
  const char *given = getenv("OLD_CUDA_VERSION");
  *version = given ? atoi(given) : 11080;
  return 0;
}
