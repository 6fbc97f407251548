#include "sim/replay/link_images.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "sim/replay/middle.hpp"

namespace syncline {

namespace {

class ImageSearch {
public:
    ImageSearch(const Wires& wires, const PairSet& pairs, std::uint32_t block, std::uint32_t period)
        : wires_(wires),
          pairs_(pairs),
          block_(block),
          period_(period),
          after_(wires.links(), no_image),
          before_(wires.links(), no_image) {}

    std::optional<LinkImages> run(bool average) {
        if (average && !pass_middle()) return std::nullopt;
        const bool found = std::ranges::all_of(pairs_, [&](const Pair& pair) { return follow(pair); }) && choose() &&
                           std::ranges::none_of(pairs_, [&](const Pair& pair) { return revisits(pair); });
        return found ? std::optional(std::move(result_)) : std::nullopt;
    }

private:
    using Route = std::vector<std::uint32_t>;

    std::uint32_t images() const { return block_ / period_; }
    Pair moved(const Pair& pair, std::uint32_t times) const {
        return {pair.channel, shifted(pair.from, block_, times * period_), shifted(pair.to, block_, times * period_)};
    }

    /// Calls `use` with the route of each image.
    void each_route(const Pair& pair, const std::function<void(const Route&)>& use) const {
        for (std::uint32_t image = 0; image < images(); ++image) {
            const Pair of = moved(pair, image);
            use(wires_.route_numbers(of.from, of.to, of.channel));
        }
    }

    /// Makes routes count without the links in the middle. Returns false if one of these may restrict messages.
    bool pass_middle() {
        Middle middle(wires_);
        for (const Pair& pair : pairs_) each_route(pair, [&](const Route& route) { middle.add(route); });
        if (!middle.restricts_nothing()) return false;
        passed_ = middle.links();
        for (const Pair& pair : pairs_)
            if (!wires_.inside_node(pair.from, pair.to)) pass(pair, result_.passed[{pair.from, pair.to}]);
        return true;
    }

    void pass(const Pair& pair, Wires::PassedLinks& way) {
        double sum_s = 0, least_s = std::numeric_limits<double>::infinity(), most_s = 0;
        each_route(pair, [&](const Route& route) {
            double latency_s = 0;
            for (const std::uint32_t link : route) {
                if (!passed_[link]) continue;
                latency_s += wires_.link_latency_s(link);
                way.links.push_back(link);
            }
            sum_s += latency_s;
            least_s = std::min(least_s, latency_s);
            most_s = std::max(most_s, latency_s);
        });
        way.latency_s = wires_.latency_travels() ? sum_s / images() : most_s;
        result_.spread_s = std::max(result_.spread_s, most_s - least_s);
    }

    /// Returns the links of the route that count.
    Route route_of(const Pair& pair) const {
        Route route = wires_.route_numbers(pair.from, pair.to, pair.channel);
        if (!passed_.empty()) std::erase_if(route, [this](std::uint32_t link) { return passed_[link]; });
        return route;
    }

    bool alike(std::uint32_t a, std::uint32_t b) const {
        return wires_.bandwidth_Bps(a) == wires_.bandwidth_Bps(b) &&
               wires_.link_latency_s(a) == wires_.link_latency_s(b);
    }

    /// Moves the route of a pair through all its images. Returns false if a link has no image.
    bool follow(const Pair& pair) {
        Route route = route_of(pair);
        for (std::uint32_t image = 1; image <= images(); ++image) {
            const Pair to = moved(pair, image);
            Route next = route_of(to);
            if (next.size() != route.size() ||
                wires_.inside_node(to.from, to.to) != wires_.inside_node(pair.from, pair.to))
                return false;
            for (std::size_t i = 0; i < route.size(); ++i)
                if (!learn_image(after_[route[i]], next[i]) || !learn_image(before_[next[i]], route[i]) ||
                    !alike(route[i], next[i]))
                    return false;
            route = std::move(next);
        }
        return true;
    }

    /// Chooses the image of each link that is simulated.
    bool choose() {
        std::vector<std::uint32_t>& chosen = result_.links;
        chosen.assign(wires_.links(), Wires::no_link);
        for (std::uint32_t link = 0; link < chosen.size(); ++link) {
            if (after_[link] == no_image || chosen[link] != Wires::no_link) continue;
            std::uint32_t size = 0;
            for (std::uint32_t at = link; chosen[at] == Wires::no_link; at = after_[at], ++size) chosen[at] = link;
            if (images() % size != 0) return false;
        }
        for (std::uint32_t link = 0; link < passed_.size(); ++link)
            if (passed_[link]) chosen[link] = Wires::passed;
        return true;
    }

    /// Returns true if a route has several images of one link.
    bool revisits(const Pair& pair) const {
        Route route = route_of(pair);
        for (std::uint32_t& link : route) link = result_.links[link];
        std::sort(route.begin(), route.end());
        return std::adjacent_find(route.begin(), route.end()) != route.end();
    }

    const Wires& wires_;
    const PairSet& pairs_;
    const std::uint32_t block_, period_;
    std::vector<bool> passed_;                   // by link; empty: none
    std::vector<std::uint32_t> after_, before_;  // by link: its image, and the link of which it is the image
    LinkImages result_;
};

}  // namespace

std::optional<LinkImages> find_link_images(const Wires& wires, const PairSet& pairs, std::uint32_t block,
                                           std::uint32_t period, bool average) {
    return ImageSearch(wires, pairs, block, period).run(average);
}

}  // namespace syncline
