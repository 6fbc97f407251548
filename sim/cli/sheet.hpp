#pragma once

#include <filesystem>
#include <string>

/// A handout as a file.
namespace syncline::cli {

/// Throws UsageError unless the name ends with .md, .html or .pdf.
void require_sheet_name(const std::string& path);

/// Writes a text of Markdown, whose links are relative to `folder`, in the format that the name of `path` ends with.
/// HTML, with its pictures inside, is made by pandoc; PDF from that HTML by Chromium. Throws OutputError, saying what
/// to install, if one of them is missing or fails, and Interrupted after Ctrl-C. `path` is then as it was.
void write_sheet(const std::string& markdown, const std::string& title, const std::filesystem::path& folder,
                 const std::string& path);

}  // namespace syncline::cli
