// What machine code the processors of the host's levels get, read from its
// disassembly: registers, and that no level has instructions of a higher one.
// Nothing is run, so every machine tests every level.
#include "codegen/image/Image.h"

#include "runtime/abi/HostIsas.h"

#include "llvm-c/Disassembler.h"
#include "llvm-c/Target.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELFObjectFile.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <string>

using namespace llvm;
using namespace effc;

/// y[i] = fma(x[i], x[i], y[i]) over one vector of `lanes`.
static std::unique_ptr<Module> square(LLVMContext &context, unsigned lanes) {
  auto module = std::make_unique<Module>("test", context);
  IRBuilder<> b(context);
  Type *vector = FixedVectorType::get(b.getFloatTy(), lanes);
  auto *function = Function::Create(
      FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy()}, false),
      Function::ExternalLinkage, "square", *module);
  b.SetInsertPoint(BasicBlock::Create(context, "", function));
  Value *x = b.CreateAlignedLoad(vector, function->getArg(0), Align(4));
  Value *y = b.CreateAlignedLoad(vector, function->getArg(1), Align(4));
  Value *sum = b.CreateIntrinsic(Intrinsic::fma, {vector}, {x, x, y});
  b.CreateAlignedStore(sum, function->getArg(1), Align(4));
  b.CreateRetVoid();
  return module;
}

/// The instructions of an object's code, a line each.
static std::string disassemble(MemoryBufferRef object, StringRef triple) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86Disassembler();
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64Disassembler();
  LLVMDisasmContextRef disassembler = LLVMCreateDisasmCPUFeatures(
      triple.data(), "",
      triple == rt::kX86Triple ? "+avx512f,+avx512vl,+fma,+avx2" : "", nullptr,
      0, nullptr, nullptr);
  auto file = cantFail(object::ELFObjectFile<object::ELF64LE>::create(object));
  std::string text;
  for (const object::ELFSectionRef section : file.sections()) {
    if (!section.isText())
      continue;
    std::string code = cantFail(section.getContents()).str();
    auto *bytes = reinterpret_cast<uint8_t *>(code.data());
    for (size_t at = 0; at < code.size();) {
      char line[128];
      size_t size = LLVMDisasmInstruction(
          disassembler, bytes + at, code.size() - at, at, line, sizeof line);
      if (size == 0) {
        ADD_FAILURE() << "no instruction at byte " << at;
        break;
      }
      text += std::string(line) + "\n";
      at += size;
    }
  }
  LLVMDisasmDispose(disassembler);
  return text;
}

/// The code of that function for a level.
static std::string codeFor(const rt::HostIsa &isa, unsigned lanes) {
  LLVMContext context;
  std::unique_ptr<Module> module = square(context, lanes);
  auto object = image::emitObject(
      *module, {isa.triple, isa.cpu, isa.features, isa.lanes * 32});
  if (!object) {
    ADD_FAILURE() << toString(object.takeError());
    return "";
  }
  return disassemble((*object)->getMemBufferRef(), isa.triple);
}

TEST(EmitObject, AVectorOfALevelIsOneRegister) {
  struct Expected {
    const char *isa, *itsRegister, *other;
  };
  for (Expected each : {Expected{"x86-64-v3", "%ymm", "%zmm"},
                        Expected{"x86-64-v4", "%zmm", "%ymm"}}) {
    const rt::HostIsa *isa = rt::findHostIsa(each.isa);
    ASSERT_TRUE(isa) << each.isa;
    std::string code = codeFor(*isa, static_cast<unsigned>(isa->lanes));
    EXPECT_EQ(StringRef(code).count("vfmadd"), 1u) << code;
    EXPECT_NE(code.find(each.itsRegister), std::string::npos) << code;
    EXPECT_EQ(code.find(each.other), std::string::npos) << code;
  }
}

TEST(EmitObject, WiderVectorsAreSplit) {
  const rt::HostIsa &isa = rt::baselineIsa();
  std::string code = codeFor(isa, static_cast<unsigned>(2 * isa.lanes));
  EXPECT_EQ(StringRef(code).count("vfmadd"), 2u) << code;
  EXPECT_EQ(code.find("%zmm"), std::string::npos) << code;
}

// A vector of Arm's levels is two registers.
TEST(EmitObject, CodeForArmIsArms) {
  for (const rt::HostIsa &isa : rt::hostIsas()) {
    if (StringRef(isa.triple) != rt::kArmTriple)
      continue;
    std::string code = codeFor(isa, static_cast<unsigned>(isa.lanes));
    EXPECT_EQ(StringRef(code).count("fmla"), 2u) << code;
    EXPECT_EQ(StringRef(code).count(".4s"), 2u * 3) << code;
  }
}

TEST(EmitObject, AnUnknownArchitectureHasAName) {
  LLVMContext context;
  auto object = image::emitObject(*square(context, 4),
                                  {"moon-unknown-linux-gnu", "", "", 128});
  ASSERT_FALSE(object);
  EXPECT_TRUE(StringRef(toString(object.takeError()))
                  .starts_with("LLVM has no back end for "
                               "moon-unknown-linux-gnu: "));
}

// What a kernel finds by the page that it lies in lies there in the image as well, and
// kernels begin where the runtime asks for it.
TEST(LinkImage, ConstantsOfArmLieInTheirPages) {
  const rt::HostIsa &isa = *rt::findHostIsa("aarch64-dotprod");
  LLVMContext context;
  Module module("test", context);
  IRBuilder<> b(context);
  Type *vector = FixedVectorType::get(b.getFloatTy(), 4);
  for (StringRef name : {"first", "second"}) {
    auto *function = Function::Create(
        FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false),
        Function::ExternalLinkage, name, module);
    b.SetInsertPoint(BasicBlock::Create(context, "", function));
    // No instruction makes these four numbers.
    Constant *numbers = ConstantVector::get(
        {ConstantFP::get(b.getFloatTy(), 0.1),
         ConstantFP::get(b.getFloatTy(), 0.2),
         ConstantFP::get(b.getFloatTy(), 0.3),
         ConstantFP::get(b.getFloatTy(), name == "first" ? 0.4 : 0.5)});
    b.CreateAlignedStore(
        b.CreateFAdd(b.CreateAlignedLoad(vector, function->getArg(0), Align(4)),
                     numbers),
        function->getArg(0), Align(4));
    b.CreateRetVoid();
  }
  auto object = image::emitObject(
      module, {isa.triple, isa.cpu, isa.features, isa.lanes * 32});
  ASSERT_TRUE(bool(object)) << toString(object.takeError());
  auto linked = image::linkImage((*object)->getMemBufferRef());
  ASSERT_TRUE(bool(linked)) << toString(linked.takeError());
  for (auto [name, last] : {std::pair("first", 0.4f), {"second", 0.5f}}) {
    const image::Image::Function &function = linked->functions[name];
    EXPECT_EQ(function.offset % 16, 0u);
    EXPECT_EQ(function.stackBytes, 0u); // no frame, no red zone
    // adrp x, 0: this page; ldr q, [x, #16 n]: its place there (Arm ARM, C6.2).
    auto word = [&](uint64_t at) {
      uint32_t bits;
      std::memcpy(&bits, linked->bytes.data() + at, 4);
      return bits;
    };
    ASSERT_EQ(word(function.offset) & 0xffffffe0, 0x90000000u);
    uint64_t place = 0;
    for (uint64_t at = function.offset; place == 0 && at < function.offset + 32;
         at += 4)
      if ((word(at) & 0xffc00000) == 0x3dc00000 && (word(at) >> 10 & 0xfff))
        place = (word(at) >> 10 & 0xfff) * 16;
    ASSERT_LE(place + 16, linked->bytes.size());
    EXPECT_EQ(llvm::bit_cast<float>(word(place)), 0.1f);
    EXPECT_EQ(llvm::bit_cast<float>(word(place + 12)), last);
  }
}
