let taken: string | null = null;

/** The token of a mail link, out of the address at once: it would stay in the history and in screenshots. */
export function takeToken(): string {
  const url = new URL(location.href);
  const token = url.searchParams.get('token');
  if (token === null) return taken ?? '';
  taken = token;
  url.searchParams.delete('token');
  history.replaceState(history.state, '', url);
  return token;
}
