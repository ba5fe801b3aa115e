#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The disks of profiles/ of at least so many TB, the fastest first at random reads, as david-sim has them.
#
#     examples/fastest.sh [TB [HOW-MANY]]
#
# DAVID and DAVID_SIM name the programs: by default those in PATH.
set -eu

tb=${1:-4}
most=${2:-5}
david=${DAVID:-david}
sim=${DAVID_SIM:-david-sim}

"$david" profile list --json |
	python3 -c '
import json, sys
for drive in json.load(sys.stdin):
    if drive["kind"] == "disk" and drive["capacity"] >= float(sys.argv[1]) * 1e12:
        print(drive["name"])' "$tb" |
	while read -r name; do
		"$sim" bench --profile "$name" --job 'random read count=30000' --json </dev/null |
			python3 -c '
import json, sys
print("%8.1f reads/s  %s" % (json.load(sys.stdin)["jobs"][0]["all"]["per_s"], sys.argv[1]))' "$name"
	done | sort -rn | head -n "$most"
