"""Which way an operation takes from one PE to another, by the numbers of the PEs and the job's settings."""


def path_between(source, target, pes_per_node, settings):
    if source == target:
        return "self"
    if source // pes_per_node != target // pes_per_node:
        return "network"
    return "queue" if settings.get("SHMEMX_NODE_PATH") == "queue" else "mapped"
