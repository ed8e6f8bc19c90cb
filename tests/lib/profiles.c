/*
 * Makes up random profiles.
 */
#include "tests/lib/profiles.h"

enum { WORLD_OBJECTS = 4, WORLD_FUNCS = 6, WORLD_BLOCKS = 7 };

/* Numbers of every length. */
static uint64_t
world_number(void)
{
	return random_u64() >> random_below(64);
}

static char *
world_name(const char *stem, unsigned n)
{
	return mem_printf("%s%u", stem, n);
}

static struct count
world_count(enum profile_state state)
{
	struct count count = { .state = COUNT_EXACT };

	if (state == PROFILE_NEVER)
		return count;
	if (random_chance(8))
		return (struct count){ .reason = (uint8_t)(1 +
							   random_below(2)) };
	count.n = world_number();
	if (random_chance(30))
		count.state = COUNT_DERIVED;
	return count;
}

/* Give a function its graph number `variant`, which is always the same. */
static void
world_graph(struct profile_func *func, unsigned variant)
{
	uint64_t state = random_state, addr = func->addr;
	size_t n;

	random_state = 0x123456789abcdef1 ^ func->addr * 0x10001 ^ variant << 4;
	for (int i = 0; i < 8; i++)
		random_u64();
	n = random_below(WORLD_BLOCKS);
	for (size_t i = 0; i < n; i++) {
		struct profile_block *block = vec_push(func->blocks,
						       func->nblocks);

		addr += random_chance(20) ? random_below(64) : 0;
		*block = (struct profile_block){
			.addr = addr,
			.size = 1 + random_below(40),
			.ninsns = 1 + random_below(9),
		};
		addr += block->size;
	}
	for (uint32_t v = FLOW_ROOT; v < FLOW_BLOCK + n; v++) {
		unsigned out = v == FLOW_ROOT ? 1 + random_below(2) :
			       v == FLOW_EXIT ? 0 :
						random_below(4);

		if (!n && out > 1)
			out = 1;
		while (out--)
			*vec_push(func->edges,
				  func->nedges) = (struct profile_edge){
				.from = v,
				.to = FLOW_EXIT + random_below((unsigned)n + 1),
				.by = (uint8_t)random_below(BY_LEAK + 1),
			};
	}
	random_state = state;
}

static void
world_extras(const struct profile *profile, struct profile_func *func)
{
	for (uint64_t i = 0; i < 3; i++) {
		if (random_chance(20))
			*vec_push(func->abnormals,
				  func->nabnormals) = (struct profile_abnormal){
				.addr = func->addr + 2 * i,
				.rest = 1 + (uint32_t)i,
				.during = i & 1,
				.left = world_number(),
				.came = random_below(4),
			};
		if (random_chance(20)) {
			bool known = profile->nobjects && random_chance(80);

			*vec_push(func->calls,
				  func->ncalls) = (struct profile_call){
				.addr = func->addr + 4 * i,
				.object = known ? random_below(
							  (unsigned)profile
								  ->nobjects) :
						  OBJECT_NONE,
				.target = known ? world_number() : 0,
				.n = world_number(),
			};
		}
	}
	func->sites = random_below(5);
	func->increments = world_number();
	func->every = world_number();
}

static void
world_doubt(struct profile_func *func)
{
	static const uint8_t doubts[] = {
		REASON_STACK,
		REASON_SIGNAL,
		REASON_LOST,
		REASON_ATTACHED,
	};

	if (random_chance(60))
		return;
	func->doubt = doubts[random_below(sizeof(doubts))];
	for (uint64_t i = 0; i < 5; i++)
		if (random_chance(50))
			*vec_push(func->passed, func->npassed) = func->addr -
								 4 + 3 * i;
}

static void
world_times(struct profile_func *func)
{
	struct times *times;

	if (random_chance(20))
		func->untimed = world_name("untimed ", random_below(3));
	if (random_chance(60))
		return;
	times = func->times = mem_alloc(sizeof(*times));
	for (unsigned i = 0; i < 4 && random_chance(80); i++)
		times_ended(times, world_number() >> 2);
	times->calls = world_number();
	times->total = world_number();
	times->self = world_number();
	times->lost = random_chance(10);
}

static void
world_func(const struct profile *profile, struct profile_func *func,
	   uint64_t addr, uint32_t part)
{
	*func = (struct profile_func){
		.addr = addr,
		.part = part,
		.state = (uint8_t)(random_chance(70) ? PROFILE_COUNTED :
						       random_below(3)),
		.unresolved = random_chance(10),
		.name = random_chance(20) ? mem_strdup("") :
					    world_name("func", random_below(3)),
	};
	for (uint64_t i = 0; random_chance(70) && i < 3; i++)
		*vec_push(func->ranges, func->nranges) = (struct range){
			addr - 32 * i,
			addr + 1 + random_below(3),
		};
	if (func->state == PROFILE_UNKNOWN)
		func->why = world_name("reason ", random_below(3));
	if (random_chance(15)) {
		/* Of this only the calls are known. */
		*vec_push(func->edges, func->nedges) = (struct profile_edge){
			.from = FLOW_ROOT,
			.to = FLOW_EXIT,
		};
	} else if (func->state != PROFILE_NEVER || random_chance(50)) {
		world_graph(func, random_chance(10));
	}
	for (size_t i = 0; i < func->nblocks; i++)
		func->blocks[i].count = world_count(func->state);
	for (size_t i = 0; i < func->nedges; i++)
		func->edges[i].count = world_count(func->state);
	if (func->state != PROFILE_NEVER)
		world_extras(profile, func);
	if (func->state == PROFILE_COUNTED && func->nblocks)
		world_doubt(func);
	world_times(func);
}

/* Make object 0 to WORLD_OBJECTS - 1; the last two have no build-id. */
static void
world_object(struct profile_object *object, unsigned which)
{
	*object = (struct profile_object){
		.path = mem_printf("/%s/object%u",
				   which < 2 && random_chance(30) ? "other" :
								    "bin",
				   which),
		.machine = 62,
		.placement = (uint8_t)random_below(3),
		.units = random_below(64),
	};
	if (which < 2) {
		object->build_id_len = 20;
		memset(object->build_id, (int)which + 1, 20);
	} else {
		object->text_size = 1000;
		object->text_crc = which == 3 ? random_below(2) : 77;
	}
}

static void
world_runs(struct profile *profile, bool separate, unsigned nobjects)
{
	unsigned n = random_below(3);

	while (n--) {
		struct profile_run *run = vec_push(profile->runs,
						   profile->nruns);

		*run = (struct profile_run){
			.id = random_u64(),
			.start = random_below(5),
			.elapsed = world_number(),
			.processes = world_number(),
			.threads = world_number(),
			.events = world_number(),
			.command = world_name("./prog -x ", random_below(99)),
			.outcome = mem_strdup("exited with status 0"),
			.death = { random_below((unsigned)nobjects + 1),
				   random_u64(), random_below(3) },
			.version = mem_strdup("0.2"),
		};
		for (unsigned i = random_below(3); i; i--)
			*vec_push(run->remarks,
				  run->nremarks) = world_name("remark ", i);
		for (unsigned i = 0; separate && i < 3; i++) {
			uint32_t last = (uint32_t)profile->nparts - 1;

			*vec_push(profile->parts,
				  profile->nparts) = (struct profile_part){
				.run = (uint32_t)profile->nruns - 1,
				.parent = i ? last : PART_NONE,
				.pid = random_below(50000),
				.tid = random_below(50000),
				.start = world_number(),
				.program = world_name("/bin/p", i),
			};
		}
	}
}

struct profile *
world_profile(void)
{
	struct profile *profile = mem_alloc(sizeof(*profile));
	unsigned nobjects = 0;

	for (unsigned i = 0; i < WORLD_OBJECTS; i++)
		if (random_chance(70))
			world_object(vec_push(profile->objects, nobjects), i);
	profile->nobjects = nobjects;
	world_runs(profile, random_chance(40), nobjects);
	for (unsigned i = 0; i < nobjects; i++) {
		struct profile_object *object = &profile->objects[i];

		for (uint64_t f = 1; f <= WORLD_FUNCS; f++)
			for (uint32_t p = PART_NONE; p + 1 <= profile->nparts;
			     p++)
				if (random_chance(p == PART_NONE ? 70 : 20))
					world_func(profile,
						   vec_push(object->funcs,
							    object->nfuncs),
						   0x1000 * f, p);
	}
	return profile;
}

/* ---- as text */

static void
count_dump(FILE *out, const struct count *count)
{
	fprintf(out, " = %" PRIu64 "/%u/%u", count->n, count->state,
		count->reason);
}

static void
func_dump(FILE *out, const struct profile_func *func)
{
	fprintf(out,
		"  func %" PRIx64 " part %" PRIu32 " state %u%s '%s' "
		"why '%s' sites %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		func->addr, func->part, func->state,
		func->unresolved ? " unresolved" : "", func->name,
		func->why ? func->why : "-", func->sites, func->increments,
		func->every);
	for (size_t i = 0; i < func->nranges; i++)
		fprintf(out, "    range %" PRIx64 " %" PRIx64 "\n",
			func->ranges[i].lo, func->ranges[i].hi);
	for (size_t i = 0; i < func->nblocks; i++) {
		fprintf(out, "    block %" PRIx64 " %" PRIu32 " %" PRIu32,
			func->blocks[i].addr, func->blocks[i].size,
			func->blocks[i].ninsns);
		count_dump(out, &func->blocks[i].count);
		putc('\n', out);
	}
	for (size_t i = 0; i < func->nedges; i++) {
		fprintf(out, "    edge %" PRIu32 " %" PRIu32 " %u",
			func->edges[i].from, func->edges[i].to,
			func->edges[i].by);
		count_dump(out, &func->edges[i].count);
		putc('\n', out);
	}
	for (size_t i = 0; i < func->nabnormals; i++)
		fprintf(out,
			"    abnormal %" PRIx64 " %" PRIu32 " %d %" PRIu64
			" %" PRIu64 "\n",
			func->abnormals[i].addr, func->abnormals[i].rest,
			func->abnormals[i].during, func->abnormals[i].left,
			func->abnormals[i].came);
	for (size_t i = 0; i < func->ncalls; i++)
		fprintf(out,
			"    call %" PRIx64 " %" PRIu32 " %" PRIx64 " %" PRIu64
			"\n",
			func->calls[i].addr, func->calls[i].object,
			func->calls[i].target, func->calls[i].n);
	if (func->doubt)
		fprintf(out, "    doubt %u\n", func->doubt);
	for (size_t i = 0; i < func->npassed; i++)
		fprintf(out, "    passed %" PRIx64 "\n", func->passed[i]);
}

static void
object_dump(FILE *out, const struct profile_object *object)
{
	fprintf(out, "object %s %u ", object->path, object->machine);
	for (size_t i = 0; i < object->build_id_len; i++)
		fprintf(out, "%02x", object->build_id[i]);
	fprintf(out, " %" PRIu64 " %" PRIx32 " placed %u units %" PRIx32 "\n",
		object->text_size, object->text_crc, object->placement,
		object->units);
	for (size_t i = 0; i < object->nfuncs; i++)
		func_dump(out, &object->funcs[i]);
}

char *
profile_dump(const struct profile *profile)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < profile->nruns; i++) {
		const struct profile_run *run = &profile->runs[i];

		fprintf(out,
			"run %" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			" %" PRIu64 " %" PRIu64 " '%s' '%s' '%s'\n",
			run->id, run->start, run->elapsed, run->processes,
			run->threads, run->events, run->command, run->outcome,
			run->version);
		if (run->death.object)
			fprintf(out, "  death '%s' %" PRIx64 " %u\n",
				profile->objects[run->death.object - 1].path,
				run->death.addr, run->death.how);
		for (size_t k = 0; k < run->nremarks; k++)
			fprintf(out, "  remark %s\n", run->remarks[k]);
	}
	for (size_t i = 0; i < profile->nparts; i++) {
		const struct profile_part *part = &profile->parts[i];

		fprintf(out,
			"part %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32
			" %" PRIu64 " '%s'\n",
			part->run, part->parent, part->pid, part->tid,
			part->start, part->program);
	}
	for (size_t i = 0; i < profile->nobjects; i++)
		object_dump(out, &profile->objects[i]);
	fclose(out);
	return text;
}

struct profile *
profile_copy(const struct profile *profile)
{
	size_t size;
	uint8_t *bytes = profile_encode(profile, &size);
	struct profile *copy = profile_decode("copy", bytes, size);

	free(bytes);
	return copy;
}
