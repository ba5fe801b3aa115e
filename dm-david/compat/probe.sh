#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Finds out what a kernel has, by compiling, not by its version: probe.sh PARTS OUTPUT COMPILER...
#
# Each part of PARTS (parts.c) is compiled by itself:
#	#ifdef NAME	/* SUBJECT: what it is */
# OUTPUT defines the names of those that compile. Of each subject one part must; a subject
# in capitals may be absent. What is missing is told in one sentence.
set -eu

parts=$1
output=$2
shift 2

compiles() {
	"$@" -fsyntax-only -x c "$parts" 2>/dev/null
}

list=$(sed -n 's|^#ifdef \([A-Z_]*\)[ 	]*/\* \([A-Za-z-]*\): \(.*\) \*/$|\1:\2:\3|p' "$parts")
# Not one part for one subject: what no kernel has had in another way. One go for all of them.
only=$(echo "$list" | awk -F: '{ n[$2]++; name[$2] = $1 }
	END { for (s in n) if (n[s] == 1 && s != toupper(s)) print "-D" name[s] }')
# shellcheck disable=SC2086
if compiles "$@" $only; then all=y; else all=; fi

names= found=
while IFS=: read -r name subject what; do
	case " $only " in
	*"-D$name"*) [ -n "$all" ] && have=y || { compiles "$@" "-D$name" && have=y || have=; } ;;
	*) compiles "$@" "-D$name" && have=y || have= ;;
	esac
	if [ -n "$have" ]; then
		names="$names $name"
		found="$found $subject "
	fi
done <<END
$list
END

missing=$(echo "$list" | while IFS=: read -r name subject what; do
	case "$found" in
	*" $subject "*) ;;
	*) [ "$subject" = "$(echo "$subject" | tr a-z A-Z)" ] || echo "$subject ($what)" ;;
	esac
done | sort -u | paste -sd ';' | sed 's/;/; /g')
if [ -n "$missing" ]; then
	echo "dm-david: this kernel is none of those that dm-david knows, probably newer; missing: $missing" >&2
	exit 1
fi

for name in $names; do
	echo "#define $name 1"
done >"$output"
