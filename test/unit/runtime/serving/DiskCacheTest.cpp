// Kept states in files: found again by later processes, and refused where they are
// damaged or another's; a disk that does not take them is done without.

#include "runtime/src/serving/DiskCache.h"
#include "runtime/src/devices/host/HostDevice.h"
#include "test/unit/runtime/serving/CachedToy.h"
#include "test/unit/runtime/toy/ToyOnDevice.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>

using namespace effc;
using namespace effc::test;
using Tokens = std::vector<int32_t>;
namespace fs = std::filesystem;

namespace {
/// A folder that goes with the test.
class Folder {
public:
  Folder() {
    std::string name = fs::temp_directory_path() / "effc-cache-XXXXXX";
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  effc_scheduler_options_t options(uint64_t diskBytes = uint64_t(1)
                                                        << 30) const {
    effc_scheduler_options_t options = withCache(uint64_t(1) << 28);
    options.cache_dir = path.c_str();
    options.cache_disk_bytes = diskBytes;
    return options;
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto &entry : fs::directory_iterator(path))
      found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
  }
  std::string path;
};
} // namespace

/// Stops the scheduler, which writes what waits.
static void serveAndStop(const Folder &folder, ToyStates states,
                         const Asked &asked,
                         void (*change)(effc_request_t &) = nullptr) {
  CachedToy toy(states, 2, folder.options());
  toy.serve(asked, change);
}

// A file was restored and not used, so that 76 seconds went where 0.1 would have done
// (llama.cpp#25913): a new process goes on where the last one ended, by another turn.
TEST(DiskCache, LlamaCpp25913NextTurnInANewProcess) {
  for (ToyStates states : kToyStates) {
    Folder folder;
    Asked turn = askedOf(textOf(80, 1), 10);
    serveAndStop(folder, states, turn);
    Asked next = turn;
    next.prompt = joined(joined(turn.prompt, alone(turn)), textOf(20, 2));
    CachedToy toy(states, 2, folder.options());
    EXPECT_EQ(toy.scheduler.stats().cache_files_refused, 0u);
    EXPECT_GE(toy.scheduler.lookUp(next.request()).cached_tokens, 80u);
    effc_event_t event = toy.serve(next);
    EXPECT_GE(event.cached_tokens, 80u);
    EXPECT_EQ(event.cache_miss, EFFC_CACHE_HIT);
    effc_scheduler_stats_t stats = toy.scheduler.stats();
    EXPECT_EQ(stats.cache_files_loaded, 1u);
    // From now on it is in memory.
    toy.serve(next);
    EXPECT_EQ(toy.scheduler.stats().cache_files_loaded, 1u);
    // A part of it is enough where any position will do.
    Tokens part(turn.prompt.begin(), turn.prompt.begin() + 60);
    event = toy.serve(askedOf(part));
    EXPECT_EQ(event.cached_tokens, states == ToyStates::KeysAlone ? 59u : 0u);
  }
}

// Of a text where any position will do, one file is enough.
TEST(DiskCache, LongerTextsReplaceTheirBeginnings) {
  Folder folder;
  Asked turn = askedOf(textOf(80, 1), 10);
  serveAndStop(folder, ToyStates::KeysAlone, turn);
  EXPECT_EQ(folder.files().size(), 1u);
  serveAndStop(folder, ToyStates::KeysAlone, turn);
  EXPECT_EQ(folder.files().size(), 1u);
}

// Memory may give up states that wait for the disk, and get them back: they come a
// second time before the first are a file.
TEST(DiskCache, WhatComesTwiceIsOneFile) {
  for (ToyStates states : kToyStates) {
    Folder folder;
    TemporaryFile toy(makeToyArtifact(toyOf(states)));
    auto engine = std::move(*rt::Engine::create(*rt::Model::load(toy.path()),
                                                *rt::HostDevice::create(1), 1));
    effc_session session;
    session.engine = engine;
    session.slot = *engine->takeSlot();
    Tokens tokens = textOf(60, 1);
    effc_prompt_t prompt = {&session,         tokens.data(), tokens.size(),
                            EFFC_LOGITS_NONE, nullptr,       sizeof prompt};
    ASSERT_FALSE(engine->prefill(&prompt, 1));
    uint64_t most = uint64_t(1) << 30;
    auto disk =
        std::move(*rt::DiskCache::open(*engine, {folder.path, most, most}));
    rt::CopiedStates copied = std::move(*engine->copyOut(session));
    for (int i = 0; i < 3; ++i)
      disk->write({{}, true, tokens}, copied);
    // Fewer are written where one was a file before the next came.
    for (int i = 0; i < 500 && disk->numbers().written < 3; ++i)
      usleep(1000);
    auto loaded = disk->load({}, tokens, 0, 60, false);
    EXPECT_TRUE(loaded && loaded->origin.tokens == tokens);
    EXPECT_EQ(disk->numbers().files, 1u);
    ASSERT_EQ(folder.files().size(), 1u);
    EXPECT_EQ(disk->numbers().bytes, fs::file_size(folder.files().at(0)));
    disk.reset();
    EXPECT_EQ(folder.files().size(), 1u);
    engine->giveSlot(session.slot);
  }
}

// A session takes such a file as any other state.
TEST(DiskCache, FilesAreStates) {
  Folder folder;
  Asked turn = askedOf(textOf(80, 1), 1);
  serveAndStop(folder, ToyStates::Fixed, turn);
  ASSERT_EQ(folder.files().size(), 2u); // behind 79 tokens, and at the end
  CachedToy toy(ToyStates::Fixed, 1);
  Engine engine(toy.model, Device::host(1));
  for (const fs::path &file : folder.files()) {
    Session session(engine);
    session.load(file);
    ASSERT_GE(session.position(), 79u);
    Tokens all = joined(turn.prompt, alone(turn));
    all.resize(session.position());
    all.push_back(3);
    std::vector<float> expected = ToyReference().feed(all);
    EXPECT_EQ(
        engine.prefill(session, {3}),
        std::vector<float>(expected.end() - kToyVocabulary, expected.end()));
  }
}

TEST(DiskCache, SaltsAreNotShared) {
  Folder folder;
  Asked asked = askedOf(textOf(60, 1));
  auto salted = [](effc_request_t &request) { request.salt = "tenant"; };
  serveAndStop(folder, ToyStates::Fixed, asked, salted);
  for (const fs::path &file : folder.files()) {
    std::ifstream stream(file, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(stream)), {});
    EXPECT_EQ(bytes.find("tenant"), std::string::npos);
  }
  CachedToy toy(ToyStates::Fixed, 1, folder.options());
  EXPECT_EQ(toy.serve(asked).cached_tokens, 0u);
  EXPECT_EQ(toy.serve(asked, salted).cached_tokens, 59u);
}

// Whichever byte is another one: a file is refused, or nothing shows.
TEST(DiskCache, RefusesDamage) {
  Folder folder;
  Asked asked = askedOf(textOf(60, 1));
  serveAndStop(folder, ToyStates::Fixed, asked);
  std::map<fs::path, std::string> whole;
  for (const fs::path &file : folder.files()) {
    std::ifstream stream(file, std::ios::binary);
    whole[file] = std::string((std::istreambuf_iterator<char>(stream)), {});
  }
  auto write = [&](size_t flipped, size_t cut) {
    for (auto [file, bytes] : whole) {
      if (flipped < bytes.size())
        bytes[flipped] ^= 0x10;
      std::ofstream(file, std::ios::binary) << bytes.substr(0, cut);
    }
  };
  size_t size = whole.begin()->second.size();
  for (size_t at = 0; at < size; at += 61) {
    write(at, std::string::npos);
    CachedToy toy(ToyStates::Fixed, 1, folder.options());
    ASSERT_EQ(toy.serve(asked).cached_tokens, 0u) << at;
    ASSERT_GE(toy.scheduler.stats().cache_files_refused, 1u) << at;
  }
  for (size_t cut : {size_t(0), size_t(63), size - 300, size - 1}) {
    write(std::string::npos, cut);
    CachedToy toy(ToyStates::Fixed, 1, folder.options());
    ASSERT_EQ(toy.serve(asked).cached_tokens, 0u) << cut;
    ASSERT_GE(toy.scheduler.stats().cache_files_refused, 1u) << cut;
  }
}

// Files of another model stay where they are; what a killed writer left goes.
TEST(DiskCache, LeavesOthersFilesAlone) {
  Folder folder;
  Asked asked = askedOf(textOf(60, 1));
  serveAndStop(folder, ToyStates::Hybrid, asked);
  size_t before = folder.files().size();
  std::string name(32, 'a');
  std::ofstream(folder.path + "/notes.txt") << "mine";
  std::ofstream(folder.path + "/" + name + ".effs.0123.partial") << "x";
  ToyOptions other = toyOf(ToyStates::Hybrid);
  other.changeProgram = [](artifact::ProgramT &program) {
    program.layout_id = 7;
    program.weights[0]->name = "other";
  };
  CachedToy toy(other, 1, folder.options());
  EXPECT_EQ(toy.scheduler.stats().cache_files_refused, before);
  EXPECT_EQ(toy.serve(asked).cached_tokens, 0u);
  EXPECT_TRUE(fs::exists(folder.path + "/notes.txt"));
  EXPECT_FALSE(fs::exists(folder.path + "/" + name + ".effs.0123.partial"));
  EXPECT_GE(folder.files().size(), before + 1);
}

TEST(DiskCache, StaysWithinItsBytes) {
  Folder folder;
  {
    CachedToy toy(ToyStates::Fixed, 2, folder.options(5000));
    for (uint32_t i = 0; i < 30; ++i)
      toy.serve(askedOf(textOf(60, i)));
  }
  uint64_t bytes = 0;
  for (const fs::path &file : folder.files())
    bytes += fs::file_size(file);
  EXPECT_LE(bytes, 5000u);
  EXPECT_GT(bytes, 500u);
  // And of those that are there, a smaller number of bytes keeps some.
  CachedToy toy(ToyStates::Fixed, 2, folder.options(2500));
  effc_scheduler_stats_t stats = toy.scheduler.stats();
  EXPECT_LE(stats.cache_disk_bytes_now, 2500u);
  EXPECT_GT(stats.cache_files_now, 0u);
}

// No file may have more than 200 bytes here: the folder is given up, and requests get
// what they get.
TEST(DiskCache, GoesOnWhenTheDiskIsFull) {
  Folder folder;
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  effc_scheduler_stats_t stats;
  {
    CachedToy toy(ToyStates::Fixed, 1, folder.options());
    rlimit small = {200, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    for (uint32_t i = 0; i < 20; ++i)
      toy.serve(askedOf(textOf(60, i % 5)));
    for (int i = 0; i < 1000; ++i) {
      stats = toy.scheduler.stats();
      if (stats.cache_disk_failures > 0)
        break;
      usleep(1000);
    }
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(stats.cache_disk_failures, 1u);
  EXPECT_EQ(stats.cached_prompts, 15u); // from memory
  EXPECT_TRUE(folder.files().empty());
}

TEST(DiskCache, GoesOnWhenTheFolderIsGone) {
  Folder folder;
  CachedToy toy(ToyStates::Fixed, 1, folder.options());
  fs::remove_all(folder.path);
  effc_scheduler_stats_t stats = {};
  for (uint32_t i = 0; i < 1000 && stats.cache_disk_failures == 0; ++i) {
    toy.serve(askedOf(textOf(60, i)));
    stats = toy.scheduler.stats();
  }
  EXPECT_EQ(stats.cache_disk_failures, 1u);
}

TEST(DiskCache, SaysWhatCannotBe) {
  Folder folder;
  effc_scheduler_options_t options = folder.options(0);
  auto refusal = [&](effc_status_code_t code) {
    return messageOf([&] { CachedToy(ToyStates::Fixed, 1, options); }, code);
  };
  EXPECT_EQ(refusal(EFFC_INVALID_ARGUMENT),
            "'cache_dir' is '" + folder.path +
                "', but 'cache_disk_bytes' is 0: states go to the disk by way "
                "of memory");
  options = folder.options();
  std::string nowhere = folder.path + "/none/none";
  options.cache_dir = nowhere.c_str();
  EXPECT_EQ(refusal(EFFC_IO_ERROR), "cannot make the folder '" + nowhere +
                                        "': No such file or directory");
}
