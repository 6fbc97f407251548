#include "sim/replay/link_images.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "sim/replay/middle.hpp"

namespace syncline {

namespace {

class ImageSearch {
public:
    ImageSearch(const Wires& wires, const PairSet& pairs, const Rotations& rotations)
        : wires_(wires),
          pairs_(pairs),
          rotations_(rotations),
          after_(rotations.all().size(), std::vector<std::uint32_t>(wires.links(), no_image)),
          before_(after_) {}

    std::optional<LinkImages> run(bool average) {
        if (average && !pass_middle()) return std::nullopt;
        const bool found = std::ranges::all_of(pairs_, [&](const Pair& pair) { return follow(pair); }) && choose();
        return found ? std::optional(std::move(result_)) : std::nullopt;
    }

private:
    using Route = std::vector<std::uint32_t>;

    std::uint32_t images() const { return rotations_.images(); }
    Pair image_of(const Pair& pair, std::uint32_t number) const {
        return {pair.channel, rotations_.image(pair.from, number), rotations_.image(pair.to, number)};
    }

    /// Calls `use` with the route of each image.
    void each_route(const Pair& pair, const std::function<void(const Route&)>& use) const {
        for (std::uint32_t image = 0; image < images(); ++image) {
            const Pair of = image_of(pair, image);
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

    /// Learns the links to which the rotations take those of the routes of all images. Returns false if a link has no
    /// image.
    bool follow(const Pair& pair) {
        routes_.clear();
        std::size_t hops = 0;
        for (std::uint32_t number = 0; number < images(); ++number) {
            const Pair image = image_of(pair, number);
            const Route route = route_of(image);
            if (number == 0) hops = route.size();
            if (route.size() != hops ||
                wires_.inside_node(image.from, image.to) != wires_.inside_node(pair.from, pair.to))
                return false;
            routes_.insert(routes_.end(), route.begin(), route.end());
        }
        const auto route = [&](std::uint32_t number) { return std::span(routes_).subspan(number * hops, hops); };
        for (std::uint32_t number = 0; number < images(); ++number)
            for (std::size_t shift = 0; shift < after_.size(); ++shift)
                if (!learn(shift, route(number), route(rotations_.next(number, shift)))) return false;
        return true;
    }

    bool learn(std::size_t shift, std::span<const std::uint32_t> route, std::span<const std::uint32_t> next) {
        for (std::size_t i = 0; i < route.size(); ++i)
            if (!learn_image(after_[shift][route[i]], next[i]) || !learn_image(before_[shift][next[i]], route[i]) ||
                !alike(route[i], next[i]))
                return false;
        return true;
    }

    /// Chooses the image of each link that is simulated, the first of its orbit.
    bool choose() {
        std::vector<std::uint32_t>& chosen = result_.links;
        chosen.assign(wires_.links(), Wires::no_link);
        for (std::uint32_t link = 0; link < chosen.size(); ++link) {
            if (after_.front()[link] == no_image || chosen[link] != Wires::no_link) continue;
            std::vector<std::uint32_t> orbit{link};
            chosen[link] = link;
            for (std::size_t at = 0; at < orbit.size(); ++at)
                for (const std::vector<std::uint32_t>& after : after_)
                    if (const std::uint32_t next = after[orbit[at]]; chosen[next] == Wires::no_link) {
                        chosen[next] = link;
                        orbit.push_back(next);
                    }
            if (images() % orbit.size() != 0) return false;
        }
        for (std::uint32_t link = 0; link < passed_.size(); ++link)
            if (passed_[link]) chosen[link] = Wires::passed;
        return true;
    }

    const Wires& wires_;
    const PairSet& pairs_;
    const Rotations& rotations_;
    std::vector<bool> passed_;  // by link; empty: none
    Route routes_;              // scratch: of all images of a pair
    // By shift and link: its image, and the link of which it is the image.
    std::vector<std::vector<std::uint32_t>> after_, before_;
    LinkImages result_;
};

}  // namespace

std::optional<LinkImages> find_link_images(const Wires& wires, const PairSet& pairs, const Rotations& rotations,
                                           bool average) {
    return ImageSearch(wires, pairs, rotations).run(average);
}

}  // namespace syncline
