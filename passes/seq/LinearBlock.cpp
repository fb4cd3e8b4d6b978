// A linear recurrence over a block of tokens at once. The equations are those
// of LinearForms.h.
//
// A decay per head is one number between two tokens, and scales their score.
// Decays per channel do not leave the sum over channels: they are formed inside
// sub-blocks of 16 tokens; between two sub-blocks the exponent is the reader's
// sum from its sub-block's start, the totals of the sub-blocks between, and the
// writer's sum to its sub-block's end, so that reader and writer are scaled by
// numbers of at most 1 before they meet.
#include "passes/seq/LinearForms.h"

#include "dialects/seq/Seq.h"

using namespace mlir;

namespace effc::seq {

// A key is shared by the heads of a group, or one for each.
static StringRef writerLetters(Value writer) {
  return typeOf(writer).getRank() == 3 ? "sgk" : "sgrk";
}

namespace {
/// The sums of log-decays of one sub-block.
struct SubBlock {
  int64_t first, count;
  Value decays; // of its tokens
  Value since;  // from the sub-block's start to a token that reads
  Value until;  // from a token to the sub-block's end
  Value total;  // of all tokens, without T
};
} // namespace

static Value sumTokens(OpBuilder &builder, Location loc, Value x, bool reverse,
                       bool exclusive) {
  return RunningSumOp::create(builder, loc, x.getType(), x, reverse, exclusive);
}

// The sum over all tokens, without T.
static Value sumAll(OpBuilder &builder, Location loc, Value x) {
  RankedTensorType type = typeOf(x);
  Value sums = sumTokens(builder, loc, x, false, false);
  Value last = SliceOp::create(builder, loc, sums, /*axis=*/0,
                               type.getDimSize(0) - 1, 1);
  return ReshapeOp::create(builder, loc, last, type.getShape().drop_front());
}

static SmallVector<SubBlock> cut(OpBuilder &builder, Location loc,
                                 Value logDecay, bool exclusive) {
  SmallVector<SubBlock> blocks;
  int64_t tokens = typeOf(logDecay).getDimSize(0);
  for (int64_t first = 0; first < tokens; first += LinearForms::kSubBlock) {
    int64_t count = std::min(LinearForms::kSubBlock, tokens - first);
    Value decays = logDecay;
    if (count != tokens)
      decays = SliceOp::create(builder, loc, logDecay, 0, first, count);
    blocks.push_back({first, count, decays,
                      sumTokens(builder, loc, decays, false, exclusive),
                      sumTokens(builder, loc, decays, true, true),
                      sumAll(builder, loc, decays)});
  }
  return blocks;
}

// The log-decay over the sub-blocks between `writer` and `reader`; null where
// they are neighbours.
static Value between(OpBuilder &builder, Location loc,
                     ArrayRef<SubBlock> blocks, size_t writer, size_t reader) {
  Value sum;
  for (const SubBlock &block : blocks.slice(writer + 1, reader - writer - 1))
    sum = sum ? AddOp::create(builder, loc, sum, block.total).getResult()
              : block.total;
  return sum;
}

//===- scores -------------------------------------------------------------===//

// [G, R, T, S]: how much each token's `reader` sees of each token's `writer`,
// decayed; 0 for tokens that it does not see.
Value LinearForms::scores(const LinearTokens &tokens, Value reader,
                          Value writer, bool strict, bool exclusive) {
  return tokens.keyLogDecay
             ? keyScores(tokens, reader, writer, strict, exclusive)
             : headScores(tokens, reader, writer, strict, exclusive);
}

Value LinearForms::headScores(const LinearTokens &tokens, Value reader,
                              Value writer, bool strict, bool exclusive) {
  StringRef letters = writerLetters(writer);
  StringRef raw = letters == "sgk" ? "gts" : "grts";
  Value undecayed = contract(reader, "tgk", writer, letters, raw);
  Value decays = exp(SegmentSumOp::create(builder, loc, tokens.headLogDecay,
                                          strict && !exclusive, exclusive));
  return contract(undecayed, raw, decays, "grts", "grts");
}

Value LinearForms::keyScores(const LinearTokens &tokens, Value reader,
                             Value writer, bool strict, bool exclusive) {
  SmallVector<SubBlock> blocks =
      cut(builder, loc, tokens.keyLogDecay, exclusive);
  ArrayRef<int64_t> shape = typeOf(tokens.keyLogDecay).getShape();
  StringRef letters = writerLetters(writer);
  SmallVector<Value> readers, writers;
  for (const SubBlock &block : blocks) {
    Value read = rows(reader, block.first, block.count);
    Value write = rows(writer, block.first, block.count);
    readers.push_back(contract(read, "tgk", exp(block.since), "tgrk", "tgrk"));
    writers.push_back(
        contract(write, letters, exp(block.until), "sgrk", "sgrk"));
  }
  SmallVector<Value> bands;
  for (auto [i, block] : llvm::enumerate(blocks)) {
    SmallVector<Value> band;
    for (size_t j = 0; j < i; ++j) {
      Value read = readers[i];
      if (Value gap = between(builder, loc, blocks, j, i))
        read = contract(read, "tgrk", exp(gap), "grk", "tgrk");
      band.push_back(contract(read, "tgrk", writers[j], "sgrk", "grts"));
    }
    Value decays = exp(SegmentSumOp::create(builder, loc, block.decays,
                                            strict && !exclusive, exclusive));
    Value seen = contract(rows(writer, block.first, block.count), letters,
                          decays, "grkts", "grkts");
    band.push_back(contract(rows(reader, block.first, block.count), "tgk", seen,
                            "grkts", "grts"));
    int64_t later = shape[0] - block.first - block.count;
    if (later > 0)
      band.push_back(ConstantOp::create(
          builder, loc, 0.0, {shape[1], shape[2], block.count, later}));
    bands.push_back(concat(band, /*axis=*/3));
  }
  return concat(bands, /*axis=*/2);
}

//===- the state before and after -----------------------------------------===//

// What each token's `reader` sees of the state before the block, without decays
// per value channel.
Value LinearForms::readStart(const LinearTokens &tokens, Value reader,
                             bool exclusive) {
  if (tokens.keyLogDecay) {
    Value since = sumTokens(builder, loc, tokens.keyLogDecay, false, exclusive);
    Value scaled = contract(reader, "tgk", exp(since), "tgrk", "tgrk");
    return contract(scaled, "tgrk", tokens.state, "grkv", "tgrv");
  }
  Value read = contract(reader, "tgk", tokens.state, "grkv", "tgrv");
  if (!tokens.headLogDecay)
    return read;
  Value since = sumTokens(builder, loc, tokens.headLogDecay, false, exclusive);
  return contract(exp(since), "tgr", read, "tgrv", "tgrv");
}

// What is left of each token's `writer` at the block's end, [T, G, R, K].
Value LinearForms::toEnd(const LinearTokens &tokens, Value writer) {
  Value logDecay =
      tokens.keyLogDecay ? tokens.keyLogDecay : tokens.headLogDecay;
  if (!logDecay)
    return writer;
  Value until = sumTokens(builder, loc, logDecay, true, true);
  return contract(writer, writerLetters(writer), exp(until),
                  tokens.keyLogDecay ? "sgrk" : "sgr", "sgrk");
}

// What is left of the state before.
Value LinearForms::decayState(const LinearTokens &tokens) {
  Value state = tokens.state;
  auto decay = [&](Value logDecay, StringRef letters) {
    if (logDecay)
      state = contract(exp(sumAll(builder, loc, logDecay)), letters, state,
                       "grkv", "grkv");
  };
  decay(tokens.headLogDecay, "gr");
  decay(tokens.keyLogDecay, "grk");
  decay(tokens.valueLogDecay, "grv");
  decay(tokens.elementLogDecay, "grkv");
  return state;
}

//===- blocks -------------------------------------------------------------===//

LinearResult LinearForms::quadratic(const LinearTokens &tokens) {
  if (tokens.turn)
    return complexQuadratic(tokens);
  if (tokens.elementLogDecay)
    return blockPerElement(tokens);
  if (tokens.valueLogDecay)
    return blockPerValue(tokens);
  return block(tokens);
}

// Decays per head or per key channel, with or without rank-one corrections.
LinearResult LinearForms::block(const LinearTokens &tokens) {
  Value seen =
      scores(tokens, tokens.query, tokens.key, /*strict=*/false, readsBefore());
  Value read = add(contract(seen, "grts", tokens.value, "sgrv", "tgrv"),
                   readStart(tokens, tokens.query, readsBefore()));
  Value kept = toEnd(tokens, tokens.key);
  Value state = add(decayState(tokens), contract(kept, writerLetters(kept),
                                                 tokens.value, "sgrv", "grkv"));
  if (tokens.probe) {
    bool before = probesBefore();
    Value ofValues = scores(tokens, tokens.probe, tokens.key, true, before);
    Value ofProbes = scores(tokens, tokens.probe, tokens.erase, true, before);
    // The right-hand side lies [G, R, T, V], as systems do.
    Value start = readStart(tokens, tokens.probe, before);
    ArrayRef<int64_t> shape = typeOf(start).getShape();
    Value one = ConstantOp::create(builder, loc, 1.0, {shape[0]});
    Value sides = add(contract(ofValues, "grts", tokens.value, "sgrv", "grtv"),
                      contract(one, "t", start, "tgrv", "grtv"));
    Value probed = SolveUnitLowerOp::create(builder, loc, sides.getType(),
                                            ofProbes, sides);
    Value seenOfErase = scores(tokens, tokens.query, tokens.erase,
                               /*strict=*/false, readsBefore());
    read = add(read, contract(seenOfErase, "grts", probed, "grsv", "tgrv"));
    Value erased = toEnd(tokens, tokens.erase);
    state = add(
        state, contract(erased, writerLetters(erased), probed, "grsv", "grkv"));
  }
  return {add(read, bonus(tokens)), state};
}

// Decays per value channel, and per key channel too or not.
LinearResult LinearForms::blockPerValue(const LinearTokens &tokens) {
  bool exclusive = readsBefore();
  SmallVector<SubBlock> values =
      cut(builder, loc, tokens.valueLogDecay, exclusive);
  // Scores without the decays of value channels, [G, R, T, S] or [G, T, S].
  Value seen;
  StringRef seenLetters = "gts";
  if (tokens.keyLogDecay) {
    seen = scores(tokens, tokens.query, tokens.key, false, exclusive);
    seenLetters = "grts";
  } else {
    seen = contract(tokens.query, "tgk", tokens.key, "sgk", "gts");
  }
  int64_t readerAxis = seenLetters.size() - 2;
  auto scoresOf = [&](const SubBlock &reader, const SubBlock &writer) {
    Value band = slice(seen, readerAxis, reader.first, reader.count);
    return slice(band, readerAxis + 1, writer.first, writer.count);
  };

  SmallVector<Value> reads;
  for (auto [i, block] : llvm::enumerate(values)) {
    Value earlier;
    for (size_t j = 0; j < i; ++j) {
      Value kept = MulOp::create(
          builder, loc, rows(tokens.value, values[j].first, values[j].count),
          exp(values[j].until));
      Value part = contract(scoresOf(block, values[j]), seenLetters, kept,
                            "sgrv", "tgrv");
      if (Value gap = between(builder, loc, values, j, i))
        part = contract(part, "tgrv", exp(gap), "grv", "tgrv");
      earlier = add(earlier, part);
    }
    if (earlier)
      earlier = MulOp::create(builder, loc, earlier, exp(block.since));
    Value decays = exp(SegmentSumOp::create(builder, loc, block.decays,
                                            /*strict=*/false, exclusive));
    Value own = contract(rows(tokens.value, block.first, block.count), "sgrv",
                         decays, "grvts", "grvts");
    reads.push_back(
        add(contract(scoresOf(block, block), seenLetters, own, "grvts", "tgrv"),
            earlier));
  }
  Value since = sumTokens(builder, loc, tokens.valueLogDecay, false, exclusive);
  Value start = MulOp::create(
      builder, loc, readStart(tokens, tokens.query, exclusive), exp(since));
  Value read = add(concat(reads, /*axis=*/0), start);

  Value until = sumTokens(builder, loc, tokens.valueLogDecay, true, true);
  Value kept = MulOp::create(builder, loc, tokens.value, exp(until));
  Value keys = toEnd(tokens, tokens.key);
  Value state = add(decayState(tokens),
                    contract(keys, writerLetters(keys), kept, "sgrv", "grkv"));
  return {add(read, bonus(tokens)), state};
}

// A decay for each element of the state.
LinearResult LinearForms::blockPerElement(const LinearTokens &tokens) {
  Value written = contract(tokens.key, "sgk", tokens.value, "sgrv", "sgrkv");
  Value decays = exp(SegmentSumOp::create(builder, loc, tokens.elementLogDecay,
                                          /*strict=*/false, readsBefore()));
  Value since =
      sumTokens(builder, loc, tokens.elementLogDecay, false, readsBefore());
  Value states =
      add(contract(decays, "grkvts", written, "sgrkv", "tgrkv"),
          contract(exp(since), "tgrkv", tokens.state, "grkv", "tgrkv"));
  Value read = contract(tokens.query, "tgk", states, "tgrkv", "tgrv");
  Value until = sumTokens(builder, loc, tokens.elementLogDecay, true, true);
  Value state = add(decayState(tokens),
                    contract(exp(until), "sgrkv", written, "sgrkv", "grkv"));
  return {add(read, bonus(tokens)), state};
}

} // namespace effc::seq
