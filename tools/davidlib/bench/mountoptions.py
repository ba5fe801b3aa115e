# SPDX-License-Identifier: GPL-2.0
"""Which options a mount takes, so that a wrong one is found before a run: those of Linux 6.12.

From the tables of fs/ext4/super.c (ext2 and ext3 are mounted by the same driver), fs/xfs/xfs_super.c,
fs/btrfs/super.c, fs/f2fs/super.c and fs/fs_context.c, and mount(8). tests/system/test_bench_question.py holds
these to the kernel's source.
"""

from __future__ import annotations

from ..nearest import nearest

# A word: the option alone. word=N: with a number. word=*: with any value. word=a|b: with one of these.
EXT = """
    bsddf minixdf grpid bsdgroups nogrpid sysvgroups resgid=N resuid=N sb=N errors=continue|panic|remount-ro
    nouid32 debug oldalloc orlov user_xattr acl norecovery noload bh nobh commit=N min_batch_time=N
    max_batch_time=N journal_dev=N journal_path=* journal_checksum nojournal_checksum journal_async_commit
    abort data=journal|ordered|writeback data_err=abort|ignore usrjquota=* grpjquota=*
    jqfmt=vfsold|vfsv0|vfsv1 grpquota quota noquota usrquota prjquota barrier barrier=N nobarrier i_version
    dax dax=always|inode|never stripe=N delalloc nodelalloc warn_on_error nowarn_on_error
    debug_want_extra_isize=N mblk_io_submit nomblk_io_submit block_validity noblock_validity
    inode_readahead_blks=N journal_ioprio=N auto_da_alloc auto_da_alloc=N noauto_da_alloc dioread_nolock
    nodioread_nolock dioread_lock discard nodiscard init_itable init_itable=N noinit_itable fc_debug_force
    fc_debug_max_replay=N max_dir_size_kb=N test_dummy_encryption test_dummy_encryption=* inlinecrypt
    nombcache no_mbcache prefetch_block_bitmaps no_prefetch_block_bitmaps mb_optimize_scan=N check=* nocheck
    reservation noreservation journal=N
"""
OPTIONS = {
    **dict.fromkeys(("ext2", "ext3", "ext4"), EXT),
    "xfs": """
        logbufs=N logbsize=* logdev=* rtdev=* wsync noalign swalloc sunit=N swidth=N nouuid grpid nogrpid
        bsdgroups sysvgroups allocsize=* norecovery inode64 inode32 ikeep noikeep largeio nolargeio attr2
        noattr2 filestreams quota noquota usrquota grpquota prjquota uquota gquota pquota uqnoenforce
        gqnoenforce pqnoenforce qnoenforce discard nodiscard dax dax=inode|always|never
    """,
    "btrfs": """
        acl noacl autodefrag noautodefrag barrier nobarrier clear_cache commit=N compress compress=*
        compress-force compress-force=* datacow nodatacow datasum nodatasum degraded device=* discard
        discard=sync|async nodiscard fatal_errors=panic|bug flushoncommit noflushoncommit max_inline=*
        metadata_ratio=N rescan_uuid_tree skip_balance space_cache space_cache=v1|v2 nospace_cache ssd nossd
        ssd_spread nossd_spread subvol=* subvolid=* thread_pool=N treelog notreelog user_subvol_rm_allowed
        rescue=* nologreplay usebackuproot norecovery enospc_debug noenospc_debug fragment=data|metadata|all
        ref_verify
    """,
    "f2fs": """
        background_gc=* disable_roll_forward norecovery discard nodiscard no_heap heap user_xattr nouser_xattr
        acl noacl active_logs=N disable_ext_identify inline_xattr noinline_xattr inline_xattr_size=N
        inline_data inline_dentry noinline_dentry flush_merge noflush_merge barrier nobarrier fastboot
        extent_cache noextent_cache noinline_data data_flush reserve_root=N resgid=N resuid=N mode=*
        fault_injection=N fault_type=N quota noquota usrquota grpquota prjquota usrjquota=* grpjquota=*
        prjjquota=* jqfmt=vfsold|vfsv0|vfsv1 alloc_mode=* fsync_mode=* test_dummy_encryption
        test_dummy_encryption=* inlinecrypt checkpoint=* checkpoint_merge nocheckpoint_merge
        compress_algorithm=* compress_log_size=N compress_extension=* nocompress_extension=* compress_chksum
        compress_mode=* compress_cache atgc gc_merge nogc_merge discard_unit=* memory=* age_extent_cache
        errors=*
    """,
}
# Of any file system: the kernel's, and mount's own.
ANY = """
    ro rw sync async dirsync lazytime nolazytime mand nomand atime noatime diratime nodiratime relatime
    norelatime strictatime nostrictatime dev nodev exec noexec suid nosuid silent loud iversion noiversion
    defaults user nouser users owner group auto noauto _netdev nofail
"""


def _takes(rule: str, word: str) -> bool:
    """Is the word one that the rule describes?"""
    name, equals, values = rule.partition("=")
    said, given, value = word.partition("=")
    if name != said or equals != given:
        return False
    if values == "N":
        return value.isascii() and value.isdigit()
    return values in ("", "*") or value in values.split("|")


def mistake(system: str, options: str) -> str:
    """What is wrong with the options of a mount; "" if nothing is known to be."""
    rules = OPTIONS[system].split() + ANY.split()
    for word in options.split(","):
        if any(_takes(rule, word) for rule in rules) or word.startswith("x-"):
            continue
        name = word.partition("=")[0]
        mine = [rule for rule in rules if rule.partition("=")[0] == name]
        if mine:
            shown = " or ".join(mine).replace("=N", "=NUMBER").replace("=*", "=VALUE")
            return f"{word}: of {system} it is {shown}"
        near = nearest(name, [rule.partition("=")[0] for rule in rules])
        return f"{word or 'nothing between two commas'}: {system} has no such option" + (
            f"; {near[0]}?" if near else "")
    return ""
