#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/document/document.hpp"

/// Presets: a word in a document or on the command line becomes the path of a file. Each kind of file has folders of
/// presets, named after their files, without `.yaml`. A word that contains a '/' or ends like a file's name is a path.
/// Any other word is the file of that name in the directory of the text that contains it; else a preset of an expected
/// kind, in the first of data_roots() that has one. On the command line the beginning of a preset's name is enough, if
/// no other name begins so.
namespace syncline::config {

/// Kinds of file, from file_kinds(), any of which may be meant: {"study", "scenario"}.
using Kinds = std::vector<std::string>;

/// A preset that a name can mean.
struct Preset {
    std::string kind;
    std::string name;
    std::filesystem::path file;
};

/// Returns the presets of these kinds: by kind, then by folder, then by name, without hidden ones.
std::vector<Preset> presets(const Kinds& kinds);

/// Returns the first sentence of the comment with which the file begins, after a line for editors; "" if there is none.
std::string summary_of(const std::filesystem::path& file);

/// Returns whether `word` can only be a path.
bool is_path(std::string_view word);

/// Returns the file that `word`, a scalar, names. `words` are other known words (shapes), which may be meant. A path
/// that does not exist is returned unchanged; reading it reports an error. Throws ConfigError at the word, with the
/// known names, if it is neither a file nor a preset, or a preset of several kinds.
std::filesystem::path find_file(const Node& word, const Kinds& kinds, const std::vector<std::string>& words = {});

/// Does the same for an argument of the command line.
std::string find_argument(const std::string& argument, const Kinds& kinds, const std::vector<std::string>& words = {});

}  // namespace syncline::config
