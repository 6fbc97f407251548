#include <algorithm>

#include "tests/fuzz/store_file.hpp"
#include "tests/fuzz/targets.hpp"

/// Texts in an otherwise correct results.db, with correct checksums: the settings of its points in the first line, the
/// results of its runs after it.
void syncline::fuzz::result_texts(std::string_view input) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const std::string settings(input.substr(0, end)), result(input.substr(std::min(end + 1, input.size())));
    const test::Scratch directory;
    test::write_bytes(directory.path / "results.db", correct_store());
    {
        batch::Store store(directory.path, batch::Store::Mode::change);
        batch::Database& database = store.database();
        database.prepare("UPDATE points SET settings = ?").bind({settings}).step();
        database.prepare("UPDATE runs SET result = ?").bind({result}).step();
        database.run(
            "UPDATE points SET checksum = hash(study, number || '', repeat || '', settings, run_id);"
            "UPDATE runs SET checksum = hash(run_id, version, seed || '', platform, workload, training, collective, "
            "status, message, result)");
    }
    show(directory.path);
}
