#pragma once

/// SYNCLINE_SANITIZED is defined in builds with the address sanitizer, which need more memory and time. GCC and Clang
/// report it differently.
#if defined(__SANITIZE_ADDRESS__)
#define SYNCLINE_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SYNCLINE_SANITIZED
#endif
#endif
