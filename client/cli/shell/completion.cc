#include "client/cli/shell/completion.h"

#include <algorithm>
#include <string_view>

#include "client/cli/shell/command_tree.h"

namespace curator::cli {
namespace {

constexpr char kBash[] = R"(# Completion of curator for bash: source <(curator completion bash)
_curator() {
  local IFS=$'\n' line
  COMPREPLY=()
  for line in $(curator __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
    if [[ $line == :files ]]; then
      compopt -o filenames 2>/dev/null
      COMPREPLY+=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
    else
      COMPREPLY+=("$line")
    fi
  done
}
complete -F _curator curator
)";

constexpr char kZsh[] = R"(#compdef curator
# Completion of curator for zsh: source <(curator completion zsh), or as _curator in a folder of $fpath.
_curator() {
  local -a answer
  answer=("${(@f)$(curator __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ ${answer[-1]} == ":files" ]]; then
    answer[-1]=()
    _files
  fi
  compadd -a answer
}
if [[ ${funcstack[1]} == _curator ]]; then
  _curator "$@"
else
  compdef _curator curator
fi
)";

constexpr char kFish[] = R"(# Completion of curator for fish: curator completion fish | source
function __curator_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (curator __complete $words[2..-1] 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c curator -f -a '(__curator_complete)'
)";

// The words as they were before bash cut them: "--output" "=" "json" is "--output" "json", and "https" ":"
// "//host" one word.
std::vector<std::string> PutTogether(const std::vector<std::string>& cut) {
  std::vector<std::string> words;
  bool joins = false;
  for (size_t i = 0; i < cut.size(); ++i) {
    const bool is_colon = cut[i] == ":" && !words.empty();
    if (is_colon || joins) {
      words.back() += cut[i];
    } else if (cut[i] == "=" && !words.empty()) {
      if (i + 1 == cut.size()) words.emplace_back();
    } else {
      const size_t equals = cut[i].starts_with("--") ? cut[i].find('=') : std::string::npos;
      words.push_back(cut[i].substr(0, equals));
      if (equals != std::string::npos) words.push_back(cut[i].substr(equals + 1));
    }
    joins = is_colon;
  }
  return words;
}

// The flag's option in `app` or above it, where it counts, too.
const CLI::Option* FindFlag(const CLI::App& app, const std::string& flag) {
  for (const CLI::App* each = &app; each != nullptr; each = each->get_parent()) {
    for (const CLI::Option* const option : OptionsOf(*each)) {
      if (option->nonpositional() && option->check_name(flag)) return option;
    }
  }
  return nullptr;
}

const CLI::App* FindCommand(const CLI::App& app, const std::string& name) {
  for (const CLI::App* const command : CommandsOf(app)) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

bool TakesValue(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

// "table|json|csv" are words to type; "HOST:PORT" is not.
std::vector<std::string> ChoicesOf(const std::string& type) {
  std::vector<std::string> choices(1);
  for (const char c : type) {
    const bool is_of_word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (c == '|') {
      choices.emplace_back();
    } else if (is_of_word) {
      choices.back().push_back(c);
    } else {
      return {};
    }
  }
  if (choices.size() < 2) return {};
  return choices;
}

class Completer {
 public:
  Completer(const CLI::App& app, std::string typed) : root_(&app), command_(&app), typed_(std::move(typed)) {}

  void Pass(const std::string& word) {
    if (awaits_value_ != nullptr) {
      AddGlobal(*awaits_value_, word);
      awaits_value_ = nullptr;
    } else if (word.starts_with("-") && word != "-") {
      const CLI::Option* const option = FindFlag(*command_, word);
      if (option == nullptr) return;
      AddGlobal(*option, word);
      if (TakesValue(*option)) awaits_value_ = option;
    } else if (const CLI::App* const next = FindCommand(*command_, word); next != nullptr) {
      command_ = next;
    } else {
      ++positionals_;
    }
  }

  Completion Finish() && {
    if (awaits_value_ != nullptr) {
      OfferValue(*awaits_value_);
    } else if (typed_.starts_with("-")) {
      OfferFlags();
    } else {
      for (const CLI::App* const next : CommandsOf(*command_)) Offer(next->get_name());
      if (const CLI::Option* const positional = NextPositional()) OfferValue(*positional);
    }
    return std::move(completion_);
  }

 private:
  void AddGlobal(const CLI::Option& option, const std::string& word) {
    const std::vector<const CLI::Option*> globals = root_->get_options();
    if (std::find(globals.begin(), globals.end(), &option) != globals.end())
      completion_.globals.push_back(word);
  }
  void Offer(const std::string& word) {
    if (word.starts_with(typed_)) completion_.words.push_back(word);
  }
  void OfferFlags() {
    for (const CLI::App* each = command_; each != nullptr; each = each->get_parent()) {
      for (const CLI::Option* const option : OptionsOf(*each)) {
        for (const std::string& name : option->get_lnames()) {
          if (each == root_ || command_ == each) Offer("--" + name);
        }
      }
    }
    std::sort(completion_.words.begin(), completion_.words.end());
    completion_.words.erase(std::unique(completion_.words.begin(), completion_.words.end()),
                            completion_.words.end());
  }
  void OfferValue(const CLI::Option& option) {
    for (const std::string& choice : ChoicesOf(option.get_type_name())) Offer(choice);
    const std::string name = option.get_positional() ? option.get_name() : "";
    if (option.get_type_name().starts_with("FILE") || name == "FILE")
      completion_.also = Completion::Also::kFiles;
    const bool creates = command_->get_name() == "create";
    if ((name == "NAME" || name == "DATASET") && IsOfDatasets() && !creates)
      completion_.also = Completion::Also::kDatasets;
  }
  bool IsOfDatasets() const {
    const CLI::App* const group = command_->get_parent();
    const std::string name = group == nullptr ? "" : group->get_name();
    return name == "dataset" || name == "workload" || name == "synth" || name == "budget" ||
           name == "ledger" || name == "owner" || name == "release";
  }
  const CLI::Option* NextPositional() const {
    int place = 0;
    for (const CLI::Option* const option : OptionsOf(*command_)) {
      if (!option->get_positional()) continue;
      if (place == positionals_ || option->get_items_expected_max() > 1) return option;
      ++place;
    }
    return nullptr;
  }

  const CLI::App* const root_;
  const CLI::App* command_;
  const std::string typed_;
  const CLI::Option* awaits_value_ = nullptr;
  int positionals_ = 0;
  Completion completion_;
};

}  // namespace

Completion Complete(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> before = PutTogether(words);
  std::string typed;
  if (!before.empty()) {
    typed = before.back();
    before.pop_back();
  }
  Completer completer(app, std::move(typed));
  for (const std::string& word : before) completer.Pass(word);
  return std::move(completer).Finish();
}

std::string CompletionScript(const std::string& shell) {
  if (shell == "bash") return kBash;
  if (shell == "zsh") return kZsh;
  return shell == "fish" ? kFish : "";
}

}  // namespace curator::cli
