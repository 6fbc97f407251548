#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/document.hpp"

/// Files by name: how a word in a document or on the command line becomes the path of a file.
///
/// Each kind of file has folders of presets (`platforms/`, `scenarios/published/`, …), and a preset is called as its
/// file is, without `.yaml`. A word that holds a '/' or ends as a file's name does (`.yaml`, `.xml`, …) is a path.
/// Any other word is the file of exactly that name beside the text in which it stands, if there is one; else the preset
/// of a kind that is meant there. Only this file knows where presets are.
namespace syncline::config {

/// Kinds of file, of file_kinds(), any of which may be meant: {"study", "scenario"}.
using Kinds = std::vector<std::string>;

/// The folders in which the folders of presets are looked for, in that order: the working directory, and the clone in
/// which the program was built. A preset of an earlier one hides those of later ones.
std::vector<std::filesystem::path> data_roots();

/// The first folder `name` (`scenarios/lessons`) of data_roots(); `name` itself where none has it.
std::filesystem::path data_folder(const std::string& name);

/// Whether `word` can only be a path.
bool is_path(std::string_view word);

/// The file that `word`, a scalar, names. `words` are others that are known there (shapes), which may be meant. A path
/// that is not there is returned as it is: reading it says so. Throws ConfigError, at the word, with the known names,
/// if it is no file and no preset, or one of several kinds.
std::filesystem::path find_file(const Node& word, const Kinds& kinds, const std::vector<std::string>& words = {});

/// The same for an argument of the command line.
std::string find_argument(const std::string& argument, const Kinds& kinds, const std::vector<std::string>& words = {});

}  // namespace syncline::config
