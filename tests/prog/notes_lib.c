/* A library for tests/notes.t. */
int noted(int x);

int
noted(int x)
{
	return x + 1;
}
