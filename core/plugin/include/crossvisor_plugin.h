/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The binary contract between Crossvisor and a plugin, version 1. It is frozen: fields are never moved.
 *
 * A plugin is a shared library whose only exported symbol is
 *
 *     const struct crossvisor_plugin_v1 *crossvisor_plugin_v1_<name>(void);
 *
 * where <name> is the plugin's name with '-' and '.' written as '_'. The file is called libcrossvisor_<name>.so.
 * The function returns a descriptor that stays valid and unchanged for the life of the process.
 */
#ifndef CROSSVISOR_PLUGIN_H
#define CROSSVISOR_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CROSSVISOR_PLUGIN_MAGIC UINT64_C(0x31764e4753495643) /* "CVISGNv1", little endian */
#define CROSSVISOR_PLUGIN_ABI_MAJOR 1
#define CROSSVISOR_PLUGIN_ABI_MINOR 0

/* Takes bytes of the reply; may be called many times. Returns 0, or another value when the host takes no more:
 * the plugin then stops and returns CROSSVISOR_CALL_SINK. The bytes are copied before it returns. */
typedef int32_t (*crossvisor_write_fn)(void *sink, const uint8_t *bytes, size_t length);

enum {
    CROSSVISOR_CALL_OK = 0,       /* one whole reply was written */
    CROSSVISOR_CALL_INTERNAL = 1, /* the plugin broke; what was written is to be thrown away */
    CROSSVISOR_CALL_SINK = 2      /* the host's sink refused the reply */
};

struct crossvisor_plugin_v1 {
    uint64_t magic;       /* CROSSVISOR_PLUGIN_MAGIC */
    uint32_t struct_size; /* sizeof(struct crossvisor_plugin_v1) as the plugin was compiled */
    uint16_t abi_major;   /* must equal the host's */
    uint16_t abi_minor;   /* may differ */
    const uint8_t *manifest_json; /* UTF-8, not terminated */
    size_t manifest_length;
    /* One request (UTF-8 JSON, not terminated) in, one reply out. May be called from any thread, also at once. */
    int32_t (*call)(const uint8_t *request, size_t length, crossvisor_write_fn write, void *sink);
    void *reserved[4]; /* NULL */
};

/* Stops the compilation where the compiler lays the descriptor out in another way than the host. */
#if defined(__cplusplus)
#define CROSSVISOR_ASSERT(name, condition) static_assert(condition, #name)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define CROSSVISOR_ASSERT(name, condition) _Static_assert(condition, #name)
#else
#define CROSSVISOR_ASSERT(name, condition) typedef char crossvisor_assert_##name[(condition) ? 1 : -1]
#endif
#define CROSSVISOR_ASSERT_OFFSET(field, offset) \
    CROSSVISOR_ASSERT(offset_of_##field, offsetof(struct crossvisor_plugin_v1, field) == (offset))

CROSSVISOR_ASSERT_OFFSET(magic, 0);
CROSSVISOR_ASSERT_OFFSET(struct_size, 8);
CROSSVISOR_ASSERT_OFFSET(abi_major, 12);
CROSSVISOR_ASSERT_OFFSET(abi_minor, 14);
CROSSVISOR_ASSERT_OFFSET(manifest_json, 16);
CROSSVISOR_ASSERT_OFFSET(manifest_length, 24);
CROSSVISOR_ASSERT_OFFSET(call, 32);
CROSSVISOR_ASSERT_OFFSET(reserved, 40);
CROSSVISOR_ASSERT(size_of_descriptor, sizeof(struct crossvisor_plugin_v1) == 72);

#undef CROSSVISOR_ASSERT_OFFSET
#undef CROSSVISOR_ASSERT

#ifdef __cplusplus
}
#endif

#endif
