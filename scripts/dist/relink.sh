#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes what it takes to link cyclops with changed libraries of the LGPL: the rest of the program as one object, and a
# script with the command.
#
# usage: relink.sh BUILD PREFIX FOLDER    BUILD is a static one of dist.sh; PREFIX that of the cross compiler's programs
set -e

prefix=$2
rm -rf "$3"
mkdir -p "$3"
folder=$(cd "$3" && pwd)
cd "$1"
line=$(ninja -t commands cyclops | tail -n 1)
case $line in *' -o cyclops '*) ;; *) echo "relink.sh: not what links cyclops: $line" >&2; exit 1 ;; esac
parts='' cplusplus='' atomics=''
for word in $line; do
	case $word in
	*/libstdc++.a) cplusplus=' -lstdc++' ;; # of LLVM
	-latomic) atomics=' -latomic' ;;	# of 32 bits
	*.o | src/*.a | docs/*.a | model/*.a | */libLLVM*.a | */libZydis.a | */libZycore.a) parts="$parts $word" ;;
	esac
done
# shellcheck disable=SC2086 # names without blanks
"${prefix}gcc" -nostdlib -r -o "$folder/cyclops.o" -Wl,--start-group $parts -Wl,--end-group
"${prefix}strip" --strip-debug "$folder/cyclops.o"
cat >"$folder/relink.sh" <<END
#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Links cyclops with the libraries of this system, or with those of folders: sh relink.sh -L/my/elfutils/lib
\${CC:-${prefix}gcc} "\$@" -o cyclops "\$(dirname "\$0")/cyclops.o" -static -pthread \\
	-ldw -lelf -liberty -ljansson -lbz2 -llzma -lzstd -lz$cplusplus$atomics -lm -ldl
END
