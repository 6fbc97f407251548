#include "sim/study/study.hpp"

#include "sim/store/store.hpp"
#include "tests/fuzz/query.hpp"
#include "tests/fuzz/targets.hpp"

/// The first points of a study.
void syncline::fuzz::study(std::string_view input) {
    constexpr int most_points = 3;
    struct Enough {};
    try {
        reading([&] {
            const config::Study read(file_with("study.yaml", input), {}, {});
            batch::Table table(read.keys());
            int points = 0;
            const auto wanted = [&](const std::vector<config::Setting>& settings) {
                if (++points > most_points) throw Enough();
                table.set(settings);
                for (const auto* conditions : {&read.exclude(), &read.include()})
                    for (const config::Condition& condition : *conditions)
                        querying(condition.text, [&] { table.holds(condition.text); });
                return true;
            };
            read.each(wanted, [](const config::StudyPoint& point, const config::Variant*) { batch::run_id(point); });
        });
    } catch (const Enough&) {
    }
}
