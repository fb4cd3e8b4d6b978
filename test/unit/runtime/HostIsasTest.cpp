// The table of the host's levels: what every row must be, and what those that
// are there ask of a machine.
#include "runtime/abi/HostIsas.h"

#include "runtime/src/devices/host/Isa.h"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <bit>
#include <gtest/gtest.h>
#include <map>
#include <set>
#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

using namespace effc::rt;
using namespace effc::test;

TEST(HostIsas, LevelsAreInOrderAndDiffer) {
  std::set<std::string_view> names, triples;
  std::string_view triple;
  unsigned rank = 0;
  for (const HostIsa &isa : hostIsas()) {
    EXPECT_TRUE(names.insert(isa.name).second) << isa.name;
    if (triple != isa.triple) {
      triple = isa.triple;
      rank = 0;
      EXPECT_TRUE(triples.insert(triple).second) << "levels lie apart";
    }
    EXPECT_GT(isa.rank, rank) << isa.name;
    rank = isa.rank;
    EXPECT_EQ(findHostIsa(isa.name), &isa);
    // #tile.isa, ISA1.
    EXPECT_TRUE(std::has_single_bit(static_cast<uint64_t>(isa.lanes)));
    EXPECT_GE(isa.registers, 8);
  }
  EXPECT_FALSE(findHostIsa("x86-64-v9"));
  EXPECT_FALSE(findHostIsa(""));
}

// The instructions that the compiler writes are those that the level asks for.
TEST(HostIsas, ProductsAreOfItsFeatures) {
  for (const HostIsa &isa : hostIsas()) {
    auto has = [&](const char *feature) {
      return std::string_view(isa.features).find(feature) !=
             std::string_view::npos;
    };
    ByteProducts expected = has("+i8mm")      ? ByteProducts::SignedMatrices
                            : has("+dotprod") ? ByteProducts::SignedQuads
                            : has("vnni")     ? ByteProducts::Quads
                                              : ByteProducts::Pairs;
    EXPECT_EQ(isa.byteProducts, expected) << isa.name;
    EXPECT_EQ(isa.multipliesBf16, has("+avx512bf16")) << isa.name;
  }
}

TEST(HostIsas, ALevelAsksForWhatIsBelowToo) {
  for (const HostIsa &isa : hostIsas()) {
    if (!isa.below)
      continue;
    EXPECT_LT(isa.below->rank, isa.rank) << isa.name;
    EXPECT_STREQ(isa.below->triple, isa.triple) << isa.name;
    EXPECT_GT(featuresOf(isa).size(), featuresOf(*isa.below).size());
    if (runsHere(isa)) {
      EXPECT_TRUE(runsHere(*isa.below)) << isa.name;
    }
  }
}

// The features that the psABI's tables list for levels 3 and 4, with two of level
// 2. OSXSAVE is part of the question whether the system saves the registers.
TEST(HostIsas, AreThoseOfThePsabi) {
  auto names = [](const char *isa) {
    std::set<std::string> all;
    for (const Feature &feature : featuresOf(*findHostIsa(isa)))
      all.insert(feature.name);
    return all;
  };
  std::set<std::string> level3 = {"sse4.2", "popcnt", "movbe", "avx",  "f16c",
                                  "fma",    "avx2",   "bmi1",  "bmi2", "lzcnt"};
  EXPECT_EQ(names("x86-64-v3"), level3);
  level3.insert({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
  EXPECT_EQ(names("x86-64-v4"), level3);
}

// What further levels add (Intel's Software Developer's Manual, CPUID leaf 7).
TEST(HostIsas, FurtherLevelsMultiplyBytesAndBf16) {
  auto added = [](const char *isa) {
    return std::string(featuresOf(*findHostIsa(isa)).back().name);
  };
  EXPECT_EQ(added("x86-64-v3-vnni"), "avx_vnni");
  EXPECT_EQ(added("x86-64-v4-vnni"), "avx512vnni");
  EXPECT_EQ(added("x86-64-v4-bf16"), "avx512_bf16");
}

TEST(HostIsas, HereAreThoseOfOneArchitecture) {
  ASSERT_EQ(isasHere().front(), findHostIsa(kToyIsa));
  for (const HostIsa *isa : isasHere()) {
    EXPECT_STREQ(isa->triple, isasHere().front()->triple);
    EXPECT_EQ(findIsaHere(isa->name), isa);
  }
  EXPECT_TRUE(findHostIsa(kForeignIsa));
  EXPECT_FALSE(findIsaHere(kForeignIsa));
  EXPECT_FALSE(runsHere(*findHostIsa(kForeignIsa)));
}

// Linux, arch/arm64/include/uapi/asm/hwcap.h.
TEST(HostIsas, AskForTheBitsThatLinuxHas) {
  std::map<std::string, std::pair<bool, unsigned>> bits;
  for (const char *isa : {"aarch64-dotprod", "aarch64-i8mm"})
    for (const HwcapBit &bit : findHostIsa(isa)->needsOnArm)
      bits[bit.name] = {bit.isSecond, bit.bit};
  std::map<std::string, std::pair<bool, unsigned>> expected = {
      {"asimd", {false, 1}}, {"asimddp", {false, 20}}, {"i8mm", {true, 13}}};
  EXPECT_EQ(bits, expected);
}

#if defined(__aarch64__)
// What the system's headers call them, and /proc/cpuinfo has them.
TEST(HostIsas, AgreeWithTheSystem) {
  unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  bool hasDots = (first & HWCAP_ASIMD) && (first & HWCAP_ASIMDDP);
  EXPECT_EQ(runsHere(*findHostIsa("aarch64-dotprod")), hasDots);
  EXPECT_EQ(runsHere(*findHostIsa("aarch64-i8mm")),
            hasDots && (second & HWCAP2_I8MM));
}
#endif

#if defined(__x86_64__)
// The compiler's own look at the processor, which asks the system as well.
TEST(HostIsas, AgreeWithTheCompilersBuiltin) {
  EXPECT_EQ(runsHere(*findHostIsa("x86-64-v3")),
            __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                __builtin_cpu_supports("bmi2"));
  EXPECT_EQ(runsHere(*findHostIsa("x86-64-v4")),
            __builtin_cpu_supports("avx512f") &&
                __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512cd") &&
                __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512vl"));
  EXPECT_EQ(runsHere(*findHostIsa("x86-64-v4-vnni")),
            runsHere(*findHostIsa("x86-64-v4")) &&
                __builtin_cpu_supports("avx512vnni"));
  EXPECT_EQ(runsHere(*findHostIsa("x86-64-v4-bf16")),
            runsHere(*findHostIsa("x86-64-v4-vnni")) &&
                __builtin_cpu_supports("avx512bf16"));
}
#endif
