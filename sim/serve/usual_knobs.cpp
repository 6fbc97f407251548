#include "sim/serve/usual_knobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "sim/collective/algorithm.hpp"
#include "sim/document/key_path.hpp"
#include "sim/document/yaml_text.hpp"
#include "sim/serve/knob_values.hpp"

namespace syncline::serve {

namespace {

using config::Node;
using Texts = std::vector<std::string>;

/// The largest number of ranks of which every message is simulated in a blink.
constexpr std::int64_t small_group = 32;

class Chooser {
public:
    Chooser(const config::Variant& variant, const Node& document)
        : variant_(variant), plan_(variant.plan), document_(document) {}

    std::vector<UsualKnob> chosen() {
        if (variant_.collective) {
            exchange();
        } else if (variant_.is_training() && !variant_.open.automatic()) {
            training();
        } else {
            bandwidth();
            latency();
        }
        topology();
        if (knobs_.size() > most_usual_knobs) knobs_.resize(most_usual_knobs);
        return std::move(knobs_);
    }

private:
    const config::Variant& variant_;
    const Plan& plan_;
    const Node& document_;
    std::vector<UsualKnob> knobs_;

    const Node* at(const std::string& path) const { return written_at(document_, path); }
    bool is_written(const std::string& path) const { return at(path) != nullptr; }

    void add(std::string key, Texts values, std::string present = "") {
        if (values.size() > 1) knobs_.push_back({std::move(key), std::move(values), std::move(present)});
    }

    void exchange() {
        const CollectivePlan& plan = *variant_.collective;
        ranks("collective.ranks", plan.ranks, inner_size(), plan.server_nodes(), [](std::int64_t) { return true; });
        if (plan.sweep.empty()) bytes("collective.bytes");
        bandwidth();
        algorithms("collective.algorithm", config_algorithms(plan.algorithm.operation), plan.algorithm.name);
        if (plan.served()) numbers("collective.servers", plan.servers, {1, 2, 4, 8}, largest_servers(plan.ranks));
        latency();
    }

    void training() {
        const std::int64_t each = plan_.ranks / std::max<std::int64_t>(plan_.replicas(), 1);
        const auto divides_batch = [&](std::int64_t ranks) {
            if (ranks < least_ranks()) return false;
            return variant_.open.batch == 0 || plan_.batch_shares == BatchShares::speed ||
                   batch_fits(variant_.open.batch, ranks / each);
        };
        // The number of replicas follows from that of the ranks, unless it is written, too.
        if (!is_written("training.parallelism.data"))
            ranks("training.ranks", plan_.ranks, each * plan_.parallelism.experts.ranks, plan_.server_nodes(),
                  divides_batch);
        bandwidth();
        parallelism();
        batch();
        servers();
        latency();
        if (exchanges_gradients() && plan_.exchange == ExchangeKind::allreduce && !sharded() &&
            plan_.compression.kind != Compression::Kind::top_k && !is_written("training.msccl"))
            algorithms("training.algorithm", algorithm_names("allreduce"), plan_.algorithm.name);
        sharding();
        overlap();
        schedule();
        buckets();
        // Totals that a workload says are those of its own sequences.
        if (is_written("workload.sequence") && !is_written("workload.published"))
            multiples("workload.sequence", whole(*at("workload.sequence")), {0.5, 1, 2, 4});
    }

    /// Returns the smallest number of ranks among which are the stragglers, and more than the backup workers.
    std::int64_t least_ranks() const {
        const Stragglers& slow = plan_.noise.stragglers;
        std::int64_t least = std::max(slow.count, plan_.served() ? plan_.servers.backup_workers + 1 : 1);
        for (const std::int64_t rank : slow.ranks) least = std::max(least, rank + 1);
        return least;
    }

    bool sharded() const { return plan_.parallelism.sharding != Sharding::none; }
    bool exchanges_gradients() const { return plan_.replicas() > 1 || plan_.served(); }

    static std::int64_t whole(const Node& node) {
        const auto number = number_of(node.scalar);
        return number && *number >= 1 && *number < 1e15 ? static_cast<std::int64_t>(*number) : 0;
    }

    /// Returns the number of devices of the platform if the scenario says it; 0: as many as needed.
    std::int64_t devices(std::int64_t server_nodes) const {
        const Cluster& cluster = variant_.cluster;
        bool sized = is_written("platform.nodes") || cluster.native || !cluster.others.empty();
        for (const char* key : {"hosts", "depth", "ports", "hosts_per_router", "dimensions", "down", "edges", "file"})
            sized = sized || is_written(fmt::format("platform.fabric.{}", key));
        const std::vector<HierarchyLevel>& levels = cluster.fabric.topology.levels;
        sized = sized || (!levels.empty() && levels.back().size > 0);
        return sized ? (cluster.nodes - server_nodes) * cluster.node.devices : 0;
    }

    /// Returns the number of ranks in a group of the overlay's hierarchy; 1 without one.
    std::int64_t inner_size() const {
        const auto& overlay = variant_.collective->algorithm.overlay;
        std::int64_t size = 1;
        if (overlay)
            for (const HierarchyLevel& level : overlay->levels) size *= std::max<std::int64_t>(level.size, 1);
        return size;
    }

    /// Adds the knob of the number of ranks: `unit` times powers of two, half and double the present number.
    void ranks(const std::string& key, std::int64_t present, std::int64_t unit, std::int64_t server_nodes,
               const std::function<bool(std::int64_t)>& fits) {
        const std::int64_t most = devices(server_nodes), last = std::max(small_group, 2 * present);
        std::set<std::int64_t> numbers{present};
        if (present % 2 == 0) numbers.insert(present / 2);
        numbers.insert(2 * present);
        for (std::int64_t number = unit; number <= last; number *= 2)
            if (number >= 2 && 8 * number >= present) numbers.insert(number);
        Texts texts;
        for (const std::int64_t number : numbers)
            if (number == present || (number % unit == 0 && (most == 0 || number <= most) && fits(number)))
                texts.push_back(fmt::to_string(number));
        add(key, std::move(texts));
    }

    /// Adds a knob of whole numbers, those that `fits` accepts.
    void numbers(
        const std::string& key, std::int64_t present, std::set<std::int64_t> some, std::int64_t most,
        const std::function<bool(std::int64_t)>& fits = [](std::int64_t) { return true; }) {
        if (present < 1) return;
        some.insert(present);
        Texts texts;
        for (const std::int64_t number : some)
            if (number == present || (number >= 1 && number <= most && fits(number)))
                texts.push_back(fmt::to_string(number));
        add(key, std::move(texts));
    }

    /// Adds a knob of the whole numbers among multiples of the present one.
    void multiples(
        const std::string& key, std::int64_t present, const std::vector<double>& factors,
        const std::function<bool(std::int64_t)>& fits = [](std::int64_t) { return true; }) {
        std::set<std::int64_t> some;
        for (const double factor : factors) {
            const double number = factor * static_cast<double>(present);
            if (number == static_cast<double>(static_cast<std::int64_t>(number)))
                some.insert(static_cast<std::int64_t>(number));
        }
        numbers(key, present, std::move(some), std::int64_t{1} << 24, fits);
    }

    /// Adds a knob of multiples of a quantity that is written.
    void sizes(const std::string& key, const std::vector<double>& factors, Texts values = {}) {
        const Node* const present = at(key);
        if (present == nullptr) return;
        const std::string text = present->kind == Node::Kind::scalar ? present->scalar : flow_text(*present);
        for (const double factor : factors)
            if (const auto value = factor == 1 ? text : times(text, factor)) values.push_back(*value);
        add(key, std::move(values));
    }

    /// Adds the knob of a size, of whole bytes: powers of ten, or of two, times the present one.
    void bytes(const std::string& key) {
        const Node* const present = at(key);
        if (present == nullptr || present->kind != Node::Kind::scalar) return;
        const bool binary = present->scalar.find("iB") != std::string::npos;
        Texts texts;
        for (const double factor : binary ? std::array{1. / 256, 1. / 16, 1., 16.} : std::array{0.01, 0.1, 1., 10.}) {
            const auto value = factor == 1 ? std::optional(present->scalar) : times(present->scalar, factor);
            const double number = value ? number_of(*value).value_or(0) : 0;
            if (number >= 1 && number == std::floor(number)) texts.push_back(*value);
        }
        add(key, std::move(texts));
    }

    void bandwidth() {
        if (!variant_.cluster.native) sizes("platform.fabric.bandwidth", {0.5, 1, 2, 4, 8});
    }

    void latency() {
        if (variant_.cluster.native) return;
        const Node* const present = at("platform.fabric.latency");
        if (present == nullptr) return;
        if (present->scalar == "none")
            add("platform.fabric.latency", {"none", "1 us", "10 us", "100 us", "1 ms"});
        else
            sizes("platform.fabric.latency", {0.5, 1, 2, 10}, {"none"});
    }

    /// Adds the knob of the algorithm: those that need nothing else, and the present one.
    void algorithms(const std::string& key, const Texts& known, const std::string& present) {
        static const std::set<std::string> self_sufficient{"ring",          "recursive-doubling", "rabenseifner",
                                                           "binomial-tree", "double-binary-tree", "bruck",
                                                           "direct",        "pairwise",           "recursive-halving",
                                                           "pat",           "scatter-allgather",  "pipelined-tree",
                                                           "dissemination"};
        Texts names;
        for (const std::string& name : known)
            if (name == present || self_sufficient.contains(name)) names.push_back(name);
        // A name cannot stand beside what the present one alone takes.
        const std::string section = key.substr(0, key.find('.'));
        for (const char* other : {"overlay", "segment", "peers", "channels", "contributors", "receivers", "round"})
            if (is_written(section + "." + other)) return;
        add(key, std::move(names));
    }

    static Texts config_algorithms(const std::string& operation) {
        return operation == "push" || operation == "pull" ? Texts{} : algorithm_names(operation);
    }

    /// Returns whether a batch of all ranks can be divided among replicas, and into their microbatches.
    bool batch_fits(std::int64_t batch, std::int64_t replicas) const {
        if (replicas < 1 || batch % replicas != 0) return false;
        return replica_batch_fits(batch / replicas);
    }

    bool replica_batch_fits(std::int64_t batch) const {
        const Pipeline& pipeline = plan_.parallelism.pipeline;
        const std::int64_t size = variant_.open.micro_batch_size;
        const std::int64_t parts = size > 0 ? batch / size : std::max<std::int64_t>(pipeline.micro_batches, 1);
        return batch % (size > 0 ? size : parts) == 0 && parts >= pipeline.fewest_micro_batches() &&
               (pipeline.schedule != PipelineSchedule::interleaved || parts % pipeline.stages == 0);
    }

    void batch() {
        const std::vector<double> factors{0.25, 0.5, 1, 2, 4};
        if (variant_.open.batch > 0)
            multiples("training.batch", variant_.open.batch, factors, [&](std::int64_t batch) {
                return plan_.batch_shares == BatchShares::speed || batch_fits(batch, plan_.replicas());
            });
        else
            multiples("training.batch_per_rank", plan_.batch_per_rank, factors,
                      [&](std::int64_t batch) { return replica_batch_fits(batch); });
    }

    std::int64_t largest_servers(std::int64_t ranks) const {
        const std::int64_t all = devices(0);
        if (all == 0) return small_group;
        return all / variant_.cluster.node.devices -
               (ranks + variant_.cluster.node.devices - 1) / variant_.cluster.node.devices;
    }

    void servers() {
        if (!plan_.served()) return;
        numbers("training.servers.count", plan_.servers.count, {1, 2, 4, 8},
                plan_.servers.colocated() ? plan_.ranks : largest_servers(plan_.ranks));
        add("training.servers.placement", {"round-robin", "greedy-bytes", "sliced"});
    }

    void overlap() {
        if (!exchanges_gradients()) return;
        const bool any = plan_.parallelism.whole_model() && !sharded() && !plan_.relaxed() &&
                         plan_.compression.kind == Compression::Kind::none && plan_.offload == Offload::none;
        add("training.overlap", any ? Texts{"none", "wait-free", "across-iterations"} : Texts{"none", "wait-free"});
    }

    /// Returns whether keys of `parallelism` can be set one by one.
    bool has_parts() const {
        const Node* const parts = at("training.parallelism");
        return (parts == nullptr || parts->kind == Node::Kind::mapping) && !is_written("training.parallelism.data") &&
               !is_written("training.parallelism.layers");
    }

    /// Returns whether the ranks can be divided into replicas of this many, whose batches are whole.
    bool divides(std::int64_t replica) const {
        const std::int64_t experts = plan_.parallelism.experts.ranks;
        if (plan_.ranks % replica != 0 || plan_.ranks / replica % experts != 0) return false;
        return variant_.open.batch == 0 || batch_fits(variant_.open.batch, plan_.ranks / replica);
    }

    void parallelism() {
        if (!has_parts() || plan_.served() || plan_.exchange != ExchangeKind::allreduce) return;
        const Layout& layout = plan_.parallelism.layout;
        const Pipeline& pipeline = plan_.parallelism.pipeline;
        const std::set<std::int64_t> powers{1, 2, 4, 8, 16};
        const auto layers = static_cast<std::int64_t>(variant_.model.layers.size());
        if (layout.rows > 1 || is_written("training.parallelism.model"))
            numbers("training.parallelism.model", layout.rows, powers, std::max<std::int64_t>(8, layout.rows),
                    [&](std::int64_t rows) {
                        return (rows > 1 || !plan_.parallelism.sequence) &&
                               divides(rows * layout.cells() * pipeline.stages);
                    });
        const Node* const stages = at("training.parallelism.pipeline");
        if (pipeline.stages > 1 && !pipeline.turns() && !is_written("training.parallelism.pipeline.layers"))
            numbers(stages != nullptr && stages->kind == Node::Kind::scalar ? "training.parallelism.pipeline"
                                                                            : "training.parallelism.pipeline.stages",
                    pipeline.stages, powers, layers / std::max<std::int64_t>(pipeline.virtual_stages, 1),
                    [&](std::int64_t number) {
                        return (number > 1 || pipeline.virtual_stages == 1) &&
                               (pipeline.virtual_stages == 1 || plan_.batch_per_rank % number == 0) &&
                               divides(number * layout.replica());
                    });
        if (is_written("training.parallelism.pipeline.micro_batches"))
            multiples("training.parallelism.pipeline.micro_batches", pipeline.micro_batches, {0.25, 0.5, 1, 2, 4},
                      [&](std::int64_t number) {
                          return plan_.batch_per_rank % number == 0 && number >= pipeline.fewest_micro_batches();
                      });
        else if (variant_.open.micro_batch_size > 0)
            multiples("training.parallelism.pipeline.micro_batch_size", variant_.open.micro_batch_size,
                      {0.25, 0.5, 1, 2, 4}, [&](std::int64_t size) {
                          return plan_.batch_per_rank % size == 0 &&
                                 plan_.batch_per_rank / size >= pipeline.fewest_micro_batches();
                      });
        const Node* const context = at("training.parallelism.context");
        if (context != nullptr && context->kind == Node::Kind::scalar)
            numbers("training.parallelism.context", layout.context, powers, 16, [&](std::int64_t number) {
                return divides(layout.replica() / layout.context * number * pipeline.stages);
            });
    }

    void sharding() {
        const Node* const written = at("training.parallelism.sharding");
        // Local steps need whole weights.
        if (!has_parts() || plan_.replicas() < 2 || plan_.exchange != ExchangeKind::allreduce ||
            plan_.local_steps > 1 || plan_.parallelism.shard_ranks ||
            (written != nullptr && written->kind != Node::Kind::scalar) ||
            (written == nullptr && variant_.model.parameters() < 500'000'000))
            return;
        add("training.parallelism.sharding", {"none", "optimizer", "gradients", "parameters"});
    }

    void schedule() {
        const Pipeline& pipeline = plan_.parallelism.pipeline;
        if (!has_parts() || pipeline.stages == 1 || pipeline.virtual_stages > 1 || pipeline.turns()) return;
        if (const Node* written = at("training.parallelism.pipeline"); written && written->kind != Node::Kind::mapping)
            return;
        add("training.parallelism.pipeline.schedule", {"gpipe", "1f1b", "zb-h1"});
    }

    void buckets() {
        if (!exchanges_gradients() || plan_.exchange != ExchangeKind::allreduce || variant_.model.layers.size() < 2)
            return;
        if (is_written("training.fusion.threshold")) {
            sizes("training.fusion.threshold", {0.25, 0.5, 1, 2, 4});
        } else if (!is_written("training.fusion") && plan_.fusion.threshold_bytes == 0) {
            // A threshold has no default, since `fusion` has that there is none.
            add("training.fusion.threshold", {"none", "1 MB", "4 MB", "25 MB", "100 MB"}, "none");
        }
    }

    /// Adds the shapes that need no other key, for a fabric without one.
    void topology() {
        const TopologySpec& spec = variant_.cluster.fabric.topology;
        static const std::set<Shape> simple{Shape::star, Shape::ring, Shape::torus, Shape::hypercube, Shape::full_mesh};
        const Node* const fabric = at("platform.fabric");
        if (fabric == nullptr || !simple.contains(spec.shape) || devices(0) != 0 || variant_.cluster.node.nics > 1)
            return;
        static const std::set<std::string> fit{"topology", "bandwidth", "latency", "name", "routing"};
        for (const config::Entry& entry : fabric->entries)
            if (!fit.contains(entry.key)) return;
        for (const char* key : {"bandwidth", "latency"})
            if (const Node* value = fabric->find(key); value != nullptr && value->kind == Node::Kind::sequence) return;
        const std::int64_t nodes = std::max(variant_.cluster.fabric_nodes(), std::int64_t{2});
        if (nodes > small_group) return;
        Texts shapes{"star", "ring", "torus"};
        if ((nodes & (nodes - 1)) == 0) shapes.emplace_back("hypercube");
        shapes.emplace_back("full-mesh");
        add("platform.fabric.topology", std::move(shapes));
    }
};

}  // namespace

const Node* written_at(const Node& document, const std::string& path) {
    const Node* node = &document;
    for (const config::PathPart& part : config::parse_path(path).parts) {
        node = node->find(part.key);
        if (node == nullptr) return nullptr;
    }
    return node;
}

std::vector<UsualKnob> usual_knobs(const config::Variant& variant, const Node& document) {
    return Chooser(variant, document).chosen();
}

}  // namespace syncline::serve
