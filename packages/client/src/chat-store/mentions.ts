/** Tells whether a text names somebody after an @: `@ada,` does, `@adam`, `@ada-2` and the address `x@ada` do not. */
export function mentionOf(names: readonly string[]): (text: string | null) => boolean {
  const escaped = names.filter(Boolean).map((name) => name.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`));
  if (escaped.length === 0) return () => false;
  const pattern = new RegExp(String.raw`(?:^|[^\p{L}\p{N}_])@(?:${escaped.join('|')})(?![-.@]?[\p{L}\p{N}_])`, 'iu');
  return (text) => pattern.test(text ?? '');
}
