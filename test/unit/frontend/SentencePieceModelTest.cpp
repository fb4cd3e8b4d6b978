// What is read of a file of SentencePiece, and what is none.
#include "frontend/tokenizer/SentencePieceModel.h"

#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/SentencePieceImage.h"

#include <gtest/gtest.h>

using namespace effc::frontend;
using effc::test::outcome;

static llvm::Expected<SentencePieceModel> parse(const std::string &bytes) {
  return parseSentencePiece(bytes, "m");
}

TEST(SentencePieceModel, HasTheFormatsDefaults) {
  SentencePieceModel model =
      llvm::cantFail(parse(makeMessage(1, makeMessage(1, "a"))));
  ASSERT_EQ(model.pieces.size(), 1u);
  EXPECT_EQ(model.pieces[0].text, "a");
  EXPECT_EQ(model.pieces[0].score, 0);
  EXPECT_EQ(model.pieces[0].type, PieceType::Normal);
  EXPECT_EQ(model.kind, SentencePieceKind::Unigram);
  EXPECT_FALSE(model.byteFallback);
  EXPECT_EQ(model.unknownId, 0);
  EXPECT_EQ(model.bosId, 1);
  EXPECT_EQ(model.eosId, 2);
  EXPECT_EQ(model.unknownPiece, "<unk>");
  EXPECT_TRUE(model.addDummyPrefix);
  EXPECT_TRUE(model.removeExtraSpaces);
  EXPECT_TRUE(model.escapeSpaces);
}

TEST(SentencePieceModel, ReadsWhatIsThere) {
  std::string trainer = makeNumber(3, 2) + makeNumber(35, 1) +
                        makeNumber(41, ~uint64_t(0)) + // -1
                        makeMessage(47, "</x>");
  std::string normalizer = makeMessage(1, "own") +
                           makeMessage(2, std::string("\0\xFF", 2)) +
                           makeNumber(3, 0) + makeNumber(4, 0);
  std::string unknown = makeNumber(90, 7) + makeMessage(91, "x") +
                        makeFloat(92, 1) + makeVarint(93 << 3 | 1) +
                        std::string(8, 'y');
  // 0xBFC00000 is -1.5.
  std::string piece = makeMessage(1, unknown + makeMessage(1, "a") +
                                         makeFloat(2, 0xBFC00000) + unknown);
  SentencePieceModel model = llvm::cantFail(
      parse(unknown + piece + makeMessage(2, trainer + unknown) +
            makePiece("b", PieceType::Control) + makeMessage(3, normalizer) +
            makeMessage(2, makeNumber(40, 1))));
  ASSERT_EQ(model.pieces.size(), 2u);
  EXPECT_EQ(model.pieces[0].score, -1.5f);
  EXPECT_EQ(model.pieces[1].type, PieceType::Control);
  EXPECT_EQ(model.kind, SentencePieceKind::Bpe);
  EXPECT_TRUE(model.byteFallback);
  EXPECT_EQ(model.unknownId, 1);
  EXPECT_EQ(model.bosId, -1);
  EXPECT_EQ(model.eosPiece, "</x>");
  EXPECT_EQ(model.normalizerName, "own");
  EXPECT_EQ(model.charsmap, std::string("\0\xFF", 2));
  EXPECT_FALSE(model.addDummyPrefix);
  EXPECT_FALSE(model.removeExtraSpaces);
}

TEST(SentencePieceModel, RefusesWhatEndsEarly) {
  EXPECT_EQ(outcome(parse("")), "m: expects at least one piece, but the 0 "
                                "bytes have none: this is no SentencePiece "
                                "model");
  EXPECT_EQ(outcome(parse("\x0a\x05\x0a")),
            "m: at byte 2: a value of 5 bytes begins here, but only 1 are "
            "left");
  // Lengths of 2^64 - 1, and one inside that is longer than what is around it.
  EXPECT_EQ(outcome(parse("\x0a" + makeVarint(~uint64_t(0)) + "xy")),
            "m: at byte 11: a value of 18446744073709551615 bytes begins here, "
            "but only 2 are left");
  EXPECT_EQ(outcome(parse("\x0a\x03\x0a\x02xyz")),
            "m: at byte 4: a value of 2 bytes begins here, but only 1 are "
            "left");
  EXPECT_EQ(outcome(parse("\x80")),
            "m: at byte 0: a number does not end before the 1 bytes do");
  EXPECT_EQ(outcome(parse("\x0a\x04\x0a\x01"
                          "a\x15")),
            "m: at byte 6: a value of 4 bytes begins here, but only 0 are "
            "left");
}

TEST(SentencePieceModel, RefusesWhatIsNoField) {
  EXPECT_EQ(outcome(parse(std::string(11, '\xFF'))),
            "m: at byte 0: a number has more than 64 bits");
  EXPECT_EQ(outcome(parse(std::string("\0x", 2))),
            "m: at byte 0: expects a field's number in 1..536870911, but got "
            "0");
  EXPECT_EQ(outcome(parse("\x0b")),
            "m: at byte 0: expects a value of kind 0, 1, 2 or 5, but got 3");
  EXPECT_EQ(outcome(parse(makeNumber(1, 4))),
            "m: at byte 0: expects field 1 to be of kind 2, but got 0");
}

TEST(SentencePieceModel, RefusesPiecesThatSentencePieceWouldNotLoad) {
  EXPECT_EQ(outcome(parse(makePiece(""))),
            "m: at byte 0: expects piece 0 to have 1..1024 bytes, but got 0");
  EXPECT_EQ(outcome(parse(makePiece(std::string(1025, 'a')))),
            "m: at byte 0: expects piece 0 to have 1..1024 bytes, but got "
            "1025");
  EXPECT_EQ(outcome(parse(makePiece("a") + makePiece("b") + makePiece("a"))),
            "m: at byte 24: pieces 0 and 2 are both 'a'");
  EXPECT_EQ(outcome(parse(makePiece("a\xFF"))),
            "m: at byte 5: the text of field 1 is not UTF-8");
  EXPECT_EQ(outcome(parse(makePiece("a", PieceType(7)))),
            "m: at byte 10: expects field 3 to be in 1..6, but got 7");
  // 0x7FC00000 is NaN.
  EXPECT_EQ(outcome(parse(makeMessage(1, makeFloat(2, 0x7FC00000)))),
            "m: at byte 2: expects a finite score");
}
