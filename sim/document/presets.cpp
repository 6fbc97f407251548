#include "sim/document/presets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "sim/base/did_you_mean.hpp"
#include "sim/base/regular_file.hpp"
#include "sim/document/data_roots.hpp"

namespace syncline::config {

namespace {

namespace fs = std::filesystem;

/// Returns the folders of a kind's presets.
const std::vector<std::string>& folders_of(const std::string& kind) {
    static const std::map<std::string, std::vector<std::string>> folders{
        {"scenario", {"scenarios", "scenarios/lessons"}},
        {"measured", {"scenarios/published"}},
        {"study", {"scenarios/studies"}},
        {"platform", {"platforms"}},
        {"device", {"platforms/devices"}},
        {"transport", {"platforms/transports"}},
        {"selection", {"platforms/selections"}},
        {"topology", {"topologies"}},
        {"workload", {"workloads"}},
        {"ablation", {"scenarios/ablations"}},
        {"framework", {"scenarios/frameworks"}},
    };
    return folders.at(kind);
}

/// Returns the existing folders with presets of these kinds, each with its kind.
std::vector<std::pair<std::string, fs::path>> folders_there(const Kinds& kinds) {
    std::vector<std::pair<std::string, fs::path>> folders;
    std::error_code error;
    for (const fs::path& root : data_roots())
        for (const std::string& kind : kinds)
            for (const std::string& folder : folders_of(kind))
                if (fs::is_directory(root / folder, error)) folders.emplace_back(kind, root / folder);
    return folders;
}

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        if (entry->path().extension() == ".yaml" && is_regular(entry->path()))
            names.push_back(entry->path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

/// Returns the length of the first sentence of `text`, with its stop; npos if no other follows. A single letter before
/// a stop is an abbreviation, as in "N. Jouppi et al."
std::size_t sentence_end(const std::string& text) {
    for (std::size_t i = 3; i + 2 < text.size(); ++i) {
        const std::string_view before(text.data() + i - 3, 3);
        const bool abbreviation = before[1] == ' ' || before[1] == '.' || before[1] == '(' || before == " al";
        if ((text[i] == '.' || text[i] == '?') && text[i + 1] == ' ' && !abbreviation &&
            std::isupper(static_cast<unsigned char>(text[i + 2])) != 0)
            return i + 1;
    }
    return text.npos;
}

/// Returns "a shape, a topology or a platform".
std::string one_of(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        text += fmt::format("{}a {}", i == 0 ? "" : i + 1 < names.size() ? ", " : " or ", names[i]);
    return text;
}

/// Returns the names of presets of these kinds, and the known words, that begin with `word`.
std::set<std::string> names_beginning(const std::string& word, const Kinds& kinds,
                                      const std::vector<std::string>& known) {
    std::set<std::string> names;
    const auto collect = [&](const std::vector<std::string>& all) {
        std::ranges::copy_if(all, std::inserter(names, names.end()),
                             [&](const std::string& name) { return name.starts_with(word); });
    };
    collect(known);
    for (const auto& [_, folder] : folders_there(kinds)) collect(names_in(folder));
    return names;
}

/// Returns "'h100-sxm', 'h100-pcie' or 'h100-hbm2e-96gb'", the shortest first.
std::string one_of_these(const std::set<std::string>& names) {
    std::vector<std::string> sorted(names.begin(), names.end());
    std::ranges::stable_sort(sorted, {}, &std::string::size);
    std::string text;
    for (std::size_t i = 0; i < sorted.size(); ++i)
        text += fmt::format("{}'{}'", i == 0 ? "" : i + 1 < sorted.size() ? ", " : " or ", sorted[i]);
    return text;
}

/// Returns the name that was probably meant, and the known names by folder.
std::string hint_for(const std::string& word, const fs::path& place, const Kinds& kinds,
                     std::vector<std::string> known) {
    constexpr std::size_t most_shown = 8;
    const std::set<std::string> begun = names_beginning(word, kinds, known);
    if (const fs::path file = place.string() + ".yaml"; is_regular(file))
        return fmt::format("did you mean '{}.yaml'?", word);
    std::vector<std::string> sentences;
    for (const std::string& root : missing_data_roots())
        sentences.push_back(fmt::format(
            "SYNCLINE_DATA names {}, which has no folder platforms, workloads, topologies or scenarios", root));
    if (!known.empty()) sentences.push_back(fmt::format("shapes are {}", fmt::join(known, ", ")));
    for (const auto& [kind, folder] : folders_there(kinds)) {
        const std::vector<std::string> names = names_in(folder);
        if (names.empty()) continue;
        sentences.push_back(fmt::format("{} has {}", folder.string(), fmt::join(names, ", ")));
        known.insert(known.end(), names.begin(), names.end());
    }
    if (sentences.empty()) return fmt::format("there is no folder {}; name a file", folders_of(kinds.front()).front());
    const std::string names = fmt::format("{}", fmt::join(sentences, "; "));
    if (begun.size() > 1 && begun.size() <= most_shown)
        return fmt::format("did you mean {}? {}", one_of_these(begun), names);
    const std::string meant = did_you_mean(word, known);
    return meant.empty() ? names : meant + " " + names;
}

/// Returns the presets called `name`: the first of each kind, with its file.
std::map<std::string, fs::path> presets_called(const std::string& name, const Kinds& kinds) {
    std::map<std::string, fs::path> found;
    for (const auto& [kind, folder] : folders_there(kinds))
        if (const fs::path file = folder / (name + ".yaml"); is_regular(file)) found.emplace(kind, file);
    return found;
}

}  // namespace

std::vector<Preset> presets(const Kinds& kinds) {
    std::vector<Preset> all;
    for (const std::string& kind : kinds) {
        std::set<std::string> seen;
        for (const auto& [_, folder] : folders_there({kind}))
            for (const std::string& name : names_in(folder))
                if (seen.insert(name).second) all.push_back({kind, name, folder / (name + ".yaml")});
    }
    return all;
}

std::string summary_of(const fs::path& file) {
    constexpr std::size_t most_bytes = 1 << 16;  // a comment at the beginning is shorter
    std::istringstream lines(read_regular(file, most_bytes).text);
    std::string text;
    for (std::string line; std::getline(lines, line) && line.starts_with('#');) {
        if (line.starts_with("# yaml-language-server")) continue;
        if (line == "#") break;
        text += (text.empty() ? "" : " ") + line.substr(std::min<std::size_t>(line.size(), 2));
        const std::size_t end = sentence_end(text);
        if (end != text.npos) return text.substr(0, end);
    }
    return text;
}

bool is_path(std::string_view word) {
    constexpr std::array ends{".yaml", ".yml", ".json", ".xml", ".graphml", ".dot", ".gv"};
    return word.find('/') != std::string_view::npos ||
           std::any_of(ends.begin(), ends.end(), [&](const char* end) { return word.ends_with(end); });
}

fs::path find_file(const Node& word, const Kinds& kinds, const std::vector<std::string>& words) {
    std::error_code error;
    const fs::path place = referred_file(word);
    if (word.scalar.empty() || is_path(word.scalar) || kinds.empty() || is_regular(place)) return place;
    std::map<std::string, fs::path> found = presets_called(word.scalar, kinds);
    // Files name presets in full, so that they mean the same when others are added.
    const bool typed = word.mark.source == nullptr || word.mark.source->file.empty();
    if (found.empty() && typed && !fs::exists(place, error) && !is_regular(place.string() + ".yaml"))
        if (const std::set<std::string> begun = names_beginning(word.scalar, kinds, words); begun.size() == 1)
            found = presets_called(*begun.begin(), kinds);
    if (found.size() == 1) return found.begin()->second;
    std::vector<std::string> names, files;
    for (const auto& [kind, file] : found) {
        names.push_back(kind);
        files.push_back(file.string());
    }
    if (!found.empty())
        throw ConfigError(
            {{locate(word.mark), fmt::format("'{}' is the name of a {}", word.scalar, fmt::join(names, " and of a ")),
              fmt::format("name the file: {}", fmt::join(files, " or "))}});
    if (fs::exists(place, error)) return place;  // a directory, a pipe
    names = kinds;
    if (std::find(kinds.begin(), kinds.end(), "scenario") != kinds.end()) std::erase(names, "measured");  // is one, too
    const bool many = names.size() > 2;
    if (!words.empty()) names.insert(names.begin(), "shape");
    const std::string any = many ? "a preset" : one_of(names);
    throw ConfigError({{locate(word.mark), fmt::format("'{}' is neither a file nor {}", word.scalar, any),
                        hint_for(word.scalar, place, kinds, words)}});
}

std::string find_argument(const std::string& argument, const Kinds& kinds, const std::vector<std::string>& words) {
    Library library;
    return find_file(library.argument(argument), kinds, words).string();
}

}  // namespace syncline::config
