#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "sim/store/store.hpp"

/// Small stores, made without any simulation.
namespace syncline::test {

namespace fs = std::filesystem;

/// A temporary directory, removed at the end.
struct Scratch {
    Scratch() {
        std::string name = (fs::temp_directory_path() / "syncline-store-XXXXXX").string();
        path = mkdtemp(name.data());
    }
    ~Scratch() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    fs::path path;
};

inline void write_bytes(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
}

/// Returns point `number` with as many ranks; the platform is the same for all points.
inline config::StudyPoint point(int number) {
    config::StudyPoint point;
    point.number = number;
    point.settings = {{"training.ranks", std::to_string(number)}};
    point.resolved.sections = {{"platform", "platform: {devices: 4}\n"},
                               {"training", "training: {ranks: " + std::to_string(number) + "}\n"}};
    return point;
}

inline void note(batch::Store& store, int points) {
    store.begin_study("s");
    for (int i = 1; i <= points; ++i) store.add(point(i));
    store.end_study();
}

/// The result of each run is its scenario's length.
inline void finish_all(batch::Store& store) {
    for (const std::string& id : store.to_run("s", false))
        store.finish(
            {{id, batch::Status::done, "{\"length\":" + std::to_string(store.planned(id).scenario.size()) + "}", 0.1}});
}

}  // namespace syncline::test
