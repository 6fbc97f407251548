#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// The folders in which platforms, workloads, topologies and scenarios are found. Only this file knows where they are.
namespace syncline::config {

/// Returns the folders that have `platforms/`, `workloads/`, `topologies/` or `scenarios/`, in the order in which they
/// are searched: the working directory (""), those of $SYNCLINE_DATA (separated by ':'), the installed ones
/// (`../share/syncline`, relative to the program), and the clone in which the program was built. A file in an earlier
/// folder hides those of the same name in later ones. No folder is returned twice.
std::vector<std::filesystem::path> data_roots();

/// Returns the entries of $SYNCLINE_DATA that are no folders with any of these.
std::vector<std::string> missing_data_roots();

/// Returns the first folder `name` (`scenarios/lessons`) in data_roots(); `name` itself if there is none.
std::filesystem::path data_folder(const std::string& name);

}  // namespace syncline::config
