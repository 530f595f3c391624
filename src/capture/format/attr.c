/* SPDX-License-Identifier: Apache-2.0 */
/* perf_event_attr on disk. */
#include "capture/format/attr.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"

/* The offset of a member on disk. Its size is that in struct attr. */
#define MEMBER(at, name)                                                                           \
	{                                                                                          \
		(at), sizeof(((struct attr *)NULL)->name), offsetof(struct attr, name)             \
	}
static const struct member {
	uint16_t at, size, member;
} members[] = {
	MEMBER(0, type),
	MEMBER(4, size),
	MEMBER(8, config),
	MEMBER(16, sample_period),
	MEMBER(24, sample_type),
	MEMBER(32, read_format),
	MEMBER(40, flags),
	MEMBER(48, wakeup),
	MEMBER(52, bp_type),
	MEMBER(56, config1),
	MEMBER(64, config2),
	MEMBER(72, branch_sample_type),
	MEMBER(80, sample_regs_user),
	MEMBER(88, sample_stack_user),
	MEMBER(92, clockid),
	MEMBER(96, sample_regs_intr),
	MEMBER(104, aux_watermark),
	MEMBER(108, sample_max_stack),
	MEMBER(112, aux_sample_size),
	MEMBER(120, sig_data),
	MEMBER(128, config3),
	MEMBER(136, config4),
};

static void load_member(const struct member *m, const uint8_t *disk, struct attr *out)
{
	void *to = (uint8_t *)out + m->member;

	if (m->size == sizeof(uint64_t))
		memcpy(to, &(uint64_t){ load_u64(disk + m->at) }, m->size);
	else if (m->size == sizeof(uint32_t))
		memcpy(to, &(uint32_t){ load_u32(disk + m->at) }, m->size);
	else
		memcpy(to, &(uint16_t){ load_u16(disk + m->at) }, m->size);
}

int attr_read(struct cursor bytes, uint64_t at, struct attr *out, struct err *err)
{
	uint8_t disk[ATTR_SIZE_MAX] = { 0 };
	size_t left = cur_left(&bytes), size;

	if (left < ATTR_SIZE_MIN)
		return err_set(err, ERR_FORMAT, at, "attr: %zu bytes, smallest known is %d", left,
			       ATTR_SIZE_MIN);
	size = load_u32(bytes.pos + 4);
	if (size == 0)
		size = ATTR_SIZE_MIN;
	if (size < ATTR_SIZE_MIN)
		return err_set(err, ERR_FORMAT, at, "attr: size %zu, smallest known is %d", size,
			       ATTR_SIZE_MIN);
	if (size > left)
		return err_set(err, ERR_FORMAT, at, "attr: size %zu, only %zu bytes are there",
			       size, left);
	memcpy(disk, bytes.pos, size < sizeof(disk) ? size : sizeof(disk));
	*out = (struct attr){ 0 };
	for (size_t i = 0; i < COUNT(members); i++)
		load_member(&members[i], disk, out);
	return 0;
}

static uint64_t member_value(const struct member *m, const struct attr *attr)
{
	const void *from = (const uint8_t *)attr + m->member;
	uint64_t wide;
	uint32_t word;
	uint16_t half;

	if (m->size == sizeof(wide)) {
		memcpy(&wide, from, sizeof(wide));
		return wide;
	}
	if (m->size == sizeof(word)) {
		memcpy(&word, from, sizeof(word));
		return word;
	}
	memcpy(&half, from, sizeof(half));
	return half;
}

void attr_write(const struct attr *attr, uint8_t out[ATTR_SIZE_MAX])
{
	memset(out, 0, ATTR_SIZE_MAX);
	for (size_t i = 0; i < COUNT(members); i++) {
		uint64_t value = member_value(&members[i], attr);

		for (unsigned byte = 0; byte < members[i].size; byte++)
			out[members[i].at + byte] = (uint8_t)(value >> 8 * byte);
	}
}

uint64_t attr_period_factor(const struct attr *a)
{
	enum { LARGEST_FACTOR = 1000 };

	if (attr_has(a, ATTR_FREQ))
		return 0;
	for (uint64_t factor = 2; factor <= LARGEST_FACTOR && factor < a->sample_period; factor++)
		if (a->sample_period % factor == 0)
			return factor;
	return 0;
}
