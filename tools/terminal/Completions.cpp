#include "tools/terminal/Completions.h"

#include <algorithm>

using namespace effc::cli;

/// "run" of "effc run".
static std::string lastWord(const std::string &name) {
  return name.substr(name.rfind(' ') + 1);
}

/// `text` between single quotes, as all three shells read it.
static std::string quoted(const std::string &text) {
  std::string quoted = "'";
  for (char c : text)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

static std::string joined(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

static std::vector<std::string>
namesOf(const std::vector<CommandTable> &commands) {
  std::vector<std::string> names;
  for (const CommandTable &command : commands)
    names.push_back(lastWord(command.name));
  return names;
}

static std::vector<std::string> optionsOf(const CommandTable &command) {
  std::vector<std::string> names;
  for (const OptionRow &option : command.options)
    if (!option.names.empty())
      names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

/// The cases "COMMAND:OPTION" of a bash or zsh `case`, with what they offer.
static std::string choiceCases(const std::vector<CommandTable> &commands,
                               const std::string &offer) {
  std::string cases;
  for (const CommandTable &command : commands)
    for (const OptionRow &option : command.options) {
      if (option.choices.empty() || option.names.empty())
        continue;
      std::string patterns;
      for (const std::string &name : option.names)
        patterns +=
            (patterns.empty() ? "" : "|") + lastWord(command.name) + ":" + name;
      cases += "    " + patterns + ") " + offer +
               quoted(joined(option.choices)) + " ;;\n";
    }
  return cases;
}

/// The cases "COMMAND" of a `case`, with the options of each.
static std::string optionCases(const std::vector<CommandTable> &commands,
                               const std::string &offer) {
  std::string cases;
  for (const CommandTable &command : commands)
    cases += "    " + lastWord(command.name) + ") " + offer +
             quoted(joined(optionsOf(command))) + " ;;\n";
  return cases;
}

static std::string bash(const std::string &program,
                        const std::vector<CommandTable> &commands) {
  std::string function = "_" + program;
  return function +
         "_offer() { COMPREPLY=($(compgen -W \"$1\" -- \"$2\")); }\n" +
         function +
         "() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} "
         "before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    " +
         function + "_offer " + quoted(joined(namesOf(commands))) +
         " \"$word\"\n    return\n  fi\n"
         "  local choices=\n"
         "  case \"$command:$before\" in\n" +
         choiceCases(commands, "choices=") +
         "  esac\n"
         "  if [ -n \"$choices\" ]; then\n"
         "    " +
         function +
         "_offer \"$choices\" \"$word\"\n    return\n  fi\n"
         "  [ \"${word:0:1}\" = - ] || return\n"
         "  case \"$command\" in\n" +
         optionCases(commands, "choices=") +
         "  esac\n"
         "  " +
         function +
         "_offer \"$choices\" \"$word\"\n"
         "}\n"
         "complete -o default -F " +
         function + " " + program + "\n";
}

static std::string zsh(const std::string &program,
                       const std::vector<CommandTable> &commands) {
  return "#compdef " + program + "\n_" + program +
         "() {\n"
         "  local choices= command=${words[2]} before=${words[CURRENT-1]}\n"
         "  if (( CURRENT == 2 )); then\n"
         "    choices=" +
         quoted(joined(namesOf(commands))) +
         "\n    compadd -- ${=choices}\n    return\n  fi\n"
         "  case \"$command:$before\" in\n" +
         choiceCases(commands, "choices=") +
         "  esac\n"
         "  if [[ -n $choices ]]; then compadd -- ${=choices}; return; fi\n"
         "  if [[ ${words[CURRENT]} != -* ]]; then _files; return; fi\n"
         "  case \"$command\" in\n" +
         optionCases(commands, "choices=") +
         "  esac\n"
         "  compadd -- ${=choices}\n"
         "}\n"
         "compdef _" +
         program + " " + program + "\n";
}

/// The options of one command for fish, a line each.
static std::string fishOptions(const std::string &program,
                               const CommandTable &command) {
  std::string lines;
  for (const OptionRow &option : command.options) {
    if (option.names.empty())
      continue;
    lines += "complete -c " + program + " -n '__fish_seen_subcommand_from " +
             lastWord(command.name) + "'";
    for (const std::string &name : option.names)
      lines += name.starts_with("--") ? " -l " + name.substr(2)
                                      : " -s " + name.substr(1);
    if (!option.value.empty())
      lines += " -r";
    if (!option.choices.empty())
      lines += " -f -a " + quoted(joined(option.choices));
    lines += " -d " + quoted(option.help) + "\n";
  }
  return lines;
}

static std::string fish(const std::string &program,
                        const std::vector<CommandTable> &commands) {
  std::string script;
  for (const CommandTable &command : commands)
    script += "complete -c " + program + " -n __fish_use_subcommand -f -a " +
              lastWord(command.name) + " -d " + quoted(command.summary) + "\n";
  for (const CommandTable &command : commands)
    script += fishOptions(program, command);
  return script;
}

std::string
effc::cli::completionScript(const std::string &shell,
                            const std::string &program,
                            const std::vector<CommandTable> &commands) {
  return shell == "bash"  ? bash(program, commands)
         : shell == "zsh" ? zsh(program, commands)
                          : fish(program, commands);
}
