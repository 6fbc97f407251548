#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/document/document.hpp"

/// Presets: a word in a document or on the command line becomes the path of a file.
///
/// Each kind of file has folders of presets (`platforms/`, `scenarios/published/`, …), and a preset is named after its
/// file, without `.yaml`. A word that contains a '/' or ends like a file's name (`.yaml`, `.xml`, …) is a path. Any
/// other word is the file of exactly that name in the directory of the text that contains it, if there is one; else a
/// preset of an expected kind. Only this file knows where presets are.
namespace syncline::config {

/// Kinds of file, from file_kinds(), any of which may be meant: {"study", "scenario"}.
using Kinds = std::vector<std::string>;

/// Returns the folders that are searched for folders of presets, in order: the working directory, and the clone in
/// which the program was built. A preset in an earlier folder hides presets in later ones.
std::vector<std::filesystem::path> data_roots();

/// Returns the first folder `name` (`scenarios/lessons`) in data_roots(); `name` itself if there is none.
std::filesystem::path data_folder(const std::string& name);

/// Returns whether `word` can only be a path.
bool is_path(std::string_view word);

/// Returns the file that `word`, a scalar, names. `words` are other known words (shapes), which may be meant. A path
/// that does not exist is returned unchanged; reading it reports an error. Throws ConfigError at the word, with the
/// known names, if it is neither a file nor a preset, or a preset of several kinds.
std::filesystem::path find_file(const Node& word, const Kinds& kinds, const std::vector<std::string>& words = {});

/// Does the same for an argument of the command line.
std::string find_argument(const std::string& argument, const Kinds& kinds, const std::vector<std::string>& words = {});

}  // namespace syncline::config
