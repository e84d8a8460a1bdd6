/* A hypervisor plugin: a guest is a QEMU process of its own, without libvirt. It starts nothing itself. */
#include "envelope.h"

#include <string.h>

const char manifest[] =
    "{\"name\": \"@name@\", \"version\": \"0.1.0\", \"kind\": \"hypervisor\","
    " \"summary\": \"QEMU by its own command line\","
    " \"offers\": [{"
    "   \"name\": \"@offer@\", \"summary\": \"virtio disk and network\","
    "   \"host_programs\": [\"qemu-system-x86_64\", \"pgrep\", \"pkill\"]}]}";

/* A path as part of a value that QEMU splits at commas. */
static json_t *quoted(const char *path) {
    json_t *parts = json_string("");
    for (; *path != '\0'; path++) {
        json_t *longer = json_sprintf(*path == ',' ? "%s,%c" : "%s%c", json_string_value(parts), *path);
        json_decref(parts);
        parts = longer;
    }
    return parts;
}

/* Adds an option and its value, which it takes. */
static void add(json_t *argv, const char *option, json_t *value) {
    json_array_append_new(argv, json_string(option));
    json_array_append_new(argv, value);
}

static void add_volumes(json_t *argv, json_t *volumes) {
    size_t index;
    json_t *volume;
    json_array_foreach(volumes, index, volume) {
        json_t *source = json_object_get(volume, "source");
        const char *format = "raw", *cache = NULL, *io = NULL, *path = NULL;
        json_unpack(volume, "{s:s}", "format", &format);
        cache = json_string_value(json_object_get(volume, "cache"));
        io = json_string_value(json_object_get(volume, "io"));
        path = json_string_value(json_object_get(source, "file"));
        if (path == NULL)
            path = json_string_value(json_object_get(source, "block"));
        json_t *file = quoted(path == NULL ? "" : path);
        add(argv, "-drive", json_sprintf("file=%s,if=none,id=disk%zu,format=%s,cache=%s,aio=%s", json_string_value(file),
                                         index, format, cache == NULL ? "writeback" : cache, io == NULL ? "threads" : io));
        add(argv, "-device", json_sprintf("virtio-blk-pci,drive=disk%zu", index));
        json_decref(file);
    }
}

static json_t *forwards(json_t *network) {
    json_t *text = json_string("user,id=net0"), *forward;
    size_t index;
    json_array_foreach(json_object_get(network, "forwards"), index, forward) {
        json_t *longer = json_sprintf("%s,hostfwd=tcp:127.0.0.1:%d-:%d", json_string_value(text),
                                      (int)json_integer_value(json_object_get(forward, "host_port")),
                                      (int)json_integer_value(json_object_get(forward, "guest_port")));
        json_decref(text);
        text = longer;
    }
    return text;
}

/* What of a domain is used. */
struct domain {
    const char *name, *uuid, *accel, *mac, *kernel, *initrd, *cmdline, *console;
    int vcpus, memory_mib;
    json_t *volumes, *network;
};

static int read_domain(json_t *input, struct domain *d) {
    return json_unpack(input, "{s:{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:o, s:o}}", "domain", "name",
                       &d->name, "uuid", &d->uuid, "accel", &d->accel, "mac", &d->mac, "kernel", &d->kernel,
                       "initrd", &d->initrd, "cmdline", &d->cmdline, "console_log", &d->console, "vcpus", &d->vcpus,
                       "memory_mib", &d->memory_mib, "volumes", &d->volumes, "network", &d->network);
}

static json_t *pid_file(const struct domain *d) { return json_sprintf("%s.pid", d->console); }

/* pgrep or pkill for this guest's process and no other: the number in the file, which QEMU keeps locked as long as it
 * runs, and the guest's UUID on its command line. They end with 1 where there is none. */
static json_t *find(json_t *argv, const struct domain *d) {
    add(argv, "--pidfile", pid_file(d));
    json_array_append_new(argv, json_string("--full"));
    add(argv, "--", json_sprintf("-uuid %s", d->uuid));
    json_t *exec = run(json_string("host"), argv, 30);
    json_object_set_new(exec, "ok_exit", json_pack("[i, i]", 0, 1));
    return exec;
}

static json_t *define(const struct domain *d) {
    int kvm = strcmp(d->accel, "kvm") == 0;
    if (!kvm && strcmp(d->accel, "tcg") != 0)
        return refuse("@name@ runs with accel kvm or tcg only");
    if (!json_object_get(d->network, "forwards"))
        return refuse("@name@ joins no bridge: take a host without one");
    json_t *argv = json_pack("[s, s, s, s, s, s]", "qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display",
                             "none", "-daemonize");
    add(argv, "-pidfile", pid_file(d));
    add(argv, "-name", json_string(d->name));
    add(argv, "-uuid", json_string(d->uuid));
    add(argv, "-machine", json_sprintf("pc,accel=%s", d->accel));
    if (kvm)
        add(argv, "-cpu", json_string("host"));
    add(argv, "-smp", json_sprintf("%d", d->vcpus));
    add(argv, "-m", json_sprintf("%d", d->memory_mib));
    add(argv, "-kernel", json_string(d->kernel));
    add(argv, "-initrd", json_string(d->initrd));
    add(argv, "-append", json_sprintf("%s console=ttyS0", d->cmdline));
    add(argv, "-serial", json_sprintf("file:%s", d->console));
    add(argv, "-netdev", forwards(d->network));
    add(argv, "-device", json_sprintf("virtio-net-pci,netdev=net0,mac=%s,romfile=", d->mac));
    add(argv, "-device", json_string("virtio-rng-pci"));
    add_volumes(argv, d->volumes);
    json_t *kill = find(json_pack("[s, s, s, s]", "pkill", "--signal", "KILL", "--logpidfile"), d);
    json_t *start = step("start the emulator", run(json_string("host"), argv, 60), kill);
    return finish(json_pack("[o]", start), json_null());
}

static json_t *alive(const struct request *request, const struct domain *d) {
    const char *pid = printed(request);
    if (pid != NULL)
        return finish(json_array(), json_pack("{s:b}", "alive", strspn(pid, "0123456789") > 0));
    return go_on(step("look for the emulator", find(json_pack("[s, s]", "pgrep", "--logpidfile"), d), NULL));
}

json_t *answer(const struct request *request) {
    struct domain domain;
    if (strcmp(request->offer, "@offer@") != 0)
        return refuse("@name@ has no such offer");
    if (strcmp(request->op, "define") != 0 && strcmp(request->op, "alive") != 0)
        return refuse("this operation is not one of a hypervisor plugin");
    if (read_domain(request->input, &domain) != 0)
        return refuse("the domain is not understood");
    return strcmp(request->op, "define") == 0 ? define(&domain) : alive(request, &domain);
}

EXPORTED const struct crossvisor_plugin_v1 *crossvisor_plugin_v1_@stem@(void) { return descriptor(); }
