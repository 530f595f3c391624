/* SPDX-License-Identifier: Apache-2.0 */

/* A fingerprint of a corpus of documents: every run of eight bytes is hashed, the hashes are added up, and those
 * with a small value are counted as the sample. Four workers take every fourth document. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { WORKERS = 4, DOCUMENTS = 1024, DOCUMENT_BYTES = 640, RUN = 8 };

static uint8_t corpus[DOCUMENTS][DOCUMENT_BYTES];
static _Alignas(64) struct {
	_Atomic uint64_t digest;
	_Atomic uint64_t sampled;
} fingerprint;
static uint64_t state = 55441;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state;
}

static uint64_t mix(uint64_t word)
{
	word ^= word >> 31;
	word *= UINT64_C(0x9ddfea08eb382d69);
	return word ^ word >> 33;
}

static void *take_documents(void *arg)
{
	size_t worker = (size_t)arg;
#ifdef FIXED
	uint64_t digest = 0;
	uint64_t sampled = 0;
#endif

	for (size_t d = worker; d < DOCUMENTS; d += WORKERS)
		for (int at = 0; at + RUN <= DOCUMENT_BYTES; at++) {
			uint64_t word;

			memcpy(&word, &corpus[d][at], sizeof word);
			word = mix(word);
#ifdef FIXED
			digest += word;
			sampled += word >> 61 == 0;
#else
			atomic_fetch_add_explicit(&fingerprint.digest, word, memory_order_relaxed);
			atomic_fetch_add_explicit(&fingerprint.sampled, word >> 61 == 0,
						  memory_order_relaxed);
#endif
		}
#ifdef FIXED
	atomic_fetch_add_explicit(&fingerprint.digest, digest, memory_order_relaxed);
	atomic_fetch_add_explicit(&fingerprint.sampled, sampled, memory_order_relaxed);
#endif
	return NULL;
}

int main(void)
{
	pthread_t threads[WORKERS];

	for (int d = 0; d < DOCUMENTS; d++)
		for (int at = 0; at < DOCUMENT_BYTES; at += 8) {
			uint64_t word = draw();

			memcpy(&corpus[d][at], &word, sizeof word);
		}
	for (size_t w = 0; w < WORKERS; w++)
		if (pthread_create(&threads[w], NULL, take_documents, (void *)w) != 0)
			return 1;
	for (int w = 0; w < WORKERS; w++)
		pthread_join(threads[w], NULL);
	printf("shingle %016llx %llu\n", (unsigned long long)atomic_load(&fingerprint.digest),
	       (unsigned long long)atomic_load(&fingerprint.sampled));
	return 0;
}
