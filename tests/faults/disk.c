/* SPDX-License-Identifier: MIT */
/* Files and directories are nodes that live as long as the disk, so that names may go and come. */
#include "tests/faults/disk.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#define NODES	256
#define ENTRIES 16

struct node;

struct entry {
	char name[JOURNAL_PATH];
	struct node *node;
};

struct entries {
	struct entry at[ENTRIES];
	size_t n;
};

/* A call that is not yet synced. */
struct change {
	const struct journal_call *call;
	struct node *node;  /* that a name was given to */
	struct node *other; /* of an exchange: that got the first one's name */
	bool certain;	    /* synced by itself, but later than others before it */
};

struct node {
	uint64_t ino;
	bool directory;
	uint8_t *bytes; /* certain content of a file */
	uint64_t len;
	uint64_t room;
	struct entries kept; /* certain names in a directory */
	struct entries now;  /* as the running program sees them */
	struct change *changes;
	size_t n_changes;
	size_t room_changes;
};

struct disk {
	struct node *nodes[NODES]; /* the root is the first */
	size_t n;
	struct seed *seed;
	struct change *returning; /* an O_DSYNC write that has not returned yet */
};

static void *need(void *memory)
{
	if (memory == NULL) {
		abort();
	}
	return memory;
}

static struct node *add_node(struct disk *disk, uint64_t ino, bool directory)
{
	if (disk->n == NODES) {
		abort();
	}
	struct node *node = need(calloc(1, sizeof(*node)));
	node->ino = ino;
	node->directory = directory;
	disk->nodes[disk->n++] = node;
	return node;
}

struct disk *disk_new(uint64_t root_ino, struct seed *seed)
{
	struct disk *disk = need(calloc(1, sizeof(*disk)));
	disk->seed = seed;
	(void)add_node(disk, root_ino, true);
	return disk;
}

void disk_free(struct disk *disk)
{
	for (size_t i = 0; i < disk->n; i++) {
		free(disk->nodes[i]->bytes);
		free(disk->nodes[i]->changes);
		free(disk->nodes[i]);
	}
	free(disk);
}

/* The newest first: numbers of removed files are used again. */
static struct node *find_ino(const struct disk *disk, uint64_t ino)
{
	for (size_t i = disk->n; i-- > 0;) {
		if (disk->nodes[i]->ino == ino) {
			return disk->nodes[i];
		}
	}
	abort();
}

static struct entry *find_name(struct entries *entries, const char *name)
{
	for (size_t i = 0; i < entries->n; i++) {
		if (strcmp(entries->at[i].name, name) == 0) {
			return &entries->at[i];
		}
	}
	return NULL;
}

static void drop_name(struct entries *entries, const char *name)
{
	struct entry *entry = find_name(entries, name);
	if (entry != NULL) {
		*entry = entries->at[--entries->n];
	}
}

static void set_name(struct entries *entries, const char *name, struct node *node)
{
	drop_name(entries, name);
	if (entries->n == ENTRIES) {
		abort();
	}
	struct entry *entry = &entries->at[entries->n++];
	strcpy(entry->name, name);
	entry->node = node;
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash != NULL ? slash + 1 : path;
}

/* The directory that holds the path's last name. Names lie at most one directory deep. */
static struct node *parent_of(const struct disk *disk, const char *path)
{
	const char *slash = strchr(path, '/');
	if (slash == NULL) {
		return disk->nodes[0];
	}
	char name[JOURNAL_PATH] = {0};
	memcpy(name, path, (size_t)(slash - path));
	struct entry *entry = find_name(&disk->nodes[0]->now, name);
	if (entry == NULL) {
		abort();
	}
	return entry->node;
}

/* A directory's change, on whichever view of its names. */
static void change_entry(struct entries *entries, const struct change *change)
{
	const struct journal_call *call = change->call;
	if (call->op == JOURNAL_CREATE || call->op == JOURNAL_MKDIR) {
		set_name(entries, last_name(call->path), change->node);
		return;
	}
	drop_name(entries, last_name(call->path));
	if (call->op == JOURNAL_EXCHANGE) {
		set_name(entries, last_name(call->path), change->other);
	}
	if (call->op == JOURNAL_RENAME || call->op == JOURNAL_EXCHANGE) {
		set_name(entries, last_name(call->to), change->node);
	}
}

static void grow(struct node *node, uint64_t len)
{
	if (len > node->room) {
		node->bytes = need(realloc(node->bytes, len * 2));
		node->room = len * 2;
	}
	if (len > node->len) {
		memset(node->bytes + node->len, 0, len - node->len);
		node->len = len;
	}
}

static void put_bytes(struct node *node, uint64_t at, const uint8_t *bytes, uint64_t len)
{
	grow(node, at + len);
	if (len > 0) {
		memcpy(node->bytes + at, bytes, len);
	}
}

static void change_bytes(struct node *node, const struct journal_call *call)
{
	if (call->op == JOURNAL_WRITE) {
		put_bytes(node, call->offset, call->bytes, call->len);
	} else if (call->offset < node->len) {
		node->len = call->offset;
	} else {
		grow(node, call->offset);
	}
}

static struct change *add_change(struct node *node, const struct journal_call *call)
{
	if (node->n_changes == node->room_changes) {
		node->room_changes = node->room_changes == 0 ? 16 : node->room_changes * 2;
		node->changes =
			need(realloc(node->changes, node->room_changes * sizeof(*node->changes)));
	}
	struct change *change = &node->changes[node->n_changes++];
	*change = (struct change){.call = call};
	return change;
}

/* Everything done to the node so far becomes certain. */
static void sync_node(struct node *node)
{
	for (size_t i = 0; i < node->n_changes; i++) {
		if (node->directory) {
			change_entry(&node->kept, &node->changes[i]);
		} else {
			change_bytes(node, node->changes[i].call);
		}
	}
	node->n_changes = 0;
}

/* After a failed sync the kernel takes the pages for clean: what did not reach the disk by then
 * never will, unless it is written again. Names stay uncertain until the next sync. */
static void lose(struct node *node, struct seed *seed)
{
	for (size_t i = 0; i < node->n_changes && !node->directory; i++) {
		if (node->changes[i].certain || seed_below(seed, 2) == 0) {
			change_bytes(node, node->changes[i].call);
		}
	}
	node->n_changes = node->directory ? node->n_changes : 0;
}

static bool lies(enum disk_lie lie, const struct node *node)
{
	return lie == DISK_NO_SYNC || (lie == DISK_NO_DATA && !node->directory) ||
	       (lie == DISK_NO_NAMES && node->directory);
}

static struct node *named(struct entries *entries, const char *path)
{
	const struct entry *entry = find_name(entries, last_name(path));
	if (entry == NULL) {
		abort();
	}
	return entry->node;
}

static void apply_name(struct disk *disk, const struct journal_call *call)
{
	struct node *node = NULL;
	if (call->op == JOURNAL_CREATE || call->op == JOURNAL_MKDIR) {
		node = add_node(disk, call->ino, call->op == JOURNAL_MKDIR);
	} else if (call->op == JOURNAL_RENAME) {
		node = find_ino(disk, call->ino);
	}
	bool two = call->op == JOURNAL_RENAME || call->op == JOURNAL_EXCHANGE;
	struct node *parent = parent_of(disk, call->path);
	struct node *other = NULL;
	if (two && parent_of(disk, call->to) != parent) {
		abort(); /* two directories would have to change at once */
	}
	if (call->op == JOURNAL_EXCHANGE) {
		node = named(&parent->now, call->path);
		other = named(&parent->now, call->to);
	}
	struct change *change = add_change(parent, call);
	change->node = node;
	change->other = other;
	change_entry(&parent->now, change);
}

void disk_apply(struct disk *disk, const struct journal_call *call, enum disk_lie lie)
{
	if (call->op == JOURNAL_BEGIN || call->op == JOURNAL_ACK) {
		return;
	}
	if (call->op == JOURNAL_SYNC) {
		struct node *node = find_ino(disk, call->ino);
		if (!lies(lie, node)) {
			sync_node(node);
		}
		return;
	}
	if (call->op == JOURNAL_LOSE) {
		lose(find_ino(disk, call->ino), disk->seed);
		return;
	}
	if (call->op != JOURNAL_WRITE && call->op != JOURNAL_TRUNCATE) {
		apply_name(disk, call);
		return;
	}
	struct change *change = add_change(find_ino(disk, call->ino), call);
	disk->returning = call->durable && lie != DISK_NO_SYNC ? change : NULL;
}

void disk_settle(struct disk *disk)
{
	if (disk->returning != NULL) {
		disk->returning->certain = true;
		disk->returning = NULL;
	}
}

/* ---- Images ------------------------------------------------------------------------------ */

static bool survives(const struct change *change, enum disk_cut how, struct seed *seed)
{
	return change->certain || how == DISK_ALL || (how != DISK_NONE && seed_below(seed, 2) == 0);
}

static void tear(struct node *node, const struct journal_call *call, struct seed *seed)
{
	for (uint64_t at = 0; at < call->len;) {
		uint64_t len = DISK_SECTOR - (call->offset + at) % DISK_SECTOR;
		len = len < call->len - at ? len : call->len - at;
		if (seed_below(seed, 2) == 0) {
			put_bytes(node, call->offset + at, call->bytes + at, len);
		}
		at += len;
	}
}

/* What is left of a file, as a node of its own whose bytes the image takes over. */
static struct node cut_file(const struct node *file, enum disk_cut how, struct seed *seed)
{
	struct node left = {0};
	put_bytes(&left, 0, file->bytes, file->len);
	uint64_t longest = left.len;
	for (size_t i = 0; i < file->n_changes; i++) {
		const struct change *change = &file->changes[i];
		const struct journal_call *call = change->call;
		if (call->op == JOURNAL_WRITE && call->offset + call->len > longest) {
			longest = call->offset + call->len;
		}
		if (!survives(change, how, seed)) {
			continue;
		}
		if (how == DISK_TORN && !change->certain && call->op == JOURNAL_WRITE &&
		    seed_below(seed, 2) == 0) {
			tear(&left, call, seed);
		} else {
			change_bytes(&left, call);
		}
	}
	/* The length may be written before what fills it. */
	if ((how == DISK_SOME || how == DISK_TORN) && seed_below(seed, 2) == 0) {
		grow(&left, longest);
	}
	return left;
}

static void cut_directory(const struct node *directory, const char *prefix, enum disk_cut how,
			  struct seed *seed, struct image *out)
{
	struct entries names = directory->kept;
	for (size_t i = 0; i < directory->n_changes; i++) {
		if (survives(&directory->changes[i], how, seed)) {
			change_entry(&names, &directory->changes[i]);
		}
	}
	for (size_t i = 0; i < names.n; i++) {
		const struct node *node = names.at[i].node;
		if (out->n == IMAGE_FILES) {
			abort();
		}
		struct image_file *file = &out->files[out->n++];
		*file = (struct image_file){.directory = node->directory};
		if (strlen(prefix) + strlen(names.at[i].name) >= JOURNAL_PATH) {
			abort();
		}
		strcpy(stpcpy(file->path, prefix), names.at[i].name);
		if (node->directory) {
			char deeper[JOURNAL_PATH + 1];
			strcpy(stpcpy(deeper, file->path), "/");
			cut_directory(node, deeper, how, seed, out);
		} else {
			struct node left = cut_file(node, how, seed);
			file->bytes = left.bytes;
			file->len = left.len;
		}
	}
}

void disk_cut(const struct disk *disk, enum disk_cut how, struct image *out)
{
	out->n = 0;
	cut_directory(disk->nodes[0], "", how, disk->seed, out);
}

uint64_t image_hash(const struct image *image)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < image->n; i++) {
		const struct image_file *file = &image->files[i];
		uint64_t one = XXH3_64bits_withSeed(file->path, strlen(file->path), file->len);
		/* Summed up: the order of names says nothing. */
		sum += file->directory ? one : XXH3_64bits_withSeed(file->bytes, file->len, one);
	}
	return sum;
}

bool image_write(const struct image *image, const char *path)
{
	int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool good = root >= 0;
	for (size_t i = 0; i < image->n && good; i++) {
		const struct image_file *file = &image->files[i];
		if (file->directory) {
			good = mkdirat(root, file->path, 0700) == 0;
			continue;
		}
		int fd = openat(root, file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		good = fd >= 0 && write(fd, file->bytes, file->len) == (ssize_t)file->len;
		if (fd >= 0) {
			(void)close(fd);
		}
	}
	if (root >= 0) {
		(void)close(root);
	}
	return good;
}

void image_deinit(struct image *image)
{
	for (size_t i = 0; i < image->n; i++) {
		free(image->files[i].bytes);
	}
	image->n = 0;
}
