# SPDX-License-Identifier: GPL-2.0
"""What cases and programs share. A helper is no case and no program: it may import other helpers, and of
`cases` only the decorator. Nothing here imports from a case, and no case from another.
"""
