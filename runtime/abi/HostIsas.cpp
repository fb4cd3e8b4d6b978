// The levels of x86-64, after the System V psABI (x86-64-ABI, Micro-Architecture
// Levels), whose names LLVM's processors have, such with more than a level, and two of
// Arm.
#include "runtime/abi/HostIsas.h"

using namespace effc::rt;

// XCR0: the registers xmm and ymm; besides them masks and zmm, all 32 of them.
static constexpr uint32_t kYmm = 0x06, kZmm = 0xe6;

// What level 2 adds is implied by any of these in practice, but costs nothing
// to ask.
static constexpr CpuidBit kLevel3[] = {
    {"sse4.2", 1, 'c', 20},     {"popcnt", 1, 'c', 23},
    {"movbe", 1, 'c', 22},      {"avx", 1, 'c', 28, kYmm},
    {"f16c", 1, 'c', 29, kYmm}, {"fma", 1, 'c', 12, kYmm},
    {"avx2", 7, 'b', 5, kYmm},  {"bmi1", 7, 'b', 3},
    {"bmi2", 7, 'b', 8},        {"lzcnt", 0x80000001u, 'c', 5}};

static constexpr CpuidBit kLevel4[] = {{"avx512f", 7, 'b', 16, kZmm},
                                       {"avx512bw", 7, 'b', 30, kZmm},
                                       {"avx512cd", 7, 'b', 28, kZmm},
                                       {"avx512dq", 7, 'b', 17, kZmm},
                                       {"avx512vl", 7, 'b', 31, kZmm}};

static constexpr HostIsa kV3 = {.name = "x86-64-v3",
                                .cpu = "x86-64-v3",
                                .features = "",
                                .lanes = 8,
                                .registers = 16,
                                .rank = 3,
                                .isUsual = true,
                                .below = nullptr,
                                .needs = kLevel3};
static constexpr HostIsa kV4 = {.name = "x86-64-v4",
                                .cpu = "x86-64-v4",
                                .features = "",
                                .lanes = 16,
                                .registers = 32,
                                .rank = 5,
                                .isUsual = false,
                                .below = &kV3,
                                .needs = kLevel4};

// Level 3 with what multiplies bytes: Alder Lake and later ones without AVX-512.
static constexpr CpuidBit kAvxVnni[] = {{.name = "avx_vnni",
                                         .leaf = 7,
                                         .reg = 'a',
                                         .bit = 4,
                                         .savedState = kYmm,
                                         .subleaf = 1}};
static constexpr HostIsa kV3Vnni = {.name = "x86-64-v3-vnni",
                                    .cpu = "x86-64-v3",
                                    .features = "+avxvnni",
                                    .lanes = 8,
                                    .registers = 16,
                                    .rank = 4,
                                    .isUsual = false,
                                    .below = &kV3,
                                    .needs = kAvxVnni,
                                    .byteProducts = ByteProducts::Quads};

// Level 4 with the same: Ice Lake servers, Zen 4 and later ones of both.
static constexpr CpuidBit kVnni[] = {{"avx512vnni", 7, 'c', 11, kZmm}};
static constexpr HostIsa kV4Vnni = {.name = "x86-64-v4-vnni",
                                    .cpu = "x86-64-v4",
                                    .features = "+avx512vnni",
                                    .lanes = 16,
                                    .registers = 32,
                                    .rank = 6,
                                    .isUsual = true,
                                    .below = &kV4,
                                    .needs = kVnni,
                                    .byteProducts = ByteProducts::Quads};

// With what multiplies pairs of bf16 besides: Sapphire Rapids, Zen 4 and later ones.
static constexpr CpuidBit kBf16[] = {{.name = "avx512_bf16",
                                      .leaf = 7,
                                      .reg = 'a',
                                      .bit = 5,
                                      .savedState = kZmm,
                                      .subleaf = 1}};
static constexpr HostIsa kV4Bf16 = {.name = "x86-64-v4-bf16",
                                    .cpu = "x86-64-v4",
                                    .features = "+avx512vnni,+avx512bf16",
                                    .lanes = 16,
                                    .registers = 32,
                                    .rank = 7,
                                    .isUsual = false,
                                    .below = &kV4Vnni,
                                    .needs = kBf16,
                                    .byteProducts = ByteProducts::Quads,
                                    .multipliesBf16 = true};

// No level has AMX: its code could not be tested, since no machine at hand has it and
// QEMU 7.2 does not emulate it.

// Arm from version 8.2 on. Vectors are pairs of the 32 registers of 4 lanes, so that
// bits are those of x86-64-v3, and a product's register block has its 24 sums all the
// same. Of the architecture's versions nothing is asked but the instructions themselves.
static constexpr HwcapBit kDotProducts[] = {{"asimd", false, 1},
                                            {"asimddp", false, 20}};
static constexpr HostIsa kArmDot = {.name = "aarch64-dotprod",
                                    .cpu = "generic",
                                    .features = "+dotprod",
                                    .lanes = 8,
                                    .registers = 16,
                                    .rank = 1,
                                    .isUsual = false,
                                    .below = nullptr,
                                    .needs = {},
                                    .byteProducts = ByteProducts::SignedQuads,
                                    .triple = kArmTriple,
                                    .needsOnArm = kDotProducts};

// Products of matrices of bytes: Neoverse V1 and later ones, Apple's M2 and later.
static constexpr HwcapBit kMatrixProducts[] = {{"i8mm", true, 13}};
static constexpr HostIsa kArmMatrix = {.name = "aarch64-i8mm",
                                       .cpu = "generic",
                                       .features = "+dotprod,+i8mm",
                                       .lanes = 8,
                                       .registers = 16,
                                       .rank = 2,
                                       .isUsual = false,
                                       .below = &kArmDot,
                                       .needs = {},
                                       .byteProducts =
                                           ByteProducts::SignedMatrices,
                                       .triple = kArmTriple,
                                       .needsOnArm = kMatrixProducts};

static constexpr HostIsa kIsas[] = {kV3,     kV3Vnni, kV4,       kV4Vnni,
                                    kV4Bf16, kArmDot, kArmMatrix};

std::span<const HostIsa> effc::rt::hostIsas() { return kIsas; }
