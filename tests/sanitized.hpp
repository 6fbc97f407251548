#pragma once

/// SYNCLINE_SANITIZED: built with the address sanitizer, whose memory and time are others. GCC and Clang say so in
/// their own ways.
#if defined(__SANITIZE_ADDRESS__)
#define SYNCLINE_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SYNCLINE_SANITIZED
#endif
#endif
