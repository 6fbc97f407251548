#include <algorithm>

#include "tests/fuzz/store_file.hpp"
#include "tests/fuzz/targets.hpp"

/// A correct results.db with some bytes replaced: for each run of bytes its place (two bytes), its length, the bytes.
void syncline::fuzz::results(std::string_view input) {
    std::string bytes = correct_store();
    while (input.size() > 3) {
        const auto at = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(input[i])); };
        const std::size_t place = (at(0) * 256 + at(1)) % bytes.size();
        const std::string_view changed = input.substr(3, std::min(at(2), bytes.size() - place));
        bytes.replace(place, changed.size(), changed);
        input.remove_prefix(3 + changed.size());
    }
    const test::Scratch directory;
    test::write_bytes(directory.path / "results.db", bytes);
    show(directory.path);
}
