"""Commands of gdb that show the state of an OpenSHMEM program of this library, in a running process or in a core dump:

    shmemx pes        what the PEs of this node do
    shmemx heap       the blocks of this PE's symmetric heap
    shmemx contexts   communication contexts, and their operations that are not complete
    shmemx teams      teams, and the latest collective of each
    shmemx windows    memory that other PEs can name: heap, static data, public windows
    shmemx queues     cells, posted receives and messages that no receive has matched

oshrun --gdb loads this file; otherwise: source PREFIX/share/shmemx/shmemx-gdb.py. All but `shmemx pes` in a running process
need a library with debug information.
"""
import os
import subprocess
import time

import gdb

MOST_LINES = 50  # of a list
FAMILIES = {1: "barrier or sync", 2: "shmem_finalize", 3: "shmem_init", 4: "allocation", 5: "shmem_free", 6: "shmem_realloc",
            7: "shmem_team_split_strided", 8: "shmem_team_split_2d", 9: "shmem_team_destroy"}
RANGES = ((16, "broadcast"), (24, "collect"), (32, "fcollect"), (40, "alltoall"), (48, "alltoalls"), (64, "reduction"),
          (176, "inclusive scan"), (192, "exclusive scan"))


# ---- values ----

def symbol(name):
    """Returns the value of a variable or the address of a function of the library."""
    try:
        found = gdb.lookup_global_symbol(name) or gdb.lookup_static_symbol(name)
        if found is not None:
            return found.value()
        function, inside, variable = name.rpartition("()::")
        return gdb.parse_and_eval(f"'{function}()'::{variable}" if inside else f"'{name}'")
    except gdb.error:
        raise gdb.GdbError(missing_text())


def missing_text():
    if any("libshmemx" in one.filename for one in gdb.objfiles()) or gdb.lookup_symbol("shmem_init")[0] is not None:
        return ("libshmemx has no debug information; build it with -DCMAKE_BUILD_TYPE=RelWithDebInfo, or use oshrun --status "
                "for what the PEs do")
    return "this process has not loaded libshmemx; start the program, or attach to one"


def number(value):
    """Returns an integer, also of std::atomic."""
    kind = value.type.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_STRUCT:
        for field in ("_M_i", "_M_b"):
            try:
                return number(value[field])
            except gdb.error:
                continue
        return number(value["_M_p"])
    return int(value)


def pointer_at(value):
    """Returns the pointer that a std::unique_ptr or std::atomic holds."""
    return number_at(int(value.address))


def number_at(address, size=8):
    return int.from_bytes(gdb.selected_inferior().read_memory(address, size).tobytes(), "little")


def typed(address, name):
    try:
        kind = gdb.lookup_type(name)
    except gdb.error:
        raise gdb.GdbError(missing_text())
    return gdb.Value(address).cast(kind.pointer()).dereference()


def member(value, name):
    """Returns the member of that name, however deep it lies in bases and members."""
    for field in value.type.strip_typedefs().fields():
        if field.name == name:
            return value[field]
    for field in value.type.strip_typedefs().fields():
        if hasattr(field, "bitpos") and field.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
            found = member(value[field], name)
            if found is not None:
                return found
    return None


def enumerator(value):
    return str(value).rsplit("::", 1)[-1]


def bytes_text(count):
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return f"{count / unit:.4g} {name}"
    return f"{count} bytes"


def symbol_text(address):
    """Returns " (name)" of what lies at an address, if something has a name there."""
    text = gdb.execute(f"info symbol {address}", to_string=True).strip()
    return "" if text.startswith("No symbol") else f" ({text.split(' in section')[0]})"


def show(lines, none):
    count = 0
    for line in lines:
        count += 1
        if count <= MOST_LINES:
            print(line)
    if count > MOST_LINES:
        print(f"... and {count - MOST_LINES} more")
    if count == 0:
        print(none)


# ---- the library's state ----

def watch():
    found = symbol("shmemx::runtime::(anonymous namespace)::watch")
    if int(found["record"]) == 0:
        raise gdb.GdbError("the process has not called shmem_init")
    return found


def own_pe():
    return number(symbol("shmemx::diagnostic_identity()::identity")["pe"])


def pe_set_text(pes):
    start, stride, size = (number(pes[name]) for name in ("start_", "stride_", "size_"))
    if size == 1:
        return f"PE {start}"
    if size == 2 or stride != 1:
        numbers = [str(start + i * stride) for i in range(min(size, 3))]
        return "PEs " + ", ".join(numbers) + (f"..{start + (size - 1) * stride}" if size > 3 else "")
    return f"PEs {start}..{start + size - 1}"


def call_text(word):
    """Returns a collective call in words (src/coll/common/call.hpp)."""
    kind, root, count = word >> 16 & 0xff, word >> 24 & 0xfff, word >> 36
    if kind == 0:
        return "none yet"
    name = FAMILIES.get(kind)
    if name is not None:
        return name
    name = [text for first, text in RANGES if kind >= first][-1]
    return f"{name} ({f'root {root}, ' if name == 'broadcast' else ''}{count} elements)"


def text_of_words(words):
    raw = gdb.selected_inferior().read_memory(int(words.address), words.type.sizeof).tobytes()
    return raw.split(b"\0")[0].decode(errors="replace")


def load_bias():
    """Returns the distance between addresses of the executable in its file and in the process."""
    try:
        text = gdb.execute("info proc mappings", to_string=True)
    except gdb.error:
        return 0
    program = gdb.current_progspace().filename
    for line in text.splitlines():
        words = line.split()
        if words and words[-1] == program:
            header = subprocess.run(["readelf", "-hW", program], capture_output=True, text=True, check=False).stdout
            return int(words[0], 16) if "DYN" in header else 0
    return 0


def site_text(site, bias):
    if site == 0:
        return ""
    try:
        line = gdb.find_pc_line(site + bias)
        block = gdb.block_for_pc(site + bias)
    except gdb.error:
        return ""
    if line.symtab is None:
        return symbol_text(site + bias)
    while block is not None and block.function is None:
        block = block.superblock
    name = block.function.name.split("(")[0] if block is not None else "?"
    return f", called at {name} ({os.path.basename(line.symtab.filename)}:{line.line})"


# ---- commands ----

def show_pes():
    header = watch()["header"]
    first = int(header) + 4096
    kind = gdb.lookup_type("shmemx::bootstrap::PeRecord")
    bias = load_bias()
    own = own_pe()

    def lines():
        for place in range(number(header["n_node_pes"])):
            record = typed(first + place * kind.sizeof, "shmemx::bootstrap::PeRecord")
            phase = enumerator(gdb.Value(number(record["phase"])).cast(gdb.lookup_type("shmemx::bootstrap::PePhase")))
            routine = text_of_words(record["routine"])
            since = number(record["waiting_since_ns"])
            text = f"place {place}: pid {number(record['pid'])}, {phase}"
            if routine:
                text += f", waiting in {routine}{site_text(number(record['call_site']), bias)}"
                if since and is_live():
                    text += f", for {(time.clock_gettime_ns(time.CLOCK_MONOTONIC) - since) / 1e9:.1f} s"
            if int(record.address) == int(watch()["record"]):
                text += f"  <- this one, PE {own}"
            yield text

    try:
        show(lines(), "no PE")
    except gdb.MemoryError:
        raise gdb.GdbError("the core dump does not hold the records of the PEs")


def is_live():
    """Returns whether there is a process, of this machine, rather than a core dump."""
    is_core = "core dump file" in gdb.execute("info target", to_string=True)
    return not is_core and os.path.exists(f"/proc/{gdb.selected_inferior().pid}/status")


def show_status_by_oshrun():
    """What the PEs do, as oshrun shows it: needs no debug information. Returns false if there is no oshrun."""
    pid = gdb.selected_inferior().pid
    while pid > 1:
        try:
            with open(f"/proc/{pid}/status") as status:
                fields = dict(line.split(":\t", 1) for line in status.read().splitlines() if ":\t" in line)
        except OSError:
            return False
        if fields["Name"] == "oshrun":
            shown = subprocess.run([f"/proc/{pid}/exe", "--status", str(pid)], capture_output=True, text=True, check=False)
            print(shown.stdout, end="")
            return shown.returncode == 0
        pid = int(fields["PPid"])
    return False


def blocks_of(tree):
    """Yields the blocks in the order of their offsets: a walk over the tree of boost::intrusive."""
    header = member(tree, "holder")
    root = pointer_at(header) & ~1  # parent, with the colour; then left and right
    pending, node = [], root
    while pending or node:
        while node:
            pending.append(node)
            node = number_at(node + 8)
        node = pending.pop()
        yield typed(node, "shmemx::heap::BlockAllocator::Block")
        node = number_at(node + 16)


def show_heap():
    base = number(symbol("shmemx::context::context_table")[1]["heap_base"])
    job = symbol("shmemx::runtime::(anonymous namespace)::job()::instance")
    allocator = typed(pointer_at(job["allocator"]), "shmemx::heap::BlockAllocator")
    print(f"symmetric heap of PE {own_pe()} at {base:#x}: {bytes_text(number(allocator['capacity_']))}, in use "
          f"{bytes_text(number(allocator['used_']))}, at most {bytes_text(number(allocator['high_water_']))}")

    def lines():
        for block in blocks_of(allocator["by_offset_"]):
            size = number(block["bytes_and_live"])
            if size & 1:
                offset = number(block["offset"])
                yield f"  {base + offset:#x} heap+{offset:#x}: {bytes_text(size - 1)}"

    show(lines(), "  no block is in use")


def show_contexts():
    table = symbol("shmemx::context::context_table")
    operations = symbol("shmemx::onesided::open_table")
    names = {1: " (SHMEM_CTX_DEFAULT)"}

    def lines():
        end = max(2, number(symbol("shmemx::runtime::(anonymous namespace)::used_end")))
        for index in range(1, end):
            context = table[index]
            if number(context["handle"]) == 0:
                continue
            opened = number(operations[index]["open"])
            yield (f"context {index}{names.get(index, '')}: handle {number(context['handle']):#x}, team "
                   f"{number(context['team_index'])}, this is PE {number(context['my_pe'])} of {number(context['n_pes'])}, "
                   f"{opened} operation{'' if opened == 1 else 's'} to other nodes not complete"
                   f"{', endpoints of its own' if int(context['lane']) else ''}")

    show(lines(), "no context")


def show_teams():
    table = symbol("shmemx::coll::team_table")
    names = {0: " (of shmem_finalize)", 1: " (SHMEM_TEAM_WORLD)", 2: " (SHMEM_TEAM_SHARED)"}
    size = table.type.strip_typedefs().target().sizeof
    first, last = table.type.range()
    raw = gdb.selected_inferior().read_memory(int(table[0].address), (last - first + 1) * size)

    def lines():
        for index in range(first, last + 1):
            if raw[index * size:index * size + 8].tobytes() == bytes(8):
                continue
            team = table[index]
            route = team["route"]
            yield (f"team {index}{names.get(index, '')}: {pe_set_text(route['set'])}, this is {number(route['my_pe'])} of "
                   f"{number(route['n_pes'])}; collectives {number(team['epoch'])}, latest: "
                   f"{call_text(number(team['calls']['latest']))}")

    show(lines(), "no team")


def show_windows():
    table = symbol("shmemx::windows::(anonymous namespace)::table")
    entry_type = gdb.lookup_type("shmemx::windows::(anonymous namespace)::Entry")

    def entries():
        for index, name in ((0, "symmetric heap"), (1, "static data")):
            yield index, name, table["builtin"][index]
        first, last = table["chunks"].type.range()
        for chunk in range(first, last + 1):
            address = number(table["chunks"][chunk])
            if address == 0:
                return  # they are made in this order
            for place in range(4096):
                entry = gdb.Value(address + place * entry_type.sizeof).cast(entry_type.pointer()).dereference()
                if number(entry["generation"]) % 2 == 0:
                    yield chunk * 4096 + place, "public window", entry

    def lines():
        for index, name, entry in entries():
            base, size = number(entry["base"]), number(entry["bytes"])
            if size == 0 and index < 2:
                continue
            users = number(entry["users"])
            yield (f"window {index}, generation {number(entry['generation'])}, {name}: {bytes_text(size)} at {base:#x}"
                   f"{symbol_text(base)}{f', {users} transfers of networks' if users else ''}")

    show(lines(), "no window")


def keyed_entries(queues):
    """Yields each owner in a KeyedQueues once."""
    seen = set()
    for bucket in range(1 << number(queues["bits_"])):
        entry = queues["buckets_"][bucket]
        while int(entry):
            one = entry
            while int(one):
                owner = int(one["owner"])
                if owner not in seen:
                    seen.add(owner)
                    yield owner
                one = one["next"]
            entry = entry["chain"]


def key_text(source, tag):
    return f"{'any PE' if source == -1 else f'PE {source}'}, {'any tag' if tag == -1 else f'tag {tag}'}"


def show_matching(name, matching):
    print(f"receives of {name} that wait for a message:")
    receive_type = gdb.lookup_type("shmemx::pt2pt::ReceiveRequest")

    def receives():
        owners = list(keyed_entries(matching["posted_"]["queues_"]))
        if int(matching["bypass_"]):
            owners.append(int(matching["bypass_"]))
        for owner in owners:
            receive = gdb.Value(owner).cast(receive_type.pointer()).dereference()
            yield f"  from {key_text(number(receive['peer']), number(receive['tag']))}"

    show(receives(), "  none")
    print(f"messages of {name} that no receive has matched ({bytes_text(number(matching['unexpected_bytes_']))} of "
          f"{bytes_text(number(matching['unexpected_max_']))}):")
    message_type = gdb.lookup_type("shmemx::pt2pt::Unexpected")

    def messages():
        queue = matching["unexpected_"]
        owners = list(keyed_entries(queue["queues_"]))
        recent = queue["oldest_"]
        while int(recent):
            owners.append(int(recent["entries"][0]["owner"]))
            recent = recent["next"]
        for owner in owners:
            message = gdb.Value(owner).cast(message_type.pointer()).dereference()
            yield (f"  from {key_text(number(message['source']), number(message['tag']))}, {bytes_text(number(message['bytes']))}, "
                   f"{enumerator(message['kind'])}")

    show(messages(), "  none")


def queue_length(queue):
    """Counts the cells of an MpscQueue, whose links are distances from the queue."""
    base = int(queue.address)
    ends = queue["ends_"]
    at = number(ends["shadow_head"]) or number(ends["before_first"]["next"])
    count = 0
    while at and count < 1 << 20:
        count += 1
        at = number_at((base + at) & (1 << 64) - 1)
    return count


def show_queues():
    channel = symbol("shmemx::am::Locked::own_")["shm_"]
    parts = channel["parts_"]
    layout = parts["layout_"]
    try:
        show_cells(parts, layout)
    except gdb.MemoryError:
        print("cells: the core dump does not hold them")
    engine = symbol("shmemx::pt2pt::own_engine")["object"]
    show_matching("the program", engine["matching_"]["program_"])
    show_matching("collectives in the background", engine["matching_"]["internal_"])
    print(f"sends that are not complete: {number(engine['requests_']['sends']['live_'])}")


def show_cells(parts, layout):
    if int(parts["base_"]):
        header = watch()
        place = (int(header["record"]) - int(header["header"]) - 4096) // gdb.lookup_type("shmemx::bootstrap::PeRecord").sizeof
        part = int(parts["base_"]) + 4096 + place * number(layout["part_bytes"])
        control = typed(part, "shmemx::nemesis::Control")
        print(f"cells of PE {own_pe()}: {number(layout['cell_count'])} of {bytes_text(number(layout['cell_bytes']))}, "
              f"{queue_length(control['free'])} free in its queue; {queue_length(control['receive'])} wait to be handled")


# ---- registration ----

class Group(gdb.Command):
    __doc__ = __doc__

    def __init__(self):
        super().__init__("shmemx", gdb.COMMAND_DATA, prefix=True)

    def invoke(self, argument, from_tty):
        gdb.execute("help shmemx")


class Shown(gdb.Command):
    def __init__(self, name, text, function):
        self.__doc__ = text
        self.function = function
        super().__init__(f"shmemx {name}", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        try:
            self.function()
        except gdb.MemoryError as error:
            raise gdb.GdbError(f"the process or core dump lacks this memory: {error}")


def show_pes_somehow():
    try:
        show_pes()
    except gdb.GdbError:
        if gdb.selected_inferior().pid == 0 or not show_status_by_oshrun():
            raise


Group()
Shown("pes", "Show what the PEs of this node do.", show_pes_somehow)
Shown("heap", "Show the blocks of this PE's symmetric heap.", show_heap)
Shown("contexts", "Show communication contexts, and their operations that are not complete.", show_contexts)
Shown("teams", "Show teams, and the latest collective of each.", show_teams)
Shown("windows", "Show memory that other PEs can name.", show_windows)
Shown("queues", "Show cells, posted receives and messages that no receive has matched.", show_queues)
