#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/config/document.hpp"
#include "sim/config/fields.hpp"

/// Fills structs from documents through their field tables, strictly: unknown keys, wrong types, numbers without units
/// and values out of range are all reported, each with its place and what was probably meant.
namespace syncline::config {

/// A file that is no YAML, which a document names.
struct OtherFile {
    Mark name;  ///< where
    std::filesystem::path path;
    std::string text;
};

/// Runs the field table `body` over the mapping `node`; what is wrong is added to `errors` (an error that is already
/// there, at the same place with the same words, is not added again). `what` names the thing in messages: "scenario",
/// "platform". `files`, if given, gets the files of Fields::file.
void read(const Node& node, const std::string& what, const std::function<void(Fields&)>& body,
          std::vector<Diagnostic>& errors, std::vector<OtherFile>* files = nullptr);

}  // namespace syncline::config
