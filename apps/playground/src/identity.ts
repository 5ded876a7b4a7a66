/** Who this tab is: a name that is remembered, and an identity that no other tab has. */
const nameKey = 'parley.playground.name';
const tabKey = 'parley.playground.tab';

export const storedName = (): string => localStorage.getItem(nameKey) ?? 'Guest';

export function storeName(name: string): void {
  localStorage.setItem(nameKey, name);
}

function tabId(): string {
  const known = sessionStorage.getItem(tabKey);
  if (known) return known;
  const made = Math.random().toString(36).slice(2, 6).padEnd(4, '0');
  sessionStorage.setItem(tabKey, made);
  return made;
}

/** Letters that an identity may have; the rest become hyphens. */
export function identityOf(name: string): string {
  const plain =
    name
      .trim()
      .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
      .slice(0, 60) || 'guest';
  return `${plain.toLowerCase()}-${tabId()}`;
}

/** `ada-x7f2` is shown as `ada`. */
export const shownName = (identity: string): string => identity.replace(/-[a-z0-9]{4}$/, '');
