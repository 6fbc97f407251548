#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include "sim/query/derived.hpp"
#include "sim/query/row_text.hpp"
#include "sim/store/store.hpp"
#include "tests/fuzz/query.hpp"

namespace syncline::fuzz {

/// Returns the bytes of a correct results.db with three points.
inline const std::string& correct_store() {
    static const std::string bytes = [] {
        const test::Scratch directory;
        {
            batch::Store store(directory.path, batch::Store::Mode::create);
            test::note(store, 3);
            test::finish_all(store);
        }
        std::ifstream file(directory.path / "results.db", std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    }();
    return bytes;
}

/// Reads all of a results.db that `syncline results` can show.
inline void show(const std::filesystem::path& directory) {
    reading([&] {
        batch::Store store(directory, batch::Store::Mode::read);
        batch::Table table(store);
        querying("", [&] { batch::to_table(table.select({})); });
        querying("", [&] { batch::to_csv(table.select({{}, {}, {}, table.columns()})); });
        batch::point_lines(store);
    });
}

}  // namespace syncline::fuzz
