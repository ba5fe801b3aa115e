# SPDX-License-Identifier: GPL-2.0
"""Too long for every check: run by DAVID_SCALE=full, or by name."""

from __future__ import annotations

import os
import shutil
import zlib
from pathlib import Path

from cases import case
from helpers.guest import Failed, david, device_stats, mounted, run
from helpers.rulefiles import chosen_files_are_exact, disk_with, drop_caches
from helpers.units import KIB, MIB
from helpers.wellformed import SUFFIX, content, put, well_formed


@case
def real_parsers_take_files_of_100_mb_on_ext4_and_xfs() -> None:
    sizes = [(kind, size) for kind in SUFFIX for size in (1000, 4096, 300 * KIB, 5 * MIB + 1, 100_000_000)]
    for fs in ("ext4", "xfs"):
        well_formed(fs, sizes)


@case
def what_is_chosen_on_xfs_reads_back_exactly() -> None:
    chosen_files_are_exact("xfs")


@case
def files_pack_to_the_ratio_that_was_asked_for() -> None:
    for ratio in (300, 700):
        with disk_with("ext4", "--content", f"compressible:{ratio}") as disk, mounted(disk, "ext4") as top:
            put(f"{top}/file", 2 * MIB)
            run("sync", "-f", top)
            packed = len(zlib.compress(content(f"{top}/file"), 6)) * 1000 / (2 * MIB)
        assert abs(packed - ratio) <= 0.05 * ratio, f"compressible:{ratio} packs to {packed:.0f} thousandths"


class Postgres:
    """A PostgreSQL server of its own, as nobody, over a socket in its directory."""

    def __init__(self, data: str) -> None:
        self.data = data
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if not found:
            raise Failed("needs PostgreSQL: apt-get install postgresql")
        self.bin = found[-1].parent

    def __call__(self, program: str, *args: str, env: dict[str, str] | None = None) -> str:
        who = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
        return run(*who, str(self.bin / program), *args, env={"HOME": "/tmp", "LC_ALL": "C", **(env or {})})

    def start(self) -> None:
        settings = f"-c listen_addresses= -c unix_socket_directories={self.data}"
        settings += " -c dynamic_shared_memory_type=mmap"
        log = f"{self.data}/log"
        try:
            self("pg_ctl", "-D", self.data, "-w", "-t", "120", "-l", log, "-o", settings, "start")
        except Failed as error:
            raise Failed(f"{error}: {Path(log).read_text()[-2000:] if os.path.exists(log) else ''}") from None

    def stop(self, how: str = "fast") -> None:
        self("pg_ctl", "-D", self.data, "-w", "-m", how, "stop")

    def ask(self, text: str) -> str:
        return self("psql", "-h", self.data, "-XAtc", text, "postgres").strip()


@case
def postgresql_lives_in_a_raw_directory() -> None:
    """Created, loaded, stopped at once in the middle, recovered from its log, after a remount."""
    with disk_with("ext4") as disk:
        with mounted(disk, "ext4") as top:
            data = f"{top}/database"
            os.mkdir(data, 0o700)
            shutil.chown(data, 65534, 65534)
            david("raw", "add", "raw", data)
            server = Postgres(data)
            server("initdb", "-D", data, "-A", "trust", "--data-checksums", "-N")
            server.start()
            bench = ("pgbench", "-h", data, "postgres")
            server(*bench, "-i", "-q", "-s", "1")
            server(*bench, "-c", "2", "-t", "200")
            server.stop("immediate")
        with mounted(disk, "ext4") as top:
            drop_caches()
            server.start()
            assert server.ask("select count(*) from pgbench_accounts") == "100000"
            assert server.ask("select count(*) from pgbench_history") == "400"
            sums = "select sum(abalance) from pgbench_accounts", "select sum(delta) from pgbench_history"
            assert server.ask(sums[0]) == server.ask(sums[1])
            server.ask("create extension if not exists amcheck")
            server.ask("select bt_index_check(c.oid, true) from pg_class c where relname like 'pgbench%pkey'")
            server.stop()
            server("pg_checksums", "--check", "-D", data)
        figures = device_stats("raw")
        assert figures["written"]["squashed"] < figures["evidence"]["raw"] // 10, figures
