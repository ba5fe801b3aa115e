/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a compiled trace may ask for: OP(name, arguments, result). Included by workload.c and
 * workload.h only.
 *
 * Letters of arguments:
 *   s S	descriptor or mapping that is used, that is made: a slot of the resource table
 *   P		path, from the target's root
 *   T		text: what a symbolic link says, or a name or value of an extended attribute
 *   n		bytes, at most WL_LENGTH_MAX
 *   u i	number, signed number
 *   t f	thread, number: five bytes each, as they are known later
 *
 * Letters of results, what of them is compared with the original's:
 *   n		the number
 *   z		success, and whether it is 0
 *   k		success
 */
OP(NONE, "", 'k') /* no call; only its place in the order */
OP(OPEN, "PuuS", 'k') /* flags, mode */
OP(CLOSE, "su", 'k') /* the last to let go of it in the trace; so many others do, too */
OP(CLOSE_ONE, "s", 'k') /* one of several descriptors of this description: lets go of it */
OP(LEAVE, "s", 'k') /* no call; lets go of it */
OP(DUP, "s", 'k')
OP(READ, "sn", 'n')
OP(WRITE, "sn", 'n')
OP(PREAD, "sni", 'n')
OP(PWRITE, "sni", 'n')
OP(SEEK, "siu", 'n')
OP(FSYNC, "s", 'k')
OP(FDATASYNC, "s", 'k')
OP(SYNC, "", 'k')
OP(SYNCFS, "s", 'k')
OP(SYNC_RANGE, "siiu", 'k')
OP(TRUNCATE, "Pi", 'k')
OP(FTRUNCATE, "si", 'k')
OP(FALLOCATE, "suii", 'k')
OP(FADVISE, "siiu", 'k')
OP(READAHEAD, "sin", 'k')
OP(STAT, "Pu", 'k') /* 1: of a symbolic link itself */
OP(FSTAT, "s", 'k')
OP(ACCESS, "Puu", 'k') /* mode, 1: of a symbolic link itself */
OP(STATFS, "P", 'k')
OP(FSTATFS, "s", 'k')
OP(READLINK, "Pn", 'n')
OP(GETDENTS, "sn", 'z')
OP(MKDIR, "Pu", 'k')
OP(RMDIR, "P", 'k')
OP(UNLINK, "P", 'k')
OP(RENAME, "PPu", 'k')
OP(LINK, "PP", 'k')
OP(LINK_FD, "sP", 'k') /* a file without a name gets one */
OP(SYMLINK, "TP", 'k')
OP(MKNOD, "Pu", 'k')
OP(CHMOD, "Pu", 'k')
OP(FCHMOD, "su", 'k')
OP(CHOWN, "Piiu", 'k')
OP(FCHOWN, "sii", 'k')
OP(UTIMES, "Pu", 'k')
OP(FUTIMES, "s", 'k')
OP(LISTXATTR, "Pu", 'z')
OP(FLISTXATTR, "s", 'z')
OP(GETXATTR, "PTnu", 'n') /* name, room for the value, 1: of a symbolic link itself */
OP(FGETXATTR, "sTn", 'n')
OP(SETXATTR, "PTTuu", 'k') /* name, value as hexadecimal digits, flags, 1: of a link itself */
OP(FSETXATTR, "sTTu", 'k')
OP(REMOVEXATTR, "PTu", 'k')
OP(FREMOVEXATTR, "sT", 'k')
OP(CHDIR, "P", 'k') /* is it a directory? */
OP(EXEC, "P", 'k') /* is it there? */
OP(PIPE, "SS", 'k') /* its end to read from, the other one */
OP(PAIR, "SSu", 'k') /* type of the sockets */
OP(REOPEN, "suS", 'k') /* what the descriptor is of, once more; flags */
OP(OPEN_FIFO, "PusS", 'k') /* flags, number of the pipe */
OP(SHUTDOWN, "s", 'k') /* no more is sent */
OP(RESIZE, "sn", 'k') /* how much a pipe holds */
OP(DRAIN, "sn", 'n') /* reads what is in a pipe; waits until all is there */
OP(FILL, "sn", 'n')
OP(FLAGS, "su", 'k') /* fcntl(F_SETFL) */
OP(MMAP, "snuui", 'k') /* length, protection, flags, offset */
OP(COPY, "ssiin", 'n') /* offsets, or -1 */
OP(SENDFILE, "ssin", 'n')
OP(WAIT, "tf", 'k') /* no call; until it is due, or a thread has done so many commands */
OP(MAP, "suuuS", 'k') /* length, offset, WL_MAP_ flags; it stays */
OP(UNMAP, "s", 'k')
OP(TOUCH, "sunu", 'n') /* offset in the mapping, length; 1: to write. Each page once */
OP(MSYNC, "suuu", 'k') /* offset, length, flags */
OP(ADVISE, "suuu", 'k') /* offset, length, what madvise() is told */
OP(REFUSED, "PPuu", 'k') /* openat2() in a directory, by a path, with flags; what it may not do */
