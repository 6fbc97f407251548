#include "sim/document/data_roots.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <system_error>

namespace syncline::config {

namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& folder) {
    std::error_code error;
    return fs::is_directory(folder, error);
}

fs::path folder_of_program() {
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error).parent_path();
}

/// Returns the clone in which the program was built, for example in its folder build/release; empty if there is none.
fs::path clone_of_program() {
    fs::path folder = folder_of_program();
    std::error_code error;
    constexpr int highest = 4;
    for (int level = 0; level < highest && folder.has_relative_path(); ++level, folder = folder.parent_path())
        if (is_folder(folder / "scenarios") && is_folder(folder / "sim") &&
            fs::exists(folder / "CMakeLists.txt", error))
            return folder;
    return {};
}

/// Returns the entries of $SYNCLINE_DATA without the empty ones.
std::vector<std::string> named_roots() {
    const char* const text = std::getenv("SYNCLINE_DATA");
    std::istringstream list(text == nullptr ? "" : text);
    std::vector<std::string> roots;
    for (std::string root; std::getline(list, root, ':');)
        if (!root.empty()) roots.push_back(root);
    return roots;
}

}  // namespace

std::vector<fs::path> data_roots() {
    std::vector<fs::path> roots{""};
    const auto add = [&roots](const fs::path& folder) {
        std::error_code error;
        const auto same = [&](const fs::path& root) {
            return fs::equivalent(folder, root.empty() ? "." : root, error);
        };
        if (is_folder(folder) && std::none_of(roots.begin(), roots.end(), same)) roots.push_back(folder);
    };
    for (const std::string& root : named_roots()) add(root);
    static const fs::path installed = folder_of_program().parent_path() / "share" / "syncline";
    static const fs::path clone = clone_of_program();
    add(installed);
    add(clone);
    return roots;
}

std::vector<std::string> missing_data_roots() {
    std::vector<std::string> roots = named_roots();
    std::erase_if(roots, [](const fs::path& root) {
        return is_folder(root / "platforms") || is_folder(root / "workloads") || is_folder(root / "topologies") ||
               is_folder(root / "scenarios");
    });
    return roots;
}

fs::path data_folder(const std::string& name) {
    for (const fs::path& root : data_roots())
        if (is_folder(root / name)) return root / name;
    return name;
}

}  // namespace syncline::config
