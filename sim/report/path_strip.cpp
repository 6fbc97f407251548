#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "sim/report/parts.hpp"

namespace syncline {

namespace {

/// The window in cells of equal length, each with the name that has most of its time.
class Strip {
public:
    explicit Strip(double window_s) : cell_s_(window_s / cells) {}

    void add(const std::string& name, double start_s, double end_s) {
        const auto cell_of = [this](double time_s) {
            return std::clamp<std::int64_t>(static_cast<std::int64_t>(time_s / cell_s_), 0, cells - 1);
        };
        for (std::int64_t cell = cell_of(start_s); cell <= cell_of(end_s); ++cell) {
            const double from = std::max(start_s, static_cast<double>(cell) * cell_s_);
            const double to = std::min(end_s, static_cast<double>(cell + 1) * cell_s_);
            if (to > from) times_[static_cast<std::size_t>(cell)][name] += to - from;
        }
    }

    /// Returns [{name, start_s, end_s}, …], with neighbours of the same name as one.
    Json parts() const {
        Json list = Json::array();
        for (std::size_t cell = 0; cell < cells; ++cell) {
            const auto& names = times_[cell];
            const auto most = std::max_element(names.begin(), names.end(),
                                               [](const auto& a, const auto& b) { return a.second < b.second; });
            const std::string name = most == names.end() ? "" : most->first;
            const double end_s = static_cast<double>(cell + 1) * cell_s_;
            if (!list.empty() && list.back()["name"] == name)
                list.back()["end_s"] = end_s;
            else
                list.push_back({{"name", name}, {"start_s", static_cast<double>(cell) * cell_s_}, {"end_s", end_s}});
        }
        return list;
    }

    /// Returns [{name: share, …}, …] for equal parts of the window, of the time that the path has there.
    Json shares() const {
        constexpr std::size_t bins = 100, each = cells / bins;
        Json list = Json::array();
        for (std::size_t bin = 0; bin < bins; ++bin) {
            std::map<std::string, double> times;
            double sum_s = 0;
            for (std::size_t cell = bin * each; cell < (bin + 1) * each; ++cell)
                for (const auto& [name, time_s] : times_[cell]) {
                    times[name] += time_s;
                    sum_s += time_s;
                }
            Json shares = Json::object();
            for (const auto& [name, time_s] : times) shares[name] = std::round(1e4 * time_s / sum_s) / 1e4;
            list.push_back(std::move(shares));
        }
        return list;
    }

private:
    static constexpr std::int64_t cells = 1000;  // as many as a page has pixels
    double cell_s_;
    std::map<std::string, double> times_[cells];
};

/// Returns where a segment is: its stage if there are several, otherwise its rank or server. Of a message, the end.
std::string place_of(const PathPiece& piece, const Lowered* training) {
    constexpr std::string_view arrow = " -> ", rank = "rank ";
    const auto at = piece.where.rfind(arrow);
    std::string place = at == std::string::npos ? piece.where : piece.where.substr(at + arrow.size());
    if (training == nullptr || training->arrangement.stages == 1 || !place.starts_with(rank)) return place;
    return "stage " + std::to_string(std::stoul(place.substr(rank.size())) / training->arrangement.stage_ranks);
}

}  // namespace

Json page_path(const Explanation& explanation, const Lowered* training) {
    if (explanation.path.empty() || explanation.window_s <= 0) return nullptr;
    Strip what(explanation.window_s), where(explanation.window_s);
    std::map<std::string, double> places;
    for (const PathPiece& piece : explanation.path) {
        what.add(piece.kind == PathKind::waiting ? "waiting" : piece.phase, piece.start_s, piece.end_s);
        const std::string place = place_of(piece, training);
        where.add(place, piece.start_s, piece.end_s);
        places[place] += piece.end_s - piece.start_s;
    }
    Json shares = Json::array();
    for (const auto& [place, seconds] : places)
        shares.push_back({{"name", place}, {"seconds", seconds}, {"share", seconds / explanation.window_s}});
    std::stable_sort(shares.begin(), shares.end(), [](const Json& a, const Json& b) {
        return a["seconds"].get<double>() > b["seconds"].get<double>();
    });
    // Nobody sees more changes than that, and a path with more places is everywhere.
    constexpr std::size_t most_parts = 200, most_places = 12;
    constexpr double least_share = 0.2;
    Json parts = what.parts(), wheres = where.parts();
    if (parts.size() > most_parts) parts = Json::array();
    if (shares.front()["share"].get<double>() < least_share) wheres = Json::array();
    if (shares.size() > most_places) shares.erase(shares.begin() + most_places, shares.end());
    return {{"what", std::move(parts)},
            {"shares", what.shares()},
            {"where", std::move(wheres)},
            {"places", std::move(shares)}};
}

}  // namespace syncline
