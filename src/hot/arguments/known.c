/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of well-known functions of the C library, which comes without DWARF. */
#include <string.h>

#include "base/alloc.h"
#include "hot/arguments/inside.h"

enum { MAX_ARGUMENTS = 4 };

#define POINTER(n)                                                                                 \
	{                                                                                          \
		n, "void *", PARAMETER_POINTER, 8, 0                                               \
	}
#define TEXT(n)                                                                                    \
	{                                                                                          \
		n, "char *", PARAMETER_POINTER, 8, 0                                               \
	}
#define SIZE(n)                                                                                    \
	{                                                                                          \
		n, "size_t", PARAMETER_UNSIGNED, 8, 0                                              \
	}
#define INT(n)                                                                                     \
	{                                                                                          \
		n, "int", PARAMETER_SIGNED, 4, 0                                                   \
	}

/* By the C standard and POSIX. */
static const struct known {
	const char *name;
	struct argument arguments[MAX_ARGUMENTS];
} all[] = {
	{ "memcpy", { POINTER("dest"), POINTER("src"), SIZE("n") } },
	{ "memmove", { POINTER("dest"), POINTER("src"), SIZE("n") } },
	{ "mempcpy", { POINTER("dest"), POINTER("src"), SIZE("n") } },
	{ "memset", { POINTER("s"), INT("c"), SIZE("n") } },
	{ "memcmp", { POINTER("s1"), POINTER("s2"), SIZE("n") } },
	{ "memchr", { POINTER("s"), INT("c"), SIZE("n") } },
	{ "memrchr", { POINTER("s"), INT("c"), SIZE("n") } },
	{ "strlen", { TEXT("s") } },
	{ "strnlen", { TEXT("s"), SIZE("maxlen") } },
	{ "strcmp", { TEXT("s1"), TEXT("s2") } },
	{ "strncmp", { TEXT("s1"), TEXT("s2"), SIZE("n") } },
	{ "strcpy", { TEXT("dest"), TEXT("src") } },
	{ "strncpy", { TEXT("dest"), TEXT("src"), SIZE("n") } },
	{ "strchr", { TEXT("s"), INT("c") } },
	{ "strrchr", { TEXT("s"), INT("c") } },
	{ "malloc", { SIZE("size") } },
	{ "calloc", { SIZE("nmemb"), SIZE("size") } },
	{ "realloc", { POINTER("ptr"), SIZE("size") } },
	{ "free", { POINTER("ptr") } },
	{ "read", { INT("fd"), POINTER("buf"), SIZE("count") } },
	{ "write", { INT("fd"), POINTER("buf"), SIZE("count") } },
	{ "pread64", { INT("fd"), POINTER("buf"), SIZE("count"), SIZE("offset") } },
	{ "pwrite64", { INT("fd"), POINTER("buf"), SIZE("count"), SIZE("offset") } },
	{ "mmap", { POINTER("addr"), SIZE("length"), INT("prot"), INT("flags") } },
	{ "munmap", { POINTER("addr"), SIZE("length") } },
	{ "qsort", { POINTER("base"), SIZE("nmemb"), SIZE("size") } },
};

/*
 * Variants of a function for different CPUs have underscores before the name and a suffix behind
 * it: "__memmove_avx_unaligned", "__GI___memcpy_simd".
 */
static bool is_named(const char *function, const char *known)
{
	size_t n = strlen(known);
	const char *name = function;

	if (strncmp(name, "__GI_", 5) == 0)
		name += 5;
	name += strspn(name, "_");
	if (name != function && strncmp(name, "libc_", 5) == 0)
		name += 5;
	if (strncmp(name, known, n) != 0)
		return false;
	return name[n] == '\0' || name[n] == '@' || (name[n] == '_' && name != function);
}

const struct argument *arguments_known(const char *function, size_t *out_n)
{
	for (size_t i = 0; i < COUNT(all); i++) {
		if (!is_named(function, all[i].name))
			continue;
		for (*out_n = 0; *out_n < MAX_ARGUMENTS; ++*out_n)
			if (all[i].arguments[*out_n].name == NULL)
				break;
		return all[i].arguments;
	}
	return NULL;
}
