/* SPDX-License-Identifier: Apache-2.0 */

/* A database's pool of 8 KiB frames. Each frame has a small head somewhere in it (its place differs from frame to
 * frame), which names four neighbours. A long run of requests goes from frame to frame; each visit pins the frame
 * and reads its sequence number. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	FRAMES = 6144,
	FRAME_BYTES = 8192,
	VISITS = 1200000,
	NEIGHBOURS = 4,
	HEADS = 126,
	HEAD_BYTES = 64
};

struct head {
	uint32_t neighbour
		[NEIGHBOURS]; /* where that frame's head is, in bytes from the start of the pool */
	uint32_t sequence;
	uint32_t pins;
};

static uint64_t state = 31337;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state;
}

static uint32_t head_place(uint32_t frame)
{
	return frame * FRAME_BYTES + (frame * 2654435761u >> 16) % HEADS * HEAD_BYTES;
}

static void format_pool(char *pool)
{
	static const uint32_t step[NEIGHBOURS] = { 5 * 7 * 11, 1 + 6 * 311, 5 + 12 * 97,
						   1 + 6 * 773 };

	for (uint32_t frame = 0; frame < FRAMES; frame++) {
		struct head *head = (struct head *)(pool + head_place(frame));

		for (uint32_t i = 0; i < NEIGHBOURS; i++)
			head->neighbour[i] = head_place((frame * step[i] + 1000 * i + 17) % FRAMES);
		head->sequence = frame * 977 + 5;
		head->pins = 0;
	}
}

static uint64_t serve(char *pool, uint32_t visits)
{
	uint32_t place = head_place(0);
	uint64_t sum = 0;

	for (uint32_t visit = 0; visit < visits; visit++) {
		struct head *head = (struct head *)(pool + place);

		head->pins++;
		sum += head->sequence;
		place = head->neighbour[draw() >> 62];
	}
	return sum;
}

int main(void)
{
	char *pool = aligned_alloc(1 << 21, (size_t)FRAMES * FRAME_BYTES);
	uint64_t sum;

	if (!pool)
		return 1;
	format_pool(pool);
	sum = serve(pool, VISITS);
	for (uint32_t frame = 0; frame < FRAMES; frame++)
		sum = sum * 31 + ((struct head *)(pool + head_place(frame)))->pins;
	printf("bufpool %016llx\n", (unsigned long long)sum);
	free(pool);
	return 0;
}
