#include "sim/batch/listing.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace syncline::batch {

namespace {

std::vector<std::string> keys_of(const std::vector<PlannedStudy>& studies) {
    std::vector<std::string> keys;
    for (const PlannedStudy& planned : studies)
        for (const std::string& key : planned.study.keys())
            if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    return keys;
}

std::map<std::string, std::string> statuses_in(const std::filesystem::path& directory) {
    std::map<std::string, std::string> statuses;
    if (!Store::exists(directory)) return statuses;
    Store store(directory, Store::Mode::read);
    Statement runs = store.database().prepare("SELECT run_id, status FROM runs");
    while (runs.step()) statuses.emplace(runs.text(0), runs.text(1));
    return statuses;
}

Value value_of(const std::vector<config::Setting>& settings, const std::string& key) {
    for (const config::Setting& one : settings)
        if (one.key == key) return one.value;
    return {};
}

}  // namespace

Rows list_points(const std::vector<PlannedStudy>& studies, const Shard& shard, const std::filesystem::path& directory) {
    const std::vector<std::string> keys = keys_of(studies);
    const std::map<std::string, std::string> statuses = statuses_in(directory);
    Rows rows{{"study", "point"}, {}};
    rows.columns.insert(rows.columns.end(), keys.begin(), keys.end());
    for (const char* column : {"repeat", "seed", "run_id", "status"}) rows.columns.emplace_back(column);
    const bool all_fit = std::all_of(studies.begin(), studies.end(), [](const PlannedStudy& planned) {
        return std::all_of(planned.points.begin(), planned.points.end(),
                           [](const config::StudyPoint& point) { return point.misfit.empty(); });
    });
    if (!all_fit) rows.columns.emplace_back("message");
    for (const PlannedStudy& planned : studies) {
        for (const config::StudyPoint& point : planned.points) {
            if (!shard.has(point.number)) continue;
            std::vector<Value> row{planned.study.name(), point.number};
            for (const std::string& key : keys) row.push_back(value_of(point.settings, key));
            const std::string id = run_id(point);
            const auto known = statuses.find(id);
            const std::string status = !point.misfit.empty()     ? "misfit"
                                       : known == statuses.end() ? "pending"
                                                                 : known->second;
            row.insert(row.end(), {point.repeat, std::to_string(point.seed), id, status});
            if (!all_fit) row.push_back(point.misfit.empty() ? Value{} : Value(point.misfit));
            rows.rows.push_back(std::move(row));
        }
    }
    return rows;
}

std::vector<Failure> first_failures(Store& store, const std::string& study, std::size_t most) {
    std::vector<Failure> failures;
    Statement failed = store.database().prepare(
        "SELECT number, settings, message FROM points JOIN runs USING (run_id) WHERE study = ? AND status = 'failed' "
        "ORDER BY number, repeat LIMIT ?");
    failed.bind({study, static_cast<std::int64_t>(most)});
    while (failed.step()) {
        failures.push_back({failed.integer(0), shown(settings_of(store, failed.text(1))), failed.text(2)});
    }
    return failures;
}

}  // namespace syncline::batch
