#pragma once

#include <string>
#include <vector>

#include "sim/config/assembly.hpp"
#include "sim/document/document.hpp"

namespace syncline::config {

/// A file in CSV (RFC 4180), whose fields have their places.
struct CsvText {
    Mark top;
    std::vector<std::vector<Node>> lines;  ///< those that are not empty, each with its fields as scalars
    bool sound = false;
};

/// Reads a file. Reports errors to `assembly`: at `reference`, the place that names the file, if it cannot be read.
CsvText read_csv(Assembly& assembly, const std::string& path, const Mark* reference = nullptr);

/// Reports names of columns that are listed twice.
void refuse_repeated(Assembly& assembly, const std::vector<Node>& head);

}  // namespace syncline::config
