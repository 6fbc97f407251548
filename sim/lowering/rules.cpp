#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/lowering/compressed.hpp"
#include "sim/lowering/recomputed_spans.hpp"
#include "sim/lowering/rule_table.hpp"
#include "sim/lowering/switches.hpp"
#include "sim/workload/sample_tokens.hpp"

namespace syncline {

namespace {

namespace rules {

/// Asks whether a member of the plan, or of its parallelism or pipeline, has a value.
template <auto member, auto value>
bool is(const Plan& plan) {
    if constexpr (requires { plan.*member; })
        return plan.*member == value;
    else if constexpr (requires { plan.parallelism.*member; })
        return plan.parallelism.*member == value;
    else
        return plan.parallelism.pipeline.*member == value;
}

template <auto member, auto value>
bool is_not(const Plan& plan) {
    return !is<member, value>(plan);
}

/// Asks whether a range, or the layout of the other layers, divides images.
bool divides_images(const Plan& plan) {
    const auto divides = [](const Layout& layout) { return layout.cells() > layout.context; };
    return divides(plan.parallelism.layout) ||
           std::ranges::any_of(plan.parallelism.ranges,
                               [&](const LayerRange& range) { return range.layout && divides(*range.layout); });
}

/// Asks whether a rank contributes fewer bytes to the exchange of all its gradients than they have.
bool saves_bytes(const Plan& plan, const Model& model) {
    std::uint64_t bytes = 0;
    for (const Layer& layer : model.layers) {
        const Compressed one = compress(plan.compression, model, layer, 2, {.memory_Bps = 1});
        bytes += one.bytes + one.second_bytes;
    }
    const std::uint64_t whole = model.gradient_bytes();
    return whole == 0 || bytes < whole;
}

// Settings, in the order of the keys of `training`.

constexpr Setting batch{"batch", ""}, batch_per_rank{"batch_per_rank", ""};
constexpr Setting batch_of_all{"batch", "", [](const Plan&, const OpenPlan& open) { return open.batch > 0; }};
constexpr Setting written_checkpoint{
    "run.checkpoint", "", [](const Plan& plan) { return plan.run.checkpoint.given && !plan.run.checkpoint.write_s; }};
constexpr Setting run_tokens{"run.tokens", "", [](const Plan& plan) { return plan.run.tokens > 0; }};
constexpr Setting tokens_written{"run.tokens", ""}, samples_written{"run.samples", ""},
    curve_written{"run.samples_to_accuracy", ""};

constexpr Setting searched{"parallelism", "auto", [](const Plan&, const OpenPlan& open) { return open.everything; }};
constexpr Setting open_rows{"parallelism.model", "auto",
                            [](const Plan&, const OpenPlan& open) { return open.automatic() && !open.everything; }};
constexpr Setting several_rows{"parallelism.model", "2 or more", [](const Plan& plan, const OpenPlan& open) {
                                   return open.automatic() || splits_weights(plan.parallelism);
                               }};
constexpr Setting domain{"parallelism.domain", "", divides_images};
constexpr Setting own_layouts{"parallelism.layers", "", [](const Plan& plan) {
                                  return std::ranges::any_of(plan.parallelism.ranges, [](const LayerRange& range) {
                                      return range.layout.has_value();
                                  });
                              }};
constexpr Setting context{"parallelism.context", "",
                          [](const Plan& plan) { return plan.parallelism.layout.context > 1; }};
constexpr Setting ring_context{"parallelism.context", "{exchange: ring}", [](const Plan& plan) {
                                   const Parallelism& parallelism = plan.parallelism;
                                   return parallelism.layout.context > 1 &&
                                          parallelism.context_exchange == ContextExchange::ring;
                               }};
constexpr Setting imbalance{"parallelism.experts", "{imbalance: …}",
                            [](const Plan& plan) { return plan.parallelism.experts.imbalance > 0; }};
constexpr Setting deduplicated{"parallelism.experts", "{exchange: deduplicated}", [](const Plan& plan) {
                                   return plan.parallelism.experts.exchange == ExpertExchange::deduplicated;
                               }};
constexpr Setting token_nodes{"parallelism.experts", "{token_nodes: …}",
                              [](const Plan& plan) { return plan.parallelism.experts.token_nodes > 0; }};
constexpr Setting paired_batches{"parallelism.experts", "{overlap: micro-batches}", is<&Pipeline::pairs, true>};
constexpr Setting takes_pairs{"parallelism.pipeline.schedule", "interleaved, or 1f1b with one stage",
                              [](const Plan& plan) {
                                  const Pipeline& pipeline = plan.parallelism.pipeline;
                                  return pipeline.schedule == PipelineSchedule::interleaved ||
                                         (pipeline.schedule == PipelineSchedule::one_f_one_b && pipeline.stages == 1);
                              }};
constexpr Setting fp8_dispatch{"parallelism.experts", "{dispatch: fp8}",
                               [](const Plan& plan) { return plan.parallelism.experts.fp8_dispatch; }};
constexpr Setting divided_experts{"parallelism.experts", "{ranks: 2 or more}",
                                  [](const Plan& plan) { return plan.parallelism.experts.ranks > 1; }};
constexpr Setting unequal_experts{"parallelism.experts", "{ranks: 2 or more, imbalance: …}", [](const Plan& plan) {
                                      const ExpertGroups& groups = plan.parallelism.experts;
                                      return groups.ranks > 1 && groups.imbalance > 0;
                                  }};
constexpr Setting bruck{"parallelism.activations.all_to_all", "bruck",
                        [](const Plan& plan) { return plan.parallelism.algorithms.all_to_all == "bruck"; }};
constexpr Setting one_stage{"parallelism.pipeline.stages", "1", is<&Pipeline::stages, 1>};
constexpr Setting one_micro_batch{"parallelism.pipeline.micro_batches", "1", is<&Pipeline::micro_batches, 1>};
constexpr Setting micro_batches{"parallelism.pipeline.micro_batches", ""};
constexpr Setting micro_batch_size{"parallelism.pipeline.micro_batch_size", ""};
constexpr Setting taking_turns{"parallelism.pipeline.schedule", "1f1b",
                               is<&Pipeline::schedule, PipelineSchedule::one_f_one_b>};
constexpr Setting interleaved{"parallelism.pipeline.schedule", "interleaved",
                              is<&Pipeline::schedule, PipelineSchedule::interleaved>};
constexpr Setting takes_virtual_stages{
    "parallelism.pipeline.schedule", "interleaved, zb-v or dualpipe-v", [](const Plan& plan) {
        const Pipeline& pipeline = plan.parallelism.pipeline;
        return pipeline.schedule == PipelineSchedule::interleaved || pipeline.turns();
    }};
constexpr Setting turning{"parallelism.pipeline.schedule", "zb-v or dualpipe-v",
                          [](const Plan& plan) { return plan.parallelism.pipeline.turns(); }};
constexpr Setting two_virtual_stages{"parallelism.pipeline.virtual_stages", "2", is<&Pipeline::virtual_stages, 2>};
constexpr Setting virtual_stages{"parallelism.pipeline.virtual_stages", "2 or more",
                                 is_not<&Pipeline::virtual_stages, 1>};
constexpr Setting sequence{"parallelism.sequence", "true", is<&Parallelism::sequence, true>};
constexpr Setting model_overlap{"parallelism.model_overlap", "",
                                is_not<&Parallelism::model_overlap, ModelOverlap::as_gradients>};
constexpr Setting model_chunks{"parallelism.model_overlap", "{chunks: …}", is_not<&Parallelism::model_chunks, 1>};
constexpr Setting sharding{"parallelism.sharding", "", is_not<&Parallelism::sharding, Sharding::none>};
constexpr Setting shared_updates{"parallelism.sharding", "optimizer or gradients",
                                 [](const Plan& plan) { return divides_updates(plan.parallelism.sharding); }};
constexpr Setting sharded_weights{"parallelism.sharding", "parameters",
                                  is<&Parallelism::sharding, Sharding::parameters>};
constexpr Setting early_gathering{"parallelism.gathering", "before-forward",
                                  is<&Parallelism::gather, Gather::before_forward>};
constexpr Setting frequent_sync{"parallelism.gradient_sync", "each-micro-batch",
                                is<&Parallelism::gradient_sync, GradientSync::each_micro_batch>};
constexpr Setting one_queue{"parallelism.device_queues", "one", is<&Parallelism::device_queues, DeviceQueues::one>};

constexpr Setting recomputes_parts{"recomputation", "selective or operators", [](const Plan& plan) {
                                       return plan.recomputation == Recomputation::selective ||
                                              plan.recomputation == Recomputation::operators;
                                   }};
constexpr Setting recomputes_operators{"recomputation", "operators",
                                       is<&Plan::recomputation, Recomputation::operators>};
constexpr Setting no_optimizer{"optimizer", "none", is<&Plan::optimizer, Optimizer::none>};
constexpr Setting offload{"offload", "", is_not<&Plan::offload, Offload::none>};
constexpr Setting offloads_optimizer{"offload", "optimizer", is<&Plan::offload, Offload::optimizer>};
constexpr Setting offloads_gradients{"offload", "gradients", is<&Plan::offload, Offload::gradients>};
constexpr Setting products{"precision.products", "",
                           [](const Plan& plan) { return plan.precision.products.has_value(); }};
constexpr Setting master{"precision.master", "", [](const Plan& plan, const Model& model) {
                             return plan.precision.master && master_element(model) > 0;
                         }};
constexpr Setting moments{"precision.moments", "", [](const Plan& plan) { return plan.precision.moments.has_value(); }};
constexpr Setting stateful{"optimizer", "momentum or adam",
                           [](const Plan& plan) { return kept_values(plan.optimizer) > 0; }};
constexpr Setting measured{"compute", "measured", is<&Plan::compute, ComputeKind::measured>};
constexpr Setting efficiency{"compute", "efficiency", is<&Plan::compute, ComputeKind::efficiency>};
constexpr Setting tables{"compute", "tables", is<&Plan::compute, ComputeKind::tables>};
constexpr Setting uses_tables{"compute", "tables", [](const Plan& plan, const Model& model, const Cluster& cluster) {
                                  return kind_used(plan.compute, model.name, cluster.device) == ComputeKind::tables;
                              }};
constexpr Setting late_messages{"jitter.messages", "", [](const Plan& plan) { return plan.noise.message_jitter > 0; }};

constexpr Setting documents{"documents", "", [](const Plan& plan) { return plan.documents.has_value(); }};
constexpr Setting loading{"loading", "", [](const Plan& plan) { return plan.loading.has_value(); }};
constexpr Setting not_ahead{"loading.prefetch", "0",
                            [](const Plan& plan) { return plan.loading && plan.loading->prefetch == 0; }};
constexpr Setting sized_by_tokens{"loading", "",
                                  [](const Plan& plan) { return plan.loading && !plan.loading->bytes_per_sample; }};
constexpr Setting copied_ahead{"input_copy", "overlapped", is<&Plan::input_copy, InputCopy::overlapped>};

constexpr Setting gossip{"exchange", "gossip", is<&Plan::exchange, ExchangeKind::gossip>};
constexpr Setting served{"exchange", "parameter-server", is<&Plan::exchange, ExchangeKind::parameter_server>};
constexpr Setting algorithm{"algorithm", ""}, overlay{"overlay", ""}, segment{"segment", ""}, peers{"peers", ""},
    msccl{"msccl", ""};
constexpr Setting in_network{"algorithm", "in-network", [](const Plan& plan) {
                                 return plan.exchange == ExchangeKind::allreduce && !plan.selection &&
                                        plan.algorithm.name == in_network_allreduce;
                             }};
constexpr Setting selection{"selection", "", [](const Plan& plan) { return plan.selection.has_value(); }};
constexpr Setting selects{"selection", "",
                          [](const Plan& plan) { return plan.selection && plan.exchange == ExchangeKind::allreduce; }};
constexpr Setting channels{"channels", ""};
constexpr Setting across_iterations{"overlap", "across-iterations", is<&Plan::overlap, Overlap::across_iterations>};
constexpr Setting first_bucket{"fusion.first", ""}, full{"fusion.full", ""};
constexpr Setting threshold{"fusion.threshold", "", [](const Plan& plan) { return plan.fusion.threshold_bytes > 0; }};
constexpr Setting cycle{"fusion.cycle", "", [](const Plan& plan) { return plan.fusion.cycle_s > 0; }};
constexpr Setting negotiation{"fusion.negotiation", "",
                              [](const Plan& plan) { return plan.fusion.negotiation != Negotiation::none; }};
constexpr Setting compression{"compression", "", [](const Plan& plan) { return plan.compression.any(); }};
constexpr Setting compresses_rest{"compression", "top_k or powersgd",
                                  [](const Plan& plan) { return plan.compression.keeps_rest(); }};
constexpr Setting fp16{"compression", "fp16",
                       [](const Plan& plan) { return plan.compression.kind == Compression::Kind::fp16; }};
constexpr Setting top_k{"compression.top_k.ratio", "",
                        [](const Plan& plan) { return plan.compression.kind == Compression::Kind::top_k; }};
constexpr Setting powersgd{"compression.powersgd.rank", "",
                           [](const Plan& plan) { return plan.compression.kind == Compression::Kind::powersgd; }};
constexpr Setting partition{"partition", "", [](const Plan& plan) { return plan.partition_bytes > 0; }};
constexpr Setting priority{"schedule", "priority", is<&Plan::schedule, Schedule::priority>};
constexpr Setting random_order{"schedule", "random", is<&Plan::schedule, Schedule::random>};
constexpr Setting reordered{"schedule", "priority or random", is_not<&Plan::schedule, Schedule::fifo>};
constexpr Setting colocated{"servers", "{location: colocated}", [](const Plan& plan) {
                                return plan.exchange == ExchangeKind::parameter_server && plan.servers.colocated();
                            }};
constexpr Setting by_worker{"servers", "{updates: asynchronous or stale-synchronous}",
                            [](const Plan& plan) { return plan.independent_updates(); }};
constexpr Setting backup{"servers", "{backup_workers: …}",
                         [](const Plan& plan) { return plan.served() && plan.servers.backup_workers > 0; }};
constexpr Setting node_sums{"servers", "{local_reduction: true}",
                            [](const Plan& plan) { return plan.served() && plan.servers.local_reduction; }};
constexpr Setting sums_as_ready{"servers", "{pull: each}",
                                [](const Plan& plan) { return plan.served() && plan.servers.pull == PullStart::each; }};
constexpr Setting stale{"servers", "{staleness: …}",
                        [](const Plan& plan) { return plan.served() && plan.servers.staleness > 0; }};
constexpr Setting bounded{"servers", "{updates: stale-synchronous}", [](const Plan& plan) {
                              return plan.served() && plan.servers.updates == Updates::stale_synchronous;
                          }};
constexpr Setting others_left{"", "more ranks than backup workers",
                              [](const Plan& plan) { return plan.servers.backup_workers < plan.ranks; }};
constexpr Setting local_steps{"local_steps", "", [](const Plan& plan) { return plan.local_steps > 1; }};
constexpr Setting delay{"exchange_delay", "", [](const Plan& plan) { return plan.exchange_delay > 0; }};
constexpr Setting whole_replicas{"", "replicas that exchange whole gradients, or groups of `shard_ranks`",
                                 [](const Plan& plan) {
                                     const Parallelism& parallelism = plan.parallelism;
                                     return parallelism.sharding == Sharding::none || parallelism.shard_ranks;
                                 }};
constexpr Setting folded{"fidelity", "folded or averaged",
                         [](const Plan& plan) { return always_folds(plan.fidelity); }};

constexpr Setting by_speed{"batch_shares", "speed", is<&Plan::batch_shares, BatchShares::speed>};
constexpr Setting elastic{"run.restart.elastic", "",
                          [](const Plan& plan) { return plan.run.checkpoint.repairs.elastic != Elastic::none; }};
constexpr Setting smaller_batches{"run.restart.elastic", "smaller-batch", [](const Plan& plan) {
                                      return plan.run.checkpoint.repairs.elastic == Elastic::smaller_batch;
                                  }};
constexpr Setting faulty{"", "a platform with `faults`",
                         [](const Cluster& cluster) { return !cluster.faults.empty(); }};
constexpr Setting several_kinds{"", "a platform with `other_nodes`",
                                [](const Cluster& cluster) { return !cluster.others.empty(); }};
/// Replicas of one rank, which may divide the state of weights that they have in common.
constexpr Setting a_rank_each_replica{"", "ranks that compute the whole model", [](const Plan& plan) {
                                          Parallelism computed = plan.parallelism;
                                          computed.sharding = Sharding::none;
                                          return computed.whole_model();
                                      }};

// Keys of `collective`.
constexpr Setting barrier{"operation", "barrier",
                          [](const Plan& plan) { return plan.algorithm.operation == "barrier"; }};
constexpr Setting bytes{"bytes", ""}, sweep{"sweep", ""}, round_number{"round", ""};
constexpr Setting contributors{"contributors", ""}, receivers{"receivers", ""};

// Conditions that no key of a plan states.
constexpr Setting whole_model{"", "ranks that have the whole model",
                              [](const Plan& plan) { return plan.parallelism.whole_model(); }};
constexpr Setting whole_weights{"", "ranks that have whole weights",
                                [](const Plan& plan) { return !splits_weights(plan.parallelism); }};
constexpr Setting open_plan{"", "an open plan (`parallelism: auto` or `model: auto`)",
                            [](const Plan&, const OpenPlan& open) { return open.automatic(); }};
/// Layers whose gradients are exchanged in groups of their own.
constexpr Setting several_groups{
    "parallelism", "with `domain`, `experts` or layouts of some layers", [](const Plan& plan) {
        const Parallelism& parallelism = plan.parallelism;
        return divides_images(plan) || parallelism.experts.ranks > 1 ||
               parallelism.experts.rows_of(parallelism.layout.rows) != parallelism.layout.rows ||
               std::ranges::any_of(parallelism.ranges,
                                   [](const LayerRange& range) { return range.layout.has_value(); });
    }};
constexpr Setting a_rank_each{"", "as many ranks as servers",
                              [](const Plan& plan) { return plan.servers.count <= plan.ranks; }};
constexpr Setting embedding{"", "a model with an embedding",
                            [](const Plan&, const Model& model) { return tokens_per_sample(model).has_value(); }};
constexpr Setting attention{"", "a model with attention",
                            [](const Plan&, const Model& model) { return is_transformer(model); }};
constexpr Setting whole_scores{"", "stored scores",
                               [](const Plan&, const Model& model) { return stores_scores(model); }};
/// Attention to another sequence, or sequences of several lengths.
constexpr Setting several_sequences{"", "several sequences", [](const Plan&, const Model& model) {
                                        const Attention* first = nullptr;
                                        return std::ranges::any_of(model.layers, [&](const Layer& layer) {
                                            const Attention* const one = attention_of(layer);
                                            if (one == nullptr) return false;
                                            if (first == nullptr) first = one;
                                            return one->context > 0 || one->positions != first->positions;
                                        });
                                    }};
constexpr Setting experts_in_rows{"", "layers of experts with `model`", [](const Plan& plan, const Model& model) {
                                      return has_experts(model) && plan.parallelism.layout.rows > 1;
                                  }};
constexpr Setting divided_scores{"", "stored scores with `context`", [](const Plan& plan, const Model& model) {
                                     return plan.parallelism.layout.context > 1 && stores_scores(model);
                                 }};
constexpr Setting smaller_weights{"", "weights of smaller elements", [](const Plan&, const Model& model) {
                                      return weight_element(model) < master_element(model);
                                  }};
constexpr Setting larger_gradients{"", "gradients of more than 2 B", [](const Plan&, const Model& model) {
                                       constexpr double half = 2;
                                       return gradient_element(model) > half;
                                   }};
constexpr Setting fewer_bytes{"", "fewer bytes than all gradients have", saves_bytes};
constexpr Setting host_state{"", "a master copy of the weights with `sgd`", [](const Plan& plan, const Model& model) {
                                 return plan.optimizer != Optimizer::sgd || master_element(model) > 0;
                             }};
constexpr Setting kernels{"", "`kernels` of the device",
                          [](const Cluster& cluster) { return cluster.device.kernels.has_value(); }};
constexpr Setting product_rate{
    "", "the rate of such products in `kernels`", [](const Plan& plan, const Model&, const Cluster& cluster) {
        const auto& measured_rates = cluster.device.kernels;
        return !measured_rates || measured_rates->product_rate(*plan.precision.products) != 0;
    }};
constexpr Setting device_efficiency{"", "`efficiency` of the device",
                                    [](const Cluster& cluster) { return cluster.device.efficiency.has_value(); }};
constexpr Setting host_link{"", "`host_link` of the device",
                            [](const Cluster& cluster) { return std::isfinite(cluster.device.host_link_Bps); }};
constexpr Setting host_memory{"", "`memory_bandwidth` of the host",
                              [](const Cluster& cluster) { return std::isfinite(cluster.host.memory_Bps); }};
constexpr Setting storage{"", "`storage.write_bandwidth` of the platform",
                          [](const Cluster& cluster) { return cluster.storage.write_Bps.has_value(); }};
constexpr Setting reading{"", "`storage.read_bandwidth` of the platform",
                          [](const Cluster& cluster) { return cluster.storage.read_Bps.has_value(); }};
constexpr Setting native{"", "a platform of `simgrid_xml`",
                         [](const Cluster& cluster) { return cluster.native.has_value(); }};
constexpr Setting own_latency{"", "`network: exact`",
                              [](const Cluster& cluster) { return latency_is_ours(cluster.network); }};
constexpr Setting protocols{"", "a transport with `eager`",
                            [](const Cluster& cluster) { return cluster.transport.has_protocols(); }};

constexpr std::string_view twice = "'{setting}' and '{other}' exclude each other";
constexpr std::string_view one_of_both = "remove one of the two";

Rule needs(std::vector<Setting> settings, const Setting& other, std::string_view why, std::string_view write,
           std::string (OpenPlan::*otherwise)() const = nullptr) {
    return {std::move(settings), Rule::Relation::needs, other, why, write, otherwise};
}

Rule excludes(std::vector<Setting> settings, const Setting& other, std::string_view why, std::string_view write) {
    return {std::move(settings), Rule::Relation::excludes, other, why, write};
}

std::vector<Rule> table() {
    return {
        // Keys that say the same, or have no effect.
        excludes({batch}, batch_per_rank, twice, one_of_both),
        excludes({samples_written, curve_written}, tokens_written, twice, one_of_both),
        excludes({curve_written}, samples_written, twice, one_of_both),
        excludes({micro_batch_size}, micro_batches, twice, one_of_both),
        excludes({sweep}, bytes, twice, one_of_both),
        excludes({bytes, sweep}, barrier, "a barrier carries no bytes", "remove it"),
        needs({first_bucket, full}, threshold, "'{setting}' has no effect without a threshold",
              "write for example `threshold: 25 MiB`"),
        excludes({overlay, segment, peers, msccl}, sharding, "'{setting}' has no effect on sharded gradients",
                 "set `activations: {reduce_scatter, allgather}` of `parallelism` instead"),
        excludes({overlay, segment, channels, peers, msccl, round_number, contributors, receivers}, served,
                 "'{setting}' has no effect with a parameter server", "remove it"),
        excludes({algorithm, selection, overlay, segment, peers, msccl}, top_k,
                 "'{setting}' has no effect on the values of top_k, which are exchanged by an allgather",
                 "remove it, in a variant by `~`; `algorithm` of `top_k` chooses the allgather"),
        excludes({algorithm, overlay, segment, peers, msccl, round_number, contributors, receivers}, selects, twice,
                 one_of_both),
        needs({searched}, batch_of_all, "`parallelism: auto` compares plans at the same batch, but there is no 'batch'",
              "write `batch`, the samples of all ranks together, in place of `batch_per_rank`"),
        needs({open_rows}, batch_of_all, "`model: auto` compares grids at the same batch, but there is no 'batch'",
              "write `batch`, the samples of all ranks together, in place of `batch_per_rank`",
              &OpenPlan::automatic_key),

        // Exchanges of gradients.
        excludes({compression}, gossip, "gossip exchanges weights, not gradients",
                 "remove it, or write `exchange: allreduce`"),
        excludes({compression}, served, "compression is modelled only for an all-reduce",
                 "remove it, or write `exchange: allreduce`"),
        excludes({compression}, across_iterations,
                 "gradients are decoded before the update, which 'across-iterations' does not wait for",
                 "write `overlap: wait-free`"),
        excludes({compression}, reordered, "gradients are decoded in the order of their release",
                 "write `schedule: fifo`"),
        excludes({compresses_rest}, partition, "values and factors of a bucket are not cut into pieces",
                 "remove `partition`"),
        excludes({negotiation}, served, "ranks do not negotiate with a parameter server",
                 "remove it, or write `exchange: allreduce`"),
        excludes({gossip, across_iterations, priority, random_order, cycle, negotiation, compression}, sharding,
                 "'{setting}' is not modelled where ranks divide the state of weights that they have in common",
                 "remove it, or `sharding`"),
        excludes({gossip, served, across_iterations, priority, random_order, cycle, negotiation, compression},
                 open_plan, "'{setting}' is not modelled where the plan is open", "remove it, or write the plan"),
        needs({served}, whole_model, "servers have whole tensors, of ranks that have the whole model",
              "`exchange: allreduce` works with every `parallelism`"),
        excludes({local_steps, delay}, served, "`updates` of `servers` says when a worker waits for others",
                 "remove it, or write `exchange: allreduce`"),
        excludes({local_steps, delay}, compression, "encoding and decoding are those of an exchange in each iteration",
                 "remove `compression`; `precision: {gradients: 1 B}` makes the exchange smaller"),
        excludes({local_steps}, in_network, "switches add up in every iteration", "choose another algorithm"),
        excludes({local_steps, delay}, open_plan, "'{setting}' is not modelled where the plan is open",
                 "remove it, or write the plan"),
        needs({local_steps}, whole_replicas, "ranks that divide the weights need each other in every iteration",
              "write `shard_ranks`: groups exchange inside in every iteration, and among each other after several"),
        excludes({delay}, sharding, "ranks that divide the state of weights need their results in the same iteration",
                 "remove it, or `sharding`"),
        excludes({delay}, offload, "the host updates weights with the gradients of the same iteration",
                 "remove `exchange_delay`"),
        needs({stale}, bounded, "only `updates: stale-synchronous` has a bound on staleness",
              "write `updates: stale-synchronous`, or remove `staleness`"),
        excludes({backup}, by_worker, "only a synchronous update does without workers", "remove `backup_workers`"),
        needs({backup}, others_left, "{ranks} ranks cannot have so many backup workers", "write fewer"),
        excludes({backup}, batch, "an update's samples depend on the workers that it does without",
                 "write `batch_per_rank` in place of `batch`"),
        excludes({backup}, sums_as_ready, "an update takes all gradients of a worker, or none",
                 "write `pull: together`"),
        excludes({by_worker, backup}, node_sums, "each worker pushes by itself", "remove `local_reduction`"),
        excludes({by_worker, backup}, reordered, "orders are not modelled where each worker pushes by itself",
                 "write `schedule: fifo`"),
        excludes({by_worker, backup}, across_iterations,
                 "a worker's next iteration begins with the weights that it has pulled", "write `overlap: wait-free`"),
        excludes({frequent_sync}, gossip, "gossip follows the last microbatch",
                 "remove it, or write `last-micro-batch`"),
        excludes({frequent_sync}, served, "pushes follow the last microbatch",
                 "remove it, or write `last-micro-batch`"),
        excludes({priority, random_order}, several_groups,
                 "ranks agree on an order only if they exchange all gradients in one group",
                 "`schedule: fifo` works with every `parallelism`"),
        needs({cycle}, one_stage, "in a pipeline it is not known ahead which gradients are ready at a tick",
              "remove it; buckets are then released when they are full"),
        needs({compression}, one_micro_batch,
              "gradients are encoded after each backward pass, not when {micro_batches} microbatches are added up",
              "write one microbatch, or remove it"),
        excludes({compression}, divided_experts, "experts have groups of their own, whose gradients are not encoded",
                 "remove it"),
        needs({powersgd}, whole_weights, "the factors are those of whole matrices, which `model` divides",
              "`fp16` works with `model`"),
        needs({in_network}, whole_model, "'in-network' needs ranks that all hold the same weights",
              "remove 'parallelism', or choose another algorithm"),
        excludes({reordered}, in_network, "'in-network' sends buckets in the order in which they are ready",
                 "`schedule: fifo`"),
        excludes({colocated}, native,
                 "colocated servers need a route from a host to itself, which SimGrid's platforms rarely have",
                 "`location: dedicated` gives them their own nodes"),
        needs({colocated}, a_rank_each, "{servers} colocated servers need as many ranks, but there are {ranks}",
              "`location: dedicated` gives them their own nodes"),
        needs({fp16}, larger_gradients, "gradients of {gradients} are not larger than fp16", "remove it"),
        needs({top_k}, fewer_bytes, "values and indices have as many bytes as all gradients",
              "write less than {ratio}"),
        needs({powersgd}, fewer_bytes, "no matrix of '{workload}' is larger than its factors of rank {rank}",
              "write a smaller rank, or remove `compression`; layers of which only the number of parameters is known "
              "have no matrices"),

        // Parallelism.
        excludes(
            {searched}, native,
            "`parallelism: auto` estimates times from bandwidths, which a platform in SimGrid's format does not give",
            "write a plan, for example `parallelism: {model: 8}`"),
        excludes({context}, domain, "'context' divides sequences, and 'domain' images", "remove one of them"),
        needs({imbalance}, divided_experts, "an imbalance has no effect on a rank that has all experts",
              "write `experts: {ranks: 8, imbalance: 20 %}`, or remove it"),
        needs({deduplicated, fp8_dispatch}, divided_experts, "a rank that has all experts exchanges no tokens",
              "write `experts: {ranks: 8, …}`, or remove it"),
        needs({paired_batches}, divided_experts, "a rank that has all experts exchanges no tokens",
              "write `experts: {ranks: 8, …}`, or remove it"),
        needs({paired_batches}, takes_pairs, "with this schedule a pass waits for the one before it",
              "write `schedule: interleaved`, or remove `overlap`"),
        excludes({paired_batches}, sharded_weights,
                 "weights are not gathered where the passes of two microbatches alternate",
                 "write `sharding: optimizer`, or remove `overlap`"),
        excludes({frequent_sync}, paired_batches, "the passes of two microbatches are mixed on a rank",
                 "remove it, or write `last-micro-batch`"),
        needs({token_nodes}, deduplicated, "a copy for each expert has the same bytes wherever the experts are",
              "write `exchange: deduplicated`, or remove it"),
        excludes({imbalance}, deduplicated, "ranks with one copy of a token for several experts have equal loads",
                 "remove `imbalance`, or write `exchange: copies`"),
        excludes({bruck}, unequal_experts, "'bruck' moves equal blocks, but experts have different loads",
                 "write `direct` or `pairwise`"),
        needs({frequent_sync}, one_stage, "a pipeline exchanges gradients after its last microbatch",
              "remove it, or write `last-micro-batch`"),
        needs({frequent_sync}, taking_turns,
              "with this schedule the passes of several microbatches are mixed on a rank",
              "remove it, or write `last-micro-batch`"),
        needs({interleaved}, virtual_stages, "an interleaved schedule needs several virtual stages",
              "write for example `virtual_stages: 2`"),
        needs({virtual_stages}, takes_virtual_stages, "{virtual_stages} virtual stages need an interleaved schedule",
              "write `schedule: interleaved`"),
        needs({turning}, two_virtual_stages,
              "microbatches pass through two virtual stages of each stage, on the way to the last one and back",
              "write `virtual_stages: 2`"),
        excludes({turning}, one_stage, "a single stage has no other from which microbatches could return",
                 "write `schedule: 1f1b`, or more stages"),
        excludes({turning}, sharded_weights, "weights are not gathered where the passes of two microbatches alternate",
                 "write `sharding: optimizer`, or another schedule"),
        needs({sequence}, several_rows, "'sequence' needs more than one row", "write for example `model: 8`"),
        needs({model_overlap}, several_rows, "'model_overlap' needs more than one row", "write for example `model: 8`"),
        needs({model_chunks}, sequence, "'chunks' are those of the allgathers and reduce-scatters of `sequence`",
              "write `sequence: true`, or `model_overlap: weight-gradients`"),
        needs({early_gathering}, shared_updates,
              "only weights of which ranks update a share each are gathered before the forward pass",
              "write `sharding: optimizer`, or remove it"),
        needs({one_queue}, sharded_weights,
              "only weights that are gathered before each pass can hold up the computation",
              "write `sharding: parameters`, or remove it"),

        // Computation.
        excludes({measured}, model_chunks, "measured times do not say how long a layer computes its products",
                 "write `model_overlap: weight-gradients`, or another `compute`"),
        excludes({measured}, ring_context,
                 "measured times do not say how long a layer computes scores, which a ring overlaps",
                 "write `context: {ranks: …, exchange: ulysses}`, or another `compute`"),
        excludes({measured}, unequal_experts, "measured times do not say how long a layer computes its experts",
                 "remove `imbalance`, or write another `compute`"),
        needs({tables}, kernels, "device '{device}' has no 'kernels'",
              "measured rates of its kernels: `kernels: {product_rate: 256 Tflops, memory_bandwidth: 1.7 TBps, source: "
              "…}`"),
        needs({efficiency}, device_efficiency, "device '{device}' has no 'efficiency'",
              "`efficiency: {over: batch, points: [{at: 1, part: 0.2}, {at: 64, part: 0.6}], source: …}`"),
        needs({products}, uses_tables, "products of {factors} are known only with the measured rates of kernels",
              "write `compute: tables`"),
        needs({products}, product_rate, "device '{device}' has no rate of products of {factors}",
              "add `{factors_rate}` to its `kernels`, or rows of `{factors_word}` to its table of products, or remove "
              "`products`"),
        needs({master}, smaller_weights, "a master copy of {master} has no effect beside weights of {weights}",
              "write `none`, or smaller weights"),
        needs({moments}, stateful, "an optimizer without moments keeps none", "write `optimizer: adam`, or remove it"),
        needs({run_tokens}, embedding, "workload '{workload}' has no tokens, because it has no embedding",
              "write the length in `samples`"),
        needs({written_checkpoint}, storage, "platform '{platform}' does not say how fast checkpoints are written",
              "write `write_time: 5 min`, or `--set platform.storage.write_bandwidth=100GBps`"),
        needs({recomputes_parts}, attention,
              "workload '{workload}' has no attention whose {recomputed} could be recomputed",
              "`recomputation: full` recomputes the layers of any model"),
        excludes({recomputes_operators}, experts_in_rows,
                 "layer '{experts}': rows would gather tokens once more for what `operators` computes again",
                 "write `recomputation: full`"),
        excludes({recomputes_parts}, divided_scores,
                 "scores among ranks that divide a sequence need the keys and values of the others once more",
                 "write `recomputation: full`, or `attention: flash` in the workload"),
        excludes({recomputes_parts}, measured,
                 "measured times of layers do not say how much of them is for single products or attention's scores",
                 "write `recomputation: full`, or `compute: roofline`"),

        // Input.
        needs({documents}, attention, "workload '{workload}' has no attention, whose work documents would change",
              "remove `documents`"),
        excludes({documents}, whole_scores,
                 "scores that are stored are computed whole, whatever document a token is of",
                 "write `attention: flash` in the workload"),
        excludes({documents}, several_sequences,
                 "workload '{workload}' has attention over several sequences, whose documents are not modelled",
                 "remove `documents`"),
        excludes({documents}, measured,
                 "measured times of layers do not say how much of them is for attention's scores",
                 "write another `compute`, or remove `documents`"),
        excludes({documents}, domain, "'documents' are those of sequences, which 'domain' does not divide",
                 "remove one of the two"),
        excludes({documents}, own_layouts,
                 "replicas of a layer with a layout of its own are others than those of samples",
                 "remove `layout` of `parallelism.layers`, or `documents`"),
        excludes({documents, loading}, open_plan, "'{setting}' is not modelled where the plan is open",
                 "remove it, or write the plan"),
        needs({loading}, reading, "platform '{platform}' does not say how fast its storage is read",
              "write its `storage`, for example `--set platform.storage.read_bandwidth=100GBps`"),
        needs({sized_by_tokens}, embedding,
              "workload '{workload}' has no tokens, by which a sample's bytes are counted",
              "write `bytes_per_sample`, for example `bytes_per_sample: 150 kB`"),
        excludes({not_ahead}, copied_ahead, "a batch that is copied to the device ahead has been read ahead",
                 "write `input_copy: blocking` or `none`, or `prefetch: 1`"),
        // Nodes of several kinds.
        excludes({by_speed}, open_plan, "shares by speed are not modelled where the plan is open",
                 "remove it, or write the plan"),
        needs({by_speed}, a_rank_each_replica,
              "shares are those of ranks that compute the whole model, which 'parallelism' divides",
              "write `batch_shares: equal`"),
        excludes({by_speed}, gossip, "a mean of models does not weigh them by samples", "write `exchange: allreduce`"),
        excludes({by_speed}, by_worker, "workers that do not wait for each other need no shares by speed",
                 "remove it, or write `updates: synchronous`"),
        excludes({by_speed}, backup, "an update's samples depend on the workers that it does without",
                 "remove `backup_workers`"),
        excludes({documents, loading}, by_speed,
                 "'{setting}' is not modelled for ranks with unequal shares of the batch",
                 "write `batch_shares: equal`"),
        excludes({searched, open_rows}, faulty, "plans are compared on a platform whose parts are in order",
                 "write the plan, or remove the faults of platform '{platform}'"),
        excludes({elastic}, faulty,
                 "fewer replicas are measured in iterations of their own, at other times than the faults of platform "
                 "'{platform}'",
                 "remove one of the two"),
        excludes({curve_written}, smaller_batches,
                 "with fewer replicas a smaller batch needs another number of samples, which is not modelled",
                 "write `elastic: same-batch`, or the number of samples"),
        excludes({elastic}, several_kinds,
                 "fewer replicas are modelled for nodes of one kind, but platform '{platform}' has `other_nodes`",
                 "remove it"),
        excludes(
            {compression}, several_kinds,
            "encoding and decoding are modelled for nodes of one kind, but platform '{platform}' has `other_nodes`",
            "remove it"),
        excludes({offload}, several_kinds,
                 "copies to the host are modelled for nodes of one kind, but platform '{platform}' has `other_nodes`",
                 "remove it"),

        // State in the host's memory.
        excludes({offload}, served, "servers keep the optimizer's state, and update the weights themselves",
                 "remove it, or write `exchange: allreduce`"),
        excludes({offload}, gossip, "gossip exchanges weights, of which the host has a copy",
                 "remove it, or write `exchange: allreduce`"),
        excludes({across_iterations}, offload,
                 "the step in the host's memory waits for all gradients, which 'across-iterations' does not",
                 "write `overlap: wait-free`"),
        excludes({offload}, no_optimizer, "there is no optimizer's step that could run on the host", "remove it"),
        needs({offloads_gradients}, one_micro_batch,
              "gradients of {micro_batches} microbatches are added up on the device before they leave it",
              "write `offload: optimizer`, or one microbatch"),
        excludes({compression}, offloads_gradients,
                 "gradients are decoded after the backward pass, during which 'offload: gradients' copies them",
                 "remove it, or write `offload: optimizer`"),
        needs({offload}, host_link, "device '{device}' does not give the bandwidth of its link to the host",
              "write its `host_link`, for example `--set platform.device.host_link=25GBps`"),
        needs({offload}, host_memory, "platform '{platform}' does not give the bandwidth of the memory of its nodes",
              "write `memory_bandwidth` of its `host`, for example `--set platform.host.memory_bandwidth=200GBps`"),
        needs({offloads_optimizer}, host_state,
              "'sgd' without a master copy of the weights keeps nothing that could leave the device",
              "remove it, or write `optimizer: adam`"),

        // The simulation.
        excludes({folded}, native, "folding is not possible on a platform of 'simgrid_xml'",
                 "its links may change with time, so no step is known to repeat; write `fidelity: message`"),
        excludes({folded}, protocols,
                 "folding is not possible with a transport that has `eager`: its messages start before their receivers "
                 "are ready, or after a handshake",
                 "write `fidelity: message`"),
        excludes({folded}, late_messages,
                 "folding is not possible where latencies of messages vary, since no step repeats",
                 "write `fidelity: message`, or remove `messages` from `jitter`"),
        needs({late_messages}, own_latency,
              "latencies cannot vary with this network model, whose latencies are SimGrid's",
              "write `network: exact` in the platform"),
    };
}

}  // namespace rules

}  // namespace

const std::vector<Rule>& rule_table() {
    static const std::vector<Rule> all = rules::table();
    return all;
}

}  // namespace syncline
