#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/document/shared_schema.hpp"
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/scenario.hpp"

// Help describes an option as the JSON Schemas describe the key that it sets, and begins with an example that runs.

using namespace syncline::test;
using nlohmann::json;

namespace {

std::string help_of(std::vector<std::string> verbs) {
    verbs.emplace_back("--help");
    const Outcome outcome = run_program({.arguments = verbs});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    return outcome.out;
}

std::string help_of(const std::string& verb) {
    return help_of(std::vector{verb});
}

/// Calls `visit` with the names and the help of each verb inside `verbs`, and of those inside it before it.
template <class Visit>
void each_verb(const std::vector<std::string>& verbs, const Visit& visit) {
    std::istringstream help(help_of(verbs));
    std::string line;
    while (std::getline(help, line) && line != "Subcommands:") {
    }
    while (std::getline(help, line) && line.starts_with("  ")) {
        std::vector<std::string> inner = verbs;
        inner.push_back(line.substr(2, line.find(' ', 2) - 2));
        each_verb(inner, visit);
        visit(inner, help_of(inner));
    }
}

/// Returns the words of a command as a shell divides it: words in single quotes are one.
std::vector<std::string> words_of(const std::string& command) {
    std::vector<std::string> words;
    bool quoted = false, between = true;
    for (const char character : command) {
        if (character == '\'') {
            quoted = !quoted;
        } else if (character == ' ' && !quoted) {
            between = true;
        } else {
            if (between) words.emplace_back();
            between = false;
            words.back() += character;
        }
    }
    return words;
}

json schema_in(const std::string& folder) {
    return syncline::config::expanded(json::parse(read_file(shipped(folder + "/schema.json"))));
}

/// Returns the description of a key as help shows it: without its full stop, with "(default: x)" and "(required)" as in
/// other options, and with the names of those of `options` that it mentions.
std::string description(const json& property, const json& options = json::object()) {
    std::string text = property["description"];
    REQUIRE(text.ends_with('.'));
    text.pop_back();
    const std::size_t given = text.rfind(". Default: "), required = text.rfind(". Required");
    if (given != text.npos) {
        std::string value = text.substr(given + 11);
        std::erase(value, '`');
        text = text.substr(0, given) + " (default: " + value + ")";
    } else if (required != text.npos) {
        text = text.substr(0, required) + " (r" + text.substr(required + 3) + ")";
    }
    for (const auto& [key, unused] : options.items())
        for (std::size_t at; (at = text.find("`" + key + "`")) != text.npos;)
            text.replace(at, key.size() + 2, "--" + key);
    return text;
}

/// Calls `visit` with the path and the description of each key of a mapping, and of those inside.
template <class Visit>
void each_key(const json& schema, const std::string& before, const Visit& visit) {
    if (schema.contains("properties"))
        for (const auto& [key, property] : schema["properties"].items()) {
            visit(before + key, property["description"].template get<std::string>());
            each_key(property, before + key + ".", visit);
        }
    if (schema.contains("anyOf"))
        for (const json& form : schema["anyOf"]) each_key(form, before, visit);
}

}  // namespace

TEST_CASE("help: options of `collective` are described as the scenario's keys", "[memory]") {
    const json scenario = schema_in("scenarios")["properties"];
    const std::string help = help_of("collective");
    for (const auto& [key, property] : scenario["collective"]["properties"].items()) {
        CAPTURE(key);
        const std::size_t option = help.find("\n  --" + key + " ");
        REQUIRE(option != help.npos);
        const std::size_t end = help.find("\n  --", option + 1);
        CAPTURE(description(property, scenario["collective"]["properties"]));
        CHECK(help.substr(option, end - option).find(description(property, scenario["collective"]["properties"])) !=
              help.npos);
    }
    CHECK(help.find(description(scenario["platform"])) != help.npos);
    CHECK(help.find("{key") == help.npos);
    CHECK(help.find("Default: ") == help.npos);
    CHECK(help.find("(required without --sweep)") != help.npos);
    CHECK(help.find("  Seed of `placement: random` (default: 1)\n") != help.npos);
}

TEST_CASE("help: options of `explore` and `workload` are described as the keys", "[memory]") {
    const json study = schema_in("scenarios/studies")["properties"];
    const std::string explore = help_of("explore"), workload = help_of("workload");
    for (const char* key : {"objective", "constraints", "budget", "top"}) {
        CAPTURE(key);
        CHECK(explore.find(description(study["question"]["properties"][key])) != explore.npos);
    }
    const json scenario = schema_in("scenarios")["properties"];
    CHECK(workload.find(description(scenario["training"]["properties"]["compute"])) != workload.npos);
    CHECK((explore + workload).find("{key") == std::string::npos);
}

TEST_CASE("help: --seed names all keys that say that they depend on it", "[memory]") {
    const json schema = schema_in("scenarios");
    int keys = 0;
    const std::string help = help_of("run");
    const std::size_t option = help.find("\n  --seed");
    REQUIRE(option != help.npos);
    const std::string seed = help.substr(option, help.find("\n  --", option + 1) - option);
    each_key(schema["properties"]["training"], "", [&](const std::string& path, const std::string& text) {
        if (text.find("see --seed") == text.npos) return;
        CAPTURE(path, seed);
        const std::string framework = "framework.";  // has the same keys
        const std::string within = path.starts_with(framework) ? path.substr(framework.size()) : path;
        CHECK(seed.find("`" + within.substr(0, within.find('.'))) != seed.npos);
        ++keys;
    });
    CHECK(keys >= 4);
}

TEST_CASE("help: each verb begins with an example, which runs", "[memory]") {
    const TempDir directory;
    const auto run = [&](std::vector<std::string> words) {
        CAPTURE(words);
        const Outcome outcome = run_program({.arguments = std::move(words), .directory = directory.path()});
        CAPTURE(outcome.err);
        CHECK(outcome.status == 0);
    };
    for (const char* shard : {"1/2", "2/2"}) run({"batch", "vgg-16-overlap", "--shard", shard, "--out", "shards"});
    directory.write("config.json", R"({"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 32,
                                       "vocab_size": 100})");
    int verbs = 0;
    each_verb({}, [&](const std::vector<std::string>& names, const std::string& help) {
        CAPTURE(names);
        ++verbs;
        const std::size_t start = help.find('\n') + 1, end = help.find('\n', start);
        std::vector<std::string> words = words_of(help.substr(start, end - start));
        REQUIRE(words.size() > names.size() + 2);
        CHECK(words[0] == "Example:");
        CHECK(words[1] == "syncline");
        words.erase(words.begin(), words.begin() + 2);
        CHECK(std::equal(names.begin(), names.end(), words.begin()));
        CHECK(help.compare(end + 1, 7, "Usage: ") == 0);
        // `serve` ends with Ctrl-C alone: tests/serve runs it.
        if (words.front() != "serve") run(std::move(words));
    });
    CHECK(verbs == 22);
}
