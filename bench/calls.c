/*
 * Small functions that call each other, some through pointers: a balanced
 * tree of numbers with an order of its own is filled, searched and summed.
 */
#include <stdio.h>
#include <stdlib.h>

struct node {
	struct node *left, *right;
	unsigned key, level;
};

typedef int node_order(unsigned a, unsigned b);

static int __attribute__((noinline)) order_up(unsigned a, unsigned b)
{
	return a < b ? -1 : a > b;
}

static int __attribute__((noinline)) order_bits(unsigned a, unsigned b)
{
	return order_up(a * 2654435761u, b * 2654435761u);
}

static struct node *__attribute__((noinline)) node_skew(struct node *node)
{
	struct node *left = node->left;

	if (!left || left->level != node->level)
		return node;
	node->left = left->right;
	left->right = node;
	return left;
}

static struct node *__attribute__((noinline)) node_split(struct node *node)
{
	struct node *right = node->right;

	if (!right || !right->right || right->right->level != node->level)
		return node;
	node->right = right->left;
	right->left = node;
	right->level++;
	return right;
}

static struct node *
node_insert(struct node *node, unsigned key, node_order *order)
{
	int way;

	if (!node) {
		node = calloc(1, sizeof(*node));
		node->key = key;
		node->level = 1;
		return node;
	}
	way = order(key, node->key);
	if (way < 0)
		node->left = node_insert(node->left, key, order);
	else if (way > 0)
		node->right = node_insert(node->right, key, order);
	return node_split(node_skew(node));
}

static int
node_find(const struct node *node, unsigned key, node_order *order)
{
	while (node) {
		int way = order(key, node->key);

		if (!way)
			return 1;
		node = way < 0 ? node->left : node->right;
	}
	return 0;
}

static unsigned
node_sum(const struct node *node)
{
	return node ? node_sum(node->left) + node_sum(node->right) + node->key :
		      0;
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 200;
	int keys = argc > 2 ? atoi(argv[2]) : 4000;
	unsigned state = 1, sum = 0;

	while (rounds--) {
		node_order *order = rounds & 1 ? order_up : order_bits;
		struct node *root = NULL;

		for (int i = 0; i < keys; i++) {
			state = state * 1103515245 + 12345;
			root = node_insert(root, state >> 18, order);
		}
		for (unsigned key = 0; key < 4u * keys; key++)
			sum += node_find(root, key, order);
		for (int i = 0; i < 20; i++)
			sum += node_sum(root);
	}
	printf("%u\n", sum);
	return 0;
}
