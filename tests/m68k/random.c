/*
 * random(3) of 4.2BSD, which Bishop's sample program called: an additive
 * generator, r[n] = r[n - 31] + r[n - 28], whose lowest bit is dropped.  The
 * table is what its initstate(1, ...) makes: a linear congruential generator
 * (x * 1103515245 + 12345) from 1, and then 310 numbers thrown away.
 */
static unsigned long table[31] = {
	0x9a319039, 0x32d9c024, 0x9b663182, 0x5da1f342, 0xde3b81e0,
	0xdf0a6fb5, 0xf103bc02, 0x48f340fb, 0x7449e56b, 0xbeb1dbb0,
	0xab5c5918, 0x946554fd, 0x8c2e680f, 0xeb3d799f, 0xb11ee0b7,
	0x2d436b86, 0xda672e2a, 0x1588ca88, 0xe369735d, 0x904f35f7,
	0xd7158fd6, 0x6fa6f051, 0x616e6b96, 0xac94efdc, 0x36413f93,
	0xc622c298, 0xf5a42ab8, 0x8a88d77b, 0xf5ad9d0e, 0x8999220b,
	0x27fb47b9,
};

long
random(void)
{
	static int front = 3, rear;
	unsigned long sum;

	sum = table[front] = (table[front] + table[rear]) & 0xffffffff;
	front = front == 30 ? 0 : front + 1;
	rear = rear == 30 ? 0 : rear + 1;
	return (long)(sum >> 1);
}
