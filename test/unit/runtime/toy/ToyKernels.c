/* The kernels of the toy model: code as the compiler would emit it, but from C,
 * so that the runtime can be tested without a compiler.
 *
 * A token adds its row of `table` to a state that halves with every step; the
 * logits are the state times `head`. A second state counts the tokens; when it
 * disagrees with the position that the runtime passes, logits become NaN. So a
 * wrong token, slot, position, flag or order shows in the result. */

#include <stdint.h>

enum {
  kChannels = 3,
  kColumns = 4,
  kVocabulary = 271,
  kSlotBytes = 192,
  kKeyElements = 2048, /* of a row of keys */
  kRing = 64,
  kContext = 1024,
  kKeysSlotBytes = 192 + (kContext + kRing) * kKeyElements * 4,
  kAttentionSlotBytes = kContext * kKeyElements * 4,
  kBlocks = 3
};

typedef struct {
  int32_t slot, firstRow, length, flags;
  int64_t startPosition;
} Segment;

/* Items: rows, 4 to an item. x[r] = (table[token], position). */
void toy_embed(const void *const *operands, const int64_t *counts,
               int64_t begin, int64_t end) {
  const int32_t *tokens = operands[0];
  const int64_t *positions = operands[1];
  const float *table = operands[2]; /* rows of 64 bytes */
  float *x = (float *)operands[3];
  for (int64_t item = begin; item < end; ++item)
    for (int64_t row = 4 * item; row < 4 * item + 4 && row < counts[0]; ++row) {
      for (int c = 0; c < kChannels; ++c)
        x[row * kColumns + c] = table[tokens[row] * 16 + c];
      x[row * kColumns + 3] = (float)positions[row];
    }
}

/* Advances one sequence by one row, whose states are `sum` and `tally`; `right`
 * is whether all was well. */
static void step(float *row, float *sum, int64_t *tally, int right) {
  for (int c = 0; c < kChannels; ++c)
    row[c] = sum[c] = 0.5f * sum[c] + row[c];
  row[3] = right ? 0.0f : __builtin_nanf("");
  ++*tally;
}

/* Items: segments. x becomes (state after the row, 0 or NaN). */
void toy_scan(const void *const *operands, const int64_t *counts, int64_t begin,
              int64_t end) {
  const Segment *segments = operands[0];
  char *sums = (char *)operands[1];
  char *tallies = (char *)operands[2];
  float *x = (float *)operands[3];
  for (int64_t item = begin; item < end; ++item) {
    const Segment *segment = &segments[item];
    float *sum = (float *)(sums + (int64_t)segment->slot * kSlotBytes);
    int64_t *tally = (int64_t *)(tallies + (int64_t)segment->slot * kSlotBytes);
    if (segment->flags & 1) {
      for (int c = 0; c < kChannels; ++c)
        sum[c] = 0;
      *tally = 0;
    }
    int right = *tally == segment->startPosition;
    for (int32_t i = 0; i < segment->length; ++i) {
      float *row = x + (int64_t)(segment->firstRow + i) * kColumns;
      right &= row[3] == (float)*tally;
      step(row, sum, tally, right);
    }
  }
}

/* The same for a toy that keeps a row of `keys` for each token and, in `ring`, one
 * for each of the last ones, filled with the token + 1; `total` is the sum of
 * these. Rows that do not add up to it, or differ between ring and keys, make
 * logits NaN. */
void toy_scan_keys(const void *const *operands, const int64_t *counts,
                   int64_t begin, int64_t end) {
  const Segment *segments = operands[0];
  const int32_t *tokens = operands[1];
  char *const states = (char *)operands[2]; /* of slot 0, from `sum` on */
  float *x = (float *)operands[6];
  for (int64_t item = begin; item < end; ++item) {
    const Segment *segment = &segments[item];
    int64_t shift = (int64_t)segment->slot * kKeysSlotBytes;
    float *sum = (float *)(states + shift);
    int64_t *tally = (int64_t *)((char *)operands[3] + shift);
    float *keys = (float *)((char *)operands[4] + shift);
    float *ring = (float *)((char *)operands[5] + shift);
    float *total = sum + kChannels;
    if (segment->flags & 1) {
      for (int c = 0; c <= kChannels; ++c)
        sum[c] = 0;
      *tally = 0;
    }
    int right = *tally == segment->startPosition;
    for (int32_t i = 0; i < segment->length; ++i) {
      int64_t row = segment->firstRow + i, at = *tally;
      right &= x[row * kColumns + 3] == (float)at;
      float found = 0;
      for (int64_t t = 0; t < at; ++t)
        found += keys[t * kKeyElements];
      right &= found == *total;
      for (int64_t t = at < kRing ? 0 : at - kRing; t < at; ++t)
        right &= ring[t % kRing * kKeyElements + 1] == keys[t * kKeyElements];
      for (int k = 0; k < kKeyElements; ++k)
        keys[at * kKeyElements + k] = ring[at % kRing * kKeyElements + k] =
            (float)(tokens[row] + 1);
      *total += (float)(tokens[row] + 1);
      step(x + row * kColumns, sum, tally, right);
    }
  }
}

/* The same numbers by keys alone, of which each token keeps a row: what it adds and
 * its position. The state is made anew for each row, from the first token on; a row
 * of another position makes logits NaN. */
void toy_attend(const void *const *operands, const int64_t *counts,
                int64_t begin, int64_t end) {
  const Segment *segments = operands[0];
  char *const states = (char *)operands[1];
  float *x = (float *)operands[2];
  for (int64_t item = begin; item < end; ++item) {
    const Segment *segment = &segments[item];
    float *keys =
        (float *)(states + (int64_t)segment->slot * kAttentionSlotBytes);
    for (int32_t i = 0; i < segment->length; ++i) {
      float *row = x + (int64_t)(segment->firstRow + i) * kColumns;
      int64_t at = segment->startPosition + i;
      int right = row[3] == (float)at;
      for (int k = 0; k < kKeyElements; ++k)
        keys[at * kKeyElements + k] = k < kChannels ? row[k] : (float)at;
      float sum[kChannels] = {0};
      for (int64_t t = 0; t <= at; ++t) {
        const float *key = keys + t * kKeyElements;
        for (int c = 0; c < kChannels; ++c)
          sum[c] = 0.5f * sum[c] + key[c];
        right &= key[kKeyElements - 1] == (float)t;
      }
      for (int c = 0; c < kChannels; ++c)
        row[c] = sum[c];
      row[3] = right ? 0.0f : __builtin_nanf("");
    }
  }
}

static float widen(uint16_t bits) {
  union {
    uint32_t bits;
    float value;
  } wide = {(uint32_t)bits << 16};
  return wide.value;
}

/* Items: pairs of output rows times thirds of the vocabulary. */
void toy_head(const void *const *operands, const int64_t *counts, int64_t begin,
              int64_t end) {
  const int32_t *outputRows = operands[0];
  const float *x = operands[1];
  const uint16_t *head = operands[2]; /* bf16 rows of 64 bytes */
  float *logits = (float *)operands[3];
  for (int64_t item = begin; item < end; ++item) {
    int64_t tile = item / kBlocks, block = item % kBlocks;
    int first = (int)(kVocabulary * block / kBlocks);
    int last = (int)(kVocabulary * (block + 1) / kBlocks);
    for (int64_t o = 2 * tile; o < 2 * tile + 2 && o < counts[2]; ++o) {
      const float *row = x + (int64_t)outputRows[o] * kColumns;
      for (int v = first; v < last; ++v) {
        float sum = row[3];
        for (int c = 0; c < kChannels; ++c)
          sum += widen(head[v * 32 + c]) * row[c];
        logits[o * kVocabulary + v] = sum;
      }
    }
  }
}

typedef struct {
  float scale, amount;
  uint32_t key, counter;
} DrawRecord;

/* Items: output rows. The largest sum of a scaled logit and a noise that is not
 * a sampler's, but of the same numbers: drawnByToy in ToyArtifact.h. */
void toy_draw(const void *const *operands, const int64_t *counts, int64_t begin,
              int64_t end) {
  const int32_t *outputRows = operands[0];
  const float *x = operands[1];
  const uint16_t *head = operands[2];
  float *choices = (float *)operands[3];
  const DrawRecord *draws = operands[4];
  for (int64_t o = begin; o < end && o < counts[2]; ++o) {
    const float *row = x + (int64_t)outputRows[o] * kColumns;
    const DrawRecord *draw = &draws[o];
    float best = -__builtin_inff(), token = 0;
    for (int v = 0; v < kVocabulary; ++v) {
      float sum = row[3];
      for (int c = 0; c < kChannels; ++c)
        sum += widen(head[v * 32 + c]) * row[c];
      uint32_t noise = (draw->key ^ draw->counter ^ (uint32_t)v) * 40503u;
      sum = sum * draw->scale + draw->amount * (float)(noise & 1023) * 0.125f;
      if (sum > best) {
        best = sum;
        token = (float)v;
      }
    }
    choices[2 * o] = row[3] == row[3] ? best : row[3];
    choices[2 * o + 1] = token;
  }
}
