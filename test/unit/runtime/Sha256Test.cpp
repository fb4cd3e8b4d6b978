// The example values of FIPS 180-4 and its test vectors
// (csrc.nist.gov, cryptographic standards: example values, SHA256).
#include "runtime/src/Sha256.h"

#include "runtime/include/effc/effc.hpp"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <fstream>
#include <gtest/gtest.h>
#include <random>

using namespace effc;
using namespace effc::test;

namespace {
struct Case {
  std::string text;
  const char *digits;
};
const Case kCases[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {std::string(1000000, 'a'),
     "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
};

std::span<const uint8_t> bytesOf(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}
} // namespace

TEST(Sha256, IsTheStandards) {
  for (const Case &one : kCases) {
    EXPECT_EQ(rt::describeSha256(rt::sha256(bytesOf(one.text))), one.digits);
    EXPECT_EQ(rt::describeSha256(rt::sha256Portable(bytesOf(one.text))),
              one.digits);
  }
}

// Sizes around a block of 64 bytes, and where the size needs a block of its own.
TEST(Sha256, IsTheSameByEveryInstruction) {
  std::mt19937 random(7);
  for (size_t size = 0; size < 300; ++size) {
    std::string text(size, 0);
    for (char &c : text)
      c = static_cast<char>(random());
    EXPECT_EQ(rt::sha256(bytesOf(text)), rt::sha256Portable(bytesOf(text)))
        << size;
  }
}

TEST(Sha256, IsReadInEitherCase) {
  std::string digits = kCases[1].digits, upper = digits;
  for (char &c : upper)
    c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(rt::readSha256(digits), rt::sha256(bytesOf("abc")));
  EXPECT_EQ(rt::readSha256(upper), rt::sha256(bytesOf("abc")));
  EXPECT_FALSE(rt::readSha256(digits.substr(1)));
  EXPECT_FALSE(rt::readSha256(digits + "0"));
  EXPECT_FALSE(rt::readSha256("g" + digits.substr(1)));
  EXPECT_FALSE(rt::readSha256(""));
}

namespace {
/// What loading `path` says where it must have these digits.
std::string loading(const std::string &path, const char *digits, bool copy) {
  effc_model_load_options_t options = effc_model_load_options_default();
  options.sha256 = digits;
  options.copy = copy;
  effc_model_t *model = nullptr;
  effc_status_t *status = effc_model_load_with(path.c_str(), &options, &model);
  std::string said = std::to_string(effc_status_code(status)) + ": " +
                     effc_status_message(status);
  effc_status_free(status);
  effc_model_free(model);
  return said;
}
} // namespace

TEST(Sha256, IsDemandedOfAModel) {
  TemporaryFile file(makeToyArtifact());
  std::ifstream stream(file.path(), std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  std::string right = rt::describeSha256(rt::sha256Portable(bytesOf(bytes)));
  EXPECT_EQ(Model(file.path()).sha256(), right);
  std::string wrong = right;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  for (bool copy : {false, true}) {
    EXPECT_EQ(loading(file.path(), right.c_str(), copy), "0: ");
    EXPECT_EQ(loading(file.path(), wrong.c_str(), copy),
              "3: '" + file.path() + "': its SHA-256 is " + right + ", but " +
                  wrong + " is expected");
    EXPECT_EQ(loading(file.path(), "12", copy),
              "1: 'sha256' expects 64 hexadecimal digits, but got '12'");
  }
}

// Before anything of it is used: what is no artifact at all is refused for its
// digest.
TEST(Sha256, ComesBeforeAnythingElse) {
  std::string text = "not an artifact";
  TemporaryFile file(std::vector<uint8_t>(text.begin(), text.end()));
  std::string right = rt::describeSha256(rt::sha256Portable(bytesOf(text)));
  std::string wrong(64, '0');
  EXPECT_EQ(loading(file.path(), wrong.c_str(), false),
            "3: '" + file.path() + "': its SHA-256 is " + right + ", but " +
                wrong + " is expected");
  EXPECT_EQ(loading(file.path(), right.c_str(), false),
            "3: '" + file.path() +
                "': not an effc artifact: it does not start with \"EFFC\"");
}
