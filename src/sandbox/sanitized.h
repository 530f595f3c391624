/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is this a build with a sanitizer? They look for leaks in a process that traces this one, and start a program that names
 * places in code, which has libraries of its own. So such builds may do more in the sandbox.
 */
#ifndef CYCLOPS_SANDBOX_SANITIZED_H
#define CYCLOPS_SANDBOX_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
	__has_feature(memory_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

#endif
