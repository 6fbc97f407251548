#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

/// YAML documents in which every value has the place where it was written: a strict subset of YAML on top of yaml-cpp,
/// without anchors and aliases, and with bounded nesting and size. Only this folder uses yaml-cpp (yaml.cpp).
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
    std::filesystem::path file;  ///< its identity, by whatever path it was reached; empty for an argument
    Mark reference;              ///< where another text names this file, if one does
};

Location locate(const Mark& mark);

struct Entry;

struct Node {
    enum class Kind { null, scalar, sequence, mapping };

    Kind kind = Kind::null;
    Mark mark;
    std::string scalar;          ///< the text of a scalar, unquoted
    bool quoted = false;         ///< a scalar was in quotes, so it is a text even if it looks like a number
    std::vector<Node> items;     ///< the items of a sequence
    std::vector<Entry> entries;  ///< the entries of a mapping, in the order written

    /// Return the entry of a key, and its value; null if there is none.
    Entry* entry(std::string_view key);
    const Entry* entry(std::string_view key) const;
    Node* find(std::string_view key);
    const Node* find(std::string_view key) const;
};

struct Entry {
    std::string key;
    Mark mark;  ///< of the key
    Node value;
};

/// Make nodes. An empty one has neither text nor content.
Node empty_at(const Mark& mark, Node::Kind kind);
Node scalar_at(const Mark& mark, std::string text);
Node mapping_at(const Mark& mark, std::vector<Entry> entries = {});

/// Returns the file that `reference`, a scalar, names, relative to the directory of the text that contains it.
std::filesystem::path referred_file(const Node& reference);

/// Returns `path` as shown to the user: `scenarios/../platforms/x.yaml` as `platforms/x.yaml`.
std::string shown(const std::filesystem::path& path);

/// Owns the texts that nodes point into. Must outlive every Node read through it.
class Library {
public:
    /// Reads and parses a file that the command line names. Throws ConfigError.
    Node load_argument(const std::string& path);

    /// Replaces `node`, a scalar that names a file, by the content of that file (which may again be the name of a
    /// file), read once. The path is relative to the directory of the text that names it; the name may be a preset's,
    /// of one of `kinds` (find_file() in presets.hpp, which takes `words`, too). Throws ConfigError, at the reference
    /// if the file cannot be read or refers back to itself, else at a place in the file.
    void expand(Node& node, const std::vector<std::string>& kinds = {}, const std::vector<std::string>& words = {});

    /// Parses `text` as YAML, except its first `skip` bytes; `name` is shown in errors. Returns a null if there are
    /// only comments. Throws ConfigError.
    Node parse(std::string name, std::string text, std::filesystem::path directory, std::size_t skip = 0);

    /// Returns the place where `text`, which is not YAML, begins; `name` is shown in errors.
    Mark cite(std::string name, std::string text, std::filesystem::path directory);

    /// Returns an argument of the command line.
    Node argument(const std::string& text);

private:
    Node load(const std::filesystem::path& path, std::string text, const Mark& reference);
    const Source& add(Source source);
    std::vector<std::unique_ptr<Source>> sources_;
    std::map<std::string, Node> expanded_;  ///< the content of files, by path: each is read once
};

}  // namespace syncline::config
