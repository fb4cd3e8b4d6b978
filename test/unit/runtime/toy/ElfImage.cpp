#include "test/unit/runtime/toy/ElfImage.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>

using namespace effc::test;

ElfImage effc::test::readElfImage(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::vector<char> file((std::istreambuf_iterator<char>(stream)), {});
  if (file.size() < sizeof(Elf64_Ehdr) ||
      std::memcmp(file.data(), ELFMAG, SELFMAG)) {
    std::fprintf(stderr, "%s is not an ELF file\n", path.c_str());
    std::abort();
  }
  auto at = [&](uint64_t offset) { return file.data() + offset; };
  const auto &header = *reinterpret_cast<const Elf64_Ehdr *>(at(0));

  ElfImage image;
  const auto *segments =
      reinterpret_cast<const Elf64_Phdr *>(at(header.e_phoff));
  for (int i = 0; i < header.e_phnum; ++i) {
    const Elf64_Phdr &segment = segments[i];
    if (segment.p_type != PT_LOAD)
      continue;
    uint64_t end = segment.p_vaddr + segment.p_memsz;
    image.bytes.resize(std::max<uint64_t>(image.bytes.size(), end));
    std::memcpy(image.bytes.data() + segment.p_vaddr, at(segment.p_offset),
                segment.p_filesz);
  }
  const auto *sections =
      reinterpret_cast<const Elf64_Shdr *>(at(header.e_shoff));
  for (int i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr &section = sections[i];
    if (section.sh_type != SHT_DYNSYM)
      continue;
    const char *names = at(sections[section.sh_link].sh_offset);
    const auto *symbols =
        reinterpret_cast<const Elf64_Sym *>(at(section.sh_offset));
    for (uint64_t k = 0; k < section.sh_size / sizeof(Elf64_Sym); ++k)
      if (ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC)
        image.functions[names + symbols[k].st_name] = symbols[k].st_value;
  }
  return image;
}
