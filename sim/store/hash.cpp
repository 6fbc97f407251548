#include "sim/store/hash.hpp"

#include <fmt/format.h>
#include <xxhash.h>

namespace syncline::batch {

void Hash::add(std::string_view text) {
    texts_ += fmt::format("{}:", text.size());
    texts_ += text;
}

std::string Hash::digits() const {
    const XXH128_hash_t hash = XXH3_128bits(texts_.data(), texts_.size());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string hash_of(std::string_view text) {
    Hash hash;
    hash.add(text);
    return hash.digits();
}

}  // namespace syncline::batch
