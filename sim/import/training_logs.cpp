#include <fmt/format.h>

#include <algorithm>

#include "sim/import/measured_logs.hpp"
#include "sim/import/transformer_file.hpp"

// Lines that training programs print: Megatron-LM's iterations, torchtitan's steps, the summary of Hugging Face's
// Trainer, DeepSpeed's throughput timer.

namespace syncline::config {

namespace {

constexpr std::size_t most_steps = 1'000'000;
constexpr const char* megatron_time = "elapsed time per iteration (ms):";
constexpr const char* megatron_batch = "global batch size:";
constexpr const char* trainer_rate = "'train_samples_per_second':";
constexpr const char* deepspeed_rate = "CurrSamplesPerSec=";

bool has(const ForeignFile& file, const char* text) {
    return file.document.kind == Node::Kind::null && file.text().find(text) != std::string::npos;
}

/// Returns the whole number after `key`; `otherwise` if there is none.
std::int64_t whole_after(const PlacedText& line, std::string_view key, std::int64_t otherwise) {
    const auto number = number_after(line, key);
    return number && number->value < 1e15 ? static_cast<std::int64_t>(number->value) : otherwise;
}

void require_few(const std::vector<MeasuredStep>& steps, const PlacedText& line) {
    if (steps.size() >= most_steps)
        throw ConfigError(
            {{locate(line.mark), "this log has too many steps", fmt::format("the maximum is {}", most_steps)}});
}

/// Reads all steps that have a number after `value`, with their number after `step`.
std::vector<MeasuredStep> steps_of(const Mark& start, const char* step, const char* value) {
    std::vector<MeasuredStep> steps;
    for (const PlacedText& line : lines_of(start)) {
        const auto number = number_after(line, value);
        if (!number) continue;
        require_few(steps, line);
        steps.push_back({whole_after(line, step, static_cast<std::int64_t>(steps.size())), *number});
    }
    return steps;
}

}  // namespace

bool is_megatron_log(const ForeignFile& file) {
    return has(file, megatron_time);
}

void read_megatron_log(const ForeignFile& file, Imported& imported) {
    MeasuredSteps measured{"Megatron-LM", "iteration_time_s", "ms", file.start, {}, false};
    std::optional<LogNumber> ranks, batch;
    std::size_t ramp = 0;
    for (const PlacedText& line : lines_of(file.start)) {
        if (const auto size = number_after(line, "using world size:"); size && !ranks) ranks = size;
        const auto time = number_after(line, megatron_time);
        if (!time) continue;
        if (const auto now = number_after(line, megatron_batch)) {
            // While the batch grows, earlier iterations are smaller ones.
            if (batch && batch->value != now->value) {
                ramp += measured.steps.size();
                measured.steps.clear();
            }
            batch = now;
        }
        require_few(measured.steps, line);
        measured.steps.push_back(
            {whole_after(line, "iteration ", static_cast<std::int64_t>(measured.steps.size())), *time});
    }
    if (ramp > 0)
        imported.findings.note(file.start,
                               fmt::format("{} lines of other batches left out: the last batch counts", ramp));
    Written training(file.start);
    const auto set = [&](const char* key, const std::optional<LogNumber>& number) {
        if (number && number->value >= 1 && number->value <= largest_given)
            training.set(key, Given{static_cast<std::int64_t>(number->value), number->mark});
    };
    set("ranks", ranks);
    set("batch", batch);
    if (Node said = training.take(); !said.entries.empty()) imported.training = std::move(said);
    imported.findings.note(file.start, "times of iterations are taken; throughput, losses and memory are not used");
    add_measured(imported, measured);
}

bool is_torchtitan_log(const ForeignFile& file) {
    return has(file, "tps:") && has(file, "step:") && has(file, "grad_norm:");
}

void read_torchtitan_log(const ForeignFile& file, Imported& imported) {
    imported.findings.note(file.start, "tokens per second and GPU are taken; mfu, losses and memory are not used");
    add_measured(imported, {"torchtitan", "tokens_per_s_per_device", "", file.start,
                            steps_of(file.start, "step:", "tps:"), false});
}

bool is_trainer_log(const ForeignFile& file) {
    return has(file, trainer_rate);
}

void read_trainer_log(const ForeignFile& file, Imported& imported) {
    std::vector<MeasuredStep> steps = steps_of(file.start, trainer_rate, trainer_rate);
    if (steps.size() > 1) {
        imported.findings.note(steps.front().value.mark, "several runs; the last one's throughput is taken");
        steps.erase(steps.begin(), steps.end() - 1);
    }
    imported.findings.note(
        file.start, "the Trainer's throughput holds the first steps, evaluation and saving; steps alone are faster");
    add_measured(imported,
                 {"Hugging Face's Trainer", "throughput_samples_per_s", "", file.start, std::move(steps), true});
}

bool is_deepspeed_log(const ForeignFile& file) {
    return has(file, deepspeed_rate);
}

void read_deepspeed_log(const ForeignFile& file, Imported& imported) {
    imported.findings.note(file.start,
                           "samples per second of all GPUs are taken; times of micro-steps and memory are not used");
    add_measured(imported, {"DeepSpeed", "throughput_samples_per_s", "", file.start,
                            steps_of(file.start, "global_step=", deepspeed_rate), false});
}

}  // namespace syncline::config
