const namesMax = 500;
const seenOnceMax = 2_000;

/**
 * Names for prepared statements: a text that comes again is parsed and planned once a session, 2 to 5 times faster on
 * PGlite. Both tables are bounded, so texts that vary (lists of values) cannot fill the session.
 */
export function createStatementNames() {
  let generation = 0;
  const names = new Map<string, string>();
  const seenOnce = new Set<string>();
  return {
    nameOf(text: string): string | undefined {
      const name = names.get(text);
      if (name !== undefined || names.size >= namesMax) return name;
      if (!seenOnce.has(text)) {
        if (seenOnce.size >= seenOnceMax) seenOnce.clear();
        seenOnce.add(text);
        return undefined;
      }
      seenOnce.delete(text);
      const made = `s${generation}_${names.size}`;
      names.set(text, made);
      return made;
    },
    /** After a change of the schema every statement is prepared again, under new names. */
    forget(): void {
      generation += 1;
      names.clear();
      seenOnce.clear();
    },
  };
}
