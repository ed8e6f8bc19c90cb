/* Uses a library of its own: see tests/notes.t. */
int noted(int x);

int
main(void)
{
	return noted(-1);
}
