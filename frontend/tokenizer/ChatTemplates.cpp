#include "frontend/tokenizer/ChatTemplates.h"

#include "frontend/checkpoint/MappedFile.h"
#include "frontend/checkpoint/Refusal.h"
#include "runtime/schema/TokenizerLimits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace effc;
using namespace effc::frontend;
using llvm::StringRef;

static constexpr llvm::StringLiteral kKey = "chat_template",
                                     kFile = "chat_template.jinja",
                                     kFolder = "additional_chat_templates",
                                     kEnding = ".jinja";

std::vector<ChatTemplate>
effc::frontend::readChatTemplates(ConfigReader &config) {
  const JsonValue *value = config.get(kKey);
  if (!value || value->isNull())
    return {};
  if (const std::string *source = value->getString())
    return {{kDefaultTemplate.str(), *source}};
  std::vector<ChatTemplate> templates;
  const JsonArray *list = value->getArray();
  if (!list) {
    config.reportMismatch(kKey, "a text or a list of templates", *value);
    return {};
  }
  for (const JsonValue &element : *list) {
    const JsonObject *object = element.getObject();
    auto textOf = [&](StringRef key) -> const std::string * {
      const JsonValue *found = object ? object->find(key) : nullptr;
      return found ? found->getString() : nullptr;
    };
    const std::string *name = textOf("name"), *source = textOf("template");
    if (!name || !source) {
      config.reportMismatch(kKey, "objects with 'name' and 'template'",
                            element);
      return {};
    }
    // As in the library, the last of a name counts.
    auto known = llvm::find_if(templates, [&](const ChatTemplate &each) {
      return each.name == *name;
    });
    if (known == templates.end())
      templates.push_back({*name, *source});
    else
      known->source = *source;
  }
  return templates;
}

static llvm::Expected<std::string> readTemplate(StringRef path,
                                                StringRef name) {
  auto text = readTextFile(path, name, artifact::kMostTemplateBytes);
  if (!text)
    return text.takeError();
  std::string lines;
  for (size_t i = 0; i < text->size(); ++i) {
    char c = (*text)[i];
    if (c == '\r' && i + 1 < text->size() && (*text)[i + 1] == '\n')
      continue;
    lines += c == '\r' ? '\n' : c;
  }
  return lines;
}

llvm::Expected<std::vector<ChatTemplate>>
effc::frontend::readChatTemplateFiles(StringRef directory) {
  std::vector<ChatTemplate> templates;
  auto add = [&](StringRef path, StringRef shown,
                 StringRef name) -> llvm::Error {
    auto source = readTemplate(path, shown);
    if (!source)
      return source.takeError();
    templates.push_back({name.str(), std::move(*source), shown.str()});
    return llvm::Error::success();
  };
  llvm::SmallString<256> path(directory);
  llvm::sys::path::append(path, kFile);
  if (llvm::sys::fs::exists(path))
    if (llvm::Error error = add(path, kFile, kDefaultTemplate))
      return error;
  llvm::SmallString<256> folder(directory);
  llvm::sys::path::append(folder, kFolder);
  std::vector<std::string> others;
  std::error_code failed;
  if (llvm::sys::fs::is_directory(folder))
    for (llvm::sys::fs::directory_iterator entry(folder, failed), end;
         entry != end && !failed; entry.increment(failed))
      if (StringRef(entry->path()).ends_with(kEnding))
        others.push_back(entry->path());
  if (failed)
    return refuse(quote(folder) + ": " + failed.message());
  llvm::sort(others);
  for (const std::string &other : others)
    if (llvm::Error error =
            add(other, (kFolder + "/" + llvm::sys::path::filename(other)).str(),
                llvm::sys::path::stem(other)))
      return error;
  return templates;
}

llvm::Error
effc::frontend::checkChatTemplates(StringRef file,
                                   llvm::ArrayRef<ChatTemplate> templates) {
  if (templates.size() > artifact::kMostTemplates)
    return refuse(file + ": expects at most " +
                  llvm::Twine(artifact::kMostTemplates) +
                  " chat templates, but got " + llvm::Twine(templates.size()));
  for (const ChatTemplate &each : templates) {
    if (each.name.empty() || each.name.size() > artifact::kMostTemplateName ||
        !llvm::json::isUTF8(each.name))
      return refuse(file + ": expects names of chat templates of 1 to " +
                    llvm::Twine(artifact::kMostTemplateName) +
                    " bytes of UTF-8, but got " + quote(each.name));
    if (each.source.size() > artifact::kMostTemplateBytes ||
        !llvm::json::isUTF8(each.source))
      return refuse(file + ": expects the chat template " + quote(each.name) +
                    " to be at most " +
                    llvm::Twine(artifact::kMostTemplateBytes) +
                    " bytes of UTF-8, but got " +
                    llvm::Twine(each.source.size()) + " bytes");
  }
  return llvm::Error::success();
}
