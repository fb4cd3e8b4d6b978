// Which known name a misspelt one was meant to be.
#include "frontend/checkpoint/NearestName.h"

#include "gtest/gtest.h"

using namespace effc::frontend;

static std::string nearest(llvm::StringRef name, unsigned most,
                           std::initializer_list<llvm::StringRef> known) {
  NearestName meant(name, most);
  for (llvm::StringRef each : known)
    meant.consider(each);
  return meant.get().str();
}

TEST(NearestName, TakesTheFewestChanges) {
  EXPECT_EQ(
      nearest("hiden_sise", 2, {"head_dim", "hidden_sise", "hidden_size"}),
      "hidden_sise");
  EXPECT_EQ(nearest("norm", 1, {"farm"}), ""); // two letters differ
  EXPECT_EQ(nearest("norm", 2, {"farm"}), "farm");
  EXPECT_EQ(nearest("a", 0, {"b"}), "");
}

TEST(NearestName, TakesTheFirstOfTheAlphabetInAnyOrder) {
  EXPECT_EQ(nearest("cat", 1, {"rat", "bat", "hat"}), "bat");
  EXPECT_EQ(nearest("cat", 1, {"bat", "hat", "rat"}), "bat");
}

TEST(NearestName, AsksOnlyOfNamesThatAreNear) {
  NearestName meant("layer", 1);
  unsigned asked = 0;
  for (llvm::StringRef known : {"width", "layers", "player"})
    meant.consider(known, [&] {
      ++asked;
      return known != "layers";
    });
  EXPECT_EQ(asked, 2u);
  EXPECT_EQ(meant.get(), "player");
}

TEST(NearestName, LeavesLongNamesOut) {
  std::string name(257, 'a');
  EXPECT_EQ(nearest(name, 1, {name}), "");
}
