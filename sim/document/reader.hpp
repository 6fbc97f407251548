#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/document/document.hpp"
#include "sim/document/fields.hpp"

/// Fills structs from documents through their field tables, strictly: unknown keys, wrong types, numbers without units
/// and values out of range are all reported, each with its place and the probable intention.
namespace syncline::config {

/// A file that is not YAML and that a document names, or that such a file names.
struct OtherFile {
    Mark name;  ///< the place of its name in the document, or of that of the file that names it, which comes before
    std::string written;  ///< the text at that place; other values may have come from there, too
    std::filesystem::path path;
    std::string text;
};

/// Runs the field table `body` over the mapping `node`; errors are added to `errors` (except an error with the same
/// place and words as an existing one). `what` is the subject of messages: "scenario", "platform". `files`, if given,
/// gets the files of Fields::file.
void read(const Node& node, const std::string& what, const std::function<void(Fields&)>& body,
          std::vector<Diagnostic>& errors, std::vector<OtherFile>* files = nullptr);

}  // namespace syncline::config
