#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "sim/check/check.hpp"
#include "sim/cli/help.hpp"
#include "sim/cli/verbs.hpp"

namespace syncline::cli {

namespace {

void replace_all(std::string& text, const std::string& old, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(old, at)) != text.npos; at += by.size()) text.replace(at, old.size(), by);
}

/// Puts the sentence that begins with `word` into parentheses, as in other options: "(default: x)".
void put_into_parentheses(std::string& text, const std::string& word) {
    const std::size_t start = text.find(". " + word);
    if (start == text.npos) return;
    const std::size_t end = std::min(text.find(". ", start + 1), text.size());
    std::string sentence = text.substr(start + 2, end - start - 2);
    sentence.front() = static_cast<char>(std::tolower(sentence.front()));
    if (sentence.starts_with("default")) std::erase(sentence, '`');
    text.replace(start, end - start, " (" + sentence + ")");
}

class Formatter : public CLI::Formatter {
public:
    std::map<const CLI::App*, std::string> examples;

private:
    std::string make_help(const CLI::App* program, std::string name, CLI::AppFormatMode mode) const override {
        std::string text = CLI::Formatter::make_help(program, std::move(name), mode);
        for (const CLI::Option* option : program->get_options())  // keys that are options
            for (const std::string& key : option->get_lnames()) replace_all(text, "`" + key + "`", "--" + key);
        return text;
    }
    std::string make_usage(const CLI::App* verb, std::string name) const override {
        const auto example = examples.find(verb);
        const std::string usage = CLI::Formatter::make_usage(verb, std::move(name));
        return example == examples.end() ? usage : "Example: " + example->second + "\n" + usage;
    }
    std::string make_option_desc(const CLI::Option* option) const override { return description_of(*option); }
};

}  // namespace

std::optional<Key> key_of(const CLI::Option& option) {
    const std::string& text = option.get_description();
    const std::size_t start = text.find("{key "), end = text.find('}', start);
    if (start == text.npos) return {};
    const std::size_t kind = start + 5, dot = text.find('.', kind);
    return Key{text.substr(kind, dot - kind), text.substr(dot + 1, end - dot - 1), start, end + 1};
}

std::string description_of(const CLI::Option& option) {
    std::string text = option.get_description();
    const std::optional<Key> key = key_of(option);
    if (!key) return text;
    text.replace(key->begin, key->end - key->begin, config::description_of(key->kind, key->path));
    if (text.ends_with('.')) text.pop_back();
    for (const char* word : {"Default: ", "Required"}) put_into_parentheses(text, word);
    return text;
}

CLI::App* add_verb(CLI::App& program, const std::string& name, const std::string& example,
                   const std::string& description) {
    CLI::App* verb = program.add_subcommand(name, description);
    static_cast<Formatter&>(*verb->get_formatter()).examples[verb] = example;
    return verb;
}

void describe_keys(CLI::App& program) {
    program.formatter(std::make_shared<Formatter>());
}

}  // namespace syncline::cli
