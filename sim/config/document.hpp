#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

/// YAML documents in which every value knows where it was written.
///
/// A strict reading of YAML on top of yaml-cpp: one document per file, keys are plain words and stand once, no anchors
/// and no aliases. Nesting is bounded, so is a file's size. Only this folder knows yaml-cpp (yaml.cpp).
namespace syncline::config {

struct Source;

struct Mark {
    const Source* source = nullptr;
    int line = 1;
    int column = 1;  ///< in bytes; locate() counts characters
};

/// One text that the user wrote: a file, or an argument.
struct Source {
    std::string name;  ///< as shown to the user: the path as it was reached, or an option such as `--set`
    std::filesystem::path directory;  ///< paths written in this text are relative to it
    std::string text;
    std::filesystem::path file;  ///< which one it is, however it was reached; empty for an argument
    Mark reference;              ///< where another text names this file, if one does
};

Location locate(const Mark& mark);

struct Entry;

struct Node {
    enum class Kind { null, scalar, sequence, mapping };

    Kind kind = Kind::null;
    Mark mark;
    std::string scalar;          ///< of a scalar: its text, unquoted
    bool quoted = false;         ///< of a scalar: it stood in quotes, so it is a text even if it looks like a number
    std::vector<Node> items;     ///< of a sequence
    std::vector<Entry> entries;  ///< of a mapping, in the order written

    Node* find(std::string_view key);
    const Node* find(std::string_view key) const;
};

struct Entry {
    std::string key;
    Mark mark;  ///< of the key
    Node value;
};

/// The file that `reference`, a scalar, names: relative to the directory of the text in which it stands.
std::filesystem::path referred_file(const Node& reference);

/// What the user sees of `path`: `scenarios/../platforms/x.yaml` is `platforms/x.yaml`.
std::string shown(const std::filesystem::path& path);

/// Owns the texts that nodes point into. Outlives every Node read through it.
class Library {
public:
    /// Reads and parses a file that the command line names. Throws ConfigError.
    Node load_argument(const std::string& path);

    /// Replaces `node`, a scalar that names a file, by what that file holds (which may again be the name of a file). A
    /// file is read once, however often it is named. The path is relative to the directory of the text that names it;
    /// the name may be a preset's, of one of `kinds` (find_file() in presets.hpp, which takes `words`, too). A node
    /// that is no scalar is left alone. Throws ConfigError: the place is that of the reference when the file cannot be
    /// read or refers back to itself, else a place in the file.
    void expand(Node& node, const std::vector<std::string>& kinds = {}, const std::vector<std::string>& words = {});

    /// Parses `text` as YAML, except its first `skip` bytes; `name` is shown in errors. Nothing but comments is a null.
    /// Throws ConfigError.
    Node parse(std::string name, std::string text, std::filesystem::path directory, std::size_t skip = 0);

    /// The place where `text`, which is no YAML, begins; `name` is shown in errors.
    Mark cite(std::string name, std::string text, std::filesystem::path directory);

private:
    Node load(const std::filesystem::path& path, std::string text, const Mark& reference);
    const Source& add(Source source);
    std::vector<std::unique_ptr<Source>> sources_;
    std::map<std::string, Node> expanded_;  ///< what files hold, by path: each is read once
};

}  // namespace syncline::config
