/* SPDX-License-Identifier: Apache-2.0 */

/* The statistics of a web server. Each of four workers serves requests of its own; the path of a request says which
 * site it belongs to, and each site counts its requests and the bytes that it sent. */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { WORKERS = 4, REQUESTS = 1024, ROUNDS = 24, SITES = 32, PATH_BYTES = 12 };

struct request {
	char path[PATH_BYTES];
	uint32_t bytes;
};

struct site {
	uint64_t requests;
	uint64_t bytes;
};

static struct request requests[WORKERS][REQUESTS];
static _Alignas(64) struct site sites[SITES];
static _Alignas(64) pthread_mutex_t sites_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t state = 66067;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state;
}

static uint32_t site_of(const char *path)
{
	uint32_t hash = 2166136261u;

	for (int i = 0; i < PATH_BYTES; i++)
		hash = (hash ^ (uint8_t)path[i]) * 16777619u;
	return (hash ^ hash >> 15) % SITES;
}

#ifdef FIXED

static void count(struct site *mine, uint32_t site, uint32_t bytes)
{
	mine[site].requests++;
	mine[site].bytes += bytes;
}

#else

static void count(struct site *all, uint32_t site, uint32_t bytes)
{
	pthread_mutex_lock(&sites_lock);
	all[site].requests++;
	all[site].bytes += bytes;
	pthread_mutex_unlock(&sites_lock);
}

#endif

static void *serve(void *arg)
{
	const struct request *mine = arg;
#ifdef FIXED
	struct site counted[SITES] = { 0 };
#else
	struct site *counted = sites;
#endif

	for (uint32_t round = 0; round < ROUNDS; round++)
		for (int r = 0; r < REQUESTS; r++)
			count(counted, site_of(mine[r].path), mine[r].bytes + round);
#ifdef FIXED
	pthread_mutex_lock(&sites_lock);
	for (int s = 0; s < SITES; s++) {
		sites[s].requests += counted[s].requests;
		sites[s].bytes += counted[s].bytes;
	}
	pthread_mutex_unlock(&sites_lock);
#endif
	return NULL;
}

int main(void)
{
	pthread_t threads[WORKERS];
	uint64_t sum = 0;

	for (int w = 0; w < WORKERS; w++)
		for (int r = 0; r < REQUESTS; r++) {
			uint64_t word = draw() >> 12;

			memcpy(requests[w][r].path, "/page/", 6);
			for (int i = 6; i < PATH_BYTES; i++) {
				requests[w][r].path[i] = (char)('a' + (word & 15));
				word >>= 4;
			}
			requests[w][r].bytes = (uint32_t)word & 0xffff;
		}
	for (int w = 0; w < WORKERS; w++)
		if (pthread_create(&threads[w], NULL, serve, requests[w]) != 0)
			return 1;
	for (int w = 0; w < WORKERS; w++)
		pthread_join(threads[w], NULL);
	for (int s = 0; s < SITES; s++)
		sum = (sum * 31 + sites[s].requests) * 31 + sites[s].bytes;
	printf("accesslog %016llx\n", (unsigned long long)sum);
	return 0;
}
