/** A name that is being typed after an @. */
export interface Mention {
  /** Where the @ is. */
  readonly start: number;
  readonly query: string;
}

/** The mention that the caret is in. An @ inside of a word is an address. */
export function mentionAt(text: string, caret: number): Mention | null {
  const match = /(?:^|\s)@([^\s@]{0,40})$/.exec(text.slice(0, caret));
  const query = match?.[1];
  return query === undefined ? null : { start: caret - query.length - 1, query };
}

const CHOICES_MAX = 6;

/** Whose name begins with what was typed comes before who only has it in a later word. */
export function choicesFor({ query }: Mention, names: readonly string[]): readonly string[] {
  const wanted = query.toLocaleLowerCase();
  const beginning = names.filter((name) => name.toLocaleLowerCase().startsWith(wanted));
  const later = names.filter(
    (name) => !beginning.includes(name) && name.toLocaleLowerCase().includes(` ${wanted}`) && wanted !== '',
  );
  return [...new Set([...beginning, ...later])].slice(0, CHOICES_MAX);
}

/** The text with the name written out, and where the caret is then. */
export function completed(text: string, { start, query }: Mention, name: string): { text: string; caret: number } {
  const rest = text.slice(start + 1 + query.length);
  const written = `@${name}${rest.startsWith(' ') ? '' : ' '}`;
  return { text: text.slice(0, start) + written + rest, caret: start + written.length };
}
